"""Weighted length of a post on X (Twitter), by the rules that twitter-text 3 documents.

Owns `tweet_weight`, `weight_of_character` and `find_links`. A character weighs 1 in four ranges
(most alphabetic scripts and general punctuation) and 2 elsewhere; an emoji, however many code
points it has, weighs 2; a link weighs 23, with or without ``https://``.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import regex

__all__ = ["LINK_WEIGHT", "find_links", "tweet_weight", "weight_of_character"]

LINK_WEIGHT = 23
_LIGHT = ((0, 4351), (8192, 8205), (8208, 8223), (8242, 8247))

# Copyright and registered signs are emoji only when a variation selector says so.
_PICTURE = r"(?:(?![©®])\p{Extended_Pictographic}\ufe0f?|[©®]\ufe0f)"
_MODIFIED = rf"(?:\p{{Emoji_Modifier_Base}}\p{{Emoji_Modifier}}|{_PICTURE})"
_EMOJI = regex.compile(
    r"[\U0001f1e6-\U0001f1ff]{2}"
    r"|[0-9#*]\ufe0f?\u20e3"
    r"|\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f"
    rf"|{_MODIFIED}(?:\u200d{_MODIFIED})*"
    r"|\p{Emoji_Modifier}"
)

# A name within a link: ASCII, and Latin letters with accents. With a scheme any script may stand.
_ACCENTED = r"À-ÖØ-öø-ÿĀ-ɏɓɔɖɗəɛɣɨɯɲʉʋʻ\u0300-\u036fḀ-ỿ"
_PATH_END = rf"[A-Za-zЀ-ӿ0-9=_#/+\-{_ACCENTED}]"
_PATH_INNER = rf"[A-Za-zЀ-ӿ0-9!*';:=+,.$%#\[\]\-–_~@|&{_ACCENTED}]"
_BRACKETED = rf"\((?:{_PATH_INNER}|/)+\)"
_TAIL = regex.compile(
    r"(?::[0-9]+)?"
    rf"(?P<path>/(?:(?:{_PATH_INNER}|{_BRACKETED}|/)*(?:{_PATH_END}|{_BRACKETED}))?)?"
    r"(?:\?(?:[A-Za-z0-9!?*'@();:&=+$/%#\[\]\-_.,~|]*[A-Za-z0-9\-_&=#/])?)?"
)
_CONTINUES = regex.compile(r"[A-Za-z0-9@+\-]")
# A domain may hold any script, so a link without a scheme is found in two steps: the domain
# around it, then the parts of it that are plain names ending in a top-level domain.
_NAME = r"[^\s!'#%&()*+,\\\-./:;<=>?@\[\]\^_{|}~$\x00-\x1f\x7f-\x9f\u202a-\u202e\ufffe\ufeff\uffff]"
_DOMAIN = regex.compile(
    r"(?:[^A-Za-z0-9@＠$#＃\u202a-\u202e\ufffe\ufeff\uffff]|^)(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?://)?"
    rf"(?P<host>(?:{_NAME}(?:{_NAME}|[-_])*\.)*{_NAME}(?:{_NAME}|-)*\.{_NAME}(?:{_NAME}|-)*)",
)
_PLAIN_NAMES = regex.compile(rf"(?:[A-Za-z0-9\-{_ACCENTED}]+\.)+[A-Za-z0-9\-]+")


def tweet_weight(text: str) -> int:
    """Weighted length of a text as a post.

    Args:
        text: The text, NFC.

    Returns:
        Weight; 280 is the limit of a post.
    """
    if text.isascii() and "." not in text and "\u20e3" not in text:
        return len(text)
    weight, end = 0, 0
    for start, stop in find_links(text):
        weight += _plain_weight(text[end:start]) + LINK_WEIGHT
        end = stop
    return weight + _plain_weight(text[end:])


def weight_of_character(character: str) -> int:
    """Weight of one code point outside links and emoji.

    Args:
        character: One code point.

    Returns:
        1 or 2.
    """
    point = ord(character)
    return 1 if any(low <= point <= high for low, high in _LIGHT) else 2


def find_links(text: str) -> list[tuple[int, int]]:
    """Where a post has links: with a scheme, or names that end in a top-level domain.

    Args:
        text: The text.

    Returns:
        Start and end of each link, in order.
    """
    links: list[tuple[int, int]] = []
    position = 0
    while text.find(".", position) >= 0 and (found := _DOMAIN.search(text, position)):
        start, host_end = found.span("host")
        host_end = _end_of_domain(text, start, host_end)
        if host_end is None:
            position = found.end()
            continue
        tail = _TAIL.match(text, host_end)
        position = tail.end()
        if found.group("scheme"):
            links.append((found.start("scheme"), position))
        elif text[start - 1 : start] not in tuple("-_./") or start == 0:
            names = _plain_names(text, start, host_end)
            if names and tail.group("path"):
                names[-1] = (names[-1][0], position)
            links += names
    return links


def _plain_names(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The ASCII domains within a domain."""
    names = []
    while found := _PLAIN_NAMES.search(text, start, end):
        stop = _end_of_domain(text, *found.span())
        if stop is not None:
            names.append((found.start(), stop))
        start = stop or found.end()
    return names


def _end_of_domain(text: str, start: int, end: int) -> int | None:
    """End of the longest run of labels that closes with a top-level domain."""
    first, *labels = text[start:end].split(".")
    stops = []
    position = start + len(first)
    for label in labels:
        position += 1
        for length in range(len(label), 1, -1):
            follower = text[position + length : position + length + 1]
            is_top = label[:length].lower() in _top_level_domains() or (
                length == len(label) and label[:4].lower() == "xn--"
            )
            if is_top and not _CONTINUES.match(follower):
                stops.append(position + length)
                break
        position += len(label)
    return stops[-1] if stops else None


@lru_cache(maxsize=1)
def _top_level_domains() -> frozenset[str]:
    listed = resources.files("sumfit.length").joinpath("tlds.txt").read_text(encoding="utf-8")
    return frozenset(listed.split())


def _plain_weight(text: str) -> int:
    if text.isascii():
        return len(text)
    rest: str
    n_emoji: int
    rest, n_emoji = _EMOJI.subn("", text)
    return 2 * n_emoji + sum(map(weight_of_character, rest))
