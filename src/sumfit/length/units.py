"""What a limit counts: the units, and `measure`.

Owns the definition of every unit on a finished string. What a vocabulary piece costs in a unit
is in `sumfit.length.costs`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias

import regex
import wcwidth

from sumfit.deadline import Check
from sumfit.errors import BudgetError, InputError, UnknownUnitError
from sumfit.length.mastodon import mastodon_length
from sumfit.length.sms import sms_septets
from sumfit.length.tweet import tweet_weight
from sumfit.nfc import nfc
from sumfit.parts import cut, cut_at_spaces, is_long
from sumfit.spelling import did_you_mean

__all__ = [
    "UNITS",
    "Encoder",
    "Unit",
    "UnitLike",
    "checked_text",
    "clusters",
    "counted",
    "get_unit",
    "measure",
]

# Where versions of wcwidth differ: halves of flags, skin tones, the soft hyphen, signs that stand
# before numbers, and the fillers of Hangul, which take the room of a letter.
_FIXED_COLUMNS = (
    dict.fromkeys(map(chr, range(0x1F1E6, 0x1F200)), 1)
    | dict.fromkeys(map(chr, range(0x1F3FB, 0x1F400)), 2)
    | dict.fromkeys(map(chr, [*range(0x600, 0x606), 0x890, 0x891]), 1)
    | dict.fromkeys("\xad\u06dd\u070f\u08e2\U000110bd\U000110cd\uffa0", 1)
    | {"\u3164": 2}
)
_SPACING_MARK = regex.compile(r"\p{Mc}")
_WIDE = regex.compile(r"\p{East_Asian_Width=W}")
_LONERS = regex.compile(r"\p{GCB=Other}(?=[\p{GCB=Other}&&\p{NFC_QC=Y}])", regex.VERSION1)
_GRAPHEME = regex.compile(r"\X")
# A flag of a long run is told from its neighbours by counting from the first one: here is where
# such a run may be cut, after 16 whole flags.
_MANY_FLAGS = regex.compile(r"\p{RI}{32}(?=\p{RI})")


class Encoder(Protocol):
    """What measuring in tokens needs of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """Vocabulary ids of a text."""
        ...


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of length.

    Make one to give a function of your own a name or a bound: ``Unit("pixels", width_of)``.

    Attributes:
        name: What results and messages call it.
        count: Length of an NFC string, a whole number of at least 0; ``None`` for ``tokens``, which
            only a tokenizer can count.
        bound: Upper bound on what a piece adds to the length of any text around it, given the
            piece's string (its leading space included); ``None`` to use ``count`` itself, which
            is right when the length of two strings joined is at most the sum of theirs.
        description: One line for help texts.
        parts: Cuts a text so that its length is the sum of those of its parts; with it, measuring
            a long text heeds a time limit.
    """

    name: str
    count: Callable[[str], int] | None
    bound: Callable[[str], int] | None = None
    description: str = ""
    parts: Callable[[str], Iterable[str]] | None = None

    def __str__(self) -> str:
        """The name."""
        return self.name


UnitLike: TypeAlias = "str | Unit | Callable[[str], int]"


def _words(text: str) -> int:
    return len(text.split())


def _graphemes(text: str) -> int:
    if text.isascii() and "\r" not in text:
        return len(text)
    return sum(1 for _ in clusters(text))


def clusters(text: str) -> Iterator[str]:
    """The user-perceived characters of a text, in linear time.

    Args:
        text: Any text.

    Yields:
        Each, in order.
    """
    begin = 0
    for run in _MANY_FLAGS.finditer(text):
        yield from _GRAPHEME.findall(text[begin : run.end()])
        begin = run.end()
    yield from _GRAPHEME.findall(text[begin:])


def _between_clusters(text: str) -> Iterator[str]:
    """Cut a long text between characters that join no other ones, whatever stands around them."""

    def next_place(place: int) -> int:
        found = _LONERS.search(text, place)
        return -1 if found is None else found.end()

    return cut(text, next_place)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _mastodon(text: str) -> int:
    return mastodon_length(text, _graphemes)


def _utf16(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _cells(text: str) -> int:
    return sum(map(_columns, text))


@lru_cache(maxsize=8192)
def _columns(character: str) -> int:
    fixed = _FIXED_COLUMNS.get(character)
    if fixed is not None:
        return fixed
    if _SPACING_MARK.match(character):
        return 2 if _WIDE.match(character) else 1
    width: int = wcwidth.wcwidth(character)
    return max(width, 0)


UNITS: dict[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("words", _words, None, "runs of characters between white space", cut_at_spaces),
        Unit("tokens", None, description="pieces of the model's vocabulary"),
        Unit("chars", len, None, "Unicode code points of the NFC form", _between_clusters),
        Unit(
            "graphemes", _graphemes, None, "user-perceived characters, UAX #29", _between_clusters
        ),
        Unit("bytes", _bytes, None, "bytes of the UTF-8 form", _between_clusters),
        Unit("cells", _cells, None, "terminal columns", _between_clusters),
        Unit(
            "utf16",
            _utf16,
            None,
            "UTF-16 code units, a string's length in JavaScript",
            _between_clusters,
        ),
        Unit("tweet", tweet_weight, None, "weighted characters of a post on X", cut_at_spaces),
        Unit("mastodon", _mastodon, None, "characters of a post on Mastodon", cut_at_spaces),
        Unit("sms", sms_septets, description="7-bit places of a text message's payload"),
    )
}


def get_unit(unit: UnitLike) -> Unit:
    """The unit of a name, of a function, or as given.

    Args:
        unit: A name in `UNITS`, a `Unit`, or a function from a string to a whole number.

    Returns:
        The unit; for a function, one with the function's name.

    Raises:
        UnknownUnitError: If it is none of these.
    """
    if isinstance(unit, Unit):
        return unit
    if isinstance(unit, str):
        try:
            return UNITS[unit]
        except KeyError:
            raise UnknownUnitError(
                f"unit {unit!r} is not known; use one of {', '.join(UNITS)}, or a function"
                f"{did_you_mean(unit, UNITS)}"
            ) from None
    if callable(unit):
        return Unit(str(getattr(unit, "__name__", type(unit).__name__)), unit)
    raise UnknownUnitError(f"unit must be one of {', '.join(UNITS)}, or a function, was {unit!r}")


def measure(
    text: str,
    unit: UnitLike,
    *,
    tokenizer: Encoder | None = None,
    check: Check | None = None,
) -> int:
    """Length of the NFC form of a text; nothing else about the text is changed first.

    Args:
        text: Any string.
        unit: Name, `Unit`, or function from a string to a whole number.
        tokenizer: Needed for ``tokens`` only.
        check: Called between the parts of a long text, to give up; a unit that has no parts, and
            a tokenizer, measure as a whole.

    Returns:
        The length, 0 or more.

    Raises:
        UnknownUnitError: If there is no such unit.
        BudgetError: If ``tokens`` are asked for without a tokenizer, or a function returns
            something other than a whole number of at least 0, or raises.
        InputError: If ``text`` is no string.
    """
    unit = get_unit(unit)
    text = checked_text(text)
    if check is not None and unit.parts is not None and is_long(text):
        length = 0
        for part in unit.parts(text):
            check()
            length += measure(part, unit)
        return length
    text = nfc(text)
    if unit.count is None:
        if tokenizer is None:
            raise BudgetError("unit 'tokens' needs a tokenizer; give tokenizer=")
        return len(tokenizer.encode(text))
    return counted(unit, unit.count, text)


def checked_text(text: object) -> str:
    """Raise unless the value is a text.

    Args:
        text: What a caller gave.

    Returns:
        The same.

    Raises:
        InputError: If it is no string.
    """
    if not isinstance(text, str):
        hint = "; decode it as UTF-8 first" if isinstance(text, bytes | bytearray) else ""
        raise InputError(f"a text must be a string, was {type(text).__name__}{hint}")
    return text


def counted(unit: Unit, function: Callable[[str], int], text: str) -> int:
    """What a unit's function returns for a text, checked.

    Args:
        unit: For the message.
        function: The unit's ``count`` or ``bound``.
        text: What to count.

    Returns:
        The length.

    Raises:
        BudgetError: If the function raises, or its result is not a whole number of at least 0.
    """
    try:
        value = function(text)
    except Exception as error:
        raise BudgetError(
            f"unit {unit.name!r} raised {error!r} for {text[:40]!r}; catch it there"
        ) from error
    if type(value) is int and value >= 0:
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        whole = operator.index(value)
    except TypeError:
        whole = -1
    if whole < 0:
        raise BudgetError(
            f"unit {unit.name!r} must return a whole number, 0 or more, "
            f"but returned {value!r} for {text[:40]!r}; round up there"
        )
    return whole
