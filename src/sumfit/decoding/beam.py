"""SeqMAP by a beam over prefixes, certified where the beam itself proves it.

Owns method ``seqmap-beam``. A hypothesis is a distinct prefix with its whole vector of forward
mass, so a kept prefix loses none; it is ranked by the bound on its best completion (Eq. A9),
which makes prefixes of different cost and length comparable. Bounds, constraints and the making
of prefixes are those of exact search.
"""

from __future__ import annotations

import numpy as np

from sumfit.dag import DAG
from sumfit.decoding.bound import SearchTables
from sumfit.decoding.kernels.beam import run_beam
from sumfit.decoding.marginal import best_path
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.decoding.search import empty_nodes
from sumfit.decoding.seqmap import restricted
from sumfit.errors import InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["seqmap_beam"]

_TOLERANCE = 1e-9  # nats within which two scores count as equal


def seqmap_beam(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Search the K prefixes of each length that can still become the best (Eq. A10).

    Time O(S · K · (S + W)) for each word of the longest hypothesis, plus the bounds; memory
    O(C · S + K · (S + W)). A result is optimal if no pruned prefix and no word outside the
    candidates could lead to a higher score; else ``gap`` says how much higher at most.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus, constraints, ``beam_size`` (K),
            ``words_per_vertex``, ``n_best``.

    Returns:
        At most ``n_best`` hypotheses, best first, each with certificate or gap.

    Raises:
        InfeasibleBudgetError: If the beam finds no sequence that meets the budget and obeys the
            constraints.
    """
    graph = restricted(dag, options)
    tables = SearchTables.build(graph, options)
    n, room = tables.n_inner, 1 + 2 * options.beam_size
    columns = np.empty((options.n_best, n), dtype=np.int64)
    scores, rests = np.empty(options.n_best), np.empty(options.n_best, dtype=np.int64)
    n_found, pruned, outside, n_made = run_beam(
        tables.rules,
        tables.graph,
        empty_nodes(tables, options, room, has_frontier=False),
        np.empty((room, n), dtype=np.int64),
        columns,
        scores,
        rests,
        tables.high,
        tables.high - tables.low,
    )
    if n_found == 0:
        raise _nothing(dag, options)
    found = []
    for row, score, rest in zip(
        columns[:n_found], scores[:n_found].tolist(), rests[:n_found].tolist(), strict=True
    ):
        words = tuple(graph.word_ids[row[row >= 0]].tolist())
        gap = max(pruned, outside) - score
        found.append(
            Hypothesis(
                words=words,
                log_prob=score - options.bonus * len(words),
                score=score,
                cost=tables.high - rest,
                path=best_path(graph, words, options.ending),
                optimal=gap <= _TOLERANCE,
                gap=gap if gap > _TOLERANCE else 0.0,
            )
        )
    found.sort(key=lambda item: (-item.score, item.words))
    return NBest(tuple(found), method="seqmap-beam", n_expanded=int(n_made))


def _nothing(dag: DAG, options: DecodeOptions) -> InfeasibleBudgetError:
    if options.constraints is None:
        return infeasible(SearchProblem.build(dag, options))
    budget = options.budget
    return InfeasibleBudgetError(
        f"a beam of {options.beam_size} found no sequence that costs {budget.low} to "
        f"{budget.high} and obeys the constraints; widen it, use method='seqmap' or relax a "
        "constraint"
    )
