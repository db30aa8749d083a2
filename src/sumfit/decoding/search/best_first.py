"""One best-first search over prefixes: its frontier, its limits and what it proved.

Owns `Search`, which runs the compiled loop of `kernels.search` and reads its results. When to
search again, and with which bounds, is `sumfit.decoding.methods.seqmap`'s business.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.bounds.tables import SearchTables
from sumfit.decoding.kernels.children import Room
from sumfit.decoding.kernels.frontier import Nodes
from sumfit.decoding.kernels.search import (
    DONE,
    EMPTY,
    FULL,
    HOPELESS,
    LANDED,
    LIMIT,
    Progress,
    run,
)
from sumfit.decoding.kernels.vertices import best_vertices
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.search.faint import faint_path, faintest
from sumfit.hypothesis import Hypothesis

__all__ = ["FOLLOWED_SHARE", "Search", "empty_nodes", "make_room"]

_TOLERANCE = 1e-9  # nats within which two scores count as equal
_FIRST_ROOM = 64  # prefixes that fit before the arrays grow
_HOPE = 24  # expansions before an uncertifiable search drops out-of-candidate words
_NEVER = 2**62  # more expansions than any limit: such a search never gives up by itself
FOLLOWED_SHARE = 3
"""One part in so many of the limits is left to searches that follow words outside.

What they do not prove is searched again without, and has to be found within the rest.
"""
_SLICE = 128  # expansions between two looks at the clock
_REMEMBERED = 1021  # answers on groups of words outside the candidates
_DIVES = 8  # quick descents when a limit comes before the first finished sequence
_DIVE_EXPANSIONS = 2_000  # most prefixes that they may expand
_DIVE_SHARE = 4  # one expansion in so many is kept for them while nothing is finished
_LEAST_DIVE = 400  # prefixes that the first of them may expand whatever the limits say


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
        self._patience = _HOPE if has_outside else _NEVER
        self._is_following = tables.graph.member_start.size > 0
        if self._is_following:
            self._patience = 0
        self._tables = tables
        self._options = options = options.begin()
        self._high = tables.high if high is None else high
        n_certain = options.n_best if options.after_best is None else 1
        self._progress = Progress(
            count=np.zeros(4, dtype=np.int64),
            done=np.empty(n_certain, dtype=np.int64),
            outside=np.full(n_certain + 1, outside),
        )
        self._n_rows = _FIRST_ROOM
        self._nodes = empty_nodes(self._tables, self._options, self._n_rows)
        self._room = make_room(self._nodes)

    @property
    def n_expanded(self) -> int:
        """Prefixes expanded so far, earlier searches included."""
        return self._n_before + int(self._progress.count[3])

    @property
    def outside(self) -> float:
        """Bound on the score of sequences with a word outside the candidates, so far."""
        return float(self._progress.outside[-1])

    @property
    def least_score(self) -> float:
        """Score of the last result; infinite if there is none."""
        count, done = self._progress.count, self._progress.done
        return float(self._nodes.score[done[count[2] - 1]]) if count[2] else math.inf

    @property
    def is_in_doubt(self) -> bool:
        """Whether a word outside the candidates may be in something better than the last result."""
        if self.is_complete:
            return self.outside > self.least_score
        return self.is_hopeless

    @property
    def greatest_outside(self) -> float:
        """Bound on the score of sequences with a word outside, those not looked at included."""
        return max(self.outside, self._frontier) if self._progress.count[0] else math.inf

    def lower_outside(self, bound: float, n_expanded: int) -> None:
        """Take over a lower bound on the score of sequences with a word outside the candidates.

        Args:
            bound: The bound.
            n_expanded: Prefixes expanded until it was found.
        """
        self._n_before += n_expanded - self.n_expanded
        np.minimum(self._progress.outside, bound, out=self._progress.outside)

    def run(self, most: int | None = None) -> None:
        """Search until all results are found or a limit is reached.

        A limit of the options that comes before the first result is met by quick descents, so
        that there is a result, unless words outside are followed: a quarter of the expansions is
        kept for them, and one may be finished beyond any limit. `is_complete` tells whether the
        search ended by itself, `is_cut_short` whether a limit of the options ended it.

        Args:
            most: Expansions, earlier searches included, after which to give up without any
                result; ``None`` for the limit of the options.
        """
        deadline = self._options.running
        if self._is_following:
            deadline = deadline.part(1 / FOLLOWED_SHARE)
        last = self._options.max_expansions
        limit = last if most is None else min(most, last)
        kept_back = last if self._is_following else last - last // _DIVE_SHARE
        while True:
            reached = min(limit, kept_back) if self.n_expanded < kept_back else limit
            if deadline.may_end:
                reached = min(reached, self.n_expanded + _SLICE)
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
            is_spent = self.n_expanded >= last or (
                self.n_expanded >= kept_back and not self._has_finished
            )
            if is_spent or deadline.is_over:
                if not self._is_following:
                    self._dive()
                    self._options.running.stop()
                self.is_cut_short = True
                return
            if self.n_expanded >= limit:
                return

    def go_on(self) -> None:
        """Spend what ``after_best`` allows on the rest of the list, whatever it proves."""
        more, n_best = self._options.after_best, self._options.n_best
        count, done, outside = self._progress
        if more is None or n_best == 1 or not count[2]:
            return
        bounds = np.full(n_best + 1, outside[-1])
        bounds[0] = outside[0]
        self._progress = Progress(count, np.resize(done, n_best), bounds)
        self._patience = _NEVER
        limit = min(int(count[3]) + more, self._options.max_expansions - self._n_before)
        deadline = self._options.running
        while True:
            reached = limit
            if deadline.may_end:
                reached = min(limit, int(count[3]) + _SLICE)
            status = self._step(reached)
            if status == FULL:
                self._grow()
                continue
            self.is_complete = status in (DONE, EMPTY)
            if self.is_complete or count[3] >= limit:
                return
            if deadline.is_over:
                deadline.stop()
                return

    def results(self, graph: DAG) -> list[Hypothesis]:
        """Collect what was found, best first.

        Args:
            graph: The graph searched, for the paths.

        Returns:
            At most ``n_best`` hypotheses; those not proved optimal carry their gap.
        """
        done, outside = self._progress.done, self._progress.outside
        n_done = int(self._progress.count[2])
        nodes = [(int(done[i]), float(outside[i])) for i in range(n_done)]
        frontier = self._frontier
        if n_done < self._options.n_best and self._progress.count[1]:
            scores = self._nodes.score[: self._progress.count[0]].copy()
            scores[done[:n_done]] = -math.inf
            scores[self._nodes.left[: scores.size] > 0] = -math.inf
            order = np.argsort(-scores, kind="stable")[: self._options.n_best - n_done]
            bound = max(frontier, float(outside[-1]))
            nodes += [(int(i), bound) for i in order if scores[i] > -math.inf]
        return [self._hypothesis(graph, node, bound) for node, bound in nodes]

    def faint_results(self, dag: DAG) -> list[Hypothesis]:
        """What there is where nothing was found: a sequence too improbable for this search.

        Args:
            dag: The whole graph.

        Returns:
            At most one hypothesis, with its gap; none under constraints, or if the search did not
            end by itself.
        """
        if self._options.constraints is not None or not self.is_complete:
            return []
        best = faint_path(dag, self._options)
        if best is None:
            return []
        return [replace(best, gap=max(best.gap, self.outside - best.score))]

    @property
    def _has_finished(self) -> bool:
        """Whether any sequence is finished, on the frontier or off it."""
        return bool((self._nodes.score[: self._progress.count[0]] > -math.inf).any())

    @property
    def _frontier(self) -> float:
        """Bound on what the search has not looked at yet."""
        return float(self._nodes.heap_f[0]) if self._progress.count[1] else -math.inf

    def _hypothesis(self, graph: DAG, node: int, bound: float) -> Hypothesis:
        score = float(self._nodes.score[node])
        bound = max(bound, faintest(graph, self._options, score))
        cost = self._high - int(self._nodes.rest[node])
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
            log_prob=score - self._options.bonus_of(len(words), cost),
            score=score,
            cost=cost,
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
        if self._has_finished:
            return
        deadline, last = self._options.running, self._options.max_expansions
        begun = int(self._progress.count[3])
        most = begun + max(_LEAST_DIVE, min(_DIVE_EXPANSIONS, last - self.n_expanded))
        reached, landed = begun + _LEAST_DIVE, 0
        while landed < _DIVES:
            status = self._step(min(reached, most), is_dive=True)
            if status == FULL:
                self._grow()
                continue
            landed += status == LANDED
            is_spent = self.n_expanded >= (last if landed else self._n_before + most)
            if status not in (LANDED, LIMIT) or is_spent or deadline.is_over:
                return
            if status == LIMIT:
                reached += _LEAST_DIVE

    def _step(self, limit: int, *, is_dive: bool = False) -> int:
        tables = self._tables
        return int(
            run(
                tables.rules,
                tables.graph,
                self._nodes,
                self._progress,
                self._high,
                self._high - tables.low,
                limit,
                self._patience,
                is_dive,
                self._room,
            )
        )

    def _grow(self) -> None:
        """Make room for four times as many prefixes."""
        self._n_rows *= 4
        larger = empty_nodes(self._tables, self._options, self._n_rows)
        for old, new in zip(self._nodes, larger, strict=True):
            new[: old.shape[0]] = old
        self._nodes = larger


def make_room(nodes: Nodes) -> Room:
    """Make room for what is computed on the way.

    Args:
        nodes: The rows that are worked on.

    Returns:
        The arrays, with states that are those of no word.
    """
    return Room(
        scratch=np.zeros(nodes.state.shape[1], dtype=np.int64),
        other=np.zeros(nodes.state.shape[1], dtype=np.int64),
        known=np.full((_REMEMBERED, 8), -1, dtype=np.int64),
        mass=np.empty(nodes.reach.shape[1]),
    )


def empty_nodes(
    tables: SearchTables, options: DecodeOptions, room: int, *, has_frontier: bool = True
) -> Nodes:
    """Make rows for so many prefixes.

    Args:
        tables: Tables of the graph.
        options: Their constraints size the state of a prefix.
        room: Number of rows.
        has_frontier: Whether to make room for a heap of open prefixes too.

    Returns:
        The rows, not yet written.
    """
    n = tables.n_inner
    constraints = options.constraints
    n_fields = 1 if constraints is None else constraints.state_size(n + 1)
    n_open = 3 * room if has_frontier else 1

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
        left=whole(room),
        reach=np.empty((room, n)),
        bounds=np.empty((room, tables.n_candidates)),
        state=whole(room, n_fields),
        heap_f=np.empty(n_open),
        heap_node=whole(n_open),
        heap_word=whole(n_open),
    )
