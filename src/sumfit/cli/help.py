"""How help looks: what is printed for nothing at all, examples, lines that fill the terminal.

Owns the words that no command owns. Does not own the help of any command.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

import typer

__all__ = ["EPILOG", "HELP_OPTIONS", "MARKUP", "SHORT_HELP", "with_plain_help"]

MARKUP: Final = "rich"
"""How help is set: options in groups, brackets escaped."""
HELP_OPTIONS = ["--help", "-h"]
SHORT_HELP = """\
usage: sumfit "A text" LIMIT [OPTIONS]
       sumfit COMMAND [OPTIONS]

  sumfit "A long text ..." --max-chars 63
  sumfit --max-words 8 < article.txt
  sumfit summarize news.jsonl --field body --preset push

All commands: sumfit --help. All limits and options: sumfit text --help."""
"""What somebody needs who gave neither a text nor a command."""
EPILOG = """Examples:

sumfit "A long text ..." --max-chars 63

sumfit "A long text ..." --preset seo-title --n-best 3

sumfit --max-words 8 < article.txt

sumfit summarize news.jsonl --field body --max-chars 60 --format jsonl

sumfit inspect "A long text ..." --max-words 8

Run sumfit COMMAND --help for the options of a command, sumfit text --help for those of the first
three examples."""
"""Last paragraphs of the help of the program."""


def with_plain_help(command: Any) -> Any:
    """Let help break lines where the terminal ends, and show no type behind a switch.

    Args:
        command: A click command or group; it is changed.

    Returns:
        The same command.
    """
    for one in (command, *getattr(command, "commands", {}).values()):
        one.help, one.epilog = _one_line_each(one.help), _one_line_each(one.epilog)
        help_option = one.get_help_option(typer.Context(one, help_option_names=HELP_OPTIONS))
        for parameter in (*one.params, *([help_option] if help_option else [])):
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
    return command


def _one_line_each(paragraphs: str | None) -> str | None:
    """Paragraphs without the line breaks that they have in the source."""
    if paragraphs is None:
        return None
    parts = inspect.cleandoc(paragraphs).split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)
