"""Sequences so improbable that masses in double precision lose them.

Owns how much can be lost, and what is returned where nothing else was found: PathMAP adds up logs
and loses nothing. Real networks never come here.
"""

from __future__ import annotations

import math

import numpy as np

from sumfit.dag import DAG
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, check_words
from sumfit.decoding.search.path_table import best_path_by_cost
from sumfit.errors import InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["path_despite_underflow", "underflow_bound"]

_LOST = -690.0  # natural log of 1e-300: shares of a prefix's mass below may count as zero


def underflow_bound(dag: DAG, options: DecodeOptions, score: float) -> float:
    """Bound the score of sequences that a search in double precision may not have seen.

    A prefix holds its mass relative to the largest of its vertices, and that is at most 1 but for
    the bonus. So what is lost at one vertex is at most 1e-300 times the bonus of the sequence,
    and there are at most n words at n vertices where it can be lost. All sequences of higher scores
    are searched as if nothing were lost.

    Args:
        dag: The graph.
        options: With budget and bonus.
        score: The score that it is to be compared with.

    Returns:
        Nats; no closer than it takes to be below the score.
    """
    n = dag.n_vertices - 2
    lost = _LOST + 2.0 * math.log(n + 1)
    most = max(options.bonus, 0.0) * n + max(options.unit_bonus, 0.0) * options.budget.high
    if score >= lost + most:
        return lost + most
    return lost + _most_bonus(dag, options)


def path_despite_underflow(dag: DAG, options: DecodeOptions) -> Hypothesis | None:
    """Find the sequence of the best path, however improbable.

    Args:
        dag: The graph.
        options: Without constraints.

    Returns:
        The sequence with its exact score, and a gap that covers what double precision may have
        lost; ``None`` if no path meets the budget.
    """
    try:
        best = _path_map(dag, options).best
    except InfeasibleBudgetError:
        return None
    score = best.log_prob + options.bonus_of(len(best.words), best.cost)
    return Hypothesis(
        words=best.words,
        log_prob=best.log_prob,
        score=score,
        cost=best.cost,
        path=best.path,
        gap=max(underflow_bound(dag, options, score) - score, 0.0),
    )


def _most_bonus(dag: DAG, options: DecodeOptions) -> float:
    """The greatest bonus of any sequence within the budget, constraints aside."""
    words, links, others = (
        np.where(logs > -np.inf, np.float32(0.0), np.float32(-np.inf))
        for logs in (dag.word_logp, dag.link_logp, dag.other_logp)
    )
    best = _path_map(DAG(dag.word_ids, words, links, others, dag.vocab_size), options).best
    return best.score + best.gap


def _path_map(dag: DAG, options: DecodeOptions) -> NBest:
    options = options.replace(n_best=1, constraints=None)
    check_words(dag, options)
    problem = SearchProblem.build(dag, options)
    problem.check_budget(dag.n_vertices)
    return best_path_by_cost(problem, method="pathmap", score_first_word=True)
