"""Carry weights in pieces.

python scripts/split_weights.py split CHECKPOINT OUTPUT [MIB]   float16 pieces, 15 MiB at most
python scripts/split_weights.py join PIECES OUTPUT              a model directory again
"""

from __future__ import annotations

import sys

from sumfit.errors import SumfitError
from sumfit.training.pieces import join_pieces, write_pieces


def main(arguments: list[str]) -> int:
    """Run the command line.

    Args:
        arguments: Action, source, target, and for ``split`` the size in MiB.

    Returns:
        The exit code.
    """
    if len(arguments) not in (3, 4) or arguments[0] not in ("split", "join"):
        sys.stderr.write(__doc__ or "")
        return 2
    action, source, target = arguments[:3]
    try:
        if action == "join":
            sys.stdout.write(f"{join_pieces(source, target)}\n")
        else:
            size = float(arguments[3]) if len(arguments) == 4 else 15.0
            for path in write_pieces(source, target, max_mib=size):
                sys.stdout.write(f"{path} {path.stat().st_size}\n")
    except SumfitError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
