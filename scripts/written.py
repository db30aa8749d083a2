"""Files that scripts write from the code: written again, or only held against it by ``--check``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_or_check"]


def write_or_check(files: Mapping[Path, str], script: str) -> int:
    """Write files, or say which are not current if the command line has ``--check``.

    Args:
        files: Path -> the text it should have.
        script: Name of the script that makes them, for the message.

    Returns:
        Exit code: 1 if a checked file is not current.
    """
    code = 0
    for path, text in files.items():
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{path} is not current; run: python scripts/{script}\n")
            code = 1
    return code
