"""SeqMAP by a beam over prefixes, certified where the beam itself proves it.

Owns method ``seqmap-beam``. A hypothesis is a distinct prefix with its whole vector of forward
mass, so a kept prefix loses none; it is ranked by the bound on its best completion (Eq. A9),
which makes prefixes of different cost and length comparable. The bounds are those of exact
search, `sumfit.decoding.bound`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.bound import SearchTables
from sumfit.decoding.kernels.beam import run_beam
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, as_hypotheses, infeasible
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["seqmap_beam"]

_TOLERANCE = 1e-9  # nats within which two scores count as equal


def seqmap_beam(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Search the K prefixes of each length that can still become the best (Eq. A10).

    Time O(S · K · (S + W)) for each word of the longest hypothesis, plus the bounds; memory
    O(C · S + K · S). A result is optimal if no pruned prefix and no word outside the candidates
    could lead to a higher score; else ``gap`` says how much higher at most.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus, ``beam_size`` (K), ``words_per_vertex``,
            ``n_best``.

    Returns:
        At most ``n_best`` hypotheses, best first, each with certificate or gap.

    Raises:
        InfeasibleBudgetError: If the beam finds no sequence that meets the budget.
    """
    graph = dag if options.words_per_vertex is None else dag.restrict(options.words_per_vertex)
    problem = SearchProblem.build(graph, options)
    if problem.low > problem.high:
        raise infeasible(SearchProblem.build(dag, options))
    tables = SearchTables.build(graph, options)
    class_cost, class_start = _classes(tables.cost[tables.words])
    first_class_cost, first_class_start = _classes(tables.first_cost[tables.first_words])
    columns, pruned, outside, n_expanded = run_beam(
        tables.prob,
        tables.link,
        tables.first_link,
        tables.end,
        tables.words,
        class_cost,
        class_start,
        tables.first_words,
        first_class_cost,
        first_class_start,
        tables.other,
        tables.graph.other_costs,
        tables.graph.other_first_costs,
        tables.table[0, 0],
        tables.scale,
        tables.high,
        tables.high - tables.low,
        options.beam_size,
        options.n_best,
    )
    sequences = [problem.words_of(v for v in row if v >= 0) for row in columns.tolist()]
    found = as_hypotheses(problem, sequences, with_path=True)
    if not found:
        raise infeasible(SearchProblem.build(dag, options))
    bound = max(pruned, outside)
    certified = tuple(_certified(item, bound) for item in found)
    return NBest(certified, method="seqmap-beam", n_expanded=int(n_expanded))


def _classes(cost: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Distinct costs of a sorted array, and where each begins (one more entry for the end)."""
    starts = np.flatnonzero(np.diff(cost, prepend=-1))
    return cost[starts], np.append(starts, cost.size).astype(np.int64)


def _certified(item: Hypothesis, bound: float) -> Hypothesis:
    gap = bound - item.score
    return replace(item, optimal=gap <= _TOLERANCE, gap=gap if gap > _TOLERANCE else 0.0)
