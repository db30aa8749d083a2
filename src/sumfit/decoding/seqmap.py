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
from sumfit.decoding.kernels.search import (
    DONE,
    EMPTY,
    FULL,
    HOPELESS,
    LANDED,
    Nodes,
    best_vertices,
    run,
)
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible, keep_best_words
from sumfit.errors import BudgetError, InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["all_lengths", "seqmap"]

_TOLERANCE = 1e-9  # nats within which two scores count as equal
_FIRST_ROOM = 64  # prefixes that fit before the arrays grow
_PATIENCE = 100  # expansions before a search that repeats words gets a tighter bound
_HOPE = 24  # expansions before a search that cannot be certified is ordered without outsiders
_SPENT_AT_ONCE = 2  # words added to the bound at a time
_MOST_SPENT = 6  # words that the bound may know of; each doubles it
_MOST_BOUNDS = 30_000  # bounds per context in a table that knows of used-up words
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
    started = time.perf_counter()
    graph = restricted(dag, options)
    search = _searched(SearchTables.build(graph, options), options, started)
    found = search.results(graph)
    if not found:
        if graph.n_candidates < dag.n_candidates:
            return seqmap(dag, options=options.replace(words_per_vertex=None))
        raise _infeasible(dag, options, search)
    return NBest(tuple(found), "seqmap", search.n_expanded, search.is_complete)


def _searched(
    tables: SearchTables, options: DecodeOptions, started: float, high: int | None = None
) -> Search:
    """Search, and start again with a tighter bound while repeated words lead it astray.

    And start again without the words outside the candidates as soon as it is clear that one of
    them keeps the result from being certified: they only blur the order then.

    A word that may not be repeated can still be counted twice by the bound. When that costs many
    expansions, the words refused most often get a bit each in the table of bounds.
    """
    patience = _PATIENCE
    n_before = 0
    outside = -math.inf
    while True:
        search = Search(tables, options, high=high, n_before=n_before, outside=outside)
        is_last = not tables.rules.content_once or not _may_grow(tables)
        search.run(started, most=None if is_last else n_before + patience)
        n_before = search.n_expanded
        if search.is_hopeless:
            outside = search.outside
            tables = tables.without_outside()
            continue
        if is_last or search.is_complete or search.is_cut_short:
            return search
        words = tables.repeated_words(_SPENT_AT_ONCE)
        tables = tables.with_spent(words) if words.size else tables
        patience = patience * 4 if words.size else options.max_expansions


def _may_grow(tables: SearchTables) -> bool:
    """Whether more words may get a bit: few enough words, and a table that stays small."""
    n_sets, _, n_layers, n = tables.table.shape
    size = (n_sets << _SPENT_AT_ONCE) * n_layers * n
    return bool(tables.graph.spent.size < _MOST_SPENT and size <= _MOST_BOUNDS)


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
        started = time.perf_counter()
        search = _searched(tables, options, started, high=min(limit, tables.high))
        best = search.results(graph)
        if not best:
            break
        for met in range(min(best[0].cost, limit), limit + 1):
            found[met] = best[0]
        limit = min(best[0].cost, limit) - 1
    if not found:
        raise _infeasible(dag, options, search)
    return dict(sorted(found.items()))


def restricted(dag: DAG, options: DecodeOptions) -> DAG:
    """Keep the words per vertex that the options ask for, and all that spell required words.

    Args:
        dag: The graph.
        options: With ``words_per_vertex`` and constraints.

    Returns:
        The graph to search.

    Raises:
        ConstraintError: If the required words cannot be written or do not fit.
    """
    constraints = options.constraints
    needs = constraints is not None and constraints.required_atoms
    if constraints is not None and needs:
        constraints.check_required(
            dag.word_ids, options.unit_cost, options.first_cost, options.budget.high
        )
    if options.words_per_vertex is None:
        return dag
    graph = keep_best_words(dag, options.words_per_vertex)
    if constraints is None or not needs or graph is dag:
        return graph
    keep = constraints.can_spell(dag.word_ids) | np.isin(dag.word_ids, graph.word_ids)
    return DAG(
        word_ids=dag.word_ids[keep],
        word_logp=np.ascontiguousarray(dag.word_logp[:, keep]),
        link_logp=dag.link_logp,
        other_logp=graph.other_logp,
        vocab_size=dag.vocab_size,
    )


def _infeasible(dag: DAG, options: DecodeOptions, search: Search) -> InfeasibleBudgetError:
    if options.constraints is None:
        return infeasible(SearchProblem.build(dag, options))
    low, high = options.budget.low, options.budget.high
    asked = f"exactly {high}" if low == high else f"{low} to {high}" if low else f"at most {high}"
    if not search.is_complete:
        return InfeasibleBudgetError(
            f"no sequence that costs {asked} and obeys the constraints was found in "
            f"{search.n_expanded} expansions; relax a constraint, raise the limit or the number "
            "of expansions"
        )
    return InfeasibleBudgetError(
        f"no sequence of the graph costs {asked} and obeys the constraints; "
        "raise the limit or relax a constraint"
    )


class Search:
    """One best-first search: its frontier, its prefixes and what it proved."""

    def __init__(
        self,
        tables: SearchTables,
        options: DecodeOptions,
        *,
        high: int | None = None,
        n_before: int = 0,
        outside: float = -math.inf,
    ) -> None:
        """Prepare an empty search.

        Args:
            tables: Probabilities, costs and bounds.
            options: Limits of the search.
            high: Most total cost, at most that of the tables; theirs if not given.
            n_before: Expansions already spent on searches for the same result.
            outside: Bound, known already, on what the tables leave out.
        """
        self.is_complete = False
        self.is_hopeless = False
        self.is_cut_short = False
        self._n_before = n_before
        has_outside = tables.graph.other_costs.size or tables.graph.other_first_costs.size
        self._patience = _HOPE if has_outside else options.max_expansions
        self._tables = tables
        self._options = options
        self._high = tables.high if high is None else high
        self._count = np.zeros(4, dtype=np.int64)
        self._done = np.empty(options.n_best, dtype=np.int64)
        self._outside = np.full(options.n_best + 1, outside)
        self._room = _FIRST_ROOM
        self._nodes = self._empty_nodes(self._room)

    @property
    def n_expanded(self) -> int:
        """Prefixes expanded so far, earlier searches included."""
        return self._n_before + int(self._count[3])

    @property
    def outside(self) -> float:
        """Bound on the score of sequences with a word outside the candidates, so far."""
        return float(self._outside[-1])

    def run(self, started: float, most: int | None = None) -> None:
        """Search until all results are found or a limit is reached.

        A limit of the options that comes before the first result is met by quick descents, so
        that there is a result; `is_complete` tells whether the search ended by itself,
        `is_cut_short` whether a limit of the options ended it.

        Args:
            started: When the call started, by `time.perf_counter`.
            most: Expansions, earlier searches included, after which to give up without any
                result; ``None`` for the limit of the options.
        """
        limit_s = self._options.time_limit_s
        last = self._options.max_expansions
        limit = last if most is None else min(most, last)
        while True:
            reached = limit if limit_s is None else min(limit, self.n_expanded + _SLICE)
            status = self._step(reached - self._n_before)
            if status in (DONE, EMPTY):
                self.is_complete = True
                return
            if status == HOPELESS:
                self.is_hopeless = True
                return
            if status == FULL:
                self._grow()
                continue
            is_late = limit_s is not None and time.perf_counter() - started > limit_s
            if is_late or self.n_expanded >= last:
                self._dive()
                self.is_cut_short = True
                return
            if self.n_expanded >= limit:
                return

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
        columns = [int(self._nodes.word[node])]
        at = int(self._nodes.parent[node])
        while at > 0:
            columns.append(int(self._nodes.word[at]))
            at = int(self._nodes.parent[at])
        columns.reverse()
        words = tuple(graph.word_ids[columns].tolist())
        is_optimal = bound <= score + _TOLERANCE
        return Hypothesis(
            words=words,
            log_prob=score - self._options.bonus * len(words),
            score=score,
            cost=self._high - int(self._nodes.rest[node]),
            path=self._path(columns),
            optimal=is_optimal,
            gap=0.0 if is_optimal else bound - score,
        )

    def _path(self, columns: list[int]) -> tuple[int, ...] | None:
        graph = self._tables.graph
        vertices = np.empty(len(columns), dtype=np.int64)
        found = best_vertices(
            graph.link,
            graph.first_link,
            graph.end,
            graph.prob,
            np.array(columns, dtype=np.int64),
            vertices,
        )
        return tuple(vertices.tolist()) if found else None

    def _dive(self) -> None:
        """Finish some sequences greedily if none is finished yet."""
        if (self._nodes.score[: self._count[0]] > -math.inf).any():
            return
        limit = self.n_expanded - self._n_before + _DIVE_EXPANSIONS
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
                self._patience,
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
