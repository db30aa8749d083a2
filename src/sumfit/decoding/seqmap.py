"""SeqMAP: the most probable word sequence under a budget, exactly, with a certificate.

Owns the search over prefixes and what its result proves. The bounds are in
`sumfit.decoding.bound`, the inner loop in `sumfit.decoding.kernels.search`.

Best-first search: a prefix is worth the bound on its best completion (Eq. A9), and the first
finished sequence that leaves the frontier is the argmax. It is proved optimal over the whole
vocabulary if its score is also at least the bound of every sequence that leaves the candidates.
"""

from __future__ import annotations

import math
import time
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.bound import SearchTables
from sumfit.decoding.kernels.search import DONE, EMPTY, FULL, LANDED, run
from sumfit.decoding.marginal import best_path
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.errors import BudgetError, InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["all_lengths", "seqmap"]

_Number = TypeVar("_Number", bound="np.generic[Any]")

_TOLERANCE = 1e-9  # nats within which two scores count as equal
_FIRST_ROOM = 64  # prefixes that fit before the arrays grow
_SLICE = 128  # expansions between two looks at the clock
_DIVES = 8  # quick descents when a limit comes before the first finished sequence
_DIVE_EXPANSIONS = 2_000  # most prefixes that they may expand


def seqmap(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Find the best sequences whose cost lies in the budget, and prove it where possible.

    Args:
        dag: The graph.
        options: Costs, budget, limits of the search.

    Returns:
        At most ``n_best`` sequences, best first, each with its own certificate or gap.

    Raises:
        InfeasibleBudgetError: If no sequence of the graph meets the budget.
    """
    graph = restricted(dag, options)
    started = time.perf_counter()
    tables = SearchTables.build(graph, options)
    search = Search(tables, options)
    is_complete = search.run(started)
    found = search.results(graph)
    if not found:
        if graph.n_candidates < dag.n_candidates:
            return seqmap(dag, options=options.replace(words_per_vertex=None))
        raise _infeasible(dag, options)
    return NBest(tuple(found), "seqmap", search.n_expanded, is_complete)


def all_lengths(dag: DAG, *, options: DecodeOptions) -> dict[int, Hypothesis]:
    """Find the best sequence for every limit up to the budget's, from one table of bounds.

    The bounds depend on the cost still to spend, not on the limit, so each further limit costs
    one short search; and the best sequence under one limit is also the best under every lower
    limit that it meets.

    Args:
        dag: The graph.
        options: Costs, budget ("at most"), limits of the search.

    Returns:
        The best hypothesis by limit, ascending; limits that no sequence meets are left out.

    Raises:
        BudgetError: If the budget has a minimum.
        InfeasibleBudgetError: If no limit is met by any sequence.
    """
    if options.budget.low > 0:
        raise BudgetError(
            f"every limit up to {options.budget.high} is searched as 'at most'; "
            f"leave out min={options.budget.low}"
        )
    graph = restricted(dag, options)
    tables = SearchTables.build(graph, options)
    found: dict[int, Hypothesis] = {}
    limit = options.budget.high
    while limit >= 0:
        search = Search(tables, options, high=min(limit, tables.high))
        search.run(time.perf_counter())
        best = search.results(graph)
        if not best:
            break
        for met in range(min(best[0].cost, limit), limit + 1):
            found[met] = best[0]
        limit = min(best[0].cost, limit) - 1
    if not found:
        raise _infeasible(dag, options)
    return dict(sorted(found.items()))


def restricted(dag: DAG, options: DecodeOptions) -> DAG:
    """Keep the words per vertex that the options ask for.

    Args:
        dag: The graph.
        options: With ``words_per_vertex``.

    Returns:
        The graph to search.
    """
    if options.words_per_vertex is None:
        return dag
    return dag.restrict(options.words_per_vertex)


def _infeasible(dag: DAG, options: DecodeOptions) -> InfeasibleBudgetError:
    if options.constraints is None:
        return infeasible(SearchProblem.build(dag, options))
    low, high = options.budget.low, options.budget.high
    asked = f"exactly {high}" if low == high else f"{low} to {high}" if low else f"at most {high}"
    return InfeasibleBudgetError(
        f"no sequence of the graph costs {asked} and obeys the constraints; "
        "raise the limit or relax a constraint"
    )


class Search:
    """One best-first search: its frontier, its prefixes and what it proved."""

    def __init__(self, tables: SearchTables, options: DecodeOptions, *, high: int | None = None):
        """Prepare an empty search.

        Args:
            tables: Probabilities, costs and bounds.
            options: Limits of the search.
            high: Most total cost, at most that of the tables; theirs if not given.
        """
        self._tables = tables
        self._options = options
        self._high = tables.high if high is None else high
        self._count = np.zeros(4, dtype=np.int64)
        self._done = np.empty(options.n_best, dtype=np.int64)
        self._outside = np.full(options.n_best + 1, -math.inf)
        n_words, n = tables.prob.shape
        self._parent = np.empty(0, dtype=np.int64)
        self._word = np.empty(0, dtype=np.int64)
        self._rest = np.empty(0, dtype=np.int64)
        self._log_mass = np.empty(0)
        self._base = np.empty(0)
        self._score = np.empty(0)
        self._reach = np.empty((0, n))
        self._bounds = np.empty((0, n_words))
        self._heap_f = np.empty(0)
        self._heap_node = np.empty(0, dtype=np.int64)
        self._heap_word = np.empty(0, dtype=np.int64)
        self._room = 0
        self._grow(_FIRST_ROOM)

    @property
    def n_expanded(self) -> int:
        """Prefixes expanded so far."""
        return int(self._count[3])

    def run(self, started: float) -> bool:
        """Search until all results are found or a limit of the options is reached.

        Args:
            started: When the call started, by `time.perf_counter`.

        Returns:
            Whether the search ended by itself.
        """
        limit_s = self._options.time_limit_s
        most = self._options.max_expansions
        while True:
            reached = most if limit_s is None else min(most, self.n_expanded + _SLICE)
            status = self._step(reached)
            if status in (DONE, EMPTY):
                return True
            if status == FULL:
                self._grow(4 * self._room)
                continue
            is_late = limit_s is not None and time.perf_counter() - started > limit_s
            if is_late or self.n_expanded >= most:
                self._dive()
                return False

    def results(self, graph: DAG) -> list[Hypothesis]:
        """Collect what was found, best first.

        Args:
            graph: The graph searched, for the paths.

        Returns:
            At most ``n_best`` hypotheses; those not proved optimal carry their gap.
        """
        n_done = int(self._count[2])
        nodes = [(int(self._done[i]), float(self._outside[i])) for i in range(n_done)]
        frontier = float(self._heap_f[0]) if self._count[1] else -math.inf
        if n_done < self._options.n_best and self._count[1]:
            scores = self._score[: self._count[0]].copy()
            scores[self._done[:n_done]] = -math.inf
            order = np.argsort(-scores, kind="stable")[: self._options.n_best - n_done]
            bound = max(frontier, float(self._outside[-1]))
            nodes += [(int(i), bound) for i in order if scores[i] > -math.inf]
        return [self._hypothesis(graph, node, bound) for node, bound in nodes]

    def _hypothesis(self, graph: DAG, node: int, bound: float) -> Hypothesis:
        score = float(self._score[node])
        columns: list[int] = []
        at = node
        while at > 0:
            columns.append(int(self._word[at]))
            at = int(self._parent[at])
        words = tuple(graph.word_ids[columns[::-1]].tolist())
        is_optimal = bound <= score + _TOLERANCE
        return Hypothesis(
            words=words,
            log_prob=score - self._options.bonus * len(words),
            score=score,
            cost=self._high - int(self._rest[node]),
            path=best_path(graph, words, self._options.ending),
            optimal=is_optimal,
            gap=0.0 if is_optimal else bound - score,
        )

    def _dive(self) -> None:
        """Finish some sequences greedily if none is finished yet."""
        if (self._score[: self._count[0]] > -math.inf).any():
            return
        limit = self.n_expanded + _DIVE_EXPANSIONS
        landed = 0
        while landed < _DIVES:
            status = self._step(limit, is_dive=True)
            if status == FULL:
                self._grow(4 * self._room)
            elif status == LANDED:
                landed += 1
            else:
                return

    def _step(self, limit: int, *, is_dive: bool = False) -> int:
        tables = self._tables
        return int(
            run(
                self._count,
                self._outside,
                self._heap_f,
                self._heap_node,
                self._heap_word,
                self._parent,
                self._word,
                self._rest,
                self._log_mass,
                self._base,
                self._score,
                self._reach,
                self._bounds,
                self._done,
                tables.link,
                tables.first_link,
                tables.end,
                tables.words,
                tables.cost,
                tables.first_words,
                tables.first_cost,
                tables.prob,
                tables.other,
                tables.other_cost,
                tables.other_first_cost,
                tables.table[0, 0],
                tables.scale,
                self._high,
                self._high - tables.low,
                self._options.n_best,
                limit,
                is_dive,
            )
        )

    def _grow(self, room: int) -> None:
        """Make room for this many prefixes."""
        self._parent = _enlarged(self._parent, room)
        self._word = _enlarged(self._word, room)
        self._rest = _enlarged(self._rest, room)
        self._log_mass = _enlarged(self._log_mass, room)
        self._base = _enlarged(self._base, room)
        self._score = _enlarged(self._score, room)
        self._reach = _enlarged(self._reach, room)
        self._bounds = _enlarged(self._bounds, room)
        self._heap_f = _enlarged(self._heap_f, 3 * room)
        self._heap_node = _enlarged(self._heap_node, 3 * room)
        self._heap_word = _enlarged(self._heap_word, 3 * room)
        self._room = room


def _enlarged(array: npt.NDArray[_Number], rows: int) -> npt.NDArray[_Number]:
    larger = np.empty((rows, *array.shape[1:]), dtype=array.dtype)
    larger[: array.shape[0]] = array
    return larger
