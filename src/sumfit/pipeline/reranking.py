"""Rerankers as the pipeline uses them: found once, asked for an order, held to it.

Owns the cache of loaded rerankers, how long an n-best list each wants, and the order of reranker
and faithfulness filter. Does not own any reranker (`sumfit.rerank`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.errors import ConfigError
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.pipeline.choosing import AUTO
from sumfit.pipeline.faithfulness import faithful_first
from sumfit.pipeline.options import Options
from sumfit.pipeline.ranking import Ranking
from sumfit.rerank import AnyReranker, GraphReranker, ListReranker, Reranker, get_reranker
from sumfit.rerank.graph import Ranked
from sumfit.runtime import RERANKER, ModelDirectory
from sumfit.truth import Support

__all__ = ["RerankerCache"]

_OWN = "neural"  # the reranker that lies in the model's own directory
_FAITHFUL_CANDIDATES = 20  # that the faithfulness filter looks through


class RerankerCache:
    """The rerankers of one summarizer; safe to use from several threads."""

    def __init__(self, model: ModelDirectory) -> None:
        """Start empty.

        Args:
            model: For the weight of minimum Bayes risk, and its own reranker.
        """
        self._model = model
        self._lock = threading.Lock()
        self._loaded: dict[str, AnyReranker] = {}

    def get(self, rerank: Any) -> AnyReranker | None:
        """The reranker of an option's value, loaded at its first use.

        Args:
            rerank: ``None``, a name, a directory, or a reranker.

        Returns:
            The reranker, ``None`` for none.

        Raises:
            SumfitError: If there is no such reranker, or it was made for another model.
        """
        if rerank is None or rerank == AUTO:
            return None
        if isinstance(rerank, os.PathLike):
            rerank = os.fspath(rerank)
        if not isinstance(rerank, str):
            return get_reranker(rerank)
        with self._lock:
            if rerank not in self._loaded:
                self._loaded[rerank] = self._load(rerank)
            return self._loaded[rerank]

    def check(self, options: Options) -> None:
        """Raise unless the reranker exists and fits the model and the text form.

        Args:
            options: The caller's options.

        Raises:
            SumfitError: If it cannot be used.
        """
        reranker = self.get(options.rerank)
        check_profile = getattr(reranker, "check_profile", None)
        if check_profile is not None:
            check_profile(options.profile)

    def _load(self, rerank: str) -> AnyReranker:
        config = self._model.config
        if rerank == _OWN:
            place = self._model.own_reranker
            if place is None:
                raise ConfigError(
                    f"model {config.name!r} has no reranker of its own "
                    f"({self._model.path / RERANKER} is not there); "
                    "use rerank='mbr', or the directory of a trained reranker"
                )
            rerank = os.fspath(place)
        loaded = get_reranker(rerank, tokenizer=self._model.tokenizer, mbr_weight=config.mbr_weight)
        check_model = getattr(loaded, "check_model", None)
        if check_model is not None:
            check_model(tokenizer_sha256=config.tokenizer_sha256, name=config.name)
        return loaded

    def n_wanted(self, options: Options) -> int:
        """How many candidates are to be looked at as strings.

        Args:
            options: The caller's options.

        Returns:
            The number, at least the caller's ``n_best``.
        """
        reranker = self.get(options.rerank)
        n_read = reranker.n_candidates if reranker and _reads_strings(reranker) else 1
        least = _FAITHFUL_CANDIDATES if options.faithful else 1
        return max(options.n_best, least, n_read)

    def ranking(self, options: Options) -> Ranking | None:
        """The order of a reranker that reads graphs.

        Args:
            options: The caller's options.

        Returns:
            The order; ``None`` where hypotheses keep theirs.
        """
        reranker = self.get(options.rerank)
        if hasattr(reranker, "lister"):
            lister = cast(ListReranker, reranker).lister(self._model.tokenizer)
            if lister is not None:
                n_read = cast(ListReranker, reranker).n_candidates
                return Ranking(lister.n_candidates, lister.after_best, lister.ranked, n_read)
        elif hasattr(reranker, "rank"):
            graphs = cast(GraphReranker, reranker)
            return Ranking(graphs.n_candidates, graphs.after_best, partial(_ranked, graphs))
        return None

    def order(
        self,
        candidates: list[Candidate],
        source: str,
        *,
        judge: Callable[[str], Support],
        options: Options,
        deadline: Deadline,
    ) -> list[Candidate]:
        """Put the candidates in the reranker's order, then the first faithful one before them.

        Args:
            candidates: Verified candidates, in the order of `ranking` if there is one.
            source: The text that the model read.
            judge: The verdict on one candidate's text, if the options ask for it.
            options: The caller's options.
            deadline: Once it is over, the candidates keep the order that they have.

        Returns:
            The same candidates, the one to return first.
        """
        reranker = self.get(options.rerank)
        if reranker is not None and _reads_strings(reranker) and len(candidates) > 1:
            if deadline.is_over:
                deadline.stop()
                return candidates
            candidates = _reordered(candidates, source, reranker)
        return faithful_first(candidates, judge, deadline) if options.faithful else candidates


# By one name: a look at all that a protocol asks for would cost more than the ranking.
def _reads_strings(reranker: AnyReranker) -> bool:
    return hasattr(reranker, "rerank") or hasattr(reranker, "lister")


def _reordered(listed: list[Candidate], source: str, reranker: AnyReranker) -> list[Candidate]:
    """The candidates in the reranker's order; more than it wants stay behind the others."""
    n_listed = sum(not candidate.is_extra for candidate in listed)
    n_compete = min(n_listed, reranker.n_candidates)
    candidates, rest = listed[:n_compete], listed[n_compete:]
    if hasattr(reranker, "lister"):
        order = cast(ListReranker, reranker).order(source, candidates)
    else:
        texts = [candidate.text for candidate in candidates]
        nbest = [candidate.hypothesis for candidate in candidates]
        order = cast(Reranker, reranker).rerank(source, texts, nbest)
    _check(reranker.name, order, len(candidates))
    return [*(candidates[index] for index in order), *rest]


def _ranked(reranker: GraphReranker, dag: DAG, found: Sequence[Hypothesis]) -> Ranked:
    order = reranker.rank(dag, found)
    _check(reranker.name, order, len(found))
    return Ranked(order)


def _check(name: str, order: Sequence[int], n_candidates: int) -> None:
    if sorted(order) != list(range(n_candidates)):
        raise ConfigError(
            f"reranker {name!r} must return each of 0 to {n_candidates - 1} once, was {list(order)}"
        )
