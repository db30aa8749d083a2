"""Compiled choice of the most probable words of every vertex.

Rows are compared by the bits of the numbers: for floats up to 0, a greater value has smaller
bits, and the compiler takes minima of whole numbers many at a time, of floats not. (What rounding
left above 0 counts as greatest.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import (
    ALLOCATES,
    INTERNAL,
    Float32Array,
    Int64Array,
    UInt32Array,
    UInt64Array,
    njit,
)

__all__ = ["best_words", "top_words"]

_LANES = 256
_LAST_KEY = np.uint64(0xFFFFFFFFFFFF)  # after those of all lanes
_MORE = 2  # words listed beyond those kept: the best one outside is mostly among them
_ALL_BITS = np.uint32(0xFFFFFFFF)
_IMPOSSIBLE = np.uint32(0xFF800000)  # bits of -inf
_LEAST_POSSIBLE = np.uint32(0xFF7FFFFF)  # of the most negative number


class _Workspace(NamedTuple):
    """Room for one row: of every lane the least bits (``best``) and the same as ``keys``.

    ``lanes`` are the best of them, ``values`` (M,) the least bits of all.
    """

    best: Any
    keys: Any
    lanes: Any
    values: Any


def top_words(word_logp: Float32Array, n_top: int) -> Int64Array:
    """Find the most probable words of every vertex, best first; ties go to the smaller column.

    Time O(S · (W + M²)).

    Args:
        word_logp: ``(S, W)`` C-contiguous natural-log words; rows 0 and ``S-1`` are not read.
        n_top: ``M``.

    Returns:
        ``(S, M)`` columns, -1 where a vertex has fewer words above probability 0.
    """
    return np.asarray(_top_columns(word_logp.view(np.uint32), n_top))


def best_words(
    word_logp: Float32Array, n_top: int
) -> tuple[Int64Array, Float32Array, Float32Array]:
    """Keep the words that are among the most probable of some vertex.

    Args:
        word_logp: ``(S, W)`` C-contiguous natural-log words; rows 0 and ``S-1`` are not read.
        n_top: Words that each vertex has kept.

    Returns:
        The columns kept, ascending; their natural-log words, ``(S, kept)``; and the greatest
        natural log of any other word at each vertex, ``(S,)``, ``-inf`` in rows 0 and ``S-1``.
    """
    bits = word_logp.view(np.uint32)
    kept, words, out_of_candidates = _kept(bits, n_top)
    return kept, words.view(np.float32), out_of_candidates.view(np.float32)


@njit(**INTERNAL)
def _best_of_lanes(bits: UInt32Array, best: UInt32Array) -> None:
    """Set ``best[l]`` to the least bits of the columns l, l + L, l + 2 L and so on."""
    n_words = bits.shape[0]
    best[:] = _IMPOSSIBLE
    at = 0
    while at + 4 * _LANES <= n_words:
        a, b = bits[at : at + _LANES], bits[at + _LANES : at + 2 * _LANES]
        c, d = bits[at + 2 * _LANES : at + 3 * _LANES], bits[at + 3 * _LANES : at + 4 * _LANES]
        for lane in range(_LANES):
            best[lane] = min(min(best[lane], a[lane]), min(min(b[lane], c[lane]), d[lane]))
        at += 4 * _LANES
    while at + _LANES <= n_words:
        for lane in range(_LANES):
            best[lane] = min(best[lane], bits[at + lane])
        at += _LANES
    for lane in range(n_words - at):
        best[lane] = min(best[lane], bits[at + lane])


@njit(**INTERNAL)
def _least(keys: UInt64Array) -> np.uint64:
    least = keys[0]
    for lane in range(_LANES):
        least = min(least, keys[lane])
    return least


@njit(**INTERNAL)
def _best_lanes(best: UInt32Array, keys: UInt64Array, lanes: Int64Array) -> tuple[np.uint32, int]:
    """List the lanes with the least bits, without a branch that depends on them.

    Returns the greatest of these bits, and how many lanes have no more.
    """
    for lane in range(_LANES):
        keys[lane] = (np.uint64(best[lane]) << np.uint64(16)) | np.uint64(lane)
    key = np.uint64(0)
    for n in range(lanes.shape[0]):
        key = _least(keys)
        lanes[n] = np.int64(key & np.uint64(0xFFFF))
        keys[lanes[n]] = _LAST_KEY
    most = np.uint32(key >> np.uint64(16))
    size = 0
    for lane in range(_LANES):
        size += best[lane] <= most
    return most, size


@njit(**INTERNAL)
def _enter(values: UInt32Array, columns: Int64Array, value: np.uint32, column: int) -> None:
    """Insert a value into an ascending list, equals by column, if it is good enough."""
    at = values.shape[0] - 1
    if value > values[at] or (value == values[at] and column > columns[at]):
        return
    while at > 0 and (
        value < values[at - 1] or (value == values[at - 1] and column < columns[at - 1])
    ):
        values[at] = values[at - 1]
        columns[at] = columns[at - 1]
        at -= 1
    values[at] = value
    columns[at] = column


@njit(**INTERNAL)
def _top_of_row(bits: UInt32Array, top: Int64Array, workspace: _Workspace) -> None:
    """Fill ``top`` (M,) with the columns of the least bits.

    The M-th least of the lanes' least bits bounds the M-th least of all, so that few lanes need a
    second look.
    """
    n_words = bits.shape[0]
    workspace.values[:] = _IMPOSSIBLE
    top[:] = -1
    _best_of_lanes(bits, workspace.best)
    most, size = _LEAST_POSSIBLE, 0
    if workspace.lanes.shape[0] == top.shape[0]:
        most, size = _best_lanes(workspace.best, workspace.keys, workspace.lanes)
        most = min(most, _LEAST_POSSIBLE)
    is_listed = size == workspace.lanes.shape[0]
    for n in range(size if is_listed else _LANES):
        lane = workspace.lanes[n] if is_listed else n
        if workspace.best[lane] <= most:
            for v in range(lane, n_words, _LANES):
                if bits[v] <= most:
                    _enter(workspace.values, top, bits[v], v)


@njit(**ALLOCATES)
def _top(bits: UInt32Array, n_top: int) -> Int64Array:
    n_vertices = bits.shape[0]
    top = np.full((n_vertices, n_top), -1, dtype=np.int64)
    workspace = _Workspace(
        best=np.empty(_LANES, dtype=np.uint32),
        keys=np.empty(_LANES, dtype=np.uint64),
        lanes=np.empty(min(n_top, _LANES), dtype=np.int64),
        values=np.empty(n_top, dtype=np.uint32),
    )
    for j in range(1, n_vertices - 1):
        _top_of_row(bits[j], top[j], workspace)
    return top


@njit(**INTERNAL)
def _out_of_candidates(bits: UInt32Array, top: Int64Array, hidden: UInt32Array) -> np.uint32:
    """Least bits of a row among the columns not hidden; ``top`` lists the least, in order."""
    for v in top:
        if v < 0:
            return _IMPOSSIBLE
        if hidden[v] == 0:
            return bits[v]
    least = _IMPOSSIBLE
    for v in range(bits.shape[0]):
        least = min(least, bits[v] | hidden[v])
    return least


@njit(cache=True, nogil=True)
def _top_columns(bits: UInt32Array, n_top: int) -> Int64Array:
    return _top(bits, n_top)


@njit(cache=True, nogil=True)
def _kept(bits: UInt32Array, n_top: int) -> tuple[Int64Array, UInt32Array, UInt32Array]:
    n_vertices, n_words = bits.shape
    top = _top(bits, n_top + _MORE)
    hidden = np.zeros(n_words, dtype=np.uint32)  # all bits of the columns that are kept
    for j in range(1, n_vertices - 1):
        for v in top[j, :n_top]:
            if v >= 0:
                hidden[v] = _ALL_BITS
    kept = np.flatnonzero(hidden)
    words = np.empty((n_vertices, kept.shape[0]), dtype=np.uint32)
    out_of_candidates = np.full(n_vertices, _IMPOSSIBLE, dtype=np.uint32)
    for j in range(n_vertices):
        for w in range(kept.shape[0]):
            words[j, w] = bits[j, kept[w]]
        if 0 < j < n_vertices - 1:
            out_of_candidates[j] = _out_of_candidates(bits[j], top[j], hidden)
    return kept, words, out_of_candidates
