"""One best-first search over prefixes: its frontier, its limits and what it proved.

Owns `Search`, which runs the compiled loop of `kernels.search` and reads its results. When to
search again, and with which bounds, is `sumfit.decoding.search.attempts`' business.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding import tuning
from sumfit.decoding.bounds.tables import SearchTables
from sumfit.decoding.kernels.children import Workspace
from sumfit.decoding.kernels.frontier import Nodes
from sumfit.decoding.kernels.search import (
    N_DONE,
    N_EXPANDED,
    N_NODES,
    N_OPEN,
    Ended,
    Progress,
    run,
)
from sumfit.decoding.kernels.vertices import best_vertices
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.search.effort import Effort, Share
from sumfit.decoding.search.underflow import path_despite_underflow, underflow_bound
from sumfit.hypothesis import Hypothesis

__all__ = ["Attempt", "Search", "allocate_workspace", "empty_nodes"]

_UNLIMITED = 2**62  # more expansions than any limit


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one run of a search proved.

    Attributes:
        search: The search, whose results can be listed.
        ended: How it ended; `Ended.LIMIT` at its own share of the expansions or at the last limit.
        is_cut_short: A limit of the options ended it.
        least_score: Score of the last result; infinite if there is none.
        bound: Bound on the score of sequences with a word out of the candidates, so far as it has
            looked at them.
        full_bound: The same for all of them.
    """

    search: Search
    ended: Ended
    is_cut_short: bool
    least_score: float
    bound: float
    full_bound: float

    @property
    def is_complete(self) -> bool:
        """Whether the search ended by itself."""
        return self.ended in (Ended.DONE, Ended.EMPTY)

    @property
    def is_in_doubt(self) -> bool:
        """Whether a word out of the candidates may be in something better than the last result."""
        if self.is_complete:
            return self.bound > self.least_score
        return self.ended == Ended.CANNOT_CERTIFY


class Search:
    """One best-first search: its frontier, its prefixes and what it found."""

    def __init__(
        self,
        tables: SearchTables,
        options: DecodeOptions,
        effort: Effort,
        *,
        high: int | None = None,
        bound: float = -math.inf,
    ) -> None:
        """Prepare an empty search.

        Args:
            tables: Probabilities, costs and bounds.
            options: Limits of the search; a call has begun with them.
            effort: What all searches for the same result have used, and may.
            high: Most total cost, at most that of the tables; theirs if not given.
            bound: Bound, known already, on what the tables leave out.
        """
        graph = tables.graph
        has_others = graph.other_costs.size or graph.other_first_costs.size
        hope = tuning.SEARCH.expansions_before_giving_up
        self._before_giving_up = hope if has_others else _UNLIMITED
        self._follows = graph.member_start.size > 0
        if self._follows:
            self._before_giving_up = 0
        self._tables, self._options, self._effort = tables, options, effort
        self._high = tables.high if high is None else high
        n_certain = options.n_best if options.after_best is None else 1
        self._progress = Progress(
            tally=np.zeros(4, dtype=np.int64),
            done=np.empty(n_certain, dtype=np.int64),
            out_of_candidates=np.full(n_certain + 1, bound),
        )
        self._nodes = empty_nodes(tables, options, tuning.SEARCH.first_rows)
        self._workspace = allocate_workspace(self._nodes)

    def run(self, n_more: int | None = None) -> Attempt:
        """Search until all results are found or a limit is reached.

        A limit of the options that comes before the first result is met by quick descents, so
        that there is a result, unless words out of the candidates are followed: a quarter of the
        expansions is kept for them, and one may be finished beyond any limit.

        Args:
            n_more: Expansions after which to give up without any result; ``None`` for the limit
                of the options.

        Returns:
            What it proved.
        """
        effort, share = self._effort, self._effort.share(n_more, follows=self._follows)
        while True:
            ended = self._step(share.next_stop(effort.n_expanded))
            if ended == Ended.FULL:
                self._grow()
            elif ended != Ended.LIMIT:
                return self._attempt(ended)
            elif self._is_used_up(share):
                if not self._follows:
                    self._dive()
                    effort.deadline.stop()
                return self._attempt(ended, is_cut_short=True)
            elif effort.n_expanded >= share.own:
                return self._attempt(ended)

    def _is_used_up(self, share: Share) -> bool:
        """Whether no expansion or second is left of a share."""
        n_expanded = self._effort.n_expanded
        if n_expanded >= share.most or (n_expanded >= share.kept_back and not self._has_finished):
            return True
        return share.deadline.is_over

    def continue_after_best(self, attempt: Attempt) -> Attempt:
        """Spend what ``after_best`` allows on the rest of the list, whatever it proves.

        Args:
            attempt: What this search has proved so far.

        Returns:
            What it has proved then.
        """
        more, n_best, effort = self._options.after_best, self._options.n_best, self._effort
        if more is None or n_best == 1 or not self._n(N_DONE):
            return attempt
        tally, done, bounds = self._progress
        longer = np.full(n_best + 1, bounds[-1])
        longer[0] = bounds[0]
        self._progress = Progress(tally, np.resize(done, n_best), longer)
        self._before_giving_up = _UNLIMITED
        limit = effort.n_expanded + min(more, effort.most - effort.n_expanded)
        share = Share(limit, limit, limit, effort.deadline)
        while True:
            ended = self._step(share.next_stop(effort.n_expanded))
            if ended == Ended.FULL:
                self._grow()
            elif ended != Ended.LIMIT or effort.n_expanded >= limit:
                if ended == Ended.LIMIT and effort.n_expanded >= effort.most:
                    effort.deadline.stop()
                return self._attempt(ended)
            elif effort.deadline.is_over:
                effort.deadline.stop()
                return self._attempt(ended)

    def lower_bound(self, bound: float) -> None:
        """Take over a lower bound on the score of sequences with a word out of the candidates.

        Args:
            bound: The bound.
        """
        bounds = self._progress.out_of_candidates
        np.minimum(bounds, bound, out=bounds)

    def results(self, graph: DAG) -> list[Hypothesis]:
        """Collect what was found, best first.

        Args:
            graph: The graph searched, for the paths.

        Returns:
            At most ``n_best`` hypotheses; those not proved optimal carry their gap.
        """
        done, bounds = self._progress.done, self._progress.out_of_candidates
        n_done = self._n(N_DONE)
        nodes = [(int(done[i]), float(bounds[i])) for i in range(n_done)]
        frontier = self._frontier
        if n_done < self._options.n_best and self._n(N_OPEN):
            scores = self._nodes.score[: self._n(N_NODES)].copy()
            scores[done[:n_done]] = -math.inf
            scores[self._nodes.out_of_candidates[: scores.size] > 0] = -math.inf
            order = np.argsort(-scores, kind="stable")[: self._options.n_best - n_done]
            bound = max(frontier, float(bounds[-1]))
            nodes += [(int(i), bound) for i in order if scores[i] > -math.inf]
        return [self._hypothesis(graph, node, bound) for node, bound in nodes]

    def results_despite_underflow(self, dag: DAG) -> list[Hypothesis]:
        """What there is where a complete search found nothing: a sequence too improbable for it.

        Args:
            dag: The whole graph.

        Returns:
            At most one hypothesis, with its gap; none under constraints.
        """
        if self._options.constraints is not None:
            return []
        best = path_despite_underflow(dag, self._options)
        if best is None:
            return []
        bound = float(self._progress.out_of_candidates[-1])
        return [replace(best, gap=max(best.gap, bound - best.score))]

    def _attempt(self, ended: Ended, *, is_cut_short: bool = False) -> Attempt:
        """What is proved now."""
        n_done, done = self._n(N_DONE), self._progress.done
        bound = float(self._progress.out_of_candidates[-1])
        return Attempt(
            self,
            ended,
            is_cut_short,
            least_score=float(self._nodes.score[done[n_done - 1]]) if n_done else math.inf,
            bound=bound,
            full_bound=max(bound, self._frontier),
        )

    def _n(self, field: int) -> int:
        """One number of the tally."""
        return int(self._progress.tally[field])

    @property
    def _has_finished(self) -> bool:
        """Whether any sequence is finished, on the frontier or off it."""
        return bool((self._nodes.score[: self._n(N_NODES)] > -math.inf).any())

    @property
    def _frontier(self) -> float:
        """Bound on what the search has not looked at yet."""
        return float(self._nodes.heap_f[0]) if self._n(N_OPEN) else -math.inf

    def _hypothesis(self, graph: DAG, node: int, bound: float) -> Hypothesis:
        score = float(self._nodes.score[node])
        bound = max(bound, underflow_bound(graph, self._options, score))
        cost = self._high - int(self._nodes.rest[node])
        columns = [int(self._nodes.word[node])]
        at = int(self._nodes.parent[node])
        while at > 0:
            columns.append(int(self._nodes.word[at]))
            at = int(self._nodes.parent[at])
        columns.reverse()
        words = tuple(graph.word_ids[columns].tolist())
        is_optimal = bound <= score + tuning.SEARCH.tolerance
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
        effort, least = self._effort, tuning.SEARCH.least_dived
        begun, last = effort.n_expanded, effort.most
        most = begun + max(least, min(tuning.SEARCH.most_dived, last - begun))
        stop, landed = begun + least, 0
        while landed < tuning.SEARCH.dives:
            ended = self._step(min(stop, most), is_dive=True)
            if ended == Ended.FULL:
                self._grow()
                continue
            landed += ended == Ended.LANDED
            is_used_up = effort.n_expanded >= (last if landed else most)
            if ended not in (Ended.LANDED, Ended.LIMIT) or is_used_up or effort.deadline.is_over:
                return
            if ended == Ended.LIMIT:
                stop += least

    def _step(self, stop: int, *, is_dive: bool = False) -> Ended:
        """Go on until that many expansions were made for the result, by all searches together."""
        tables, before = self._tables, self._n(N_EXPANDED)
        ended = run(
            tables.rules,
            tables.graph,
            self._nodes,
            self._progress,
            self._high,
            self._high - tables.low,
            before + stop - self._effort.n_expanded,
            self._before_giving_up,
            is_dive,
            self._workspace,
        )
        self._effort.n_expanded += self._n(N_EXPANDED) - before
        return Ended(ended)

    def _grow(self) -> None:
        """Make room for four times as many prefixes."""
        n_rows = 4 * self._nodes.parent.shape[0]
        larger = empty_nodes(self._tables, self._options, n_rows)
        for old, new in zip(self._nodes, larger, strict=True):
            new[: old.shape[0]] = old
        self._nodes = larger


def allocate_workspace(nodes: Nodes) -> Workspace:
    """Make room for what is computed on the way.

    Args:
        nodes: The rows that are worked on.

    Returns:
        The arrays, with states that are those of no word.
    """
    return Workspace(
        scratch=np.zeros(nodes.state.shape[1], dtype=np.int64),
        other=np.zeros(nodes.state.shape[1], dtype=np.int64),
        known=np.full((tuning.SEARCH.remembered_groups, 8), -1, dtype=np.int64),
        mass=np.empty(nodes.reach.shape[1]),
    )


def empty_nodes(
    tables: SearchTables, options: DecodeOptions, n_rows: int, *, has_frontier: bool = True
) -> Nodes:
    """Make rows for so many prefixes.

    Args:
        tables: Tables of the graph.
        options: Their constraints size the state of a prefix.
        n_rows: Number of rows.
        has_frontier: Whether to make room for a heap of open prefixes too.

    Returns:
        The rows, not yet written.
    """
    n = tables.n_inner
    constraints = options.constraints
    n_fields = 1 if constraints is None else constraints.state_size(n + 1)
    n_open = 3 * n_rows if has_frontier else 1

    def whole(*shape: int) -> npt.NDArray[np.int64]:
        return np.empty(shape, dtype=np.int64)

    return Nodes(
        parent=whole(n_rows),
        word=whole(n_rows),
        rest=whole(n_rows),
        log_mass=np.empty(n_rows),
        base=np.empty(n_rows),
        score=np.empty(n_rows),
        context=whole(n_rows),
        used_once=whole(n_rows),
        out_of_candidates=whole(n_rows),
        reach=np.empty((n_rows, n)),
        bounds=np.empty((n_rows, tables.n_candidates)),
        state=whole(n_rows, n_fields),
        heap_f=np.empty(n_open),
        heap_node=whole(n_open),
        heap_word=whole(n_open),
    )
