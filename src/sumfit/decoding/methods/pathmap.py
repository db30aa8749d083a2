"""PathMAP: the most probable single path (vertices and words together) under a budget.

Owns which search answers a call: the dynamic program (`search.path_table`) or, for further
sequences and constraints, best-first search (`search.paths`). All candidates of the graph take
part: ``words_per_vertex`` does not restrict PathMAP, which needs no restriction to be fast.
"""

from __future__ import annotations

from sumfit.dag import DAG
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, check_words
from sumfit.decoding.search.path_table import best_path_by_cost
from sumfit.decoding.search.paths import best_first
from sumfit.hypothesis import NBest

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
        return best_path_by_cost(problem, method="pathmap", score_first_word=True)
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
        InfeasibleBudgetError: If no path meets the budget.
    """
    problem = SearchProblem.build(dag, options)
    problem.check_budget(dag.n_vertices)
    return best_path_by_cost(problem, method="pathmap-released", score_first_word=False)
