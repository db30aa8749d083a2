"""The best path under a budget, by a table over vertices and costs.

Owns the exact dynamic program over (vertex, cost), Eq. A5. With costs that differ between words a
shorter, less probable word may win, so the best word *per distinct cost* is kept at each vertex.
"""

from __future__ import annotations

import numpy as np

from sumfit.decoding.bounds.path_words import best_words, bonus_by_cost, other_bound
from sumfit.decoding.kernels import pathmap as kernels
from sumfit.decoding.marginal import marginal_log_prob
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["best_path_by_cost"]


def best_path_by_cost(problem: SearchProblem, *, method: str, score_first_word: bool) -> NBest:
    """Find the best path within the budget.

    Args:
        problem: Without constraints.
        method: What the result is said to come from.
        score_first_word: Whether the first word's probability counts.

    Returns:
        One hypothesis; with a gap if the first word counts.

    Raises:
        InfeasibleBudgetError: If no path meets the budget.
    """
    options, high = problem.options, problem.high
    (costs, words, columns), (first_costs, first_words, first_columns) = best_words(problem)
    if not score_first_word:
        first_words = np.where(first_columns >= 0, bonus_by_cost(problem, first_costs), -np.inf)
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
        gap = max(0.0, other_bound(problem, words, costs, table) - score)
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
