"""Ranks hypotheses before they are decoded to strings.

Owns one search's use of a reranker, and the time that takes. Does not own any reranker
(`sumfit.rerank`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from sumfit.deadline import Deadline
from sumfit.hypothesis import Hypothesis
from sumfit.rerank.chooser import Chooser, Ranked, TextRead

__all__ = ["Ranking"]


class Ranking:
    """How the searches of one text rank their hypotheses before they are decoded to strings."""

    def __init__(self, chooser: Chooser, text: TextRead, deadline: Deadline) -> None:
        """Start without time spent.

        Args:
            chooser: Its plan says how many hypotheses are listed, and at what cost.
            text: The text with its graph.
            deadline: Once it is over, nothing more is read.
        """
        self.plan = chooser.plan
        self.seconds = 0.0
        self._chooser, self._text, self._deadline = chooser, text, deadline

    def order(self, found: Sequence[Hypothesis]) -> Ranked:
        """Rank, and keep the time.

        Args:
            found: Hypotheses of the text's graph.

        Returns:
            Their places, the best at the front, and what these were made from.
        """
        started = time.perf_counter()
        ranked = self._chooser.rank_found(self._text, found, self._deadline)
        self.seconds += time.perf_counter() - started
        return ranked
