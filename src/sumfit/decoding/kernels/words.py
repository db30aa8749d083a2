"""Compiled choice of the most probable words of every vertex.

Both passes over whole rows compare the bits of the numbers: for floats up to 0, a greater value
has smaller bits, and the compiler takes minima of whole numbers many at a time, of floats not.
(What rounding left above 0 counts as greatest.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels.compiled import njit

__all__ = ["most_outside", "top_words"]

_BLOCK = 128
_IMPOSSIBLE = 0xFF800000  # bits of -inf


def top_words(word_logp: npt.NDArray[np.float32], n_top: int) -> npt.NDArray[np.int64]:
    """Find the most probable words of every vertex, best first; ties go to the smaller column.

    Time O(S · (W + hits · M)), where few blocks of a long row hold a hit.

    Args:
        word_logp: ``(S, W)`` C-contiguous natural-log words; rows 0 and ``S-1`` are not read.
        n_top: ``M``.

    Returns:
        ``(S, M)`` columns, -1 where a vertex has fewer words above probability 0.
    """
    return np.asarray(_top(word_logp.view(np.uint32), n_top))


def most_outside(
    word_logp: npt.NDArray[np.float32], kept: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Find the greatest log-probability at every vertex of any word that is not kept.

    Args:
        word_logp: ``(S, W)`` C-contiguous natural-log words; rows 0 and ``S-1`` are not read.
        kept: Columns kept, ascending.

    Returns:
        ``(S,)`` natural logs; ``-inf`` in rows 0 and ``S-1``.
    """
    return np.asarray(_outside(word_logp.view(np.uint32), kept)).view(np.float32)


@njit(cache=True, nogil=True)
def _least(bits):  # type: ignore[no-untyped-def]
    least = np.uint32(_IMPOSSIBLE)
    for v in range(bits.shape[0]):
        least = min(least, bits[v])
    return least


@njit(cache=True, nogil=True)
def _top(bits, n_top):  # type: ignore[no-untyped-def]
    n_vertices, n_words = bits.shape
    top = np.full((n_vertices, n_top), -1, dtype=np.int64)
    values = np.empty(n_top, dtype=np.uint32)
    for j in range(1, n_vertices - 1):
        values[:] = _IMPOSSIBLE
        for start in range(0, n_words, _BLOCK):
            block = bits[j, start : min(start + _BLOCK, n_words)]
            if _least(block) >= values[n_top - 1]:
                continue
            for v in range(block.shape[0]):
                if block[v] < values[n_top - 1]:
                    at = n_top - 1
                    while at > 0 and block[v] < values[at - 1]:
                        values[at] = values[at - 1]
                        top[j, at] = top[j, at - 1]
                        at -= 1
                    values[at] = block[v]
                    top[j, at] = start + v
    return top


@njit(cache=True, nogil=True)
def _outside(bits, kept):  # type: ignore[no-untyped-def]
    n_vertices, n_words = bits.shape
    most = np.full(n_vertices, _IMPOSSIBLE, dtype=np.uint32)
    for j in range(1, n_vertices - 1):
        start = 0
        for place in range(kept.shape[0] + 1):
            stop = kept[place] if place < kept.shape[0] else n_words
            most[j] = min(most[j], _least(bits[j, start:stop]))
            start = stop + 1
    return most
