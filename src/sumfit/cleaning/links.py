"""Web addresses.

Owns what is left of an address in a sentence. Mail addresses and bare host names stay.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_links", "is_only_links"]

_URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>`\"“”\u3000]+", re.IGNORECASE)
_HOST = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?(?:www\.)?([^/:?#\s]+)", re.IGNORECASE)
_IN_BRACKETS = re.compile(
    r"(?<![ \t])[ \t]*(?:\((?:see |at |via |from )?(?:https?://|www\.)[^\s()<>]+\)|"
    r"<(?:https?://|www\.)[^\s<>]+>|\[(?:https?://|www\.)[^\s\[\]]+\])",
    re.IGNORECASE,
)
_REFERENCE_LINE = re.compile(
    r"(?m)^[ \t]*\[\d{1,3}\][ \t]*:?[ \t]*(?:https?://|www\.)\S+[ \t]*$\n?"
)
_CLOSERS = ".,;:!?'’)]}*_"


def clean_links(text: str, *, sure: bool = False) -> str:
    """Shorten web addresses to their host, or leave them out where no sentence needs them.

    An address goes that stands in brackets, on a line of its own, or behind the end of a
    sentence; elsewhere its host stays: "Book at https://www.example.org/x?y=1." becomes
    "Book at example.org."

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text; unchanged if it has no addresses or nothing else.
    """
    if "://" not in text and "www." not in text.lower():
        return text
    found = _IN_BRACKETS.sub("", _REFERENCE_LINE.sub("", text))
    parts: list[str] = []
    place, end = 0, len(found.rstrip())
    for url in _URL.finditer(found):
        parts.append(found[place : url.start()])
        address = url.group().rstrip(_CLOSERS)
        place = url.start() + len(address)
        before = (parts[-1][-40:] or "").rstrip(" \t")
        after = found[place : place + 1]
        is_apart = not before or before[-1] in "\n.!?…"
        ends = place >= end or after == "\n" or is_apart
        if is_apart and ends:
            continue
        host = _HOST.match(address)
        parts.append(host.group(1) if host else "")
    found = ("".join(parts) + found[place:]).strip()
    return found if has_words(found) and not is_only_links(text) else text


def is_only_links(text: str) -> bool:
    """Tell whether a text is nothing but web addresses.

    Args:
        text: Any text.

    Returns:
        The verdict; ``False`` for a text without any.
    """
    return _URL.search(text) is not None and not has_words(_URL.sub("", text))
