"""SeqMAP by the paper's table of beams (Algorithm 1), made right: the reproduction path.

Owns method ``seqmap-table``. What differs from the paper as printed: mass 1 at the start vertex
alone, one joint top-K over all expansions of a cell, logs in place of float32 products, only the
last column of the table in memory, only as many rows as the budget needs, either ending, and the
exact marginal of everything that is returned. ``docs/algorithms.md`` lists each with its reason.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.kernels.marginal import marginals
from sumfit.decoding.kernels.table import empty_table, fill_vertex, sequences
from sumfit.decoding.kernels.words import top_words
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, as_hypotheses, infeasible
from sumfit.errors import NothingFoundError
from sumfit.hypothesis import NBest

__all__ = ["seqmap_table"]


def seqmap_table(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Search top-K sequences by cost and vertex (Eq. A7; paper Eq. 12-15 and Algorithm 1).

    Time O(S · C · K · (S + M · K)) at worst, memory O(C · K · S). The table's own scores are
    lower bounds, for mass is lost when a prefix falls out of a cell; what it ends with is scored
    again exactly, and the order is that of the exact scores. No certificate. Where the time runs
    out, the vertices that are filled by then are all there is.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus, ``beam_size`` (K), ``words_per_vertex`` (the
            paper's V), ``n_best``.

    Returns:
        At most ``n_best`` hypotheses, best first.

    Raises:
        InfeasibleBudgetError: If no sequence in the table meets the budget.
        NothingFoundError: If the time ran out before one did.
    """
    options = options.begin()
    problem = SearchProblem.build(dag, options)
    problem.check_budget(dag.n_vertices * options.beam_size)
    n_top = min(options.words_per_vertex or dag.n_candidates, dag.n_candidates)
    links = np.exp(problem.link_logp, dtype=np.float64)
    n_cells, n_vertices = problem.high + 1, dag.n_vertices
    top = top_words(problem.word_logp, n_top)
    links_to = np.ascontiguousarray(links.T)
    graph = (links_to, problem.word_logp, top, problem.cost, problem.first, float(options.bonus))
    cells, arrivals, choice, tree = empty_table(
        n_cells, options.beam_size, n_vertices, dag.n_candidates, n_top
    )
    n_filled, deadline = 0, options.running
    while n_filled < n_vertices - 2 and not (n_filled and deadline.is_over):
        n_filled += 1
        tree = fill_vertex(n_filled, *graph, cells, arrivals, choice, tree)
    is_complete = n_filled == n_vertices - 2
    columns, lengths = sequences(problem.low, cells, tree, n_vertices)
    listed, log_probs = _best(problem, links, columns, lengths)
    found = as_hypotheses(problem, listed, log_probs=log_probs)
    if not is_complete:
        deadline.stop()
    if not found and not is_complete:
        raise NothingFoundError(
            f"the first {n_filled} of {n_vertices - 2} vertices have no sequence that costs "
            f"{options.budget}; give more time"
        )
    if not found:
        raise infeasible(problem)
    return NBest(tuple(found), "seqmap-table", n_cells * n_filled, is_complete)


def _best(
    problem: SearchProblem,
    links: npt.NDArray[np.float64],
    columns: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
) -> tuple[list[tuple[int, ...]], npt.NDArray[np.float64]]:
    """Score everything the table ends with exactly, and keep the ``n_best`` of it."""
    options = problem.options
    place = np.lexsort(columns.T[::-1])  # neighbours share their beginnings
    columns, lengths = columns[place], lengths[place]
    flat = columns[columns >= 0]
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    log_probs = marginals(
        problem.link_logp, links, problem.word_logp, flat, offsets, problem.any_ending
    )
    known = np.maximum(columns, 0)
    later = np.where(columns > -1, problem.cost[known], 0)[:, 1:]
    spent = problem.first[known[:, 0]] + later.sum(axis=1)
    scores = log_probs + options.bonus * lengths + options.unit_bonus * spent
    order = np.argsort(-scores, kind="stable")[: options.n_best]
    words = [problem.words_of(columns[i, : lengths[i]].tolist()) for i in order]
    return words, log_probs[order]
