"""Which costs a vocabulary has beside those of a graph's candidates.

Owns `costs_outside`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels.costs import flag_costs

__all__ = ["costs_outside"]

_MOST_FLAGS = 1 << 16  # costs that get a flag each; others are sorted


def costs_outside(
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
        return np.asarray(flag_costs(cost, ids, most))
    is_outside = cost <= high
    is_outside[ids] = False
    return np.unique(cost[is_outside]).astype(np.int64)
