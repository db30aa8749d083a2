"""Compiled best single path of a word sequence, in probabilities."""

from __future__ import annotations

import numpy as np

from sumfit.decoding.kernels.compiled import njit

__all__ = ["best_vertices"]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def best_vertices(link, first_link, end, prob, words, vertices):  # type: ignore[no-untyped-def]
    """Fill ``vertices`` with the best single path that emits ``words``; whether there is one.

    Products are scaled to a peak of 1 at every word, so that none underflows; ties go to the
    earlier vertex.
    """
    n = end.shape[0]
    size = words.shape[0]
    best = np.empty(n)
    before = np.empty(n)
    back = np.zeros((size, n), dtype=np.int64)
    for j in range(n):
        best[j] = first_link[j] * prob[words[0], j]
    for place in range(size):
        if place > 0:
            for j in range(n):
                before[j] = best[j]
                best[j] = 0.0
            for i in range(n):
                if before[i] > 0.0:
                    for j in range(i + 1, n):
                        value = before[i] * link[i, j]
                        if value > best[j]:
                            best[j] = value
                            back[place, j] = i
            for j in range(n):
                best[j] *= prob[words[place], j]
        peak = best.max()
        if peak == 0.0:
            return False
        for j in range(n):
            best[j] /= peak
    at = -1
    value = 0.0
    for j in range(n):
        if best[j] * end[j] > value:
            value = best[j] * end[j]
            at = j
    if at < 0:
        return False
    for place in range(size - 1, -1, -1):
        vertices[place] = at + 1
        at = back[place, at]
    return True
