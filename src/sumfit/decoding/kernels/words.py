"""Compiled choice of the most probable words of every vertex.

Rows are compared by the bits of the numbers: for floats up to 0, a greater value has smaller
bits, and the compiler takes minima of whole numbers many at a time, of floats not. (What rounding
left above 0 counts as greatest.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels.compiled import njit
from sumfit.decoding.kernels.state import INNER

__all__ = ["best_words", "top_words"]

_BLOCK = 128
_IMPOSSIBLE = 0xFF800000  # bits of -inf


def top_words(word_logp: npt.NDArray[np.float32], n_top: int) -> npt.NDArray[np.int64]:
    """Find the most probable words of every vertex, best first; ties go to the smaller column.

    Time O(S · (W + M²)).

    Args:
        word_logp: ``(S, W)`` C-contiguous natural-log words; rows 0 and ``S-1`` are not read.
        n_top: ``M``.

    Returns:
        ``(S, M)`` columns, -1 where a vertex has fewer words above probability 0.
    """
    return np.asarray(_top(word_logp.view(np.uint32), n_top))


def best_words(
    word_logp: npt.NDArray[np.float32], n_top: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Keep the words that are among the most probable of some vertex.

    Args:
        word_logp: ``(S, W)`` C-contiguous natural-log words; rows 0 and ``S-1`` are not read.
        n_top: Words that each vertex has kept.

    Returns:
        The columns kept, ascending; their natural-log words, ``(S, kept)``; and the greatest
        natural log of any other word at each vertex, ``(S,)``, ``-inf`` in rows 0 and ``S-1``.
    """
    bits = word_logp.view(np.uint32)
    top = _top(bits, 2 * n_top)
    kept, words, outside = _kept(bits, top, n_top)
    return kept, words.view(np.float32), outside.view(np.float32)


@njit(**INNER)
def _least(bits):  # type: ignore[no-untyped-def]
    least = np.uint32(_IMPOSSIBLE)
    for v in range(bits.shape[0]):
        least = min(least, bits[v])
    return least


@njit(**INNER)
def _enter(values, columns, value, column):  # type: ignore[no-untyped-def]
    """Insert a value below the last one into an ascending list, after its equals."""
    at = values.shape[0] - 1
    while at > 0 and value < values[at - 1]:
        values[at] = values[at - 1]
        columns[at] = columns[at - 1]
        at -= 1
    values[at] = value
    columns[at] = column


@njit(**INNER)
def _top_of_row(bits, top, values, least):  # type: ignore[no-untyped-def]
    """Fill ``top`` (M,) with the columns of the least bits; ``values`` (M,) is room for these.

    The M-th least of the blocks' least bits, ``least``, bounds the M-th least of all, so that few
    blocks need a second look.
    """
    n_words, n_top = bits.shape[0], top.shape[0]
    values[:] = _IMPOSSIBLE
    for block in range(least.shape[0]):
        start = block * _BLOCK
        least[block] = _least(bits[start : min(start + _BLOCK, n_words)])
        if least[block] < values[n_top - 1]:
            _enter(values, top, least[block], block)
    most = values[n_top - 1]
    values[:] = _IMPOSSIBLE
    top[:] = -1
    for block in range(least.shape[0]):
        if least[block] > most or least[block] >= values[n_top - 1]:
            continue
        for v in range(block * _BLOCK, min((block + 1) * _BLOCK, n_words)):
            if bits[v] < values[n_top - 1]:
                _enter(values, top, bits[v], v)


@njit(cache=True, nogil=True)
def _top(bits, n_top):  # type: ignore[no-untyped-def]
    n_vertices, n_words = bits.shape
    top = np.full((n_vertices, n_top), -1, dtype=np.int64)
    values = np.empty(n_top, dtype=np.uint32)
    least = np.empty((n_words + _BLOCK - 1) // _BLOCK, dtype=np.uint32)
    for j in range(1, n_vertices - 1):
        _top_of_row(bits[j], top[j], values, least)
    return top


@njit(**INNER)
def _outside(bits, top, is_kept):  # type: ignore[no-untyped-def]
    """Least bits of a row among the columns not kept; ``top`` lists the least, in order."""
    for v in top:
        if v < 0:
            return np.uint32(_IMPOSSIBLE)
        if not is_kept[v]:
            return bits[v]
    least = np.uint32(_IMPOSSIBLE)  # rare: others keep all that this vertex has most of
    for v in range(bits.shape[0]):
        if not is_kept[v]:
            least = min(least, bits[v])
    return least


@njit(cache=True, nogil=True)
def _kept(bits, top, n_top):  # type: ignore[no-untyped-def]
    n_vertices, n_words = bits.shape
    is_kept = np.zeros(n_words, dtype=np.bool_)
    for j in range(1, n_vertices - 1):
        for v in top[j, :n_top]:
            if v >= 0:
                is_kept[v] = True
    kept = np.flatnonzero(is_kept)
    words = np.empty((n_vertices, kept.shape[0]), dtype=np.uint32)
    outside = np.full(n_vertices, _IMPOSSIBLE, dtype=np.uint32)
    for j in range(n_vertices):
        for w in range(kept.shape[0]):
            words[j, w] = bits[j, kept[w]]
        if 0 < j < n_vertices - 1:
            outside[j] = _outside(bits[j], top[j], is_kept)
    return kept, words, outside
