"""The list of best paths: best-first search over word sequences, each worth its best path.

Owns the search, Eq. A6, the constraints within it, and the beam that it falls back on. Does not own
the tables of words (`sumfit.decoding.bounds.path_words`).
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sumfit.deadline import Deadline
from sumfit.decoding import tuning
from sumfit.decoding.bounds.path_words import best_words, bonus_by_cost, other_bound
from sumfit.decoding.kernels import pathmap as kernels
from sumfit.decoding.marginal import best_path, marginal_log_prob
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.errors import NothingFoundError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["best_first"]

_Frontier = list[tuple[float, tuple[int, ...], int, "_Prefix | None"]]
_Finished = list[tuple[float, tuple[int, ...]]]


def best_first(problem: SearchProblem) -> NBest:
    """List sequences by their best path: a prefix is worth its best completion (Eq. A6).

    The score of a sequence is that of its best path, so the best completion of a prefix is known
    exactly and no prefix is expanded in vain, unless constraints forbid that completion: then
    its worth is an upper bound. With a bonus that outweighs the words it may be far too high, and
    ``max_expansions`` or the time may be spent before anything is finished. A quarter of both is
    kept for that case (200 expansions at least, while there is time): a greedy descent and a beam
    of ``beam_size`` prefixes look for something that fits, and the gap says how much better an
    unseen one may be.

    Frontier entries are ``(-score, columns, kind)``: a finished sequence, or a prefix with its
    not yet listed next words in order of worth.

    Args:
        problem: The problem.

    Returns:
        At most ``n_best`` hypotheses with different words, best path first.

    Raises:
        InfeasibleBudgetError: If no path meets the budget and obeys the constraints.
        NothingFoundError: If neither the search within its limit nor the beam finds one.
    """
    options = problem.options.begin()
    deadline, last, share = options.running, options.max_expansions, tuning.SEARCH.path_beam_share
    search = _PathSearch(problem)
    frontier: _Frontier = []
    search.push_children(frontier, search.root())
    found: list[Hypothesis] = []
    n_expanded, n_beam, n_best = 1, 0, options.n_best
    early = deadline.part(1 - 1 / share)
    while frontier and len(found) < n_best and not (deadline if found else early).is_over:
        if n_expanded >= (last if found else last - last // share):
            break
        worth, columns, _, parent = heapq.heappop(frontier)
        if parent is None:
            found.append(search.finished(columns, -worth))
            continue
        search.push_sibling(frontier, parent)
        prefix = search.extend(parent, columns)
        if prefix is None:
            continue
        closed = search.close(prefix)
        if closed > -np.inf:
            heapq.heappush(frontier, (-closed, columns, 0, None))
        search.push_children(frontier, prefix)
        n_expanded += 1
    is_complete = len(found) == n_best or not frontier
    if not is_complete:
        deadline.stop()
    if not found and frontier:
        most = max(last - n_expanded, tuning.SEARCH.least_path_beam)
        listed, n_ranked = search.beam(1, math.inf, None)
        n_beam = n_ranked
        if not deadline.is_over:
            wider, n_ranked = search.beam(options.beam_size, most - n_beam, deadline)
            n_beam += n_ranked
            listed = sorted({*listed, *wider}, key=lambda item: (-item[0], item[1]))
        unseen = -frontier[0][0]
        found = [search.finished(columns, score, unseen) for score, columns in listed[:n_best]]
    deadline.spend(n_expanded + n_beam)
    if not found:
        raise _nothing(problem, n_expanded, is_complete=is_complete)
    return NBest(tuple(found), "pathmap", n_expanded + n_beam, is_complete)


def _nothing(problem: SearchProblem, n_expanded: int, *, is_complete: bool) -> Exception:
    if is_complete:
        return infeasible(problem)
    return NothingFoundError(
        f"no path among the best {n_expanded} prefixes, nor in a beam of "
        f"{problem.options.beam_size}, meets the budget and obeys the constraints; raise the "
        "limit, raise max_expansions or beam_size, lower the bonus or relax a constraint"
    )


@dataclass(slots=True)
class _Prefix:
    """A prefix of words, the best path score at each vertex, and its children not yet listed."""

    columns: tuple[int, ...]
    scores: npt.NDArray[np.float64]
    rest: int
    reached: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    worth: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    order: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    listed: int = 0
    state: npt.NDArray[np.int64] | None = None


class _PathSearch:
    """Tables of one best-first search over word sequences by their best path."""

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        (costs, words, _), (first_costs, first_words, _) = best_words(problem)
        self._completions = kernels.best_completions(
            problem.link_logp,
            words,
            costs,
            problem.low,
            problem.high,
            problem.any_ending,
        )
        table = kernels.path_map(
            problem.link_logp,
            words,
            costs,
            first_words,
            first_costs,
            problem.low,
            problem.high,
            problem.any_ending,
        )[-1]
        self._out_of_candidates = other_bound(problem, words, costs, table)
        self._bonus = bonus_by_cost(problem, problem.cost)
        self._first_bonus = bonus_by_cost(problem, problem.first)
        self._closing = problem.link_logp[:, -1].astype(np.float64)
        if problem.any_ending:
            self._closing[:] = 0.0
        self._closing[-1] = -np.inf

    def root(self) -> _Prefix:
        problem = self._problem
        scores = np.full(problem.dag.n_vertices, -np.inf)
        scores[0] = 0.0
        constraints = problem.options.constraints
        state = None if constraints is None else constraints.start(problem.dag.n_vertices)
        return _Prefix((), scores, problem.high, state=state)

    def push_children(self, frontier: _Frontier, prefix: _Prefix) -> None:
        """Rank the next words of a prefix and put the best on the frontier."""
        self._rank(prefix)
        self.push_sibling(frontier, prefix)

    def _rank(self, prefix: _Prefix) -> None:
        problem = self._problem
        prefix.reached = kernels.reach_next(problem.link_logp, prefix.scores)
        prefix.worth = kernels.rank_children(
            prefix.reached,
            problem.word_logp,
            problem.cost if prefix.columns else problem.first,
            self._bonus if prefix.columns else self._first_bonus,
            self._completions,
            prefix.rest,
        )
        prefix.order = np.argsort(-prefix.worth, kind="stable")

    def push_sibling(self, frontier: _Frontier, prefix: _Prefix) -> None:
        """Put the next best child of a prefix on the frontier, if there is one."""
        if prefix.listed == prefix.order.size:
            return
        column = int(prefix.order[prefix.listed])
        prefix.listed += 1
        if prefix.worth[column] > -np.inf:
            worth = -float(prefix.worth[column])
            heapq.heappush(frontier, (worth, (*prefix.columns, column), 1, prefix))

    def extend(self, parent: _Prefix, columns: tuple[int, ...]) -> _Prefix | None:
        """Make the child of a prefix that ends in the last of the columns, if it is allowed."""
        problem, column = self._problem, columns[-1]
        state, constraints = parent.state, problem.options.constraints
        if constraints is not None and state is not None:
            state = constraints.allows(state, int(problem.dag.word_ids[column]))
            if state is None:
                return None
        cost, bonus = (
            (problem.cost, self._bonus) if parent.columns else (problem.first, self._first_bonus)
        )
        scores = parent.reached + bonus[column]
        scores[1:-1] += problem.word_logp[1:-1, column]
        return _Prefix(columns, scores, parent.rest - int(cost[column]), state=state)

    def close(self, prefix: _Prefix) -> float:
        """Score of the prefix as a finished sequence; ``-inf`` if it may not end."""
        if prefix.rest > self._problem.high - self._problem.low:
            return -np.inf
        constraints = self._problem.options.constraints
        if constraints is not None and prefix.state is not None:
            if not constraints.allows_end(prefix.state):
                return -np.inf
        return float((prefix.scores + self._closing).max())

    def beam(self, width: int, most: float, deadline: Deadline | None) -> tuple[_Finished, int]:
        """Finished sequences of a beam ranked by worth; constraints are kept at every step.

        Ends after ``most`` prefixes are expanded, whose number is returned too, or at the deadline.
        """
        level, found, n_ranked = [self.root()], _Finished(), 0
        while level:
            ranked: list[tuple[float, _Prefix]] = []
            for prefix in level:
                if n_ranked >= most or (deadline is not None and deadline.is_over):
                    return sorted(found, key=lambda item: (-item[0], item[1])), n_ranked
                ranked += self._children(prefix, width)
                n_ranked += 1
            ranked.sort(key=lambda item: (-item[0], item[1].columns))
            level = [child for _, child in ranked[:width]]
            for child in level:
                closed = self.close(child)
                if closed > -np.inf:
                    found.append((closed, child.columns))
        return sorted(found, key=lambda item: (-item[0], item[1])), n_ranked

    def _children(self, prefix: _Prefix, most: int) -> list[tuple[float, _Prefix]]:
        """The best children of a prefix that the constraints allow, with their worth."""
        self._rank(prefix)
        children: list[tuple[float, _Prefix]] = []
        for column in prefix.order.tolist():
            worth = float(prefix.worth[column])
            if worth == -np.inf or len(children) == most:
                break
            child = self.extend(prefix, (*prefix.columns, column))
            if child is not None:
                children.append((worth, child))
        return children

    def finished(
        self, columns: tuple[int, ...], score: float, unseen: float = -np.inf
    ) -> Hypothesis:
        """Turn finished columns into a hypothesis with its path and certificate.

        ``unseen`` bounds the score of every sequence that the search has not come to.
        """
        problem = self._problem
        words = problem.words_of(columns)
        gap = max(0.0, max(self._out_of_candidates, unseen) - score)
        return Hypothesis(
            words=words,
            log_prob=marginal_log_prob(problem.dag, words, problem.options.ending),
            score=score,
            cost=problem.cost_of(words),
            path=best_path(problem.dag, words, problem.options.ending),
            optimal=gap == 0.0,
            gap=gap,
        )
