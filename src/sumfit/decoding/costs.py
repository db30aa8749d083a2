"""Which costs a vocabulary has, read off once per table of costs.

Owns `costs_outside`: what words outside the candidates of a graph may cost.
"""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["costs_outside"]

CostArray = npt.NDArray[np.int32]
IntArray = npt.NDArray[np.int64]


class _Distinct(NamedTuple):
    """Distinct costs, ascending, how many words have each, and whose they are."""

    costs: IntArray
    times: IntArray
    owner: weakref.ref[CostArray]


_MOST_KEPT = 64
_kept: dict[int, _Distinct] = {}


def costs_outside(cost: CostArray, ids: npt.NDArray[np.int32], high: int) -> IntArray:
    """List the distinct costs of the words that are not among the given ones.

    Counted once for a table that cannot be written; such are those of `unit_costs`.

    Args:
        cost: ``(V,)`` cost of each vocabulary id.
        ids: ``(W,)`` distinct vocabulary ids.
        high: Most cost that matters.

    Returns:
        Costs up to ``high``, ascending.
    """
    known = _distinct(cost)
    place = np.searchsorted(known.costs, cost[ids])
    is_left = known.times > np.bincount(place, minlength=known.costs.size)
    return known.costs[is_left & (known.costs <= high)]


def _distinct(cost: CostArray) -> _Distinct:
    found = _kept.get(id(cost))
    if found is not None and found.owner() is cost and not cost.flags.writeable:
        return found
    costs, count = np.unique(cost, return_counts=True)
    found = _Distinct(costs.astype(np.int64), count, weakref.ref(cost))
    if cost.base is None and not cost.flags.writeable:
        while len(_kept) >= _MOST_KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[id(cost)] = found
    return found
