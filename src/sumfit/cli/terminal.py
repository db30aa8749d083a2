"""What a terminal may be shown: UTF-8 streams, names on one line, words of the command line.

Owns how things look on stdout and stderr. Does not own what is printed.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable
from functools import cache

from sumfit.errors import InputError

__all__ = [
    "as_utf8",
    "check_utf8",
    "in_flags",
    "names_on_one_line",
    "not_utf8",
    "use_utf8",
]

_OF_COMMANDS = (  # options that are none of a summary
    "backend batch_size delimiter device encoding engine gpus log_level max_batch max_body_bytes "
    "max_texts n_workers output_field port precision processes queue_size search_time_limit_s "
    "workers"
).split()
_OTHER_FLAGS = {"search_time_limit_s": "--search-time-limit", "n_workers": "--workers"}
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


def in_flags(message: str) -> str:
    """An error message of the library in the command line's words.

    Args:
        message: It may name keyword arguments, as in ``max_chars=60`` or ``max_chars must be``.

    Returns:
        The message with ``--max-chars 60`` in their place.
    """
    flags, switches = _flags()
    names = "|".join(flags)

    def flag(match: re.Match[str]) -> str:
        return f"{flags[match[1]]}{' ' if match[2] else ''}"

    def switch(match: re.Match[str]) -> str:
        return flags[match[1]] if match[2] == "True" else f"--no-{flags[match[1]][2:]}"

    message = re.sub(rf"(?<![\w.-])({'|'.join(switches)})=(True|False)\b", switch, message)
    return re.sub(rf"(?<![\w.-])({names})(?:=(?=([^\s,;.)]?))|(?= must ))", flag, message)


@cache
def _flags() -> tuple[dict[str, str], list[str]]:
    """The flag of every keyword, and which of them are switches."""
    from sumfit.length.request import LIMIT_KEYWORDS  # here, for what needs no model starts fast
    from sumfit.options import OPTIONS

    others = ("unit", "ratio_rule", "reserve", "prefix", "suffix")
    names = (*LIMIT_KEYWORDS, *others, *_OF_COMMANDS)
    flags = {name: f"--{name.replace('_', '-')}" for name in names} | _OTHER_FLAGS
    flags |= {name: one.long_flag for name, one in OPTIONS.items()}
    return flags, [name for name, one in OPTIONS.items() if one.kind is bool]
