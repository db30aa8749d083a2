"""Numbers of a text by their value, so that 1,200, 1200, "1.2 thousand" and "twelve hundred" agree.

Owns which numbers a text states and which of them another text lacks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from sumfit.truth.reading import Reading, read

__all__ = ["NUMBER_WORDS", "NumberFacts", "new_numbers", "number_facts", "number_spellings"]

_UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split(),
        3,
    )
} | {
    word: 10 * value
    for value, word in enumerate(
        "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth".split(), 2
    )
}
_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "dozen": 12.0,
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mln": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "tn": 1e12,
    "lakh": 1e5,
    "crore": 1e7,
}
_LETTER_SCALES = frozenset("k m mn mln b bn tn".split())
_MANY = {"dozens": 12.0, "hundreds": 1e2, "thousands": 1e3, "millions": 1e6, "billions": 1e9}
_PERCENT = frozenset("percent pct".split())
_CURRENCIES = {
    "$": "$", "dollar": "$", "dollars": "$", "usd": "$", "£": "£", "pound": "£", "pounds": "£",
    "gbp": "£", "€": "€", "euro": "€", "euros": "€", "eur": "€", "¥": "¥", "yen": "¥",
    "₹": "₹", "rupee": "₹", "rupees": "₹", "rs": "₹",
}  # fmt: skip
_IN_WORDS: dict[int, list[str]] = {}
for _words in (_UNITS, _TENS, _ORDINALS):
    for _word, _value in _words.items():
        _IN_WORDS.setdefault(_value, []).append(_word)
_WRITTEN_SCALES = tuple(
    (word, _SCALES[word]) for word in ("thousand", "million", "billion", "trillion")
)
_ONE_OF = frozenset("a an single another once sole lone only first".split())
_NO_COUNT = frozenset("no not any every each some which this that the".split())
_IMPLIED = {"second": 2, "twice": 2, "both": 2, "pair": 2, "couple": 2, "double": 2, "doubled": 2,
            "doubles": 2, "triple": 3, "tripled": 3, "triples": 3, "trio": 3}  # fmt: skip
_HEDGES = frozenset(
    "about around nearly almost over under roughly approximately some than above below up".split()
)
_LONGEST = 12  # words of a number
_CLOSE = 0.05  # how far a rounded number may be from what it rounds
_PLAIN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")

NUMBER_WORDS = frozenset(
    (*_UNITS, *_TENS, *_ORDINALS, *_MANY, *"dozen hundred thousand million billion".split())
) - {"zero", "one"} | {"trillion", "half", "quarter"}
"""Words that state a number, lower-cased; "one" is too often no number."""


@dataclass(frozen=True, slots=True)
class _Number:
    """One number: how it is written, its value if it has one, and what it counts."""

    shown: str
    key: str
    value: float | None
    place: int
    is_percent: bool
    currency: str


@dataclass(frozen=True, slots=True, eq=False)
class NumberFacts:
    """The numbers of a text, ready to be asked.

    Attributes:
        numbers: In order.
        keys: What they are, each also without what it counts.
        values: Those that have a value, ascending.
        has_one: "a", "single" and the like: one of something is spoken of.
    """

    numbers: tuple[_Number, ...]
    keys: frozenset[tuple[str, bool, str]]
    values: tuple[float, ...]
    has_one: bool


def number_facts(reading: Reading) -> NumberFacts:
    """Find the numbers of a text.

    Args:
        reading: The text.

    Returns:
        Its numbers.
    """
    numbers = tuple(_numbers(reading))
    keys = {(number.key, number.is_percent, number.currency) for number in numbers}
    keys |= {(number.key, number.is_percent, "") for number in numbers}
    for word in _IMPLIED.keys() & set(reading.folded):
        keys.add((str(_IMPLIED[word]), False, ""))
    values = sorted({number.value for number in numbers if number.value is not None})
    return NumberFacts(
        numbers, frozenset(keys), tuple(values), not _ONE_OF.isdisjoint(reading.folded)
    )


def new_numbers(summary: Reading, facts: NumberFacts, source: NumberFacts) -> tuple[str, ...]:
    """List the numbers of a summary that its source does not state.

    A number agrees by value, whatever its spelling; percent and currency must agree as well, but a
    currency may be left out. One may stand for "a", "hundreds" for a number of that size, and a
    number after "about", "over", "nearly" and the like for one at most 5 % away.

    Args:
        summary: The summary.
        facts: Its numbers.
        source: The numbers of the source.

    Returns:
        The numbers, as the summary writes them.
    """
    return tuple(
        number.shown for number in facts.numbers if not _is_stated(number, summary, source)
    )


def number_spellings(text: str) -> set[str]:
    """Other spellings of the numbers of a text, word by word, for who may write no other numbers.

    Args:
        text: The text.

    Returns:
        Digits of numbers in words and without commas, words of numbers in digits, in lower case
        and with a capital.
    """
    spellings: set[str] = set()
    for number in number_facts(read(text)).numbers:
        if number.value is None:
            continue
        spellings.update(number.shown.lower().split())
        if number.value.is_integer() and number.value < 1e15:
            spellings.add(str(int(number.value)))
            spellings.update(_IN_WORDS.get(int(number.value), ()))
        spellings.update(scale for scale, least in _WRITTEN_SCALES if number.value >= least)
        spellings.update(many for many, least in _MANY.items() if _is_about(least, number.value))
    return spellings | {word.capitalize() for word in spellings}


def _is_about(least: float, value: float) -> bool:
    return least <= value < 1000 * least


def _is_stated(number: _Number, summary: Reading, source: NumberFacts) -> bool:
    if (number.key, number.is_percent, number.currency) in source.keys:
        return True
    if number.value is None:
        return False
    before = summary.folded[number.place - 1] if number.place else ""
    if number.value == 1 and not number.is_percent:
        return source.has_one and before != "no"
    if number.shown.lower() in _MANY:
        return _has_between(source.values, number.value, 999.5 * number.value)
    if before in _HEDGES:
        slack = _CLOSE * number.value
        return _has_between(source.values, number.value - slack, number.value + slack)
    return False


def _has_between(values: tuple[float, ...], low: float, high: float) -> bool:
    at = bisect_left(values, low)
    return at < len(values) and values[at] <= high


def _numbers(reading: Reading) -> list[_Number]:
    found: list[_Number] = []
    place, n_words = 0, len(reading)
    folded = reading.folded
    while place < n_words:
        word = folded[place]
        is_digits = reading.is_number[place]
        if not is_digits and word not in _STARTS:
            place += 1
            continue
        start, n = place, _end_of_sentence(reading, place)
        value: float | None = None
        key = word
        if is_digits:
            if _PLAIN.fullmatch(word):
                value = float(word.replace(",", ""))
            place += 1
        elif word in _MANY:
            value = _MANY[word]
            place += 1
        elif word in _ORDINALS:
            value = float(_ORDINALS[word])
            place += 1
        else:
            value, place = _spelled(reading, place, n)
            if value is None:
                place = start + 1
                continue
        if value is not None:
            while place < n and folded[place] in _SCALES and not reading.before[place]:
                if folded[place] in _LETTER_SCALES and not is_digits:
                    break
                value *= _SCALES[folded[place]]
                place += 1
            place = max(place, start + 1)
            key = f"{value:.10g}"
        after = folded[place] if place < n else ""
        is_percent = reading.after[place - 1] == "%" or (
            after in _PERCENT or (after == "per" and place + 1 < n and folded[place + 1] == "cent")
        )
        sign = _CURRENCIES.get(reading.before[start], "") or _CURRENCIES.get(after, "")
        sign = sign or _CURRENCIES.get(reading.after[place - 1], "")
        shown = " ".join(reading.words[start:place])
        found.append(_Number(shown, key, value, start, is_percent, sign))
    return found


_STARTS = frozenset((*_UNITS, *_TENS, *_ORDINALS, *_MANY, "hundred", "thousand", "million",
                     "billion", "dozen"))  # fmt: skip


def _end_of_sentence(reading: Reading, place: int) -> int:
    """One past the last of the next words that a number may go on with, in its sentence."""
    end = place
    while end < min(len(reading), place + _LONGEST) and (
        reading.sentence[end] == reading.sentence[place]
    ):
        end += 1
    return end


def _spelled(reading: Reading, place: int, n: int) -> tuple[float | None, int]:
    """The value of a number in words that begins at a place, and where it ends, before ``n``."""
    folded = reading.folded
    is_inner = place > 0 and reading.sentence[place - 1] == reading.sentence[place]
    word = folded[place]
    if word in _SCALES:  # "a million"
        is_one = is_inner and folded[place - 1] in ("a", "an", "one", "per")
        is_one = is_one and not reading.before[place]
        is_half = is_one and place > 1 and folded[place - 2] == "half"
        return (0.5 if is_half else 1.0, place) if is_one else (None, place)
    if word == "one" and is_inner and folded[place - 1] in _NO_COUNT:
        if folded[place + 1 : place + 2] not in (["in"], ["of"]):  # "found that one in three ..."
            return None, place
    total = 0.0
    while place < n:
        word = folded[place]
        if word in _TENS:
            total += _TENS[word]
            place += 1
            if place < n and folded[place] in _UNITS and 0 < _UNITS[folded[place]] < 10:
                total += _UNITS[folded[place]]
                place += 1
        elif word in _UNITS:
            total += _UNITS[word]
            place += 1
        else:
            break
        if place < n and folded[place] == "hundred":
            total *= 100
            place += 1
            if place + 1 < n and folded[place] == "and" and folded[place + 1] in _UNITS | _TENS:
                place += 1
            if place < n and (folded[place] in _UNITS or folded[place] in _TENS):
                continue
        break
    return total, place
