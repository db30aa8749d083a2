"""Rerankers as the pipeline uses them: found once, given their list, and asked for an order.

Owns the cache of loaded rerankers, when the model's scorer chooses, how many candidates are looked
at, and the order of reranker and faithfulness filter. Does not own any reranker (`sumfit.rerank`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace

from sumfit.deadline import Deadline
from sumfit.hypothesis import Candidate
from sumfit.pipeline.faithfulness import faithful_first
from sumfit.pipeline.options import Options
from sumfit.pipeline.ranking import Ranking
from sumfit.rerank import AUTO, Chooser, get_reranker
from sumfit.rerank.chooser import ListPlan, TextRead
from sumfit.runtime import Backend, ModelDirectory
from sumfit.truth import Support

__all__ = ["Rerankers", "Reranking"]

_SEARCHS_OWN = ListPlan()


class Rerankers:
    """The rerankers of one summarizer; safe to use from several threads."""

    def __init__(self, model: ModelDirectory, backend: Backend) -> None:
        """Start empty.

        Args:
            model: For the weight of minimum Bayes risk, and its own reranker.
            backend: For the model's scorer.
        """
        self._model = model
        self._backend = backend
        self._lock = threading.Lock()
        self._loaded: dict[str, Chooser | None] = {}

    def get(self, options: Options) -> Reranking:
        """The reranking that options ask for; a reranker is loaded at its first use.

        Args:
            options: The caller's options.

        Returns:
            The reranking.

        Raises:
            SumfitError: If there is no such reranker, or it was made for another model.
        """
        return Reranking(self._chooser(options), options)

    def check(self, options: Options) -> None:
        """Raise unless the reranker exists and fits the model and the text form.

        Args:
            options: The caller's options.

        Raises:
            SumfitError: If it cannot be used.
        """
        chooser = self._chooser(options)
        if chooser is not None:
            chooser.check_profile(options.profile)

    def _chooser(self, options: Options) -> Chooser | None:
        rerank: object = options.rerank
        is_read = options.method == "seqmap" and options.profile == "natural"
        if rerank is None or (rerank == AUTO and not is_read):
            return None
        if isinstance(rerank, os.PathLike):
            rerank = os.fspath(rerank)
        if not isinstance(rerank, str):
            return get_reranker(rerank, self._model)
        with self._lock:
            if rerank not in self._loaded:
                scorer = self._backend.scorer
                self._loaded[rerank] = get_reranker(rerank, self._model, scorer=scorer)
            return self._loaded[rerank]


class Reranking:
    """How the candidates of one call are put in order."""

    def __init__(self, chooser: Chooser | None, options: Options) -> None:
        """Store both.

        Args:
            chooser: The reranker; ``None`` where the order of the search stays.
            options: The caller's options.
        """
        self._chooser, self._options = chooser, options
        self._plan = _SEARCHS_OWN if chooser is None else chooser.plan

    @property
    def is_needed(self) -> bool:
        """Whether another candidate than the search's first may be chosen."""
        return self._chooser is not None or self._options.faithful

    @property
    def n_wanted(self) -> int:
        """How many candidates are to be looked at as strings, at least the caller's ``n_best``."""
        n_judged = self._plan.n_judged if self._options.faithful else 1
        return max(self._options.n_best, n_judged, self._plan.n_read)

    def ranking(self, text: TextRead, deadline: Deadline) -> Ranking | None:
        """The order of a text's hypotheses before they are strings.

        Args:
            text: The text with its graph.
            deadline: Once it is over, nothing more is read.

        Returns:
            The order; ``None`` where hypotheses keep theirs.
        """
        if self._chooser is None or not self._plan.n_listed:
            return None
        return Ranking(self._chooser, text, deadline)

    def order(
        self,
        candidates: list[Candidate],
        text: TextRead,
        *,
        judge: Callable[[str], Support],
        deadline: Deadline,
    ) -> list[Candidate]:
        """Put the candidates in the reranker's order, then the first faithful one before them.

        Args:
            candidates: Verified candidates, in the order of `ranking` if there is one.
            text: The text that the model read.
            judge: The verdict on one candidate's text, if the options ask for it.
            deadline: Once it is over, the candidates keep the order that they have.

        Returns:
            The same candidates, the one to return first, with the score that chose it if there is
            one.
        """
        if self._chooser is not None:
            ranked = self._chooser.rank_texts(text, candidates, deadline)
            scores, chances = ranked.choice_scores or {}, ranked.confidences or {}
            candidates = [
                replace(
                    candidates[place],
                    choice_score=scores.get(place),
                    confidence=chances.get(place),
                )
                for place in ranked.order
            ]
        return faithful_first(candidates, judge, deadline) if self._options.faithful else candidates
