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

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.bound import SearchTables
from sumfit.decoding.kernels.search import DONE, EMPTY, FULL, LANDED, Nodes, run
from sumfit.decoding.marginal import best_path
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.errors import BudgetError, InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["all_lengths", "seqmap"]

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
        self._room = _FIRST_ROOM
        self._nodes = self._empty_nodes(self._room)

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
                self._grow()
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
        frontier = float(self._nodes.heap_f[0]) if self._count[1] else -math.inf
        if n_done < self._options.n_best and self._count[1]:
            scores = self._nodes.score[: self._count[0]].copy()
            scores[self._done[:n_done]] = -math.inf
            order = np.argsort(-scores, kind="stable")[: self._options.n_best - n_done]
            bound = max(frontier, float(self._outside[-1]))
            nodes += [(int(i), bound) for i in order if scores[i] > -math.inf]
        return [self._hypothesis(graph, node, bound) for node, bound in nodes]

    def _hypothesis(self, graph: DAG, node: int, bound: float) -> Hypothesis:
        score = float(self._nodes.score[node])
        columns: list[int] = []
        at = node
        while at > 0:
            columns.append(int(self._nodes.word[at]))
            at = int(self._nodes.parent[at])
        words = tuple(graph.word_ids[columns[::-1]].tolist())
        is_optimal = bound <= score + _TOLERANCE
        return Hypothesis(
            words=words,
            log_prob=score - self._options.bonus * len(words),
            score=score,
            cost=self._high - int(self._nodes.rest[node]),
            path=best_path(graph, words, self._options.ending),
            optimal=is_optimal,
            gap=0.0 if is_optimal else bound - score,
        )

    def _dive(self) -> None:
        """Finish some sequences greedily if none is finished yet."""
        if (self._nodes.score[: self._count[0]] > -math.inf).any():
            return
        limit = self.n_expanded + _DIVE_EXPANSIONS
        landed = 0
        while landed < _DIVES:
            status = self._step(limit, is_dive=True)
            if status == FULL:
                self._grow()
            elif status == LANDED:
                landed += 1
            else:
                return

    def _step(self, limit: int, *, is_dive: bool = False) -> int:
        tables = self._tables
        return int(
            run(
                tables.rules,
                tables.graph,
                self._nodes,
                self._count,
                self._outside,
                self._done,
                self._high,
                self._high - tables.low,
                limit,
                is_dive,
            )
        )

    def _empty_nodes(self, room: int) -> Nodes:
        n_words, n = self._tables.n_candidates, self._tables.n_inner
        constraints = self._options.constraints
        n_fields = 1 if constraints is None else constraints.state_size(n + 1)

        def whole(*shape: int) -> npt.NDArray[np.int64]:
            return np.empty(shape, dtype=np.int64)

        return Nodes(
            parent=whole(room),
            word=whole(room),
            rest=whole(room),
            log_mass=np.empty(room),
            base=np.empty(room),
            score=np.empty(room),
            kind=whole(room),
            spent=whole(room),
            reach=np.empty((room, n)),
            bounds=np.empty((room, n_words)),
            state=whole(room, n_fields),
            heap_f=np.empty(3 * room),
            heap_node=whole(3 * room),
            heap_word=whole(3 * room),
        )

    def _grow(self) -> None:
        """Make room for four times as many prefixes."""
        self._room *= 4
        larger = self._empty_nodes(self._room)
        for old, new in zip(self._nodes, larger, strict=True):
            new[: old.shape[0]] = old
        self._nodes = larger
