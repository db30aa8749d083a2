"""Compiled forward sums and best paths of given word sequences."""

from __future__ import annotations

import math

import numpy as np

from sumfit.compiled import INTERNAL, BoolArray, Float32Array, Float64Array, Int64Array, njit

__all__ = ["best_path_of", "marginals"]

# Below this probability float64 products may have lost mass to underflow: use logs instead.
# Above it they have not: whatever was lost is below 1e-300 in total, since all factors are <= 1.
_SAFE = 1e-280


@njit(**INTERNAL)
def _spread(here: float, links: Float64Array, after: Float64Array, begin: int, end: int) -> None:
    for j in range(begin, end):
        after[j] += here * links[j]


@njit(**INTERNAL)
def _linear(
    link_prob: Float64Array,
    word_prob: Float64Array,
    columns: Int64Array,
    any_ending: bool,
    mass: Float64Array,
    n_known: int,
) -> float:
    """Sum the paths of one sequence; ``mass[p]`` holds the sums after p words, known up to p."""
    last = link_prob.shape[0] - 1
    for position in range(n_known, columns.shape[0]):
        before, after = mass[position], mass[position + 1]
        after[:] = 0.0
        for i in range(position, last):
            if before[i] > 0.0:
                _spread(before[i], link_prob[i], after, i + 1, last)
        emits = word_prob[columns[position]]
        for j in range(1, last):
            after[j] *= emits[j]
    total = 0.0
    final = mass[columns.shape[0]]
    for i in range(last):
        total += final[i] if any_ending else final[i] * link_prob[i, last]
    return total


@njit(cache=True, nogil=True)
def _logarithmic(
    link_logp: Float32Array, word_logp: Float32Array, columns: Int64Array, any_ending: bool
) -> float:
    n_vertices = link_logp.shape[0]
    last = n_vertices - 1
    mass = np.full(n_vertices, -np.inf)
    mass[0] = 0.0
    following = np.full(n_vertices, -np.inf)
    for position in range(columns.shape[0]):
        column = columns[position]
        following[:] = -np.inf
        for j in range(1, last):
            peak = -np.inf
            for i in range(j):
                peak = max(peak, mass[i] + link_logp[i, j])
            if peak == -np.inf:
                continue
            total = 0.0
            for i in range(j):
                total += math.exp(mass[i] + link_logp[i, j] - peak)
            following[j] = peak + math.log(total) + word_logp[j, column]
        mass, following = following, mass
    peak = -np.inf
    for i in range(last):
        peak = max(peak, mass[i] if any_ending else mass[i] + link_logp[i, last])
    if peak == -np.inf:
        return -np.inf
    total = 0.0
    for i in range(last):
        total += math.exp((mass[i] if any_ending else mass[i] + link_logp[i, last]) - peak)
    return peak + math.log(total)


@njit(**INTERNAL)
def _fill(
    word_logp: Float32Array, sequence: Int64Array, is_filled: BoolArray, word_prob: Float64Array
) -> bool:
    """Fill in the probabilities of a sequence's words; whether all are candidates."""
    is_known = True
    for column in sequence:
        if column < 0:
            is_known = False
        elif not is_filled[column]:
            is_filled[column] = True
            for j in range(1, word_logp.shape[0] - 1):
                word_prob[column, j] = math.exp(np.float64(word_logp[j, column]))
    return is_known


@njit(**INTERNAL)
def _shared(previous: Int64Array, sequence: Int64Array) -> int:
    """Number of words with which both sequences begin."""
    most = min(previous.shape[0], sequence.shape[0])
    for place in range(most):
        if previous[place] != sequence[place]:
            return place
    return most


@njit(cache=True, nogil=True)
def marginals(
    link_logp: Float32Array,
    link_prob: Float64Array,
    word_logp: Float32Array,
    columns: Int64Array,
    offsets: Int64Array,
    any_ending: bool,
) -> Float64Array:
    """Sum the paths of each sequence (Eq. A1, A2): products first, logs where they underflow.

    Args:
        link_logp: ``(S, S)`` natural-log link probabilities; only ``to > from`` is read.
        link_prob: ``(S, S)`` their exponentials.
        word_logp: ``(S, W)`` natural-log word probabilities; rows 0 and ``S-1`` are not read.
        columns: Candidate columns of all sequences, one after the other; negative for a word
            that is no candidate. What a sequence shares with the one before it is summed once.
        offsets: ``(N+1,)`` where each sequence starts in ``columns``, and the end of the last.
        any_ending: Leave out the closing link (Eq. A3).

    Returns:
        ``(N,)`` natural-log marginal probabilities.
    """
    n_vertices, n_words = word_logp.shape
    result = np.full(offsets.shape[0] - 1, -np.inf)
    word_prob = np.empty((n_words, n_vertices))  # rows are filled when first needed
    is_filled = np.zeros(n_words, dtype=np.bool_)
    mass = np.zeros((n_vertices, n_vertices))
    mass[0, 0] = 1.0
    begin, end = 0, 0  # of the sequence whose sums `mass` holds
    for k in range(result.shape[0]):
        sequence = columns[offsets[k] : offsets[k + 1]]
        is_known = _fill(word_logp, sequence, is_filled, word_prob)
        if not is_known or sequence.shape[0] > n_vertices - 2:
            continue
        n_shared = _shared(columns[begin:end], sequence)
        begin, end = offsets[k], offsets[k + 1]
        total = _linear(link_prob, word_prob, sequence, any_ending, mass, n_shared)
        if total > _SAFE:
            result[k] = math.log(total)
        else:
            result[k] = _logarithmic(link_logp, word_logp, sequence, any_ending)
    return result


@njit(cache=True, nogil=True)
def best_path_of(
    link_logp: Float32Array,
    word_logp: Float32Array,
    columns: Int64Array,
    any_ending: bool,
) -> tuple[float, Int64Array]:
    """Find the vertices of the best path that emits the given words (Eq. A4).

    Args:
        link_logp: ``(S, S)`` natural-log link probabilities; only ``to > from`` is read.
        word_logp: ``(S, W)`` natural-log word probabilities; rows 0 and ``S-1`` are not read.
        columns: ``(n,)`` candidate columns of the words.
        any_ending: Leave out the closing link.

    Returns:
        Natural-log probability of the path, and its ``(n,)`` vertices; ``-inf`` and zeros if
        there is none. Ties go to the smaller vertex.
    """
    n_vertices = link_logp.shape[0]
    last = n_vertices - 1
    n_words = columns.shape[0]
    best = np.full((n_words + 1, n_vertices), -np.inf)
    back = np.zeros((n_words + 1, n_vertices), dtype=np.int64)
    best[0, 0] = 0.0
    for position in range(n_words):
        for j in range(1, last):
            for i in range(j):
                value = best[position, i] + link_logp[i, j]
                if value > best[position + 1, j]:
                    best[position + 1, j] = value
                    back[position + 1, j] = i
            best[position + 1, j] += word_logp[j, columns[position]]
    vertices = np.zeros(n_words, dtype=np.int64)
    score, end = -np.inf, 0
    for i in range(last):
        value = best[n_words, i] + (0.0 if any_ending else link_logp[i, last])
        if value > score:
            score, end = value, i
    for position in range(n_words, 0, -1):
        vertices[position - 1] = end
        end = back[position, end]
    return score, vertices
