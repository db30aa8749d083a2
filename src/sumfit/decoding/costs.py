"""What words cost and how much a budget can be spent: the numbers that size every table.

Owns which costs the words outside a graph's candidates have, the most that some words can cost,
and the check of what a table takes. A budget beyond what can be spent is as good as none, and
tables are no larger for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.errors import BudgetError

__all__ = ["NEVER", "check_room", "costs_out_of_candidates", "most_spent"]

NEVER = 2**31 - 1
"""Cost that no budget pays."""

_MOST_FLAGS = 1 << 16  # costs that get a flag each; others are sorted
_MOST_CELLS = 1 << 29  # of one table, 4 GiB
Costs = npt.NDArray[np.integer[Any]]


def costs_out_of_candidates(
    cost: npt.NDArray[np.int32], ids: npt.NDArray[np.int32], high: int
) -> npt.NDArray[np.int64]:
    """List the distinct costs of the words that are not among the given ones.

    Args:
        cost: ``(V,)`` cost of each vocabulary id.
        ids: ``(W,)`` vocabulary ids, strictly ascending.
        high: Most cost that matters.

    Returns:
        Costs up to ``high``, ascending.
    """
    most = min(high, int(cost.max(initial=0)))
    if most < _MOST_FLAGS:
        # Only here: the options of a command are read without a compiler.
        from sumfit.decoding.kernels.costs import flag_costs

        return np.asarray(flag_costs(cost, ids, most))
    is_out = cost <= high
    is_out[ids] = False
    return np.unique(cost[is_out]).astype(np.int64)


def most_spent(high: int, n_words: int, costs: Sequence[Costs], firsts: Sequence[Costs]) -> int:
    """Bound what a sequence within a budget can cost.

    Args:
        high: Most allowed total.
        n_words: Most words of a sequence, at least 1.
        costs: Costs that a word may have after the first.
        firsts: Costs that the first word may have.

    Returns:
        A total that no sequence exceeds, at most ``high``.
    """
    high = min(high, NEVER - 1)
    return min(high, _dearest(firsts, high) + (n_words - 1) * _dearest(costs, high))


def check_room(high: int, per_unit: int) -> None:
    """Raise unless a table fits in memory.

    Args:
        high: Most that a sequence can cost.
        per_unit: Cells of the table for each cost.

    Raises:
        BudgetError: If it has more than 4 GiB of numbers.
    """
    if (high + 1) * per_unit > _MOST_CELLS:
        size = (high + 1) * per_unit / 2**27
        raise BudgetError(
            f"a table over every cost up to {high:,} would take {size:,.0f} GiB, more than 4; "
            "lower the limit, or divide costs and limit by what makes the costs small"
        )


def _dearest(costs: Sequence[Costs], high: int) -> int:
    """The greatest cost that a budget can pay; 0 if there is none."""
    most = 0
    for some in costs:
        greatest = int(some.max(initial=0))
        if greatest > high:
            greatest = int(some.max(initial=0, where=some <= high))
        most = max(most, greatest)
    return most
