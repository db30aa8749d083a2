import numpy as np
import pytest

from sumfit.errors import BudgetError, ConflictingBudgetError
from sumfit.length import LengthBudget


@pytest.mark.parametrize(
    ("budget", "low", "high", "words"),
    [
        (LengthBudget(max=8), 0, 8, "at most 8"),
        (LengthBudget(exact=8), 8, 8, "exactly 8"),
        (LengthBudget(min=5, max=8), 5, 8, "5 to 8"),
        (LengthBudget(min=8, max=8), 8, 8, "exactly 8"),
        (LengthBudget(max=0), 0, 0, "at most 0"),
        (LengthBudget(exact=0), 0, 0, "at most 0"),
        (LengthBudget(min=np.int32(5), max=np.int64(8)), 5, 8, "5 to 8"),
    ],
)
def test_a_budget_is_an_interval(budget: LengthBudget, low: int, high: int, words: str) -> None:
    assert (budget.low, budget.high, str(budget)) == (low, high, words)
    assert type(budget.high) is int


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({}, BudgetError, "a budget needs max or exact; give one, for example max=8"),
        ({"min": 3}, BudgetError, "a budget needs max or exact; give one, for example max=8"),
        ({"max": -1}, BudgetError, "max must be 0 or more, was -1"),
        ({"max": 8.0}, BudgetError, "max must be a whole number, was 8.0"),
        ({"exact": True}, BudgetError, "exact must be a whole number, was True"),
        ({"min": "3", "max": 8}, BudgetError, "min must be a whole number, was '3'"),
        (
            {"exact": 8, "max": 9},
            ConflictingBudgetError,
            "exact=8 and max=9 exclude each other; give one of them",
        ),
        (
            {"exact": 8, "min": 2},
            ConflictingBudgetError,
            "exact=8 and min=2 exclude each other; give one of them",
        ),
        ({"min": 9, "max": 8}, ConflictingBudgetError, "min=9 is above max=8; swap them"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(
    keywords: dict[str, int], error: type[BudgetError], message: str
) -> None:
    with pytest.raises(error) as caught:
        LengthBudget(**keywords)
    assert str(caught.value) == message
