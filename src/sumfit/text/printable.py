"""Texts that may be written to a terminal, whatever they hold.

Owns which characters could steer one, and how they are spelled out instead.
"""

from __future__ import annotations

__all__ = ["one_line", "printable"]

_BIDI = frozenset(chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def printable(text: str) -> str:
    r"""A text that cannot steer a terminal.

    Args:
        text: Any string, for example part of a damaged file.

    Returns:
        The text with control characters, direction overrides and lone surrogates spelled out as
        ``\x1b``; line feeds stay.
    """
    return "".join(
        character if character == "\n" or not _is_hostile(character) else _spelled(character)
        for character in text
    )


def one_line(text: str) -> str:
    r"""A text that cannot steer a terminal nor look like several messages.

    Args:
        text: Any string, for example the name of a file.

    Returns:
        As `printable` makes it, line feeds spelled ``\n`` too.
    """
    return printable(text).replace("\n", "\\n")


def _is_hostile(character: str) -> bool:
    code = ord(character)
    return code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or character in _BIDI


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
