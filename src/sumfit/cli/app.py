"""The program: finding the command, running it, and what is printed when it fails.

Owns the lazy command group, the default command and the exit codes. Does not own any command.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
import typer.core
import typer.main

from sumfit._version import __version__
from sumfit.cli.commands import COMMANDS, DEFAULT, Command
from sumfit.cli.help import EPILOG, HELP_OPTIONS, MARKUP, SHORT_HELP, with_plain_help
from sumfit.cli.settings import settings_of, settle, where_set
from sumfit.cli.terminal import as_flag, as_utf8, names_on_one_line, use_utf8
from sumfit.errors import MissingExtraError, SumfitError
from sumfit.text.printable import one_line, printable
from sumfit.writing import is_full

__all__ = ["load_command", "main", "run"]

_REMEDIES = {
    errno.EACCES: "get the permission, or give another path",
    errno.EPERM: "get the permission, or give another path",
    errno.EROFS: "give a path that can be written to",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "give a file",
}
_USAGE_ERROR: Any = typer.BadParameter.__base__
_OWN_OPTIONS = ("--help", "--version", "--install-completion", "--show-completion")
_PACKAGES_OF_EXTRA = {
    "train": (
        "torch",
        "safetensors",
        "tokenizers",
        "onnx",
        "onnxscript",
        "tensorboard",
        "rouge_score",
        "tomli_w",
    ),
    "eval": ("rouge_score", "httpx"),
    "mcp": ("mcp",),
    "serve": ("fastapi", "uvicorn", "pydantic", "starlette", "prometheus_client"),
}


class LazyCommand(typer.core.TyperCommand):
    """Stands for a command until it runs; only then is its module imported."""

    def __init__(self, name: str, command: Command) -> None:
        """Know the name and the one line of help, nothing more.

        Args:
            name: Name of the command.
            command: Where it lives.
        """
        super().__init__(name, help=command.summary, rich_help_panel=command.panel)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Import the command and hand over to it.

        Args:
            info_name: As in click.
            args: As in click.
            parent: As in click.
            **extra: As in click.

        Returns:
            The context of the real command.
        """
        real = load_command(str(self.name))
        context = real.make_context(info_name, args, parent, **extra)
        settle(context)
        return context


class LazyGroup(typer.core.TyperGroup):
    """The group of all commands; lists them without importing any."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands that this installation has.

        Args:
            ctx: As in click.

        Returns:
            The names, in the order of the table.
        """
        return [name for name, command in COMMANDS.items() if _exists(command)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a command by name.

        Args:
            ctx: As in click.
            cmd_name: Name of the command.

        Returns:
            The command, ``None`` if there is none of that name.
        """
        command = COMMANDS.get(cmd_name)
        if command is None or not _exists(command):
            return None
        return LazyCommand(cmd_name, command)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Put the default command in front of its options, for shell completion.

        Args:
            ctx: As in click.
            args: As in click.

        Returns:
            As in click.
        """
        is_line = ctx.resilient_parsing and args
        return super().parse_args(ctx, _with_default(args) if is_line else args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the first word: a command, an option of its own or of the default command.

        Args:
            ctx: As in click.
            incomplete: What has been written of it.

        Returns:
            As in click.
        """
        found = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            return found
        default = load_command(DEFAULT)
        with default.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True) as context:
            others = default.shell_complete(context, incomplete)
        known = {one.value for one in found}
        return [*found, *(one for one in others if one.value not in known)]


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process.

    Args:
        argv: Arguments without the program's name; those of the process if not given.
    """
    sys.exit(run(list(sys.argv[1:] if argv is None else argv)))


def run(argv: Sequence[str]) -> int:
    """Run the command line.

    Args:
        argv: Arguments without the program's name.

    Returns:
        The exit code.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if sys.stdout is None:
        print("error: standard output is closed; leave it open, or name a file", file=sys.stderr)
        return 1
    use_utf8()
    arguments, is_debugging = _without_debug([as_utf8(word) for word in argv])
    if not arguments and (sys.stdin is None or sys.stdin.isatty()):
        print(SHORT_HELP)
        return 0
    given = _with_default(arguments)
    try:
        problem = _problem_with(arguments)
        if problem:
            print(f"error: {problem}", file=sys.stderr)
            return 2
        return _done(_application().main(args=given, prog_name="sumfit", standalone_mode=False))
    except SystemExit as leave:
        return _exit_code(leave)
    except _USAGE_ERROR as error:
        print(f"error: {printable(usage_message(error, given))}", file=sys.stderr)
        return 2
    except typer.Abort:
        print("aborted", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _close_stdout()
        return 1
    except Exception as error:
        if is_debugging:
            raise
        return _report(error, arguments)


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Say what went wrong on standard error; return the exit code."""
    if isinstance(error, ModuleNotFoundError):
        error = _missing_extra(error) or error
    if isinstance(error, SumfitError):
        message = where_set(names_on_one_line(error.text(as_flag), arguments))
        print(f"error: {printable(message)}", file=sys.stderr)
        return error.exit_code
    if isinstance(error, OSError) and error.strerror:  # a full disk, a file without permission
        print(f"error: {one_line(_of_file(error))}", file=sys.stderr)
        _flush_or_close_stdout()
        return 1
    print(
        f"internal error: {type(error).__name__}: {printable(str(error))}\n"
        "run the same command with --debug for details, and please report them",
        file=sys.stderr,
    )
    return 1


def _of_file(error: OSError) -> str:
    """Path, reason and remedy of a file that cannot be read or written."""
    name = f": {_text(error.filename)}" if error.filename else ""
    remedy = "make room, or write to another disk" if is_full(error) else ""
    remedy = remedy or _REMEDIES.get(error.errno or 0, "")
    return f"reading or writing failed: {error.strerror}{name}" + (remedy and f"; {remedy}")


def _text(name: object) -> str:
    return os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else str(name)


def _missing_extra(error: ModuleNotFoundError, extra: str = "") -> MissingExtraError | None:
    """The error that says which extra brings the package; ``None`` where none does."""
    package = (error.name or "").partition(".")[0]
    for name in (extra, *_PACKAGES_OF_EXTRA):
        if package in _PACKAGES_OF_EXTRA.get(name, ()):
            return MissingExtraError(package, name)
    return None


def _application() -> Any:
    app = typer.Typer(
        cls=LazyGroup,
        name="sumfit",
        help="Write summaries that fit: a text and a length limit in, a summary that keeps it out.",
        epilog=EPILOG,
        add_completion=True,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        rich_markup_mode=MARKUP,
        context_settings={"help_option_names": HELP_OPTIONS},
    )
    app.callback()(_root)
    return with_plain_help(typer.main.get_command(app))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"sumfit {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback when something fails.")
    ] = False,
) -> None:
    """Hold the options of the program itself; both are dealt with before this runs."""


def load_command(name: str) -> Any:
    """Import a command.

    Args:
        name: A name in `sumfit.cli.commands.COMMANDS`.

    Returns:
        The click command.

    Raises:
        MissingExtraError: If it needs a package that is not installed.
    """
    command = COMMANDS[name]
    module_name, _, attribute = command.target.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        known = _missing_extra(error, command.extra)
        if known is None:
            raise
        raise known from error
    if isinstance(found, typer.Typer):
        return with_plain_help(typer.main.get_command(found))
    if not callable(found) or hasattr(found, "make_context"):
        return with_plain_help(found)
    app = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
    needs = f"To run it: pip install 'sumfit\\[{command.extra}]'" if command.extra else None
    settings = {"help_option_names": HELP_OPTIONS}
    app.command(name, context_settings=settings, epilog=needs)(found)
    return with_plain_help(typer.main.get_command(app))


def _exists(command: Command) -> bool:
    return importlib.util.find_spec(command.target.partition(":")[0]) is not None


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """Take ``--debug`` out, wherever it stands before ``--``."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [word for word in arguments[:end] if word != "--debug"] + arguments[end:]
    return kept, len(kept) < len(arguments) or os.environ.get("SUMFIT_DEBUG", "") not in ("", "0")


def _with_default(arguments: list[str]) -> list[str]:
    """Put the default command in front where no command is named."""
    if not arguments:
        return [DEFAULT]
    first = arguments[0]
    if first in COMMANDS or first == "-h" or first.split("=")[0] in _OWN_OPTIONS:
        return arguments
    return [DEFAULT, *arguments]


def _problem_with(arguments: list[str]) -> str:
    """What is probably meant otherwise than it would be read; empty for nothing."""
    first = arguments[0] if arguments else ""
    if not first or first in COMMANDS or first.startswith("-") or len(first.split()) > 1:
        return ""
    if len(first) < 200 and Path(first).is_file():
        name = one_line(first)
        return (
            f"{name} is a file; to summarise it as one text run: sumfit [OPTIONS] < {name}; "
            f"to summarise each of its lines or records run: sumfit summarize {name} [OPTIONS]"
        )
    near = difflib.get_close_matches(first, COMMANDS, n=1, cutoff=0.75)
    if near and len(arguments) > 1:
        return (
            f"there is no command {printable(first)!r}; did you mean {near[0]!r}? "
            f"(to summarise the word itself: sumfit -- {printable(first)} ...)"
        )
    return ""


def _done(result: object) -> int:
    """The exit code that a finished command leaves: that of ``typer.Exit``, else 0."""
    return result if isinstance(result, int) else 0


def usage_message(error: Any, arguments: Sequence[str]) -> str:
    """What is wrong with a command line, in one style: rule, value, what to do.

    Args:
        error: What typer raised.
        arguments: The words given.

    Returns:
        One sentence without its full stop.
    """
    command = "sumfit" + (f" {arguments[0]}" if arguments[:1] and arguments[0] in COMMANDS else "")
    if error.ctx is not None:
        command = error.ctx.command_path
    help = f"see {command} --help"
    name = getattr(error, "option_name", None)
    if name is not None and hasattr(error, "possibilities"):
        known = [flag for one in error.ctx.command.params for flag in one.opts] if error.ctx else []
        near = difflib.get_close_matches(name, known, n=1)
        return f"there is no option {name}" + (
            f"; did you mean {near[0]}?" if near else f"; {help}"
        )
    if name is not None:
        return f"{name} needs a value; {help}"
    parameter = getattr(error, "param", None)
    message = (error.message or error.format_message()).strip().rstrip(".")
    if parameter is None:
        return f"{message[:1].lower()}{message[1:]}; {help}"
    is_argument = parameter.param_type_name == "argument"
    flag = str(parameter.name).upper() if is_argument else max(parameter.opts, key=len)
    if type(error).__name__ == "MissingParameter":
        return f"{flag} is missing; {help}"
    return f"{flag}: {message}; {help}{settings_of(error.ctx, parameter)}"


def _exit_code(leave: SystemExit) -> int:
    if leave.code is None:
        return 0
    return leave.code if isinstance(leave.code, int) else 1


def _flush_or_close_stdout() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _close_stdout()


def _close_stdout() -> None:
    """Point stdout at nothing, so that flushing it at exit does not fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
