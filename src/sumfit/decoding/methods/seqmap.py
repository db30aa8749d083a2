"""SeqMAP: the most probable word sequence under a budget, exactly, with a certificate.

Owns what is returned where nothing is found, and the results for all limits. The attempts are in
`sumfit.decoding.search.attempts`, the bounds in `sumfit.decoding.bounds.tables`.

Best-first search: a prefix is worth the bound on its best completion (Eq. A9), and the first
finished sequence that leaves the frontier is the argmax. It is proved optimal over the whole
vocabulary if its score is also at least the bound of every sequence that leaves the candidates.
"""

from __future__ import annotations

import numpy as np

from sumfit.dag import DAG
from sumfit.decoding.bounds.tables import SearchTables
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, check_words, infeasible, keep_best_words
from sumfit.decoding.search.attempts import Ladder
from sumfit.errors import BudgetError, InfeasibleBudgetError, NothingFoundError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["all_lengths", "restricted", "seqmap"]


def seqmap(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Find the best sequences whose cost lies in the budget, and prove it where possible.

    Args:
        dag: The graph.
        options: Costs, budget, limits of the search.

    Returns:
        At most ``n_best`` sequences, best first, each with its own certificate or gap.

    Raises:
        InfeasibleBudgetError: If no sequence of the graph meets the budget.
        NothingFoundError: If the search ends at its limit before it finds one.
        ConstraintError: If the required words cannot be written or do not fit.
    """
    options = options.begin()
    graph = restricted(dag, options)
    ladder = Ladder(SearchTables.build(graph, options), options)
    attempt = ladder.climb()
    attempt = attempt.search.continue_after_best(attempt)
    options.running.spend(ladder.n_expanded)
    found = attempt.search.results(graph)
    if not found and graph.n_candidates < dag.n_candidates:
        return seqmap(dag, options=options.replace(words_per_vertex=None))
    if not found and attempt.is_complete:
        found = attempt.search.results_despite_underflow(dag)
    if not found:
        raise _nothing(dag, options, ladder.n_expanded, is_complete=attempt.is_complete)
    return NBest(tuple(found), "seqmap", ladder.n_expanded, attempt.is_complete)


def all_lengths(dag: DAG, *, options: DecodeOptions) -> dict[int, Hypothesis]:
    """Find the best sequence for every limit up to the budget's, from one table of bounds.

    The bounds depend on the cost still to spend, not on the limit, so each further limit costs
    one short search; and the best sequence under one limit, once certified, is also the best under
    every lower limit that it meets. The time limit is one for all limits, the number of expansions
    one for each of them, unless a deadline shares it out.

    Args:
        dag: The graph.
        options: Costs, budget ("at most"), limits of the search.

    Returns:
        The best hypothesis by limit, ascending; limits that no sequence meets are left out, and
        those above all that the graph can spend, for which the last one stands, and those that
        the search had no time for.

    Raises:
        BudgetError: If the budget has a minimum.
        InfeasibleBudgetError: If no limit is met by any sequence.
    """
    if options.budget.low > 0:
        raise BudgetError(
            f"decode_all_lengths takes upper limits only; remove min={options.budget.low}"
        )
    options = options.begin()
    graph = restricted(dag, options)
    tables = SearchTables.build(graph, options)
    found: dict[int, Hypothesis] = {}
    limit = tables.high
    while limit >= 0 and not (found and options.running.is_spent):
        options = options.begin()
        ladder = Ladder(tables, options, high=limit)
        attempt = ladder.climb()
        options.running.spend(ladder.n_expanded)
        best = attempt.search.results(graph)
        if not best:
            break
        # What is not certified may be so under a lower limit, which is searched by itself then.
        least = min(best[0].cost, limit) if best[0].optimal else limit
        found |= dict.fromkeys(range(least, limit + 1), best[0])
        limit = least - 1
    if not found:
        raise _nothing(dag, options, ladder.n_expanded, is_complete=attempt.is_complete)
    return dict(sorted(found.items()))


def restricted(dag: DAG, options: DecodeOptions) -> DAG:
    """Keep the words per vertex that the options ask for, and all that spell required words.

    Args:
        dag: The graph.
        options: With ``words_per_vertex`` and constraints.

    Returns:
        The graph to search.

    Raises:
        ConstraintError: If the required words cannot be written or do not fit.
        InfeasibleBudgetError: If none of the words that may be written fits.
    """
    check_words(dag, options)
    constraints = options.constraints
    if options.words_per_vertex is None:
        return dag
    graph = keep_best_words(dag, options.words_per_vertex)
    if constraints is None or not constraints.required_atoms or graph is dag:
        return graph
    keep = constraints.can_spell(dag.word_ids) | np.isin(dag.word_ids, graph.word_ids)
    return DAG(
        word_ids=dag.word_ids[keep],
        word_logp=np.ascontiguousarray(dag.word_logp[:, keep]),
        link_logp=dag.link_logp,
        other_logp=graph.other_logp,
        vocab_size=dag.vocab_size,
    )


def _nothing(
    dag: DAG, options: DecodeOptions, n_expanded: int, *, is_complete: bool
) -> InfeasibleBudgetError:
    if is_complete:
        return infeasible(SearchProblem.build(dag, options))
    rules = "" if options.constraints is None else " and obeys the constraints"
    if options.constraints is not None and options.constraints.required:
        required = ", ".join(map(repr, options.constraints.required))
        rules += f", with {required} in it,"
    return NothingFoundError(
        f"no sequence that costs {options.budget}{rules} was found in {n_expanded} "
        "expansions; relax a constraint, raise the limit or the number of expansions"
    )
