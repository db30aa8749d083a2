"""Compiled best single path of a word sequence, in probabilities."""

from __future__ import annotations

import numpy as np

from sumfit.compiled import INTERNAL, Float64Array, Int64Array, njit

__all__ = ["best_vertices"]


_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(**INTERNAL, fastmath=_FAST)
def _best_arrivals(before: Float64Array, link: Float64Array, best: Float64Array) -> None:
    """Set ``best[j]`` to the greatest ``before[i] * link[i, j]`` of the vertices i before j."""
    best[:] = 0.0
    for i in range(before.shape[0]):
        mass = before[i]
        if mass > 0.0:
            for j in range(i + 1, best.shape[0]):
                best[j] = max(best[j], mass * link[i, j])


@njit(cache=True, nogil=True, fastmath=_FAST)
def best_vertices(
    link: Float64Array,
    first_link: Float64Array,
    end: Float64Array,
    prob: Float64Array,
    words: Int64Array,
    vertices: Int64Array,
) -> bool:
    """Fill ``vertices`` with the best single path that emits ``words``; whether there is one.

    Products are scaled to a peak of 1 at every word, so that none underflows; ties go to the
    earlier vertex.
    """
    n, size = end.shape[0], words.shape[0]
    best = np.empty((size, n))  # up to each word, at each vertex
    arrived = np.empty((size, n))  # before the word is emitted
    for place in range(size):
        if place == 0:
            arrived[0] = first_link
        else:
            _best_arrivals(best[place - 1], link, arrived[place])
        peak = 0.0
        for j in range(n):
            best[place, j] = arrived[place, j] * prob[words[place], j]
            peak = max(peak, best[place, j])
        if peak == 0.0:
            return False
        for j in range(n):
            best[place, j] /= peak
    at, value = -1, 0.0
    for j in range(n):
        if best[size - 1, j] * end[j] > value:
            at, value = j, best[size - 1, j] * end[j]
    if at < 0:
        return False
    for place in range(size - 1, -1, -1):
        vertices[place] = at + 1
        if place > 0:
            i = 0
            while best[place - 1, i] * link[i, at] < arrived[place, at]:
                i += 1
            at = i
    return True
