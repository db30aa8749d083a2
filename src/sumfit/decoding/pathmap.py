"""PathMAP: the most probable single path (vertices and words together) under a budget.

Owns the exact dynamic program over (vertex, cost), Eq. A5, and the best-first list of further
sequences, Eq. A6. With costs that differ between words a shorter, less probable word may win, so
the best word *per distinct cost* is kept at each vertex. All candidates of the graph take part:
``words_per_vertex`` does not restrict PathMAP, which needs no restriction to be fast.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.kernels import pathmap as kernels
from sumfit.decoding.marginal import best_path, marginal_log_prob
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible, refuse_constraints
from sumfit.errors import InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["path_map", "path_map_released"]

_Frontier = list[tuple[float, tuple[int, ...], int, "_Prefix | None"]]


def path_map(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Find the best path under the budget, and the best paths of further word sequences.

    The score is the log-probability of the path (closing link included for ``ending="eos"``)
    plus bonus; ``log_prob`` is the exact marginal of its words. ``optimal`` says that
    no *path* of a higher score meets the budget and the constraints, over the whole vocabulary.
    The first result takes time O(S² · C + S · W), memory O(S · C), if there are no constraints.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus, ``n_best``, constraints.

    Returns:
        At most ``n_best`` hypotheses with different words, best path first.

    Raises:
        InfeasibleBudgetError: If no path meets the budget and obeys the constraints, or none is
            found within ``max_expansions`` prefixes.
    """
    problem = SearchProblem.build(dag, options)
    if problem.low > problem.high:
        raise infeasible(problem)
    if options.n_best == 1 and options.constraints is None:
        return _dynamic_program(problem, method="pathmap", score_first_word=True)
    return _best_first(problem)


def path_map_released(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Find the best path as the code released with the paper does: first word not scored.

    For reproduction only. The first word is still the most probable of its cost at its vertex,
    but its probability is left out of the score; give ``ending="any"`` as well, since that code
    does not require the closing link.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus; ``n_best`` is 1 whatever it says.

    Returns:
        One hypothesis, without a certificate.

    Raises:
        ConstraintError: If there are constraints.
        InfeasibleBudgetError: If no path meets the budget.
    """
    problem = SearchProblem.build(dag, options)
    refuse_constraints(options, "pathmap-released")
    if problem.low > problem.high:
        raise infeasible(problem)
    return _dynamic_program(problem, method="pathmap-released", score_first_word=False)


def _dynamic_program(problem: SearchProblem, *, method: str, score_first_word: bool) -> NBest:
    options, high = problem.options, problem.high
    costs, words, columns = _words_by_cost(problem, problem.cost)
    same = problem.first is problem.cost or np.array_equal(problem.first, problem.cost)
    first_costs, first_words, first_columns = (
        (costs, words, columns) if same else _words_by_cost(problem, problem.first)
    )
    if not score_first_word:
        first_words = np.where(first_columns >= 0, _bonus(problem, first_costs), -np.inf)
    score, cost, vertices, places, table = kernels.path_map(
        problem.link_logp,
        words,
        costs,
        first_words,
        first_costs,
        problem.low,
        high,
        problem.any_ending,
    )
    if score == -np.inf:
        raise infeasible(problem)
    chosen = [
        (columns if position else first_columns)[vertex, place]
        for position, (vertex, place) in enumerate(
            zip(vertices.tolist(), places.tolist(), strict=True)
        )
    ]
    found = problem.words_of(chosen)
    gap = np.inf
    if score_first_word:
        gap = max(0.0, _other_bound(problem, words, costs, table) - score)
    best = Hypothesis(
        words=found,
        log_prob=marginal_log_prob(problem.dag, found, options.ending),
        score=float(score),
        cost=int(cost),
        path=tuple(vertices.tolist()),
        optimal=gap == 0.0,
        gap=float(gap),
    )
    return NBest((best,), method=method, n_expanded=int(table.size))


def _words_by_cost(
    problem: SearchProblem, cost: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    costs = np.unique(cost[cost <= problem.high])
    if costs.size == 1 and bool((cost == costs[0]).all()):  # numpy's argmax is the faster loop
        best = problem.word_logp.argmax(axis=1)[:, None]
        words = np.take_along_axis(problem.word_logp, best, axis=1).astype(np.float64)
        words[[0, -1]] = -np.inf
        columns = np.where(words > -np.inf, best, -1).astype(np.int32)
        return costs, words + _bonus(problem, costs), columns
    words, columns = kernels.best_words(problem.word_logp, cost, costs, problem.high)
    return costs, words + _bonus(problem, costs), columns


def _bonus(problem: SearchProblem, costs: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Score that a word of each cost adds beside its probability."""
    return problem.options.bonus + problem.options.unit_bonus * costs.astype(np.float64)


def _other_bound(
    problem: SearchProblem,
    words: npt.NDArray[np.float64],
    costs: npt.NDArray[np.int64],
    table: npt.NDArray[np.float64],
) -> float:
    """Bound the score of every path with a word outside the candidates."""
    if not (problem.other_costs.size or problem.other_firsts.size):
        return -np.inf
    return float(
        kernels.relaxed_bound(
            problem.link_logp,
            words,
            costs,
            table,
            problem.dag.other_logp,
            problem.other_costs[problem.other_costs <= problem.high],
            problem.other_firsts[problem.other_firsts <= problem.high],
            problem.options.bonus,
            problem.options.unit_bonus,
            problem.any_ending,
        )
    )


def _best_first(problem: SearchProblem) -> NBest:
    """List sequences by their best path: a prefix is worth its best completion (Eq. A6).

    The score of a sequence is that of its best path, so the best completion of a prefix is known
    exactly and no prefix is expanded in vain, unless constraints forbid that completion: then
    its worth is an upper bound. Frontier entries are ``(-score, columns, kind)``:
    a finished sequence, or a prefix with its not yet listed next words in order of worth.
    """
    search = _PathSearch(problem)
    frontier: _Frontier = []
    search.push_children(frontier, search.root())
    found: list[Hypothesis] = []
    n_expanded = 1
    limit = problem.options.max_expansions
    while frontier and len(found) < problem.options.n_best and n_expanded < limit:
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
    if not found and problem.options.constraints is not None:
        raise InfeasibleBudgetError(
            f"no path among the best {n_expanded} prefixes meets the budget and obeys the "
            "constraints; raise the limit, raise max_expansions or relax a constraint"
        )
    if not found and frontier:
        raise InfeasibleBudgetError(
            f"no path that meets the budget was found in {n_expanded} expansions; "
            "raise max_expansions"
        )
    if not found:
        raise infeasible(problem)
    is_complete = len(found) == problem.options.n_best or not frontier
    return NBest(tuple(found), "pathmap", n_expanded, is_complete)


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
        costs, words, _ = _words_by_cost(problem, problem.cost)
        first_costs, first_words, _ = _words_by_cost(problem, problem.first)
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
        self._outside = _other_bound(problem, words, costs, table)
        self._bonus = _bonus(problem, problem.cost)
        self._first_bonus = _bonus(problem, problem.first)
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
        self.push_sibling(frontier, prefix)

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

    def finished(self, columns: tuple[int, ...], score: float) -> Hypothesis:
        """Turn finished columns into a hypothesis with its path and certificate."""
        problem = self._problem
        words = problem.words_of(columns)
        gap = max(0.0, self._outside - score)
        return Hypothesis(
            words=words,
            log_prob=marginal_log_prob(problem.dag, words, problem.options.ending),
            score=score,
            cost=problem.cost_of(words),
            path=best_path(problem.dag, words, problem.options.ending),
            optimal=gap == 0.0,
            gap=gap,
        )
