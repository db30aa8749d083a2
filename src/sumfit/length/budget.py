"""The interval of allowed totals that a decoder sees.

Owns `LengthBudget`. Does not own how a user's keywords become one (`sumfit.length.request`).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, cast

from sumfit.errors import BudgetError, ConflictingBudgetError, given

__all__ = ["LengthBudget", "whole_number"]


@dataclass(frozen=True, slots=True)
class LengthBudget:
    """Interval of allowed total costs: at most, exactly, or between.

    Give ``max`` alone, ``exact`` alone, or ``min`` with ``max``.

    Attributes:
        max: Most the total may be.
        exact: The one total allowed.
        min: Least the total may be.
    """

    max: int | None = None
    exact: int | None = None
    min: int | None = None

    def __post_init__(self) -> None:
        for name in ("max", "exact", "min"):
            value = getattr(self, name)
            if value is None:
                continue
            whole = whole_number(value)
            if whole is None:
                raise BudgetError.of(name, value, "must be a whole number")
            if whole < 0:
                raise BudgetError.of(name, whole, "must be 0 or more")
            object.__setattr__(self, name, whole)
        if self.exact is not None and (self.max is not None or self.min is not None):
            other = "max" if self.max is not None else "min"
            raise ConflictingBudgetError(
                given("exact", self.exact),
                " and ",
                given(other, getattr(self, other)),
                " exclude each other; give one of them",
            )
        if self.exact is None and self.max is None:
            raise BudgetError("a budget needs max or exact; give one, for example max=8")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ConflictingBudgetError(
                given("min", self.min), " is above ", given("max", self.max), "; swap them"
            )

    @property
    def low(self) -> int:
        """Least allowed total."""
        if self.exact is not None:
            return self.exact
        return self.min or 0

    @property
    def high(self) -> int:
        """Most allowed total."""
        if self.exact is not None:
            return self.exact
        assert self.max is not None
        return self.max

    def __str__(self) -> str:
        """``exactly 8``, ``3 to 8`` or ``at most 8``, for messages."""
        if self.low == 0:
            return f"at most {self.high}"
        return f"exactly {self.high}" if self.low == self.high else f"{self.low} to {self.high}"


def whole_number(value: object) -> int | None:
    """Read a whole number of any type, numpy's too.

    Args:
        value: What a caller gave.

    Returns:
        The number as Python's own; ``None`` if it is none, as a truth value is.
    """
    try:
        return None if isinstance(value, bool) else operator.index(cast(Any, value))
    except TypeError:
        return None
