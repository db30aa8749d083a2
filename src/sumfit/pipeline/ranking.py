"""Ranks hypotheses before they are decoded to strings.

Owns the list length and the search effort that this needs, and the time it takes. Does not own any
reranker (`sumfit.rerank`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sumfit.dag import DAG
from sumfit.hypothesis import Hypothesis
from sumfit.rerank.graph import Ranked

__all__ = ["Ranking"]


@dataclass(slots=True)
class Ranking:
    """How one search ranks its hypotheses before they are decoded to strings.

    Attributes:
        n_listed: Hypotheses to list.
        after_best: Expansions that exact search may spend on the list once the best is certain;
            ``None`` for an exact list.
        rank: Gives the order of a graph's hypotheses.
        n_read: Strings that the reranker reads; an exact list is made longer until it has them.
        seconds: Time that `order` took so far.
    """

    n_listed: int
    after_best: int | None
    rank: Callable[[DAG, Sequence[Hypothesis]], Ranked]
    n_read: int = 1
    seconds: float = 0.0

    def order(self, dag: DAG, found: Sequence[Hypothesis]) -> Ranked:
        """Rank, and keep the time.

        Args:
            dag: The graph.
            found: Its hypotheses.

        Returns:
            Their places, the best at the front, and what these were made from.
        """
        started = time.perf_counter()
        ranked = self.rank(dag, found)
        self.seconds += time.perf_counter() - started
        return ranked
