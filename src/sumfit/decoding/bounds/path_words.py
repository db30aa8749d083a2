"""What every search for best paths needs to know of words: the best of each cost, and its bonus.

Owns these tables, and the bound on words outside the candidates. Does not own a search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels import pathmap as kernels
from sumfit.decoding.problem import SearchProblem

__all__ = ["WordsByCost", "best_words", "bonus_by_cost", "other_bound"]


class WordsByCost(NamedTuple):
    """The best word of each distinct cost at each vertex.

    Attributes:
        costs: ``(D,)`` distinct costs within the budget.
        words: ``(S, D)`` score of the best word, bonus included.
        columns: ``(S, D)`` its column; -1 where there is none.
    """

    costs: npt.NDArray[np.int64]
    words: npt.NDArray[np.float64]
    columns: npt.NDArray[np.int32]


def best_words(problem: SearchProblem) -> tuple[WordsByCost, WordsByCost]:
    """Take the best words of each cost.

    Args:
        problem: The problem.

    Returns:
        The best words by what they cost anywhere, and by what they cost as the first word.
    """
    later = _words_by_cost(problem, problem.cost)
    if problem.first is problem.cost or np.array_equal(problem.first, problem.cost):
        return later, later
    return later, _words_by_cost(problem, problem.first)


def _words_by_cost(problem: SearchProblem, cost: npt.NDArray[np.int64]) -> WordsByCost:
    costs = np.unique(cost[cost <= problem.high])
    if costs.size == 1 and bool((cost == costs[0]).all()):  # numpy's argmax is the faster loop
        best = problem.word_logp.argmax(axis=1)[:, None]
        words = np.take_along_axis(problem.word_logp, best, axis=1).astype(np.float64)
        words[[0, -1]] = -np.inf
        columns = np.where(words > -np.inf, best, -1).astype(np.int32)
        return WordsByCost(costs, words + bonus_by_cost(problem, costs), columns)
    words, columns = kernels.best_words(problem.word_logp, cost, costs, problem.high)
    return WordsByCost(costs, words + bonus_by_cost(problem, costs), columns)


def bonus_by_cost(problem: SearchProblem, costs: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Score that a word of each cost adds beside its probability.

    Args:
        problem: The problem.
        costs: Costs, of any shape.

    Returns:
        One bonus for each.
    """
    return problem.options.bonus + problem.options.unit_bonus * costs.astype(np.float64)


def other_bound(
    problem: SearchProblem,
    words: npt.NDArray[np.float64],
    costs: npt.NDArray[np.int64],
    table: npt.NDArray[np.float64],
) -> float:
    """Bound the score of every path with a word outside the candidates.

    Args:
        problem: The problem.
        words: ``(S, D)`` as `best_words` gives them.
        costs: ``(D,)`` likewise.
        table: Best score of each cost and vertex, as ``kernels.path_map`` fills it.

    Returns:
        The bound; ``-inf`` if there is no such word.
    """
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
