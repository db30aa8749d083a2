"""What a unit of length is.

Owns `Unit`: everything that the rest of the package may ask of a unit, and the checks of a
function that counts. Does not own the units themselves (`sumfit.length.units`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sumfit.errors import BudgetError, Part
from sumfit.length.pieces import PerWord, PieceCost

__all__ = ["Additive", "Alphabet", "Unit", "UnitLike", "counted"]


class Additive(Enum):
    """When the costs of the pieces of a text add up to its length."""

    NEVER = "never"
    """They may also come to more or to less."""
    ON_ASCII = "on ASCII"
    """They do in a text of ASCII alone."""
    AS_SPELLED = "as spelled"
    """They do for the pieces that were chosen; a tokenizer may spell the text in others."""
    ALWAYS = "always"
    """They do in every text in normal form."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The only characters that suit a unit.

    Attributes:
        name: What messages call it.
        characters: The characters.
        remedy: What to do about another one, in parts of a message.
    """

    name: str
    characters: Container[str] = field(compare=False)
    remedy: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of length.

    Make one to give a function of your own a name or a bound: ``Unit("pixels", width_of)``.

    Attributes:
        name: What results and messages call it.
        count: Length of an NFC string, a whole number of at least 0; ``None`` for a unit that
            only a tokenizer can count.
        bound: Upper bound on what a piece adds to the length of any text around it, given the
            piece's string (its leading space included); ``None`` to use ``count`` itself, which
            is right when the length of two strings joined is at most the sum of theirs.
        description: One line for help texts.
        parts: Cuts a text so that its length is the sum of those of its parts; with it, measuring
            a long text heeds a time limit.
        cost: What pieces cost, by a rule that needs no loop over them; ``None`` to call ``bound``
            or ``count`` for each.
        space_cost: What the space before a word costs, by that rule.
        additive: When the costs by that rule add up to the length.
        alphabet: The characters that prefix and suffix may have; ``None`` for any.
        pieces_per_unit: Vocabulary pieces to a unit, about: sizes the graph.
        chars_per_unit: Characters to a unit, about: what a model is told of the limit.
        tuned_like: Unit whose length bonus holds where a model has none for this one.
        has_keywords: Whether ``max_``, ``min_`` and ``exact_`` keywords have its name.
        singular: What one is called, as in "1 character"; the name if empty.
        plural: What several are called; the name if empty.
        slider: Least and most that a page offers as a limit.
        start: The limit that a page begins with.
        order: Place in lists of units, the smallest first.
    """

    name: str
    count: Callable[[str], int] | None
    bound: Callable[[str], int] | None = None
    description: str = ""
    parts: Callable[[str], Iterable[str]] | None = None
    cost: PieceCost | None = field(default=None, kw_only=True)
    space_cost: int = field(default=1, kw_only=True)
    additive: Additive = field(default=Additive.NEVER, kw_only=True)
    alphabet: Alphabet | None = field(default=None, kw_only=True)
    pieces_per_unit: float = field(default=1 / 3, kw_only=True)
    chars_per_unit: float = field(default=1.0, kw_only=True)
    tuned_like: str = field(default="", kw_only=True)
    has_keywords: bool = field(default=False, kw_only=True)
    singular: str = field(default="", kw_only=True)
    plural: str = field(default="", kw_only=True)
    slider: tuple[int, int] = field(default=(1, 300), kw_only=True)
    start: int = field(default=60, kw_only=True)
    order: int = field(default=1000, kw_only=True)

    def __str__(self) -> str:
        """The name."""
        return self.name

    def pieces_in(self, length: int) -> int:
        """Estimate the vocabulary pieces of a text.

        Args:
            length: Its length in this unit.

        Returns:
            Pieces, rounded up.
        """
        return math.ceil(length * self.pieces_per_unit)

    @property
    def counts_words(self) -> bool:
        """Whether what it counts is words, by their number."""
        return isinstance(self.cost, PerWord)


UnitLike: TypeAlias = "str | Unit | Callable[[str], int]"


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
