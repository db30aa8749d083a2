"""Compiled choice of the most probable words of every vertex."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels.compiled import njit

__all__ = ["most_outside", "top_words"]


@njit(cache=True, nogil=True)
def top_words(word_logp: npt.NDArray[np.float32], n_top: int) -> npt.NDArray[np.int64]:
    """Find the most probable words of every vertex, best first; ties go to the smaller column.

    Time O(S · (W + hits · M)), where few words of a long row are hits.

    Args:
        word_logp: ``(S, W)`` natural-log words; rows 0 and ``S-1`` are not read.
        n_top: ``M``.

    Returns:
        ``(S, M)`` columns, -1 where a vertex has fewer words above probability 0.
    """
    n_vertices, n_words = word_logp.shape
    top = np.full((n_vertices, n_top), -1, dtype=np.int64)
    for j in range(1, n_vertices - 1):
        row = word_logp[j]
        values = np.full(n_top, -np.inf, dtype=np.float32)
        worst = np.float32(-np.inf)
        for start in range(0, n_words, 64):
            stop = min(start + 64, n_words)
            peak = np.float32(-np.inf)
            for v in range(start, stop):
                peak = max(peak, row[v])
            if peak <= worst:
                continue
            for v in range(start, stop):
                if row[v] > worst:
                    at = n_top - 1
                    while at > 0 and row[v] > values[at - 1]:
                        values[at] = values[at - 1]
                        top[j, at] = top[j, at - 1]
                        at -= 1
                    values[at] = row[v]
                    top[j, at] = v
                    worst = values[n_top - 1]
    return top


@njit(cache=True, nogil=True)
def most_outside(
    word_logp: npt.NDArray[np.float32], kept: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Find the greatest log-probability at every vertex of any word that is not kept.

    Args:
        word_logp: ``(S, W)`` natural-log words.
        kept: Columns kept, ascending.

    Returns:
        ``(S,)`` natural logs; ``-inf`` in rows 0 and ``S-1``.
    """
    n_vertices, n_words = word_logp.shape
    most = np.full(n_vertices, -np.inf, dtype=np.float32)
    for j in range(1, n_vertices - 1):
        row = word_logp[j]
        start = 0
        best = np.float32(-np.inf)
        for place in range(kept.shape[0] + 1):
            stop = kept[place] if place < kept.shape[0] else n_words
            for v in range(start, stop):
                best = max(best, row[v])
            start = stop + 1
        most[j] = best
    return most
