"""What a terminal may be shown: UTF-8 streams, names on one line, words of the command line.

Owns how things look on stdout and stderr. Does not own what is printed.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable

from sumfit.errors import InputError, Keyword

__all__ = [
    "as_flag",
    "as_utf8",
    "check_utf8",
    "names_on_one_line",
    "not_utf8",
    "use_utf8",
]

_SURROGATE = re.compile("[\udc80-\udcff]")  # a byte of an argument that is no UTF-8


def use_utf8() -> None:
    """Make stdout and stderr UTF-8 whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def as_utf8(argument: str) -> str:
    """An argument read as UTF-8 where the locale, such as C, could not read it.

    Args:
        argument: As Python hands it over: bytes that the locale lacks are lone surrogates.

    Returns:
        The argument; as it was if its bytes are not UTF-8 either.
    """
    if argument.isascii() or not any("\udc80" <= character <= "\udcff" for character in argument):
        return argument
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def check_utf8(argument: str, name: str) -> None:
    """Raise unless an argument is UTF-8, as for a file.

    Args:
        argument: As `as_utf8` returns it.
        name: What it is, for the message.

    Raises:
        InputError: If it holds such bytes.
    """
    if not _SURROGATE.search(argument):
        return
    with contextlib.suppress(UnicodeEncodeError):  # halves of UTF-16: no bytes of an argument
        data = argument.encode("utf-8", "surrogateescape")
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_utf8(name, data, error) from error


def not_utf8(name: str, data: bytes, error: UnicodeDecodeError) -> InputError:
    """The error for bytes that are no text.

    Args:
        name: Where they are.
        data: The bytes.
        error: What decoding them said.

    Returns:
        The error to raise.
    """
    line = data.count(b"\n", 0, error.start) + 1
    return InputError(
        f"{name} is not UTF-8 (line {line}, byte {error.start}: 0x{data[error.start]:02x}); "
        "convert it to UTF-8"
    )


def names_on_one_line(message: str, arguments: Iterable[str]) -> str:
    """A message of possibly several lines in which the names that were given have one each.

    Args:
        message: The message; its own line feeds stay.
        arguments: Words of the command line, some of them file names.

    Returns:
        The message, line feeds inside those words spelled out.
    """
    for word in arguments:
        for part in word.replace("=", "/").split("/"):  # a message may name a folder above alone
            if "\n" in part and part.strip():
                message = message.replace(part, part.replace("\n", "\\n"))
    return message


def as_flag(keyword: Keyword) -> str:
    """A parameter in the message of an error, as the command line has it.

    Args:
        keyword: The parameter, as ``max_chars=60`` or ``clean=False``.

    Returns:
        ``--max-chars 60``, ``--no-clean``; as it is where it stands in words.
    """
    from sumfit.options import OPTIONS  # here, for what needs no model starts fast

    name, after, _ = keyword
    if after.startswith(" "):
        return str(keyword)
    declared = OPTIONS.get(name)
    # Of other options the flag does not say what their names in Python say: number, seconds.
    words = name.removeprefix("n_").removesuffix("_s").replace("_", "-")
    flag = declared.long_flag if declared else f"--{words}"
    if declared and declared.kind is bool and after in ("=True", "=False"):
        return flag if after == "=True" else f"--no-{flag[2:]}"
    return f"{flag} {after[1:]}" if after[1:] else flag
