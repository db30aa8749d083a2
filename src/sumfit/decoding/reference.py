"""Plain-loop decoders: slow, readable, and the standard the compiled ones are held to.

Owns the recursions A5 (PathMAP), A7 (seqmap-table), A8 (the bound) and A10 (seqmap-beam) of
``docs/algorithms.md`` as Python loops over floats. Does not check arguments and keeps no
certificate beyond what the recursions themselves give; use `sumfit.decoding.decode` for work.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.marginal import marginal_log_prob
from sumfit.decoding.options import DEFAULTS, Ending, is_any_ending
from sumfit.length import LengthBudget

__all__ = ["Problem", "Scored", "beam", "bound", "log_add", "path_map", "seqmap_table"]

Words = tuple[int, ...]
_IMPOSSIBLE = -math.inf


@dataclass(frozen=True, slots=True)
class Scored:
    """One sequence found by a reference decoder.

    Attributes:
        words: Vocabulary ids.
        score: What was maximised.
        log_prob: Exact marginal.
        cost: Total cost.
        path: Vertices for path decoders, else empty.
        optimal: Proved best (beam only).
    """

    words: Words
    score: float
    log_prob: float
    cost: int
    path: tuple[int, ...] = ()
    optimal: bool = False


class Problem:
    """A graph, costs and budget unpacked into Python lists, as every loop below reads them.

    Attributes:
        n_vertices: ``S``.
        link: ``[from][to]`` natural-log link probabilities.
        word: ``[vertex][column]`` natural-log word probabilities.
        end: ``[vertex]`` natural log of the closing link, 0 when any vertex may end.
        ids: Vocabulary id of each column.
        cost: Cost of each column after the first word.
        first: Cost of each column as the first word.
        low: Least allowed total.
        high: Most allowed total.
        bonus: Score added per word.
        unit_bonus: Score added per unit of cost.
        ending: ``"eos"`` or ``"any"``.
        dag: The graph itself.
    """

    n_vertices: int
    link: list[list[float]]
    word: list[list[float]]
    end: list[float]
    ids: list[int]
    cost: list[int]
    first: list[int]
    low: int
    high: int
    bonus: float
    unit_bonus: float
    ending: Ending
    dag: DAG

    def __init__(
        self,
        dag: DAG,
        *,
        unit_cost: npt.ArrayLike,
        budget: LengthBudget,
        first_cost: npt.ArrayLike | None = None,
        ending: Ending = DEFAULTS.ending,
        bonus: float = DEFAULTS.bonus,
        unit_bonus: float = DEFAULTS.unit_bonus,
    ) -> None:
        """Unpack.

        Args:
            dag: The graph.
            unit_cost: ``(V,)`` cost of each vocabulary id.
            budget: Allowed totals.
            first_cost: ``(V,)`` cost of each id as the first word; ``None`` for ``unit_cost``.
            ending: ``"eos"`` or ``"any"``.
            bonus: Score added per word, nats.
            unit_bonus: Score added per unit of cost, nats.
        """
        costs = np.asarray(unit_cost)
        firsts = costs if first_cost is None else np.asarray(first_cost)
        self.dag = dag
        self.n_vertices = dag.n_vertices
        self.link = dag.link_logp.astype(np.float64).tolist()
        self.word = dag.word_logp.astype(np.float64).tolist()
        any_ending = is_any_ending(ending)
        self.end = [0.0 if any_ending else row[-1] for row in self.link]
        self.ids = dag.word_ids.tolist()
        self.cost = costs[dag.word_ids].tolist()
        self.first = firsts[dag.word_ids].tolist()
        self.low, self.high = budget.low, budget.high
        self.bonus = bonus
        self.unit_bonus = unit_bonus
        self.ending = ending

    def inner(self) -> range:
        """Vertices that emit words."""
        return range(1, self.n_vertices - 1)

    def scored(self, columns: Sequence[int], cost: int, score: float | None = None) -> Scored:
        """Score finished columns exactly.

        Args:
            columns: Candidate columns of the words.
            cost: Their total cost.
            score: What the decoder maximised; ``None`` for marginal plus bonus.

        Returns:
            The finished sequence.
        """
        words = tuple(self.ids[column] for column in columns)
        log_prob = marginal_log_prob(self.dag, words, self.ending)
        total = log_prob + self.bonus * len(words) + self.unit_bonus * cost
        if score is not None:
            total = score
        return Scored(words, total, log_prob, cost)


def log_add(values: Iterable[float]) -> float:
    """Add probabilities given as natural logs.

    Args:
        values: Natural logs, ``-inf`` for 0.

    Returns:
        Natural log of the sum.
    """
    known = list(values)
    peak = max(known, default=_IMPOSSIBLE)
    if peak == _IMPOSSIBLE:
        return _IMPOSSIBLE
    return peak + math.log(math.fsum(math.exp(value - peak) for value in known))


def path_map(problem: Problem, *, score_first_word: bool = True) -> Scored | None:
    r"""Find the most probable path whose cost is in the budget (Eq. A5; paper Eq. 10).

    ``alpha[j][c] = max_v ( log w[j,v] + max_{i<j} alpha[i][c - cost(v)] + log l[i,j] )``.
    Time O(S² · C · W), memory O(S · C).

    Args:
        problem: Graph, costs, budget.
        score_first_word: Count the first word's probability; ``False`` leaves it out of the
            score, as the code released with the paper does.

    Returns:
        The path, or ``None`` if none meets the budget.
    """
    alpha: list[dict[int, tuple[float, Words, Words]]] = [{} for _ in range(problem.n_vertices)]
    alpha[0][0] = (0.0, (), ())
    for j in problem.inner():
        for i in range(j):
            for spent, (score, columns, vertices) in alpha[i].items():
                for v in range(len(problem.ids)):
                    cost = problem.first[v] if i == 0 else problem.cost[v]
                    total = spent + cost
                    word = problem.word[j][v]
                    if total > problem.high or word == _IMPOSSIBLE:
                        continue
                    if i == 0 and not score_first_word:
                        # The best word of its cost still goes first: the next best never ties.
                        rivals = [
                            problem.word[j][other]
                            for other in range(len(problem.ids))
                            if problem.first[other] == cost
                        ]
                        if word < max(rivals):
                            continue
                        word = 0.0
                    gain = problem.bonus + problem.unit_bonus * cost
                    value = score + problem.link[i][j] + word + gain
                    if value > alpha[j].get(total, (_IMPOSSIBLE,))[0]:
                        alpha[j][total] = (value, (*columns, v), (*vertices, j))
    best: tuple[float, Words, Words, int] | None = None
    for j in problem.inner():
        for spent, (score, columns, vertices) in alpha[j].items():
            value = score + problem.end[j]
            if problem.low <= spent and value > (best[0] if best else _IMPOSSIBLE):
                best = (value, columns, vertices, spent)
    if best is None:
        return None
    found = problem.scored(best[1], best[3], best[0])
    return Scored(found.words, found.score, found.log_prob, found.cost, path=best[2])


def bound(problem: Problem) -> list[list[float]]:
    r"""Bound what any one string can still collect (Eq. A8).

    ``H[r][j] = max( end_j if r <= high - low, max_v sum_{i>j} l[j,i] w[i,v] H[r - cost(v)][i] )``
    with the bonus of each word added. Time O(C · S² · W), memory O(C · S).

    Args:
        problem: Graph, costs, budget.

    Returns:
        ``[r][j]`` natural-log bound for remaining cost r = 0..high at vertex j = 0..S-2. Row
        entries of vertex 0 treat the next word as not the first; the root uses `Problem.first`.
    """
    last = problem.n_vertices - 1
    table = [[_IMPOSSIBLE] * last for _ in range(problem.high + 1)]
    for rest in range(problem.high + 1):
        for j in range(last - 1, -1, -1):
            best = problem.end[j] if rest <= problem.high - problem.low else _IMPOSSIBLE
            for v, cost in enumerate(problem.cost):
                if cost <= rest:
                    collected = log_add(
                        problem.link[j][i] + problem.word[i][v] + table[rest - cost][i]
                        for i in range(j + 1, last)
                    )
                    best = max(best, problem.bonus + problem.unit_bonus * cost + collected)
            table[rest][j] = best
    return table


_Column = list[dict[Words, dict[int, float]]]  # by cost: prefixes with their mass by vertex


def seqmap_table(
    problem: Problem, *, beam_size: int, words_per_vertex: int, n_best: int = DEFAULTS.n_best
) -> list[Scored]:
    r"""Fill the paper's table of top-K sequences by cost and vertex (Eq. A7; paper Algorithm 1).

    ``A[c, s]`` holds the K sequences of cost c with the most mass at or before vertex s, each
    with its mass ``u_j`` per vertex; EXPAND appends the V best words of s to every ``A[., s-1]``,
    MERGE joins them with ``A[c, s-1]``, one joint top-K decides. Only ``A[., s-1]`` is kept; the
    empty prefix always is and takes no place.
    Time O(S · C · K · (S + V)), memory O(C · K · S).

    Args:
        problem: Graph, costs, budget.
        beam_size: ``K``.
        words_per_vertex: ``V`` of the paper, ``M`` here.
        n_best: Most sequences to return.

    Returns:
        Sequences in the budget, rescored exactly, best first; empty if none was found.
    """
    table: _Column = [{} for _ in range(problem.high + 1)]
    table[0][()] = {0: 0.0}
    for s in problem.inner():
        grown = _expand(problem, table, s, words_per_vertex)
        table = [
            _merge(problem, beams, grown[spent], s, beam_size) for spent, beams in enumerate(table)
        ]
    found = [
        problem.scored(columns, spent)
        for spent in range(problem.low, problem.high + 1)
        for columns in table[spent]
        if columns
    ]
    possible = [item for item in found if item.log_prob > _IMPOSSIBLE]
    return sorted(possible, key=lambda item: (-item.score, item.words))[:n_best]


def _expand(
    problem: Problem, table: _Column, s: int, words_per_vertex: int
) -> list[dict[Words, float]]:
    """By cost: every prefix of the last column longer by a word of vertex s, and its mass there."""
    row = problem.word[s]
    top = heapq.nsmallest(words_per_vertex, range(len(row)), key=lambda v: (-row[v], v))
    grown: list[dict[Words, float]] = [{} for _ in table]
    for spent, beams in enumerate(table):
        for columns, mass in beams.items():
            reach = log_add(u + problem.link[j][s] for j, u in mass.items())
            for v in top:
                total = spent + (problem.cost[v] if columns else problem.first[v])
                value = reach + row[v]
                if total <= problem.high and value > _IMPOSSIBLE:
                    grown[total][(*columns, v)] = value
    return grown


def _merge(
    problem: Problem,
    beams: dict[Words, dict[int, float]],
    grown: dict[Words, float],
    s: int,
    beam_size: int,
) -> dict[Words, dict[int, float]]:
    """One cell of the next column: the K of most mass, and the empty prefix if it was there."""
    merged = {columns: dict(mass) for columns, mass in beams.items() if columns}
    for columns, value in grown.items():
        merged.setdefault(columns, {})[s] = value
    kept = heapq.nsmallest(
        beam_size,
        merged.items(),
        key=lambda item: (-log_add(item[1].values()) - problem.bonus * len(item[0]), item[0]),
    )
    return {columns: mass for columns, mass in beams.items() if not columns} | dict(kept)


def beam(problem: Problem, *, beam_size: int, n_best: int = DEFAULTS.n_best) -> list[Scored]:
    r"""Search prefixes piece by piece, ranked by what they can still become (Eq. A10).

    Each kept prefix b carries its whole vector ``u_j(b)``; its rank is
    ``f(b) = log sum_j u_j(b) H[high - cost(b)][j]``, an upper bound on every completion. Time
    O(C · S² · W) for the bound and O(n · K · S · (S + W)) for n pieces.

    Args:
        problem: Graph, costs, budget.
        beam_size: ``K``.
        n_best: Most sequences to return.

    Returns:
        Finished sequences, best first; ``optimal`` where no pruned prefix could beat it.
    """
    table = bound(problem)
    active: list[tuple[float, Words, int, dict[int, float]]] = [(0.0, (), 0, {0: 0.0})]
    finished: list[Scored] = []
    pruned = _IMPOSSIBLE
    while active:
        children = []
        for _, columns, spent, mass in active:
            for v in range(len(problem.ids)):
                total = spent + (problem.cost[v] if columns else problem.first[v])
                if total > problem.high:
                    continue
                grown = {
                    j: problem.word[j][v]
                    + problem.bonus
                    + problem.unit_bonus * (total - spent)
                    + log_add(u + problem.link[i][j] for i, u in mass.items() if i < j)
                    for j in problem.inner()
                }
                rest = problem.high - total
                rank = log_add(u + table[rest][j] for j, u in grown.items())
                if rank > _IMPOSSIBLE:
                    children.append((rank, (*columns, v), total, grown))
        children.sort(key=lambda child: (-child[0], child[1]))
        pruned = max([pruned, *(child[0] for child in children[beam_size:])])
        active = children[:beam_size]
        for _, columns, total, grown in active:
            close = log_add(u + problem.end[j] for j, u in grown.items())
            if problem.low <= total and close > _IMPOSSIBLE:
                finished.append(problem.scored(columns, total))
    finished.sort(key=lambda item: (-item.score, item.words))
    return [
        Scored(item.words, item.score, item.log_prob, item.cost, (), item.score >= pruned)
        for item in finished[:n_best]
    ]
