"""Weighted length of a post on X (Twitter), by the rules that twitter-text 3 documents.

Owns the unit, `tweet_weight`, `weight_of_character` and `find_links`. A character weighs 1 in four
ranges (most alphabetic scripts and general punctuation) and 2 elsewhere; an emoji, however many
code points it has, weighs 2; a link weighs 23, with or without ``https://``.

The sum of costs is never below the weight, links without a scheme apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import resources

import regex

from sumfit.length.pieces import PerCharacter
from sumfit.length.unit import Additive, Unit
from sumfit.parts import cut_at_spaces

__all__ = ["LINK_WEIGHT", "UNIT", "find_links", "tweet_weight", "weight_of_character"]

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
_NO_NAME = r"\s!'#%&()*+,\\/:;<=>?@\[\]\^{|}~$\x00-\x1f\x7f-\x9f\u202a-\u202e\ufffe\ufeff\uffff"
_NAME = rf"[^{_NO_NAME}\-_.]"
_BEFORE = r"[^A-Za-z0-9@＠$#＃\u202a-\u202e\ufffe\ufeff\uffff]"  # what a domain may follow
_DOTTED = regex.compile(rf"[^{_NO_NAME}]+")
_BEGIN = regex.compile(rf"(?<={_BEFORE}){_NAME}")
_NAME_CHARACTER = regex.compile(_NAME)
_END = regex.compile(rf"{_NAME}(?:{_NAME}|-)*+")
_SCHEME = regex.compile(rf"(?:(?<={_BEFORE})|^)[Hh][Tt][Tt][Pp][Ss]?://$")
_LONGEST_SCHEME = len("https://") + 1  # and what stands before it
# Each run is tried once, from its beginning, and given up whole: no character is read twice.
_PLAIN_NAMES = regex.compile(
    rf"(?:\G\.?|(?<![A-Za-z0-9\-{_ACCENTED}])(?<![A-Za-z0-9\-{_ACCENTED}]\.))"
    rf"(?P<name>(?:[A-Za-z0-9\-{_ACCENTED}]++\.)+[A-Za-z0-9\-]+)"
)
_HEAVY = regex.compile("[^" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in _LIGHT) + "]+")


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
    if "." not in text:
        return links
    position = 0
    for run in _DOTTED.finditer(text):
        if run.end() <= position or "." not in run.group():
            continue
        domains = _Domains(text, *run.span())
        while (found := domains.next(position)) is not None:
            scheme, start, host_end = found
            end = _end_of_domain(text, start, host_end)
            if end is None:
                position = host_end
                continue
            tail = _TAIL.match(text, end)
            position = tail.end()
            if scheme is not None:
                links.append((scheme, position))
            elif start == 0 or text[start - 1] not in "-_./":
                names = _plain_names(text, start, end)
                if names and tail.group("path"):
                    names[-1] = (names[-1][0], position)
                links += names
    return links


class _Domains:
    """The domains within one run of names, dots, hyphens and underscores, in linear time.

    A domain is labels between single dots. Each label begins with a name's character, and neither
    of the last two holds an underscore; what follows the name's characters of the last one is no
    part of it. Its first label may be the end of a longer one.

    The labels of the run are read once, from the right: ``_last[m]`` is the last label but one of
    the longest domain whose first label lies in label m, or m itself where that depends on where
    it begins; ``None`` if there is no such domain.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._start = start
        labels = text[start:end].split(".")
        self._starts = [start]
        for label in labels[:-1]:
            self._starts.append(self._starts[-1] + len(label) + 1)
        self._ends = [one + len(label) for one, label in zip(self._starts, labels, strict=True)]
        self._last: list[int | None] = [None] * len(labels)
        for m in range(len(labels) - 2, -1, -1):
            if _NAME_CHARACTER.match(labels[m + 1]):
                after = self._last[m + 1]
                is_open = after is None or (after == m + 1 and "_" in labels[after])
                self._last[m] = m if is_open else after
        self._label = 0

    def next(self, position: int) -> tuple[int | None, int, int] | None:
        """The first domain whose surroundings begin at a position or later.

        Args:
            position: Where in the text, never less than in the call before.

        Returns:
            Where its scheme begins, if it has one, where it begins and where it ends.
        """
        if self._label == 0 and (found := self._opening(position)) is not None:
            return found
        while self._label < len(self._ends):
            last, m = self._last[self._label], self._label
            if last is not None and position < self._ends[m]:
                begin = self._starts[m]
                if last == m:
                    begin = max(begin, self._text.rfind("_", begin, self._ends[m]) + 1)
                found = _BEGIN.search(self._text, max(begin, position + 1), self._ends[m])
                if found:
                    return None, found.start(), self._end_after(last)
            self._label += 1
        return None

    def _opening(self, position: int) -> tuple[int | None, int, int] | None:
        """The domain at the beginning of the run: after a scheme, or of the text."""
        start, last = self._start, self._last[0]
        if last is None or (last == 0 and "_" in self._text[start : self._ends[0]]):
            return None
        if not _NAME_CHARACTER.match(self._text, start):
            return None
        scheme = _SCHEME.search(self._text, max(0, start - _LONGEST_SCHEME), start)
        if scheme and (scheme.start() > position or scheme.start() == position == 0):
            return scheme.start(), start, self._end_after(last)
        if start == position == 0 and not _BEGIN.match(self._text, 1):
            return None, start, self._end_after(last)
        return None

    def _end_after(self, last: int) -> int:
        found = _END.match(self._text, self._starts[last + 1], self._ends[last + 1])
        end: int = found.end()
        return end


def _plain_names(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The ASCII domains within a domain."""
    names = []
    while found := _PLAIN_NAMES.search(text, start, end):
        begin, name_end = found.span("name")
        stop = _end_of_domain(text, begin, name_end)
        if stop is not None:
            names.append((begin, stop))
        start = stop or name_end
    return names


def _end_of_domain(text: str, start: int, end: int) -> int | None:
    """End of the longest run of labels that closes with a top-level domain."""
    first, *labels = text[start:end].split(".")
    stop = None
    position = start + len(first)
    for label in labels:
        position += 1
        for length in _lengths_to_try(label):
            follower = text[position + length : position + length + 1]
            is_top = (length == len(label) and label[:4].lower() == "xn--") or (
                label[:length].lower() in _top_level_domains()
            )
            if is_top and not _CONTINUES.match(follower):
                stop = position + length
                break
        position += len(label)
    return stop


def _lengths_to_try(label: str) -> Iterator[int]:
    """Lengths that a top-level domain at the beginning of a label may have, longest first."""
    longest = _longest_top_level_domain()
    if len(label) > longest:
        yield len(label)
    yield from range(min(len(label), longest), 1, -1)


@lru_cache(maxsize=1)
def _top_level_domains() -> frozenset[str]:
    listed = resources.files("sumfit.length").joinpath("tlds.txt").read_text(encoding="utf-8")
    return frozenset(listed.split())


@lru_cache(maxsize=1)
def _longest_top_level_domain() -> int:
    return max(map(len, _top_level_domains()))


def _plain_weight(text: str) -> int:
    if text.isascii():
        return len(text)
    rest: str
    n_emoji: int
    rest, n_emoji = _EMOJI.subn("", text)
    return 2 * n_emoji + len(rest) + sum(map(len, _HEAVY.findall(rest)))


UNIT = Unit(
    "tweet",
    tweet_weight,
    description="weighted characters of a post on X",
    parts=cut_at_spaces,
    cost=PerCharacter(weight_of_character, three=2, four=2),
    additive=Additive.ON_ASCII,
    tuned_like="chars",
    singular="X character",
    plural="X characters",
    slider=(20, 280),
    start=280,
    order=80,
)
