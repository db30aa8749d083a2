"""Sequences so improbable that masses in double precision lose them.

Owns how much can be lost, and what is returned where nothing else was found: PathMAP adds up logs
and loses nothing. Real networks never come here.
"""

from __future__ import annotations

import math

from sumfit.dag import DAG
from sumfit.decoding.options import DecodeOptions
from sumfit.errors import InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis

__all__ = ["faint_path", "faintest"]

_LOST = -690.0  # natural log of 1e-300: shares of a prefix's mass below may count as zero


def faintest(options: DecodeOptions, n: int, high: int) -> float:
    """Bound the score of sequences that a search in double precision may not see.

    A prefix holds its mass relative to the largest of its vertices, and that is at most 1 but for
    the bonus. So what is lost at one vertex is at most 1e-300 times the bonus of a whole
    sequence, and there are at most n words at n vertices where it can be lost.

    Args:
        options: With the bonus.
        n: Most words of a sequence.
        high: Most that it can cost.

    Returns:
        Nats. All sequences of higher scores are searched as if nothing were lost.
    """
    bonus = max(options.bonus, 0.0) * n + max(options.unit_bonus, 0.0) * high
    return _LOST + 2.0 * math.log(n + 1) + bonus


def faint_path(dag: DAG, options: DecodeOptions) -> Hypothesis | None:
    """Find the sequence of the best path, however improbable.

    Args:
        dag: The graph.
        options: Without constraints.

    Returns:
        The sequence with its exact score and without a certificate; ``None`` if no path meets the
        budget.
    """
    from sumfit.decoding.pathmap import path_map

    try:
        best = path_map(dag, options=options.replace(n_best=1)).best
    except InfeasibleBudgetError:
        return None
    return Hypothesis(
        words=best.words,
        log_prob=best.log_prob,
        score=best.log_prob + options.bonus_of(len(best.words), best.cost),
        cost=best.cost,
        path=best.path,
    )
