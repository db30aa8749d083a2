"""Compiled look at what the words of a vocabulary cost."""

from __future__ import annotations

import numpy as np

from sumfit.compiled import Int32Array, Int64Array, njit

__all__ = ["flag_costs"]


@njit(cache=True, nogil=True)
def flag_costs(cost: Int32Array, ids: Int32Array, most: int) -> Int64Array:
    """List the costs, up to a greatest, that words outside a list have.

    Time O(V + most).

    Args:
        cost: ``(V,)`` cost of each vocabulary id.
        ids: ``(W,)`` vocabulary ids, strictly ascending.
        most: The greatest cost of interest.

    Returns:
        Distinct costs, ascending.
    """
    has_cost = np.zeros(most + 1, dtype=np.bool_)
    begin = 0
    for at in range(ids.shape[0] + 1):
        end = ids[at] if at < ids.shape[0] else cost.shape[0]
        for v in range(begin, end):
            if cost[v] <= most:
                has_cost[cost[v]] = True
        begin = end + 1
    return np.flatnonzero(has_cost)
