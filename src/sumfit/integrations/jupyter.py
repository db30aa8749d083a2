"""``%%sumfit`` for IPython and Jupyter: ``%load_ext sumfit``, then a cell is a text.

Owns how the line of the magic is read. What a summary looks like in a notebook is its own.
"""

from __future__ import annotations

import ast
import functools
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sumfit.errors import SumfitError

if TYPE_CHECKING:
    from sumfit.options import Option

__all__ = ["load_ipython_extension", "read_line"]


def load_ipython_extension(shell: Any) -> None:
    """Give a shell the magic; called by ``%load_ext sumfit``.

    Args:
        shell: The running ``InteractiveShell``.
    """

    def sumfit(line: str, cell: str | None = None) -> Any:
        """Summarise the text of a cell, or of a variable.

        ``%%sumfit --max-chars 60`` takes the cell; ``%sumfit --max-chars 60 article`` the
        variable ``article``, which may hold many texts. Options are those of the command line;
        ``--model DIR`` names another model.
        """
        from IPython.core.error import UsageError

        try:
            options, names = read_line(line)
            return _summarizer(options.pop("model", None))(
                _given(shell.user_ns, names, cell), **options
            )
        except (SumfitError, TypeError, ValueError) as error:
            raise UsageError(str(error)) from error

    shell.register_magic_function(sumfit, magic_kind="line_cell", magic_name="sumfit")


def read_line(line: str) -> tuple[dict[str, Any], list[str]]:
    """Part a line into options and other words.

    ``--max-chars 60`` and ``--max-chars=60`` are ``max_chars=60``, ``--faithful`` alone is
    ``faithful=True`` and ``--no-clean`` ``clean=False``. A value is read as Python, else as text.

    Args:
        line: What stands behind the magic.

    Returns:
        Keyword arguments, and the words that belong to no option.

    Raises:
        ValueError: If a quotation mark is left open.
    """
    options: dict[str, Any] = {}
    names: list[str] = []
    words = shlex.split(line)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            names.append(word)
            continue
        flag, has_value, value = word[2:].partition("=")
        name = flag.replace("-", "_")
        if has_value:
            options[name] = _value(value)
        elif flag.startswith("no-") and name not in _options():
            options[name[3:]] = False
        elif name in _options() and _options()[name].kind is bool:
            options[name] = True
        elif words:
            options[name] = _value(words.pop(0))
        else:
            raise ValueError(f"--{flag} needs a value; give it as --{flag} VALUE")
    return options, names


def _options() -> Mapping[str, Option]:
    from sumfit.options import OPTIONS

    return OPTIONS


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _given(variables: dict[str, Any], names: list[str], cell: str | None) -> Any:
    if cell is not None:
        if names:
            raise ValueError(f"of a cell the line holds options alone, was {names[0]!r}")
        return cell
    if len(names) != 1:
        raise ValueError("name one variable that holds a text, as in: %sumfit --max-chars 60 text")
    if names[0] not in variables:
        raise ValueError(f"there is no variable {names[0]!r}; assign the text to one first")
    return variables[names[0]]


@functools.cache
def _summarizer(model: str | None) -> Any:
    from sumfit.pipeline import Summarizer

    return Summarizer.from_pretrained(model)
