"""One decoding problem as plain arrays over candidate columns, ready for the compiled kernels.

Owns the step from `DAG` and `DecodeOptions` to arrays, and back from columns to hypotheses. Does
not search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.decoding.costs import NEVER, check_room, costs_out_of_candidates, most_spent
from sumfit.decoding.kernels.words import best_words
from sumfit.decoding.marginal import best_path, marginal_log_probs
from sumfit.decoding.options import DecodeOptions, is_any_ending
from sumfit.errors import InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis

__all__ = [
    "SearchProblem",
    "as_hypotheses",
    "check_words",
    "infeasible",
    "keep_best_words",
]

_MANY = 100  # candidates from which on a compiled pass beats `DAG.restrict`
_AT_ONCE = 32  # sequences scored between two looks at the clock


@dataclass(frozen=True, slots=True, eq=False)
class SearchProblem:
    """Arrays over the candidate columns of one graph.

    Attributes:
        dag: The graph searched.
        options: What was asked for.
        link_logp: ``(S, S)`` C-contiguous natural-log links; only ``to > from`` may be read.
        word_logp: ``(S, W)`` C-contiguous natural-log words; rows 0 and ``S-1`` may not be read.
        cost: ``(W,)`` cost of each candidate after the first word.
        first: ``(W,)`` cost of each candidate as the first word.
        low: Least allowed total.
        high: Most allowed total, no larger than what the graph can spend; below `low` if the
            graph cannot spend enough.
        any_ending: Whether a sequence may end without the closing link.
        other_costs: Distinct costs that a word may have that is no candidate, none above
            the limit, after the first word.
        other_firsts: The same as the first word.
    """

    dag: DAG
    options: DecodeOptions
    link_logp: npt.NDArray[np.float32]
    word_logp: npt.NDArray[np.float32]
    cost: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    low: int
    high: int
    any_ending: bool
    other_costs: npt.NDArray[np.int64]
    other_firsts: npt.NDArray[np.int64]

    @classmethod
    def build(cls, dag: DAG, options: DecodeOptions) -> SearchProblem:
        """Collect the arrays.

        Args:
            dag: The graph.
            options: Costs, budget, ending.

        Returns:
            The problem.
        """
        ids = dag.word_ids
        cost = options.unit_cost[ids].astype(np.int64)
        first = options.first_cost[ids].astype(np.int64)
        high = min(options.budget.high, NEVER - 1)
        other_costs = other_firsts = np.zeros(0, dtype=np.int64)
        if bool((dag.other_logp[1:-1] > -np.inf).any()):
            other_costs = costs_out_of_candidates(options.unit_cost, ids, high)
            other_firsts = costs_out_of_candidates(options.first_cost, ids, high)
        n_words = max(dag.n_vertices - 2, 1)
        high = most_spent(high, n_words, (cost, other_costs), (first, other_firsts))
        return cls(
            dag=dag,
            options=options,
            link_logp=np.ascontiguousarray(dag.link_logp, dtype=np.float32),
            word_logp=np.ascontiguousarray(dag.word_logp, dtype=np.float32),
            cost=cost,
            first=first,
            low=options.budget.low,
            high=high,
            any_ending=is_any_ending(options.ending),
            other_costs=other_costs,
            other_firsts=other_firsts,
        )

    def check_budget(self, per_unit: int) -> None:
        """Raise, before any search, unless a budget can be met with the memory allowed.

        Args:
            per_unit: Cells of the largest table for each cost.

        Raises:
            InfeasibleBudgetError: If no sequence of the graph can cost as much as asked for.
            BudgetError: If the table would not fit.
        """
        if self.low > self.high:
            raise infeasible(self)
        check_room(self.high, per_unit)

    def words_of(self, columns: Iterable[int]) -> tuple[int, ...]:
        """Translate candidate columns to vocabulary ids.

        Args:
            columns: Columns of ``word_logp``.

        Returns:
            Vocabulary ids.
        """
        ids = self.dag.word_ids
        return tuple(int(ids[column]) for column in columns)

    def cost_of(self, words: Sequence[int]) -> int:
        """Add up the cost of words.

        Args:
            words: Vocabulary ids.

        Returns:
            Total cost in the budget's unit.
        """
        if not words:
            return 0
        rest = self.options.unit_cost[np.asarray(words[1:], dtype=np.int64)]
        return int(self.options.first_cost[words[0]]) + int(rest.sum(dtype=np.int64))


def as_hypotheses(
    problem: SearchProblem,
    sequences: Sequence[tuple[int, ...]],
    *,
    log_probs: npt.NDArray[np.float64] | None = None,
    with_path: bool = False,
    deadline: Deadline | None = None,
) -> list[Hypothesis]:
    """Score finished sequences exactly, best first, ties by token ids.

    Args:
        problem: The problem they solve.
        sequences: Different sequences of vocabulary ids, each within the budget.
        log_probs: Their exact natural-log probabilities, if known already.
        with_path: Fill in the best path of each.
        deadline: Once it is over, no more sequences are scored, nor paths looked for.

    Returns:
        Hypotheses with exact ``log_prob`` and ``score = log_prob`` plus bonus, without a
        certificate; sequences of probability 0 are left out.
    """
    options = problem.options
    if log_probs is None:
        log_probs = _scored(problem, sequences, deadline)
        sequences = sequences[: log_probs.size]
    found = []
    for words, log_prob in zip(sequences, log_probs.tolist(), strict=True):
        if log_prob > -np.inf:
            cost = problem.cost_of(words)
            if with_path and deadline is not None and deadline.is_over:
                deadline.stop()
                with_path = False
            found.append(
                Hypothesis(
                    words=words,
                    log_prob=log_prob,
                    score=log_prob + options.bonus_of(len(words), cost),
                    cost=cost,
                    path=best_path(problem.dag, words, options.ending) if with_path else None,
                )
            )
    return sorted(found, key=lambda item: (-item.score, item.words))


def _scored(
    problem: SearchProblem, sequences: Sequence[tuple[int, ...]], deadline: Deadline | None
) -> npt.NDArray[np.float64]:
    """Log-probabilities of sequences; of the first alone, if the time runs out meanwhile."""
    ending = problem.options.ending
    if deadline is None or not deadline.may_end:
        return marginal_log_probs(problem.dag, sequences, ending=ending)
    parts = [np.zeros(0)]
    for begin in range(0, len(sequences), _AT_ONCE):
        if begin and deadline.is_over:
            deadline.stop()
            break
        part = sequences[begin : begin + _AT_ONCE]
        parts.append(marginal_log_probs(problem.dag, part, ending=ending))
    return np.concatenate(parts)


def keep_best_words(dag: DAG, words_per_vertex: int | None) -> DAG:
    """Keep the words that are among the best of some vertex, as `DAG.restrict` does.

    Args:
        dag: The graph.
        words_per_vertex: ``M``; ``None`` keeps all.

    Returns:
        The graph to search.
    """
    if words_per_vertex is None:
        return dag
    if dag.n_candidates < _MANY or words_per_vertex >= dag.n_candidates or dag.n_vertices < 3:
        return dag.restrict(words_per_vertex)
    logp = np.ascontiguousarray(dag.word_logp, dtype=np.float32)
    kept, words, out_of_candidates = best_words(logp, words_per_vertex)
    if kept.size == 0:
        return dag.restrict(words_per_vertex)
    return DAG(
        word_ids=dag.word_ids[kept],
        word_logp=words,
        link_logp=dag.link_logp,
        other_logp=np.maximum(dag.other_logp, out_of_candidates),
        vocab_size=dag.vocab_size,
    )


def infeasible(problem: SearchProblem) -> InfeasibleBudgetError:
    """Make the error that says which budget no sequence meets, and what the graph can spend.

    Args:
        problem: The problem without a solution.

    Returns:
        The error, to be raised by the caller.
    """
    budget = problem.options.budget
    if problem.options.constraints is not None and problem.low <= problem.high:
        return InfeasibleBudgetError(
            f"no sequence of the graph costs {budget} and obeys the constraints; "
            "raise the limit or relax a constraint"
        )
    least, most = _spendable(problem)
    if least > most:
        reason = "no path emits a word"
    else:
        reason = f"its sequences cost {least} to {most}"
    return InfeasibleBudgetError(
        f"no sequence of the graph costs {budget}: {reason}; "
        "raise the limit, lower the minimum or ask for another unit"
    )


def check_words(dag: DAG, options: DecodeOptions) -> None:
    """Raise, before any search, unless the required words can be written and fit.

    Args:
        dag: The graph to search.
        options: Costs, budget, constraints.

    Raises:
        ConstraintError: If the graph has no words that spell a required one, or all together cost
            too much.
        InfeasibleBudgetError: If only words of the source may be written, and none of them fits.
    """
    constraints = options.constraints
    if constraints is None:
        return
    costs = (options.unit_cost, options.first_cost)
    given = (dag.word_ids, *costs, options.budget.high, max(dag.n_vertices - 2, 1))
    if constraints.required_atoms:
        constraints.check_required(*given)
    if not constraints.fits_own_words(*given):
        raise infeasible(SearchProblem.build(dag, options))


def _spendable(problem: SearchProblem) -> tuple[int, int]:
    """Least and most total cost of any path, whatever the budget."""
    last = problem.dag.n_vertices - 1
    n = problem.dag.n_vertices
    least, most = np.full(n, np.inf), np.full(n, -np.inf)
    for j in range(1, last):
        possible = problem.word_logp[j] > -np.inf
        firsts, costs = problem.first[possible], problem.cost[possible]
        firsts, costs = firsts[firsts < NEVER], costs[costs < NEVER]
        before = [i for i in range(1, j) if problem.link_logp[i, j] > -np.inf]
        if problem.link_logp[0, j] > -np.inf and firsts.size:
            least[j], most[j] = firsts.min(), firsts.max()
        if before and costs.size:
            least[j] = min(least[j], least[before].min() + costs.min())
            most[j] = max(most[j], most[before].max() + costs.max())
    ends = np.arange(1, last)
    if not problem.any_ending:
        ends = ends[problem.link_logp[1:last, last] > -np.inf]
    ends = ends[np.isfinite(least[ends])]
    if ends.size == 0:
        return 1, 0
    return int(least[ends].min()), int(most[ends].max())
