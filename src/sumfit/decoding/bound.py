"""What exact search needs of one graph: probabilities, costs and the table of upper bounds.

Owns `SearchTables`. Does not own the recursion (`kernels.bound`) or the search (`seqmap`).

For a prefix whose mass at vertex j is u_j and that has r left to spend, no completion collects
more than ``sum_j u_j H[r][j]`` with Eq. A8::

    H[r][j] = max( end_j if r <= slack,  max_v sum_{i>j} l[j,i] w[i,v] H[r - c(v)][i] )

The maximum over words stands outside the sum over vertices, because a string has one next word.
Words outside the candidates take part as one word whose probability at vertex i is their bound
``other[i]`` and whose cost is the least of theirs, so H bounds the whole vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.kernels.bound import fill_bounds, sparse_columns
from sumfit.decoding.options import DecodeOptions
from sumfit.errors import InfeasibleBudgetError

__all__ = ["SearchTables"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_NEVER = 2**31 - 1  # cost of a word that does not exist
# Probabilities below this share of the most a word can have enter the bound through the padding
# vector that stands for the largest of them at each vertex; searched sequences always get theirs.
_NEGLIGIBLE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class SearchTables:
    """Arrays of one search, over the ``n = S - 2`` inner vertices and ``W`` candidates.

    Attributes:
        prob: ``(W, n)`` probability of each candidate at each vertex, times ``exp(bonus)``.
        link: ``(n, n)`` link probabilities, ``[from, to]``.
        first_link: ``(n,)`` probabilities of the links from the start.
        end: ``(n,)`` probability of ending after each vertex.
        cost: ``(W,)`` unit cost.
        first_cost: ``(W,)`` cost as first word.
        words: ``(<=W,)`` candidates that can follow another, ascending cost.
        first_words: ``(<=W,)`` candidates that can come first, ascending first cost.
        other: ``(n,)`` most probability of any word outside the candidates, times ``exp(bonus)``.
        other_cost: Least unit cost of a word outside the candidates.
        other_first_cost: Least first cost of one.
        low: Least total cost.
        high: Most total cost.
        table: ``(A, K, R, n)`` bounds, see `kernels.bound`.
        scale: ``(R,)`` natural log of the factor of each layer of ``table``.
    """

    prob: FloatArray
    link: FloatArray
    first_link: FloatArray
    end: FloatArray
    cost: IntArray
    first_cost: IntArray
    words: IntArray
    first_words: IntArray
    other: FloatArray
    other_cost: int
    other_first_cost: int
    low: int
    high: int
    table: FloatArray
    scale: FloatArray

    @classmethod
    def build(cls, dag: DAG, options: DecodeOptions) -> SearchTables:
        """Compute the arrays and fill the table of bounds (Eq. A8).

        Time O(R · (S · W' + S²)) with W' the number of non-negligible entries of ``prob``.

        Args:
            dag: The graph, already restricted to the candidates to search.
            options: Costs, budget, ending and bonus.

        Returns:
            The tables.

        Raises:
            InfeasibleBudgetError: If the graph has no inner vertex.
        """
        n = dag.n_vertices - 2
        low, high = options.budget.low, options.budget.high
        if n == 0:
            raise InfeasibleBudgetError(
                "a graph of 2 vertices emits no word; give one with an inner vertex"
            )
        gain = math.exp(options.bonus)
        words = np.ascontiguousarray(dag.word_logp[1:-1].T)
        prob = np.exp(words, dtype=np.float64)
        links = np.exp(dag.link_logp, dtype=np.float64)
        link = np.ascontiguousarray(links[1:-1, 1:-1])
        end = np.ascontiguousarray(links[1:-1, -1])
        if options.ending == "any":
            end = np.ones(n)
        other = np.exp(dag.other_logp[1:-1], dtype=np.float64)
        if gain != 1.0:
            prob *= gain
            other *= gain
        cost = options.unit_cost[dag.word_ids].astype(np.int64)
        first_cost = options.first_cost[dag.word_ids].astype(np.int64)
        other_cost, other_first_cost = _costs_outside(dag, options)
        ordered = np.argsort(cost, kind="stable")
        active = ordered[cost[ordered] <= high]
        first = np.argsort(first_cost, kind="stable")
        first = first[first_cost[first] <= high]
        high = min(high, _most_cost(options, n))
        least_first = int(first_cost[first[0]]) if first.size else _NEVER
        n_layers = max(0, high - min(least_first, other_first_cost)) + 1
        table, scale = _bounds(
            prob, link, end, cost, active, other, other_cost, n_layers, high - low, gain
        )
        return cls(
            prob=prob,
            link=link,
            first_link=np.ascontiguousarray(links[0, 1:-1]),
            end=end,
            cost=cost,
            first_cost=first_cost,
            words=active,
            first_words=first,
            other=other,
            other_cost=other_cost,
            other_first_cost=other_first_cost,
            low=low,
            high=high,
            table=table,
            scale=scale,
        )


def _costs_outside(dag: DAG, options: DecodeOptions) -> tuple[int, int]:
    """Least unit cost and first cost of a word that is no candidate."""
    if dag.n_candidates == dag.vocab_size or not (dag.other_logp[1:-1] > -np.inf).any():
        return _NEVER, _NEVER
    is_outside = np.ones(dag.vocab_size, dtype=bool)
    is_outside[dag.word_ids] = False
    return (
        int(np.min(options.unit_cost, where=is_outside, initial=_NEVER)),
        int(np.min(options.first_cost, where=is_outside, initial=_NEVER)),
    )


def _most_cost(options: DecodeOptions, n: int) -> int:
    """Most that n words can cost without going over the limit, or the limit if it is small."""
    high = options.budget.high
    if high < 1024:
        return high
    most = [
        int(np.max(costs, where=costs <= high, initial=0))
        for costs in (options.first_cost, options.unit_cost)
    ]
    return most[0] + (n - 1) * most[1]


def _bounds(
    prob: FloatArray,
    link: FloatArray,
    end: FloatArray,
    cost: IntArray,
    active: IntArray,
    other: FloatArray,
    other_cost: int,
    n_layers: int,
    slack: int,
    gain: float,
) -> tuple[FloatArray, FloatArray]:
    n_words, n = prob.shape
    usable = np.zeros(n_words, dtype=np.bool_)
    usable[active] = True
    start = np.empty(n_words + 1, dtype=np.int64)
    vertex = np.empty(n_words * n, dtype=np.int64)
    value = np.empty(n_words * n)
    dropped = np.empty(n)
    sparse_columns(prob, usable, _NEGLIGIBLE * gain, start, vertex, value, dropped)
    n_free = int(np.searchsorted(cost[active], 1))
    free_words = active[:n_free]
    table = np.empty((1, 1, n_layers, n))
    padding = np.empty_like(table)
    outside = np.empty((n_layers, n))
    scale = np.empty(n_layers)
    zeros = np.zeros(n_words, dtype=np.int64)
    fill_bounds(
        np.ascontiguousarray(link.T),
        end,
        active[n_free:],
        cost,
        zeros,
        zeros,
        np.zeros(n_words, dtype=np.bool_),
        start,
        vertex,
        value,
        dropped,
        free_words,
        np.ascontiguousarray(prob[free_words].T),
        other,
        min(other_cost, n_layers),
        slack,
        table,
        padding,
        outside,
        scale,
    )
    return table, scale
