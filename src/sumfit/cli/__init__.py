"""The command line: one module per command; each parses, calls the library, prints.

Results go to stdout and nothing else does; messages and progress go to stderr. Exit codes: 0
good, 1 a run-time error, 2 wrong usage, 130 interrupted. A command's module is imported when the
command runs, so that ``sumfit "text"`` loads neither torch nor a web server.

To add a command, write a function with typer annotations in a module of its own and name it in
`sumfit.cli.commands`.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process; an interrupt while it loads is quiet too.

    Args:
        argv: Arguments without the program's name; those of the process if not given.
    """
    try:
        from sumfit.cli.app import main as run_and_leave

        run_and_leave(argv)
    except KeyboardInterrupt:
        sys.exit(130)
