"""SeqMAP: the most probable word sequence under a budget, exactly, with a certificate.

Owns when to search, with which bounds, and what the result proves. The bounds are in
`sumfit.decoding.bounds.tables`, one search in `sumfit.decoding.search.best_first`.

Best-first search: a prefix is worth the bound on its best completion (Eq. A9), and the first
finished sequence that leaves the frontier is the argmax. It is proved optimal over the whole
vocabulary if its score is also at least the bound of every sequence that leaves the candidates.
"""

from __future__ import annotations

import math

import numpy as np

from sumfit.dag import DAG
from sumfit.decoding.bounds.outside import words_outside
from sumfit.decoding.bounds.tables import SearchTables
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, check_words, infeasible, keep_best_words
from sumfit.decoding.search.best_first import FOLLOWED_SHARE, Search
from sumfit.errors import BudgetError, InfeasibleBudgetError, NothingFoundError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["all_lengths", "restricted", "seqmap"]

_BOUNDED, _FOLLOWED, _LEFT_OUT = 0, 1, 2  # words outside the candidates
_PATIENCE = 100  # least expansions before a search that repeats words gets a tighter bound
_BOUNDS = 15  # bounds per context that take as long to fill as one expansion takes
_BOUNDS_FOLLOWED = 20  # the same where an expansion also follows words outside the candidates
_SPENT_AT_ONCE = 2  # words added to the bound at a time
_MOST_SPENT = 6  # words that the bound may know of; each doubles it
_MOST_BOUNDS = 300_000  # bounds per context in a table that knows of used-up words


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
    search = _searched(SearchTables.build(graph, options), options)
    search.go_on()
    options.running.spend(search.n_expanded)
    found = search.results(graph)
    if not found:
        if graph.n_candidates < dag.n_candidates:
            return seqmap(dag, options=options.replace(words_per_vertex=None))
        found = search.faint_results(dag)
    if not found:
        raise _infeasible(dag, options, search)
    return NBest(tuple(found), "seqmap", search.n_expanded, search.is_complete)


def _searched(tables: SearchTables, options: DecodeOptions, high: int | None = None) -> Search:
    """Search, and start again with a tighter bound while repeated words lead it astray.

    A word that may not be repeated can still be counted twice by the bound. When that has cost as
    many expansions as a larger table would, the words refused most often get a bit each in it.

    Words outside the candidates are only bounded at first. Once one of them keeps the result from
    being certified, they are followed through the rules; where that proves nothing, they are
    left out, for they only blur the order then.
    """
    n_before, outside = 0, -math.inf
    stage, bounded, followed = _BOUNDED, None, None
    is_last = not tables.rules.content_once
    while True:
        now = tables if followed is None else tables.following(followed)
        search = Search(now, options, high=high, n_before=n_before, outside=outside)
        is_last = is_last or not _may_grow(tables)
        is_free = is_last and stage != _FOLLOWED
        most = n_before + _patience(tables, is_last, stage == _FOLLOWED)
        if stage == _FOLLOWED:
            most = min(most, options.max_expansions // FOLLOWED_SHARE)
        search.run(most=None if is_free else most)
        n_before = search.n_expanded
        if stage == _BOUNDED and search.is_in_doubt:
            bounded = search if search.is_complete else None
            if _may_follow(tables, options, n_before):
                stage, followed = _FOLLOWED, words_outside(tables.graph.ids, options)
                continue
            if bounded is not None:
                return bounded
        if search.is_complete or (search.is_cut_short and stage != _FOLLOWED):
            return search
        is_stuck = is_last or search.is_cut_short or not _may_follow(tables, options, n_before)
        if search.is_hopeless or (stage == _FOLLOWED and is_stuck):
            outside = search.greatest_outside
            if bounded is not None:
                bounded.lower_outside(outside, n_before)
                return bounded
            stage, followed, tables = _LEFT_OUT, None, tables.without_outside()
            is_last = not tables.rules.content_once
            continue
        words = now.repeated_words(_SPENT_AT_ONCE)
        is_last = words.size == 0
        tables = tables if is_last else tables.with_spent(words)


def _may_follow(tables: SearchTables, options: DecodeOptions, n_before: int) -> bool:
    """Return whether there are rules to follow words by, and enough expansions left."""
    return (
        options.constraints is not None
        and FOLLOWED_SHARE * (n_before + _patience(tables, False, True)) <= options.max_expansions
    )


def _may_grow(tables: SearchTables) -> bool:
    """Return whether more words may get a bit: few enough words, and a table that stays small."""
    return bool(tables.graph.spent.size < _MOST_SPENT and _grown(tables) <= _MOST_BOUNDS)


def _patience(tables: SearchTables, is_last: bool, is_following: bool) -> int:
    """Expansions that take about as long as the table with more words does to fill.

    Thrice as many where there will be no such table.
    """
    bounds = _BOUNDS_FOLLOWED if is_following else _BOUNDS
    return max(_PATIENCE, _grown(tables) // bounds) * (3 if is_last else 1)


def _grown(tables: SearchTables) -> int:
    """Bounds per context once more words have a bit."""
    n_sets, _, n_layers, n = tables.table.shape
    return int((n_sets << _SPENT_AT_ONCE) * n_layers * n)


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
        search = _searched(tables, options, high=limit)
        options.running.spend(search.n_expanded)
        best = search.results(graph)
        if not best:
            break
        # What is not certified may be so under a lower limit, which is searched by itself then.
        least = min(best[0].cost, limit) if best[0].optimal else limit
        found |= dict.fromkeys(range(least, limit + 1), best[0])
        limit = least - 1
    if not found:
        raise _infeasible(dag, options, search)
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


def _infeasible(dag: DAG, options: DecodeOptions, search: Search) -> InfeasibleBudgetError:
    if search.is_complete:
        return infeasible(SearchProblem.build(dag, options))
    rules = "" if options.constraints is None else " and obeys the constraints"
    if options.constraints is not None and options.constraints.required:
        required = ", ".join(map(repr, options.constraints.required))
        rules += f", with {required} in it,"
    return NothingFoundError(
        f"no sequence that costs {options.budget}{rules} was found in {search.n_expanded} "
        "expansions; relax a constraint, raise the limit or the number of expansions"
    )
