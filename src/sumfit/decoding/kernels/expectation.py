"""Compiled expectations over all paths of a graph: how often each word of a sequence is said.

A *word* here is a run of pieces: one that opens a word, then pieces that join it; a piece that does
neither (punctuation) closes it. Equations A16 to A18 of ``docs/algorithms.md``.
"""

from __future__ import annotations

import numpy as np

from sumfit.compiled import ALLOCATES, INTERNAL, BoolArray, Float64Array, Int64Array, njit

__all__ = ["expected_overlaps"]


@njit(**INTERNAL)
def _spread(mass: Float64Array, link: Float64Array, after: Float64Array) -> None:
    """Set ``after[j] = sum_{i<j} mass[i] * link[i, j]``."""
    last = mass.shape[0] - 1
    after[:] = 0.0
    for i in range(last):
        if mass[i] > 0.0:
            for j in range(i + 1, last):
                after[j] += mass[i] * link[i, j]


@njit(**INTERNAL)
def _visits(link: Float64Array, visit: Float64Array) -> None:
    """Set ``visit[j]`` to the probability that a path comes to vertex j."""
    last = visit.shape[0] - 1
    visit[:] = 0.0
    visit[0] = 1.0
    for i in range(last):
        if visit[i] > 0.0:
            for j in range(i + 1, last):
                visit[j] += visit[i] * link[i, j]


@njit(**INTERNAL)
def _emitted(word: Float64Array, chosen: BoolArray, share: Float64Array) -> None:
    """Set ``share[j]`` to the probability that vertex j emits one of the chosen pieces."""
    share[:] = 0.0
    for w in range(word.shape[0]):
        if chosen[w]:
            for j in range(share.shape[0]):
                share[j] += word[w, j]


@njit(**INTERNAL)
def _count(
    link: Float64Array,
    word: Float64Array,
    pieces: Int64Array,
    start: Float64Array,
    close: Float64Array,
    mass: Float64Array,
    after: Float64Array,
) -> float:
    """Expected number of times that a word is said."""
    last = mass.shape[0] - 1
    for j in range(last):
        mass[j] = start[j] * word[pieces[0], j]
    for place in range(1, pieces.shape[0]):
        _spread(mass, link, after)
        for j in range(last):
            mass[j] = after[j] * word[pieces[place], j]
    total = 0.0
    for j in range(last):
        total += mass[j] * close[j]
    return total


@njit(**INTERNAL)
def _n_before(row: Int64Array, starts: Int64Array, stops: Int64Array, place: int) -> int:
    """How many of the words before this one are the same pieces."""
    size = stops[place] - starts[place]
    times = 0
    for earlier in range(place):
        same = 0
        if stops[earlier] - starts[earlier] == size:
            while same < size and row[starts[earlier] + same] == row[starts[place] + same]:
                same += 1
        times += same == size
    return times


@njit(**INTERNAL)
def _split(
    row: Int64Array, opens: BoolArray, joins: BoolArray, starts: Int64Array, stops: Int64Array
) -> int:
    """Find where the words of a row begin and stop; return how many there are."""
    n_words = 0
    is_open = False
    for at in range(row.shape[0]):
        if row[at] < 0:
            break
        if is_open and joins[row[at]]:
            stops[n_words - 1] = at + 1
            continue
        is_open = opens[row[at]] or joins[row[at]]
        if is_open:
            starts[n_words], stops[n_words] = at, at + 1
            n_words += 1
    return n_words


@njit(**ALLOCATES)
def _prepare(
    link: Float64Array,
    word: Float64Array,
    opens: BoolArray,
    joins: BoolArray,
    visit: Float64Array,
    glued: Float64Array,
    close: Float64Array,
) -> float:
    """Fill in where words start, after a space or glued, and close (Eq. A16, A17).

    Returns the expected number of words.
    """
    n = link.shape[0]
    joined, free = np.empty(n), np.empty(n)
    _visits(link, visit)
    _emitted(word, joins, joined)
    _emitted(word, ~(opens | joins), free)
    expected = 0.0
    for j in range(1, n - 1):
        expected += visit[j] * (1.0 - joined[j] - free[j])  # words outside the candidates too
        free[j] *= visit[j]
    free[0] = 1.0  # there is nothing to join yet
    _spread(free, link, glued)
    for i in range(n - 1):
        expected += glued[i] * joined[i]
        close[i] = 1.0
        for j in range(i + 1, n - 1):
            close[i] -= link[i, j] * joined[j]
    return expected


@njit(cache=True, nogil=True)
def expected_overlaps(
    link: Float64Array,
    word: Float64Array,
    columns: Int64Array,
    opens: BoolArray,
    joins: BoolArray,
    overlap: Float64Array,
    n_words: Int64Array,
) -> float:
    """Fill in the expected overlap of each sequence with what the graph says, and its length.

    ``link`` (S, S) and ``word`` (W, S) are probabilities, ``columns`` (N, U) the sequences, padded
    with -1; ``opens`` and ``joins`` (W,) say what a piece does. ``overlap`` (N,) and ``n_words``
    (N,) are filled. Returns the expected number of words of the graph.
    """
    n = link.shape[0]
    visit, glued, close = np.empty(n), np.empty(n), np.empty(n)
    expected = _prepare(link, word, opens, joins, visit, glued, close)
    mass, after = np.empty(n), np.empty(n)
    starts = np.empty(columns.shape[1], dtype=np.int64)
    stops = np.empty(columns.shape[1], dtype=np.int64)
    for s in range(columns.shape[0]):
        row = columns[s]
        overlap[s] = 0.0
        n_words[s] = _split(row, opens, joins, starts, stops)
        for place in range(n_words[s]):
            pieces = row[starts[place] : stops[place]]
            start = visit if opens[pieces[0]] else glued
            times = _count(link, word, pieces, start, close, mass, after)
            overlap[s] += min(max(times - _n_before(row, starts, stops, place), 0.0), 1.0)
    return expected
