"""A text cut into words and numbers, each with its stem, its clause and its sentence.

Owns `Reading` and the cutting. What is a name, a number or a denial is decided by the modules
beside this one; all of them read a text through this form, so it is made once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.truth.stems import stem

__all__ = ["FUNCTION", "Reading", "are_neighbours", "content_stems", "next_word", "read"]

T = TypeVar("T")

_TOKEN = re.compile(
    r"((?<![\w.])(?:[^\W\d_]\.){2,8}(?!\w))"  # initials: U.S.
    r"|([^\W\d_]+(?:'[^\W\d_]+)*)"  # a word
    r"|(\d[\d.,:/]*(?<=\d)|#[#.,]*(?<=#))"  # a number; Gigaword form has # for every digit
    r"|((?<![.!?…])[.!?…]+(?!\w)|[;:,()\[\]\n—–\"“”&+%$£€¥₹]|--|(?<=\s)-(?=\s))"
)
_CLITIC = re.compile(r"'(?:s|d|ll|re|ve|m)$")
_NOT_STOPS = frozenset("mr mrs ms dr st vs prof sen rep gov gen lt col inc ltd co corp jr".split())
_ENDS = frozenset(".!?…\n")
_BESIDE_WORDS = frozenset("&+%$£€¥₹")
_QUOTES = frozenset('"“”')
_NO_MARKS = frozenset(("", "$", "£", "€", "¥", "₹"))
_OPENS = frozenset((":", '"', "“", "—", "–", "--"))

FUNCTION = FUNCTION_WORDS | frozenset("s t d m ll re ve mr mrs ms dr".split())
"""Words that state nothing by themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A text as words, each a place in all of these lists.

    Attributes:
        words: As the text writes them, without "'s" and the like; numbers with their digits.
        folded: In lower case, without the stops of initials.
        stems: As `stems.stem` joins them; numbers as they are.
        is_number: The word is written in digits.
        is_content: It states something: no function word, no single letter, no number.
        is_first: It begins the text, a sentence, a quotation, or what follows a colon.
        clause: Number of its clause: commas and the like part clauses, not conjunctions.
        sentence: Number of its sentence.
        before: The mark right before it, ``""`` for none.
        after: The mark right after it, ``""`` for none.
    """

    words: list[str]
    folded: list[str]
    stems: list[str]
    is_number: list[bool]
    is_content: list[bool]
    is_first: list[bool]
    clause: list[int]
    sentence: list[int]
    before: list[str]
    after: list[str]

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)


@dataclass(slots=True)
class _Cuts:
    """What is found in one pass over a text; places of few words are kept as lists of places."""

    words: list[str] = field(default_factory=list)
    clauses: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=lambda: [0])
    digits: list[int] = field(default_factory=list)
    shortened: list[int] = field(default_factory=list)
    befores: list[tuple[int, str]] = field(default_factory=list)
    afters: list[tuple[int, str]] = field(default_factory=list)

    def reading(self) -> Reading:
        """Return the text as its readers want it."""
        n = len(self.words)
        folded = [word.lower() for word in self.words]
        for place in self.shortened:
            folded[place] = folded[place].replace(".", "")
        stems = list(map(stem, folded))
        is_content = [low not in FUNCTION and len(low) > 1 for low in folded]
        for place in self.digits:
            is_content[place] = False
            stems[place] = folded[place]
        return Reading(
            self.words,
            folded,
            stems,
            _spread(n, False, ((place, True) for place in self.digits)),
            is_content,
            _spread(n, False, ((place, True) for place in self.firsts)),
            self.clauses,
            self.sentences,
            _spread(n, "", self.befores),
            _spread(n, "", self.afters),
        )


def read(text: str) -> Reading:
    """Cut a text.

    Args:
        text: Any text.

    Returns:
        Its words.
    """
    cuts = _Cuts()
    words = cuts.words
    clause, sentence, marked_at = 0, 0, -1
    for initials, word, number, mark in _TOKEN.findall(text.replace("’", "'")):
        if word:
            if "'" in word:
                word = _CLITIC.sub("", word)
        elif mark:
            place = len(words)
            if place and place != marked_at:
                cuts.afters.append((place - 1, mark))
                marked_at = place
            if mark[0] in _ENDS:
                if mark == "." and words and _is_short(words[-1]):
                    continue
                sentence += 1
                clause += 1
                cuts.firsts.append(place)
                continue
            cuts.befores.append((place, mark))
            if mark not in _BESIDE_WORDS:
                clause += mark not in _QUOTES
                if mark in _OPENS:
                    cuts.firsts.append(place)
            continue
        elif number:
            word = number
            cuts.digits.append(len(words))
        else:
            word = initials
            cuts.shortened.append(len(words))
        words.append(word)
        cuts.clauses.append(clause)
        cuts.sentences.append(sentence)
    return cuts.reading()


def _spread(n: int, common: T, others: Iterable[tuple[int, T]]) -> list[T]:
    """Return a list of ``n`` values that are all one but at a few places below ``n``."""
    values = [common] * n
    for place, value in others:
        if place < n:
            values[place] = value
    return values


def _is_short(word: str) -> bool:
    """Return whether a full stop after a word more often shortens it than ends a sentence."""
    return word.lower() in _NOT_STOPS or (len(word) == 1 and word.isupper() and word != "I")


def content_stems(text: str) -> frozenset[str]:
    """Collect what a text speaks of.

    Args:
        text: Any text.

    Returns:
        Stems of its content words, and its numbers.
    """
    words = read(text)
    return frozenset(
        stem
        for stem, is_content in zip(words.stems, words.is_content, strict=True)
        if is_content or stem[:1].isdigit()
    )


def next_word(reading: Reading, place: int) -> str:
    """Find the word right behind another one.

    Args:
        reading: A text.
        place: The other word's place.

    Returns:
        The word in lower case, ``""`` if nothing is there or a mark but a currency's.
    """
    after = place + 1
    if after >= len(reading) or not {reading.after[place], reading.before[after]} <= _NO_MARKS:
        return ""
    return reading.folded[after]


def are_neighbours(source: Reading, places: Iterable[int], behind: str) -> bool:
    """Say whether a word stands right behind another one somewhere, marks between them or not.

    Args:
        source: A text.
        places: The other word's places.
        behind: The word in lower case.

    Returns:
        The verdict.
    """
    return any(source.folded[place + 1 : place + 2] == [behind] for place in places)
