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
_PLACED = re.compile(  # what can go with an address, and the word before it
    r"(?:(?P<word>[\w'’]{1,40}),?\s{1,4})(?P<place>(?:online )?(?:at|on|via|under|from)"
    r"|(?:right )?here:|(?:see|see also))\s{1,4}\Z",
    re.IGNORECASE,
)
_NEEDS_PLACE = frozenset(  # words that say nothing without a place behind them
    """
    am is are was were be been being go goes going went gone look looks looking looked live lives
    lived stay stays click clicked tap log logs logged based hosted located found available
    depends depend relies rely focus focused built arrive arrives work works runs run come comes
    came start starts started taken copied downloaded bought derived and or but the a an of in to
    for with more only also not this that it
    information info details
    """.split()
)
_DENIES = re.compile(r"\b(?:not|never|no|only|cannot)\b|n['’]t\b", re.IGNORECASE)
_IN_SENTENCE = re.compile(r"\b(?:at|on|via|under|from|to|in|of|visit|see)\s{1,4}\Z", re.IGNORECASE)
_CONTINUED = re.compile(r"[ \t]{1,4}[a-z]")
_ALONE_BEFORE = re.compile(r"\s{1,4}(?:or|and|by|before|until)\b")
_MORE_LINKS = re.compile(
    r"\s{0,4}(?:,|or|and|to|,[ ]and|,[ ]or)\s{1,4}"
    r"(?:\w+://|www\.|(?:at|by|via|on|in|from|through|over)\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[ \t]|[.,;!?)]?(?:\s|\Z)")
_STARTS_SENTENCE = re.compile(r"[.!?…:\n][\"”’)]?[ \t\n]")
_SEEN = 200  # characters before an address
_LABELLED = re.compile(
    r"<(?:https?://|mailto:|#)[^\s<>|]{1,2000}\|([^<>\n|]{1,200})>|"
    r"<(?:[@!]|subteam\^)[\w^|.-]{1,60}>[ \t]?"
)  # of chats: "<https://example.org|the shop>", "<!here>"
_CLOSERS = ".,;:!?'’)]}*_"


def clean_links(text: str, *, sure: bool = False) -> str:
    """Shorten web addresses to their host, or leave them out where no sentence needs them.

    An address goes that stands in brackets, on a line of its own, or behind the end of a
    sentence; and one with a path whose sentence can do without it, with the "at" or "via" before
    it: "Book rooms at https://example.org/x?y=1 by May." becomes "Book rooms by May.". Elsewhere
    its host stays: "Go to https://www.example.org/x?y=1." becomes "Go to example.org." Of a link of
    a chat ("<https://example.org|the shop>") its label stays, and of "<!here>" nothing.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text; unchanged if it has no addresses or nothing else.
    """
    found = _LABELLED.sub(lambda link: link[1] or "", text)
    if "://" not in found and "www." not in found.lower():
        return found if has_words(found) else text
    found = _IN_BRACKETS.sub("", _REFERENCE_LINE.sub("", found))
    parts: list[str] = []
    place = 0
    for url in _URL.finditer(found):
        parts.append(found[place : url.start()])
        address = url.group().rstrip(_CLOSERS)
        place = url.start() + len(address)
        before = (parts[-1][-40:] or "").rstrip(" \t")
        is_apart = not before or before[-1] in "\n.!?…"
        if is_apart and not (
            _IN_SENTENCE.search(parts[-1][-40:]) or _CONTINUED.match(found[place : place + 6])
        ):
            continue
        placed = _placed(parts[-1], found[place : place + _SEEN]) if _has_path(address) else None
        if placed is not None:
            parts[-1] = placed
            continue
        host = _HOST.match(address)
        parts.append(host.group(1) if host else "")
    found = ("".join(parts) + found[place:]).strip()
    return found if has_words(found) and not is_only_links(text) else text


def _has_path(address: str) -> bool:
    """Whether an address is more than a host, which alone would be another address."""
    host = _HOST.match(address)
    return host is not None and len(address[host.end() :].strip("/")) > 0


def _placed(before: str, after: str) -> str | None:
    """What stands before an address, without its preposition; ``None`` if both are needed."""
    seen = before[-_SEEN:]
    found = _PLACED.search(seen)
    if found is None or not _GOES_ON.match(after) or _MORE_LINKS.match(after):
        return None
    if found.group("word").lower() in _NEEDS_PLACE:
        return None
    place = found.group("place").lower()
    if place.startswith("see") and not _ends_sentence(after):
        return None
    start = [mark.end() for mark in _STARTS_SENTENCE.finditer(seen, 0, found.start("place"))]
    sentence = seen[start[-1] if start else 0 : found.start("place")]
    words = sentence.split()
    if _DENIES.search(sentence):
        return None
    if len(words) < 2 and not (_ALONE_BEFORE.match(after) and not place.startswith("see")):
        return None
    return before[: len(before) - len(seen) + found.end("word")]


def _ends_sentence(after: str) -> bool:
    return not after.strip() or after[0] in ".!?;)\n"


def is_only_links(text: str) -> bool:
    """Tell whether a text is nothing but web addresses.

    Args:
        text: Any text.

    Returns:
        The verdict; ``False`` for a text without any.
    """
    return _URL.search(text) is not None and not has_words(_URL.sub("", text))
