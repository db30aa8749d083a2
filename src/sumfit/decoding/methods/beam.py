"""SeqMAP by a beam over prefixes, certified where the beam itself proves it.

Owns method ``seqmap-beam``. A hypothesis is a distinct prefix with its whole vector of forward
mass, so a kept prefix loses none; it is ranked by the bound on its best completion (Eq. A9),
which makes prefixes of different cost and length comparable. Bounds, constraints and the making
of prefixes are those of exact search.
"""

from __future__ import annotations

import math

import numpy as np

from sumfit.constraints.kernels.state import Rules
from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.decoding import tuning
from sumfit.decoding.bounds.tables import SearchTables
from sumfit.decoding.kernels.beam import Beam, Found, grow_beam, rank_parents, start_beam
from sumfit.decoding.kernels.children import Graph, Workspace
from sumfit.decoding.kernels.frontier import Nodes
from sumfit.decoding.marginal import best_path
from sumfit.decoding.methods.seqmap import restricted
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.decoding.search.best_first import allocate_workspace, empty_nodes
from sumfit.decoding.search.underflow import path_despite_underflow, underflow_bound
from sumfit.errors import InfeasibleBudgetError, NothingFoundError, given
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["seqmap_beam"]

_Parts = tuple[Rules, Graph, Nodes, Beam]


def seqmap_beam(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Search the K prefixes of each length that can still become the best (Eq. A10).

    Time O(S · K · (S + W)) for each word of the longest hypothesis, plus the bounds; memory
    O(C · S + K · (S + W)). A result is optimal if no pruned prefix and no word outside the
    candidates could lead to a higher score; else ``gap`` says how much higher at most. Where the
    time runs out, what is finished by then is all there is, and the gap knows of the rest.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus, constraints, ``beam_size`` (K),
            ``words_per_vertex``, ``n_best``.

    Returns:
        At most ``n_best`` hypotheses, best first, each with certificate or gap.

    Raises:
        InfeasibleBudgetError: If the beam finds no sequence that meets the budget and obeys the
            constraints.
        ConstraintError: If the required words cannot be written or do not fit.
    """
    options = options.begin()
    graph = restricted(dag, options)
    tables = SearchTables.build(graph, options)
    n, n_rows, n_best = tables.n_inner, 1 + 2 * options.beam_size, options.n_best
    nodes = empty_nodes(tables, options, n_rows, has_frontier=False)
    whole = np.int64
    beam = Beam(np.empty((n_rows, n), whole), np.empty(n_rows, whole), np.empty(n_rows))
    found = Found(np.empty((n_best, n), whole), np.empty(n_best), np.empty(n_best, whole))
    slack = tables.high - tables.low
    parts, workspace = (tables.rules, tables.graph, nodes, beam), allocate_workspace(nodes)
    n_found, out_of_candidates, n_made = start_beam(*parts, found, tables.high, slack, workspace)
    pruned, level, begin, end, length = -math.inf, math.inf, 0, 1, 0
    while begin < end and length < n:
        # What is made of a length, or left, becomes no more than the best of it, at a level.
        if not _ranked(parts, begin, end, workspace, options.running):
            pruned = max(pruned, level)
            break
        level = float(beam.worth[begin:end].max())
        first = 1 + options.beam_size * (length % 2)
        node, last, left = first, first + options.beam_size, math.inf
        while node < last and left > -math.inf:
            if node > first and options.running.is_over:
                options.running.stop()
                left = level
                break
            upto = min(node + tuning.SEARCH.beam_steps_between_looks, last)
            node, n_found, left, beyond = grow_beam(
                *parts, found, begin, end, node, upto, n_found, slack, workspace
            )
            out_of_candidates = max(out_of_candidates, beyond)
        pruned = max(pruned, left)
        n_made, begin, end, length = n_made + node - first, first, node, length + 1
    bound = max(pruned, out_of_candidates)
    if n_found == 0 and bound == -math.inf and options.constraints is None:
        best = path_despite_underflow(dag, options)
        if best is not None:
            return NBest((best,), method="seqmap-beam", n_expanded=int(n_made))
    if n_found == 0:
        raise _nothing(dag, options, is_sure=bound == -math.inf)
    results = [
        _hypothesis(graph, options, tables.high, found, row, bound) for row in range(n_found)
    ]
    results.sort(key=lambda item: (-item.score, item.words))
    return NBest(tuple(results), method="seqmap-beam", n_expanded=int(n_made))


def _ranked(parts: _Parts, begin: int, end: int, workspace: Workspace, deadline: Deadline) -> bool:
    """Find the best child of every prefix of a length, if there is time."""
    n_steps = tuning.SEARCH.beam_steps_between_looks
    for start in range(begin, end, n_steps):
        if begin and deadline.is_over:
            deadline.stop()
            return False
        rank_parents(*parts, start, min(start + n_steps, end), workspace)
    return True


def _hypothesis(
    graph: DAG, options: DecodeOptions, high: int, found: Found, row: int, bound: float
) -> Hypothesis:
    columns, score = found.columns[row], float(found.score[row])
    words = tuple(graph.word_ids[columns[columns >= 0]].tolist())
    cost = high - int(found.rest[row])
    gap = max(bound, underflow_bound(graph, options, score)) - score
    is_optimal = gap <= tuning.SEARCH.tolerance
    return Hypothesis(
        words=words,
        log_prob=score - options.bonus_of(len(words), cost),
        score=score,
        cost=cost,
        path=best_path(graph, words, options.ending),
        optimal=is_optimal,
        gap=0.0 if is_optimal else gap,
    )


def _nothing(dag: DAG, options: DecodeOptions, *, is_sure: bool) -> InfeasibleBudgetError:
    """Say that nothing was found; sure if no prefix and no word was left out."""
    if is_sure:
        return infeasible(SearchProblem.build(dag, options))
    has_rules = options.constraints is not None
    return NothingFoundError(
        f"a beam of {options.beam_size} found no sequence that costs {options.budget}"
        + (" and obeys the constraints" if has_rules else "")
        + "; widen it, use ",
        given("method", "seqmap"),
        " or relax a constraint" if has_rules else "",
    )
