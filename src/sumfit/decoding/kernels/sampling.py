"""Compiled backward sums and path sampling under a budget."""

from __future__ import annotations

import math

import numpy as np

from sumfit.compiled import Float32Array, Float64Array, Int64Array, njit

__all__ = ["backward_sums", "draw_paths", "mass_by_cost"]


@njit(cache=True, nogil=True)
def _log_add(a: float, b: float) -> float:
    """Natural log of the sum of two probabilities given as logs."""
    if a < b:
        a, b = b, a
    if b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@njit(cache=True, nogil=True)
def mass_by_cost(
    word_logp: Float32Array, cost: Int64Array, costs: Int64Array, bonus: Float64Array
) -> Float64Array:
    """Sum the words of each distinct cost at every vertex, as natural logs.

    ``word_logp`` (S, W), ``cost`` (W,), ``costs`` (D,) ascending, ``bonus`` (D,) for each; returns
    (S, D), the bonus added.
    """
    n_vertices, n_words = word_logp.shape
    summed = np.full((n_vertices, costs.shape[0]), -np.inf)
    for j in range(1, n_vertices - 1):
        for v in range(n_words):
            d = np.searchsorted(costs, cost[v])
            if d < costs.shape[0] and costs[d] == cost[v]:
                summed[j, d] = _log_add(summed[j, d], np.float64(word_logp[j, v]))
        for d in range(costs.shape[0]):
            summed[j, d] += bonus[d]
    return summed


@njit(cache=True, nogil=True)
def _through(summed: Float64Array, costs: Int64Array, after: Float64Array, r: int, j: int) -> float:
    """Mass of emitting any word at vertex j and going on, with r to spend before the word."""
    total = -np.inf
    for d in range(costs.shape[0]):
        if costs[d] <= r:
            total = _log_add(total, summed[j, d] + after[r - costs[d], j])
    return total


@njit(cache=True, nogil=True)
def backward_sums(
    link_logp: Float32Array,
    closing: Float64Array,
    summed: Float64Array,
    costs: Int64Array,
    first_summed: Float64Array,
    first_costs: Int64Array,
    high: int,
    slack: int,
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Fill the mass of all completions by cost still to spend and vertex (Eq. A11).

    ``closing`` (S,) natural log of ending after each vertex. Returns ``after`` (C+1, S), the
    mass still to come after the word at a vertex; ``through`` (C+1, S), the word included; and
    ``opening`` (S,), the mass of all sequences whose first word is at each vertex, its link from
    the start included.
    """
    n_vertices = link_logp.shape[0]
    last = n_vertices - 1
    after = np.full((high + 1, n_vertices), -np.inf)
    through = np.full((high + 1, n_vertices), -np.inf)
    opening = np.full(n_vertices, -np.inf)
    for j in range(last - 1, 0, -1):
        for r in range(high + 1):
            peak = closing[j] if r <= slack else -np.inf
            for i in range(j + 1, last):
                peak = max(peak, link_logp[j, i] + through[r, i])
            if peak > -np.inf:
                total = math.exp(closing[j] - peak) if r <= slack else 0.0
                for i in range(j + 1, last):
                    total += math.exp(link_logp[j, i] + through[r, i] - peak)
                after[r, j] = peak + math.log(total)
        for r in range(high + 1):
            through[r, j] = _through(summed, costs, after, r, j)
        opening[j] = link_logp[0, j] + _through(first_summed, first_costs, after, high, j)
    return after, through, opening


@njit(cache=True, nogil=True)
def _choose(generator: np.random.Generator, weights: Float64Array, n: int) -> int:
    """Draw an index with probability proportional to ``exp(weights[:n])``."""
    peak = -np.inf
    for i in range(n):
        peak = max(peak, weights[i])
    total = 0.0
    for i in range(n):
        total += math.exp(weights[i] - peak)
    left = generator.random() * total
    chosen = -1
    for i in range(n):
        share = math.exp(weights[i] - peak)
        if share > 0.0:
            chosen = i
            left -= share
            if left < 0.0:
                break
    return chosen


@njit(cache=True, nogil=True)
def _draw_word(
    generator: np.random.Generator,
    word_logp: Float32Array,
    cost: Int64Array,
    summed: Float64Array,
    costs: Int64Array,
    after: Float64Array,
    r: int,
    j: int,
    weights: Float64Array,
) -> tuple[int, int]:
    """Draw the word at vertex j with r to spend: first its cost, then the word."""
    for d in range(costs.shape[0]):
        weights[d] = summed[j, d] + after[r - costs[d], j] if costs[d] <= r else -np.inf
    d = _choose(generator, weights, costs.shape[0])
    n_words = word_logp.shape[1]
    for v in range(n_words):
        weights[v] = np.float64(word_logp[j, v]) if cost[v] == costs[d] else -np.inf
    return _choose(generator, weights, n_words), r - costs[d]


@njit(cache=True, nogil=True)
def draw_paths(
    generator: np.random.Generator,
    n_samples: int,
    link_logp: Float32Array,
    closing: Float64Array,
    word_logp: Float32Array,
    cost: Int64Array,
    first: Int64Array,
    summed: Float64Array,
    costs: Int64Array,
    first_summed: Float64Array,
    first_costs: Int64Array,
    after: Float64Array,
    through: Float64Array,
    opening: Float64Array,
    high: int,
    slack: int,
) -> tuple[Int64Array, Int64Array]:
    """Draw paths of vertices and words with probability proportional to ``exp(score)``.

    Returns the columns and vertices ``(n_samples, S)``, padded with -1.
    """
    n_vertices, n_words = word_logp.shape
    last = n_vertices - 1
    columns = np.full((n_samples, n_vertices), -1, dtype=np.int64)
    vertices = np.full((n_samples, n_vertices), -1, dtype=np.int64)
    weights = np.empty(max(n_vertices, n_words))
    for sample in range(n_samples):
        j = _choose(generator, opening, n_vertices)
        v, r = _draw_word(
            generator, word_logp, first, first_summed, first_costs, after, high, j, weights
        )
        n = 0
        while True:
            columns[sample, n], vertices[sample, n] = v, j
            n += 1
            weights[:n_vertices] = -np.inf
            for i in range(j + 1, last):
                weights[i] = link_logp[j, i] + through[r, i]
            if r <= slack:
                weights[last] = closing[j]
            j = _choose(generator, weights, n_vertices)
            if j == last:
                break
            v, r = _draw_word(generator, word_logp, cost, summed, costs, after, r, j, weights)
    return columns, vertices
