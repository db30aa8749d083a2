"""PathMAP: the most probable single path (vertices and words together) under a budget.

Owns the exact dynamic program over (vertex, cost), Eq. A5. Does not own the list of further
sequences (`sumfit.decoding.search.paths`). With costs that differ between words a shorter, less
probable word may win, so the best word *per distinct cost* is kept at each vertex. All candidates
of the graph take part: ``words_per_vertex`` does not restrict PathMAP, which needs no restriction
to be fast.
"""

from __future__ import annotations

import numpy as np

from sumfit.dag import DAG
from sumfit.decoding.bounds.path_words import best_words, bonus_by_cost, other_bound
from sumfit.decoding.kernels import pathmap as kernels
from sumfit.decoding.marginal import marginal_log_prob
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, check_words, infeasible, refuse_constraints
from sumfit.decoding.search.paths import best_first
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["path_map", "path_map_released"]


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
        InfeasibleBudgetError: If no path meets the budget and obeys the constraints.
        NothingFoundError: If none is found within ``max_expansions`` prefixes and a beam.
        ConstraintError: If the required words cannot be written or do not fit.
    """
    check_words(dag, options)
    problem = SearchProblem.build(dag, options)
    problem.check_budget(dag.n_vertices)
    if options.n_best == 1 and options.constraints is None:
        return _dynamic_program(problem, method="pathmap", score_first_word=True)
    return best_first(problem)


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
    problem.check_budget(dag.n_vertices)
    return _dynamic_program(problem, method="pathmap-released", score_first_word=False)


def _dynamic_program(problem: SearchProblem, *, method: str, score_first_word: bool) -> NBest:
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
