"""Compiled dynamic program over (vertex, cost) for PathMAP."""

from __future__ import annotations

from typing import cast

import numpy as np

from sumfit.compiled import (
    ALLOCATES,
    INTERNAL,
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    njit,
)

__all__ = [
    "best_completions",
    "best_words",
    "path_map",
    "rank_children",
    "reach_next",
    "relaxed_bound",
]

_NONE = cast(int, np.int64(0))  # not a Python constant, for which numba would compile again


@njit(cache=True, nogil=True)
def best_words(
    word_logp: Float32Array,
    cost: Int64Array,
    costs: Int64Array,
    high: int,
) -> tuple[Float64Array, Int32Array]:
    """Keep the best word per vertex and distinct cost; ties go to the smaller column.

    Args:
        word_logp: ``(S, W)`` natural-log words; rows 0 and ``S-1`` are not read.
        cost: ``(W,)`` cost of each column.
        costs: ``(D,)`` the distinct costs up to `high`.
        high: Most allowed total.

    Returns:
        ``(S, D)`` log-probability of the best word of each cost, and its column, -1 for none.
    """
    n_vertices, n_words = word_logp.shape
    place = np.full(high + 1, -1, dtype=np.int64)
    for d in range(costs.shape[0]):
        place[costs[d]] = d
    best = np.full((n_vertices, costs.shape[0]), -np.inf)
    which = np.full((n_vertices, costs.shape[0]), -1, dtype=np.int32)
    for j in range(1, n_vertices - 1):
        for v in range(n_words):
            if cost[v] <= high:
                d = place[cost[v]]
                if word_logp[j, v] > best[j, d]:
                    best[j, d] = word_logp[j, v]
                    which[j, d] = v
    return best, which


@njit(**INTERNAL)
def _reach(
    table: Float64Array, link_logp: Float32Array, j: int, reach: Float64Array, source: Int32Array
) -> None:
    """Set the best score of reaching vertex j by cost, and where from."""
    reach[:] = -np.inf
    for i in range(1, j):
        link = np.float64(link_logp[i, j])
        if link == -np.inf:
            continue
        for c in range(reach.shape[0]):
            value = table[i, c] + link
            if value > reach[c]:
                reach[c] = value
                source[c] = i


@njit(**INTERNAL)
def _begin(
    link: float,
    words: Float64Array,
    costs: Int64Array,
    scores: Float64Array,
    from_vertex: Int32Array,
    from_cost: Int32Array,
) -> None:
    """Enter the best first words of a vertex."""
    for d in range(costs.shape[0]):
        value = np.float64(link) + words[d]
        if value > scores[costs[d]]:
            scores[costs[d]] = value
            from_vertex[costs[d]] = 0
            from_cost[costs[d]] = d


@njit(**INTERNAL)
def _go_on(
    reach: Float64Array,
    source: Int32Array,
    words: Float64Array,
    costs: Int64Array,
    scores: Float64Array,
    from_vertex: Int32Array,
    from_cost: Int32Array,
) -> None:
    """Enter the best later words of a vertex."""
    for d in range(costs.shape[0]):
        if words[d] == -np.inf:
            continue
        for c in range(scores.shape[0] - costs[d]):
            value = reach[c] + words[d]
            if value > scores[c + costs[d]]:
                scores[c + costs[d]] = value
                from_vertex[c + costs[d]] = source[c]
                from_cost[c + costs[d]] = d


@njit(**INTERNAL)
def _best_end(
    table: Float64Array, link_logp: Float32Array, low: int, any_ending: bool
) -> tuple[float, int, int]:
    """Find the best score within the budget, the vertex it ends at and what it spends."""
    score, end, spent = -np.inf, 0, 0
    last = table.shape[0] - 1
    for j in range(1, last):
        closing = 0.0 if any_ending else np.float64(link_logp[j, last])
        for c in range(low, table.shape[1]):
            if table[j, c] + closing > score:
                score, end, spent = table[j, c] + closing, j, c
    return score, end, spent


@njit(**ALLOCATES)
def _trace(
    from_vertex: Int32Array,
    from_cost: Int32Array,
    costs: Int64Array,
    first_costs: Int64Array,
    end: int,
    spent: int,
) -> tuple[Int64Array, Int64Array]:
    """Read a path off the table, from its end."""
    n_vertices = from_vertex.shape[0]
    vertices = np.zeros(n_vertices, dtype=np.int64)
    places = np.zeros(n_vertices, dtype=np.int64)
    n = 0
    while end > 0:
        d = from_cost[end, spent]
        vertices[n], places[n] = end, d
        n += 1
        previous = from_vertex[end, spent]
        spent -= costs[d] if previous > 0 else first_costs[d]
        end = previous
    return vertices[:n][::-1].copy(), places[:n][::-1].copy()


@njit(cache=True, nogil=True)
def path_map(
    link_logp: Float32Array,
    words: Float64Array,
    costs: Int64Array,
    first_words: Float64Array,
    first_costs: Int64Array,
    low: int,
    high: int,
    any_ending: bool,
) -> tuple[float, int, Int64Array, Int64Array, Float64Array]:
    """Find the best path (Eq. A5). Time O(S² · C + S · C · D), memory O(S · C).

    Args:
        link_logp: ``(S, S)`` natural-log links; only ``to > from`` is read.
        words: ``(S, D)`` best word of each distinct cost, from `best_words`, with its bonus.
        costs: ``(D,)`` the distinct costs.
        first_words: ``(S, F)`` the same for the first word.
        first_costs: ``(F,)`` distinct costs of first words.
        low: Least allowed total.
        high: Most allowed total.
        any_ending: Whether a path may end without the closing link.

    Returns:
        Score (``-inf`` if no path meets the budget), cost, vertices ``(n,)``, place of each
        word's cost in `costs` (for the first word in `first_costs`) ``(n,)``, and the table
        ``(S, C+1)``.
    """
    n_vertices = link_logp.shape[0]
    table = np.full((n_vertices, high + 1), -np.inf)
    from_vertex = np.zeros((n_vertices, high + 1), dtype=np.int32)
    from_cost = np.full((n_vertices, high + 1), -1, dtype=np.int32)
    reach = np.empty(high + 1)
    source = np.empty(high + 1, dtype=np.int32)
    for j in range(1, n_vertices - 1):
        rows = table[j], from_vertex[j], from_cost[j]
        _reach(table, link_logp, j, reach, source)
        _begin(link_logp[0, j], first_words[j], first_costs, *rows)
        _go_on(reach, source, words[j], costs, *rows)
    score, end, spent = _best_end(table, link_logp, low, any_ending)
    vertices, places = _trace(from_vertex, from_cost, costs, first_costs, end, spent)
    return score, spent, vertices, places, table


@njit(**INTERNAL)
def _raise_shifted(scores: Float64Array, values: Float64Array, gain: float, cost: int) -> None:
    """Raise ``scores[c + cost]`` to ``values[c] + gain``."""
    for c in range(scores.shape[0] - cost):
        scores[c + cost] = max(scores[c + cost], values[c] + gain)


@njit(**INTERNAL)
def _raise_linked(
    link_logp: Float32Array, table: Float64Array, j: int, reach: Float64Array
) -> None:
    """Set the best score of reaching vertex j by cost."""
    reach[:] = -np.inf
    for i in range(1, j):
        _raise_shifted(reach, table[i], np.float64(link_logp[i, j]), _NONE)


@njit(cache=True, nogil=True)
def relaxed_bound(
    link_logp: Float32Array,
    words: Float64Array,
    costs: Int64Array,
    table: Float64Array,
    other_logp: Float32Array,
    other_costs: Int64Array,
    other_firsts: Int64Array,
    bonus: float,
    unit_bonus: float,
    any_ending: bool,
) -> float:
    """Bound every path with at least one word that is no candidate.

    Args:
        link_logp: ``(S, S)`` natural-log links.
        words: ``(S, D)`` best candidate of each distinct cost, with its bonus.
        costs: ``(D,)`` the distinct costs.
        table: ``(S, C+1)`` table of `path_map`.
        other_logp: ``(S,)`` bound on each word that is no candidate.
        other_costs: What such a word may cost.
        other_firsts: What it may cost as the first.
        bonus: Score added per word.
        unit_bonus: Score added per unit of cost.
        any_ending: Whether a path may end without the closing link.

    Returns:
        Upper bound on the score of any such path with a total of at most C.
    """
    n_vertices, n_costs = table.shape
    last = n_vertices - 1
    over = np.full((n_vertices, n_costs), -np.inf)
    plain_reach, over_reach = np.empty(n_costs), np.empty(n_costs)
    best = -np.inf
    for j in range(1, last):
        _raise_linked(link_logp, table, j, plain_reach)
        _raise_linked(link_logp, over, j, over_reach)
        scores, other = over[j], np.float64(other_logp[j]) + bonus
        for c in other_firsts:
            scores[c] = np.float64(link_logp[0, j]) + other + unit_bonus * c
        for c in other_costs:
            _raise_shifted(scores, plain_reach, other + unit_bonus * c, c)
            _raise_shifted(scores, over_reach, other + unit_bonus * c, c)
        for d in range(costs.shape[0]):
            _raise_shifted(scores, over_reach, words[j, d], costs[d])
        closing = 0.0 if any_ending else np.float64(link_logp[j, last])
        best = max(best, scores.max() + closing)
    return best


@njit(cache=True, nogil=True)
def best_completions(
    link_logp: Float32Array,
    words: Float64Array,
    costs: Int64Array,
    low: int,
    high: int,
    any_ending: bool,
) -> Float64Array:
    """Find the score of the best rest of a path from every vertex (Eq. A6).

    Time O(S² · C + S · C · D), memory O(S · C).

    Args:
        link_logp: ``(S, S)`` natural-log links; only ``to > from`` is read.
        words: ``(S, D)`` best word of each distinct cost, with its bonus.
        costs: ``(D,)`` the distinct costs.
        low: Least allowed total.
        high: Most allowed total.
        any_ending: Whether a path may end without the closing link.

    Returns:
        ``(C+1, S)`` score still to come, by cost still to spend; ``-inf`` for none.
    """
    n_vertices = link_logp.shape[0]
    last = n_vertices - 1
    rest = np.full((n_vertices, high + 1), -np.inf)
    through = np.full((n_vertices, high + 1), -np.inf)  # the word at the vertex included
    for j in range(last - 1, 0, -1):
        closing = 0.0 if any_ending else np.float64(link_logp[j, last])
        for c in range(high - low + 1):
            rest[j, c] = closing
        for i in range(j + 1, last):
            link = np.float64(link_logp[j, i])
            if link == -np.inf:
                continue
            for c in range(high + 1):
                rest[j, c] = max(rest[j, c], through[i, c] + link)
        for d in range(costs.shape[0]):
            _raise_shifted(through[j], rest[j], words[j, d], costs[d])
    return rest.T.copy()


@njit(cache=True, nogil=True)
def reach_next(link_logp: Float32Array, mass: Float64Array) -> Float64Array:
    """Move the best score at each vertex along its best link.

    Args:
        link_logp: ``(S, S)`` natural-log links.
        mass: ``(S,)`` best score of the prefix ending at each vertex.

    Returns:
        ``(S,)`` best score of reaching each vertex next; ``-inf`` at vertices 0 and ``S-1``.
    """
    n_vertices = link_logp.shape[0]
    reached = np.full(n_vertices, -np.inf)
    for i in range(n_vertices - 1):
        if mass[i] > -np.inf:
            for j in range(i + 1, n_vertices - 1):
                reached[j] = max(reached[j], mass[i] + np.float64(link_logp[i, j]))
    return reached


@njit(cache=True, nogil=True)
def rank_children(
    reached: Float64Array,
    word_logp: Float32Array,
    cost: Int64Array,
    gain: Float64Array,
    completions: Float64Array,
    rest: int,
) -> Float64Array:
    """Find the score of the best path that goes on with each word.

    Args:
        reached: ``(S,)`` from `reach_next`.
        word_logp: ``(S, W)`` natural-log words.
        cost: ``(W,)`` cost of each column.
        gain: ``(W,)`` bonus for each column.
        completions: ``(C+1, S)`` from `best_completions`.
        rest: Cost still to spend.

    Returns:
        ``(W,)`` score; ``-inf`` where no path goes on so.
    """
    n_vertices, n_words = word_logp.shape
    best = np.full(n_words, -np.inf)
    for j in range(1, n_vertices - 1):
        if reached[j] == -np.inf:
            continue
        for v in range(n_words):
            if cost[v] <= rest:
                value = reached[j] + word_logp[j, v] + gain[v] + completions[rest - cost[v], j]
                best[v] = max(best[v], value)
    return best
