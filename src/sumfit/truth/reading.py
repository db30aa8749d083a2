"""A text cut into words and numbers, each with its stem, its clause and its sentence.

Owns `Reading` and the cutting. What is a name, a number or a denial is decided by the modules
beside this one; all of them read a text through this form, so it is made once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.truth.stems import stem

__all__ = ["FUNCTION", "Reading", "read"]

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


def read(text: str) -> Reading:
    """Cut a text.

    Args:
        text: Any text.

    Returns:
        Its words.
    """
    words: list[str] = []
    clauses: list[int] = []
    sentences: list[int] = []
    firsts: list[int] = [0]  # places of few words; the lists are made of them at the end
    digits: list[int] = []
    shortened: list[int] = []
    befores: list[tuple[int, str]] = []
    afters: list[tuple[int, str]] = []
    clause, sentence, marked_at = 0, 0, -1
    for initials, word, number, mark in _TOKEN.findall(text.replace("’", "'")):
        if word:
            if "'" in word:
                word = _CLITIC.sub("", word)
        elif mark:
            place = len(words)
            if place and place != marked_at:
                afters.append((place - 1, mark))
                marked_at = place
            if mark[0] in _ENDS:
                if mark == "." and words and _is_short(words[-1]):
                    continue
                sentence += 1
                clause += 1
                firsts.append(place)
                continue
            befores.append((place, mark))
            if mark not in _BESIDE_WORDS:
                clause += mark not in _QUOTES
                if mark in _OPENS:
                    firsts.append(place)
            continue
        elif number:
            word = number
            digits.append(len(words))
        else:
            word = initials
            shortened.append(len(words))
        words.append(word)
        clauses.append(clause)
        sentences.append(sentence)
    n = len(words)
    folded = [word.lower() for word in words]
    for place in shortened:
        folded[place] = folded[place].replace(".", "")
    stems = list(map(stem, folded))
    is_content = [low not in FUNCTION and len(low) > 1 for low in folded]
    is_number, is_first = [False] * n, [False] * n
    before, after = [""] * n, [""] * n
    for place in digits:
        is_number[place], is_content[place] = True, False
        stems[place] = folded[place]
    for place in firsts:
        if place < n:
            is_first[place] = True
    for place, mark in befores:
        if place < n:
            before[place] = mark
    for place, mark in afters:
        after[place] = mark
    return Reading(
        words, folded, stems, is_number, is_content, is_first, clauses, sentences, before, after
    )


def _is_short(word: str) -> bool:
    """Whether a full stop after a word more often shortens it than ends a sentence."""
    return word.lower() in _NOT_STOPS or (len(word) == 1 and word.isupper() and word != "I")
