"""Rerankers as the pipeline uses them: found once, asked for an order, held to it.

Owns the cache of loaded rerankers and how long an n-best list each wants. Does not own any
reranker (`sumfit.rerank`).
"""

from __future__ import annotations

import threading
from typing import Any

from sumfit.pipeline.options import Options
from sumfit.pipeline.search import Candidate
from sumfit.rerank import Reranker, get_reranker
from sumfit.runtime import ModelDirectory

__all__ = ["RerankerCache"]


class RerankerCache:
    """The rerankers of one summarizer; safe to use from several threads."""

    def __init__(self, model: ModelDirectory) -> None:
        """Start empty.

        Args:
            model: For the temperature of minimum Bayes risk.
        """
        self._model = model
        self._lock = threading.Lock()
        self._loaded: dict[str, Reranker] = {}

    def get(self, rerank: Any) -> Reranker | None:
        """The reranker of an option's value, loaded at its first use.

        Args:
            rerank: ``None``, ``"mbr"``, a directory, or a reranker.

        Returns:
            The reranker, ``None`` for none.

        Raises:
            SumfitError: If there is no such reranker, or it was made for another model.
        """
        if rerank is None:
            return None
        if not isinstance(rerank, str):
            return get_reranker(rerank)
        with self._lock:
            if rerank not in self._loaded:
                self._loaded[rerank] = get_reranker(
                    rerank, mbr_temperature=self._model.config.mbr_temperature
                )
            return self._loaded[rerank]

    def n_candidates(self, options: Options) -> int:
        """How many candidates the search should find.

        Args:
            options: The caller's options.

        Returns:
            The number, at least the caller's ``n_best``.
        """
        reranker = self.get(options.rerank)
        return max(options.n_best, reranker.n_candidates if reranker else 1)

    def order(
        self, candidates: list[Candidate], *, source: str, options: Options
    ) -> list[Candidate]:
        """Put the candidates in the reranker's order.

        Args:
            candidates: Verified candidates, most probable first.
            source: The text that the model read.
            options: The caller's options.

        Returns:
            The same candidates, the one to return first.
        """
        reranker = self.get(options.rerank)
        if reranker is None or len(candidates) < 2:
            return candidates
        texts = [candidate.text for candidate in candidates]
        order = reranker.rerank(source, texts, [item.hypothesis for item in candidates])
        assert sorted(order) == list(range(len(candidates))), f"{reranker.name} lost candidates"
        return [candidates[index] for index in order]
