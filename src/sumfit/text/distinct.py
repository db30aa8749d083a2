"""Which of several texts say something else than the others.

Owns `distinct` and `Distinct`: near-doubles are grouped, and of each group the first stays. A text
property: nothing here knows how the texts were made or ranked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import regex

from sumfit.text.scripts import UNSPACED

__all__ = ["Distinct", "distinct"]

T = TypeVar("T")

_WORDS = regex.compile(
    rf"[{UNSPACED}]\p{{M}}*"  # every letter of scripts without spaces
    rf"|(?:(?![{UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}])+"
    r"|[\p{So}\p{Sc}%]"
)
_JOINED_NOT = regex.compile(r"n['’]t(?![\p{L}\p{N}])")
_CLITIC = regex.compile(r"(?<=[\p{L}\p{N}])['’](?:s|d|m|ll|re|ve)(?![\p{L}\p{N}])")
_JOINED_NUMBER = regex.compile(r"(?<=\p{N})[.,:](?=\p{N})")
_ENDING = regex.compile(r"(?<=[a-z]{3})(?:ing|ed|es|e|s)$")
_DOUBLED = regex.compile(r"([b-df-hj-np-tv-z])\1$")  # stopp(ed) is stop
_EMPTY = frozenset("a an the is are was were be been being am".split())
# One of these instead of another changes the grammar, hardly what is said. Words of direction and
# time, such as "from" and "before", are not among them.
_LIGHT = frozenset(
    """
    of for on at in by with as to and or that which who it its their our his her my your this these
    those will has have had do does did because due
    """.split()
)
# A text with one of these more says something else, however alike the rest is.
_TURNING = frozenset(
    """
    not no never none nobody nothing neither nor without cannot unlikely hardly
    may might could would should must can allegedly reportedly if unless
    不 没 無 无 非 未
    """.split()
)
_AS_THEY_ARE = _LIGHT | _TURNING


def distinct(
    candidates: Iterable[T], n_most: int | None = None, *, text: Callable[[T], str] = str
) -> list[T]:
    """Keep of every group of near-doubles the first.

    Two texts are near-doubles if they have the same words, if one has a single word more than the
    other, or if a single light word ("of", "with", "will") stands for another one. Case, marks,
    articles, forms of "be" and endings ("stop", "stops", "stopping") do not count; a word that
    turns or weakens a statement ("not", "never", "may") always does. Time is linear in the number
    of candidates and quadratic in the words of one of them, and no more candidates are taken than
    are needed.

    Args:
        candidates: Texts, or what has a text, the best first.
        n_most: Most that are wanted; ``None`` for all.
        text: Gives the text of a candidate.

    Returns:
        Those kept, in their order.
    """
    known = Distinct()
    kept: list[T] = []
    if n_most is not None and n_most < 1:
        return kept
    for candidate in candidates:
        if known.add(text(candidate)):
            kept.append(candidate)
            if len(kept) == n_most:
                break
    return kept


class Distinct:
    """Texts of which no two are near-doubles, see `distinct`; grows one by one."""

    def __init__(self) -> None:
        """Start without any."""
        self._known: set[tuple[str, ...]] = set()
        self._shortened: set[tuple[str, ...]] = set()
        self._lightened: set[tuple[str, ...]] = set()

    def __len__(self) -> int:
        """Number of texts that were kept."""
        return len(self._known)

    def add(self, text: str) -> bool:
        """Keep a text unless it is a near-double of one that was kept.

        Args:
            text: The text.

        Returns:
            Whether it was kept.
        """
        words = _words_of(text)
        shorter = list(_one_word_out(words))
        if words in self._known or words in self._shortened:
            return False
        lightened = list(_light_word_blank(words))
        if not (self._known.isdisjoint(shorter) and self._lightened.isdisjoint(lightened)):
            return False
        self._known.add(words)
        self._shortened.update(shorter)
        self._lightened.update(lightened)
        return True


def _words_of(text: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", text.casefold())
    folded = _CLITIC.sub("", _JOINED_NOT.sub(" not", folded))
    folded = _JOINED_NUMBER.sub("", folded)
    return tuple(
        word if word in _AS_THEY_ARE else _DOUBLED.sub(r"\1", _ENDING.sub("", word))
        for word in _WORDS.findall(folded)
        if word not in _EMPTY
    )


def _one_word_out(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for place, word in enumerate(words):
        if word not in _TURNING and len(words) > 1:
            yield words[:place] + words[place + 1 :]


def _light_word_blank(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for place, word in enumerate(words):
        if word in _LIGHT:
            yield (*words[:place], "", *words[place + 1 :])
