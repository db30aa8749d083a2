"""Web addresses.

Owns what is left of an address in a sentence. Mail addresses and bare host names stay; what stands
behind the name of a service for short links is an address without a scheme too ("t.co/abc").
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_links", "is_only_links"]

_SHORTENER = (  # hosts that say nothing of what is there
    r"(?:t\.co|pic\.(?:twitter|x)\.com|bit\.ly|j\.mp|goo\.gl|ow\.ly|buff\.ly|dlvr\.it|ift\.tt|is\.gd|"
    r"v\.gd|tinyurl\.com|lnkd\.in|trib\.al|fb\.me|youtu\.be|amzn\.to|wp\.me|rebrand\.ly|cutt\.ly|"
    r"rb\.gy|shorturl\.at|tiny\.cc|hubs\.ly|spoti\.fi|nyti\.ms|reut\.rs|cnn\.it|bbc\.in|wapo\.st)"
)
_SHORT = rf"(?<![\w@/.`-]){_SHORTENER}/(?=[\w-]{{2}})"
_URL = re.compile(rf"(?:https?://|ftp://|www\.|{_SHORT})[^\s<>`\"“”\u3000]+", re.IGNORECASE)
_SHORTENED = re.compile(rf"(?:https?://)?(?:www\.)?{_SHORTENER}/", re.IGNORECASE)
_NEEDS_SHORT = re.compile(  # words that a sentence does not end with
    r"(?:\b(?:at|on|via|under|from|to|in|of|visit|see|with|by|through|using|for|like|is|are|was|and|or|"
    r"the|an?|this|that|our|your|links?|urls?|address|called|here|click|tap|open|follow)|[:=])\s{0,4}\Z",
    re.IGNORECASE,
)
_BEHIND_SHORT = re.compile(
    r"[.!?,;…)]*(?:\s{0,4}\Z|[ \t]{0,4}\n|[ \t]{1,4}(?:[^\Wa-z]|[^\w\s]|(?i:https?:|www\.|"
    rf"{_SHORTENER}/)|(?:and|or|but|as|after|before|when|while|because|with)\b))"
)
_HOST = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?(?:www\.)?([^/:?#\s]+)", re.IGNORECASE)
_IN_BRACKETS = re.compile(
    rf"(?<![ \t])[ \t]*(?:\((?:see |at |via |from )?(?:https?://|www\.|{_SHORT})[^\s()<>]+\)|"
    r"<(?:https?://|www\.)[^\s<>]+>|\[(?:https?://|www\.)[^\s\[\]]+\])",
    re.IGNORECASE,
)
_REFERENCE_LINE = re.compile(
    r"(?m)^[ \t]*\[\d{1,3}\][ \t]*:?[ \t]*(?:https?://|www\.)\S+[ \t]*$\n?"
)
_ORDER = re.compile(  # a sentence that asks to do something, up to an address
    r"(?:Please (?=[a-z]))?(?:Book|Order|Register|Sign up|Apply|Vote|Donate|Buy|Read|Download|Put)"
    r"(?:\s{1,4}[\w'’-]{1,40}){0,6}",
    re.IGNORECASE,
)
_PLACED = re.compile(r"\s{1,4}(?:at|via|under|(?:right )?here:)\s{1,4}\Z")
_KEEPS_PLACE = re.compile(  # behind an order; else the order would be another one
    r"\b(?:not|never|no|none|nothing|nobody|nowhere|neither|nor|only|just|less|fewer|cannot|except|unless|"
    r"without|than|instead|any\w*|but|\w+n['’]t)\b"
    r"|\b(?:a|an|the|of|in|to|for|with|and|or|also|more|is|are|was|were|be|been|this|that|"
    r"information|info|details)\Z",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"[.!]?(?=\s{0,4}\Z|\n|[.!][\"”’)]?\s)|"
    r"\s{1,4}(?:by|before|until|till|now|today|tomorrow|tonight|this|next|"
    r"or (?:call|phone|ring|write|text|ask|visit|come)) ?\b"
)
_ALONE = re.compile(r"\s{1,4}(?:or|by|before|until)\b")
_FORBIDS = re.compile(r"\b(?:not|never|only|instead|rather)\b", re.IGNORECASE)
_IN_SENTENCE = re.compile(r"\b(?:at|on|via|under|from|to|in|of|visit|see)\s{1,4}\Z", re.IGNORECASE)
_NEXT = re.compile(r"[ \t]{1,4}[A-Z][a-z]")
_CONTINUED = re.compile(r"[ \t]{1,4}[a-z]")
_ENDS_SENTENCE = re.compile(r"[.!?…][\"”’)]?\s|\n")
_STARTS_SENTENCE = re.compile(r"[.!?…][\"”’)]?\s{1,4}(?=[A-Z])")
_SEEN = 200  # characters before an address
_LABELLED = re.compile(  # of chats: "<https://example.org|the shop>", "<@U12|Ana>"
    r"(?:<(?:https?://|mailto:)[^\s<>|]{1,2000}|(?<![\w<>)\]])<(?:[#@][A-Z0-9]{2,20}|"
    r"!subteam\^\w{1,40}|!date\^[^<>|\n]{1,200}))\|([^<>\n|]{1,200})>"
)
_CALLED = re.compile(  # people called where a line and a sentence start: "<!here> ..."
    r"(?m)(?<![^.!?:\n]\n)^(?:[ \t]{0,8}<(?:@[A-Z0-9]{2,20}|!(?:here|channel|everyone|"
    r"subteam\^\w{1,40}))>[,:]?(?=[ \t\n])){1,20}"
    r"(?![ \t]{0,8}(?:is|was|has|had|will|would|can|could|may|must|should|and|or)\b)[ \t]{0,8}"
)
_CLOSERS = ".,;:!?'’)]}*_"


def clean_links(text: str, *, sure: bool = False) -> str:
    """Shorten web addresses to their host, or leave them out where no sentence needs them.

    An address goes that stands in brackets, on a line of its own, or behind the end of a
    sentence; and one with a path, with the "at" or "via" before it, in a few orders that can do
    without it: "Book rooms at https://example.org/x?y=1 by May." becomes "Book rooms by May.".
    Elsewhere its host stays: "Go to https://www.example.org/x?y=1." becomes "Go to example.org."
    That of a service for short links goes where a sentence may end ("Leeds win 3-1 t.co/abc").
    Of a link of a chat ("<https://example.org|the shop>") its label stays, and of "<!here>"
    at a line's start nothing.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text; unchanged if it has no addresses or nothing else.
    """
    found = _CALLED.sub("", _LABELLED.sub(r"\1", text))
    if found != text:
        found = found.strip()
    if not _URL.search(found):
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
            if len(parts) > 1 and not parts[-1].strip(" \t"):  # between two addresses
                parts[-1] = ""
            continue
        if _is_spare(address, parts[-1], found[place : place + _SEEN]):
            kept = parts[-1].rstrip(" \t,")
            parts[-1] = kept + "." * (kept[-1:].isalnum() and _NEXT.match(found, place) is not None)
            continue
        host = _HOST.match(address)
        has_path = host is not None and address[host.end() :].strip("/") != ""
        placed = _placed(parts[-1], found[place : place + _SEEN]) if has_path else None
        if placed is not None:
            parts[-1] = placed
            continue
        parts.append(host.group(1) if host else "")
    found = ("".join(parts) + found[place:]).strip()
    return found if has_words(found) and not is_only_links(text) else text


def _is_spare(address: str, before: str, after: str) -> bool:
    """Return whether an address is a short one, added to a sentence that does not need it."""
    if not _SHORTENED.match(address) or _NEEDS_SHORT.search(before[-40:]):
        return False
    return _BEHIND_SHORT.match(after) is not None


def _placed(before: str, after: str) -> str | None:
    """What stands before an address, without its "at"; ``None`` if the sentence needs both.

    Only a sentence that asks to do something stays true without it: "Buy tickets at ...".
    """
    seen = before[-_SEEN:]
    found = _PLACED.search(seen)
    if found is None or not _GOES_ON.match(after):
        return None
    starts = [mark.end() for mark in _STARTS_SENTENCE.finditer(seen, 0, found.start())]
    if not starts and len(before) > _SEEN:
        return None
    order = seen[starts[-1] if starts else 0 : found.start()]
    rest = _ENDS_SENTENCE.split(after, maxsplit=1)[0]
    if not _ORDER.fullmatch(order) or not order[0].isupper() or _KEEPS_PLACE.search(order):
        return None
    if _URL.search(rest) or _FORBIDS.search(rest):
        return None
    if " " not in order and not _ALONE.match(after):
        return None
    return before[: len(before) - len(seen) + found.start()]


def is_only_links(text: str) -> bool:
    """Tell whether a text is nothing but web addresses.

    Args:
        text: Any text.

    Returns:
        The verdict; ``False`` for a text without any.
    """
    return _URL.search(text) is not None and not has_words(_URL.sub("", text))
