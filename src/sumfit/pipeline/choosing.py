"""The default way to choose a summary: the model's scorer reads the candidates of the exact search.

Owns how many candidates are listed, what their scores are added up from, and when the scorer is
used. Does not own the scorer (`sumfit.runtime.scorer`), the search, or the check of a candidate
against its source (`sumfit.truth`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.pipeline.options import Options
from sumfit.pipeline.ranking import Ranking
from sumfit.rerank.graph import Ranked
from sumfit.runtime import Prediction
from sumfit.runtime.scorer import Scorer
from sumfit.text import Tokenizer
from sumfit.text.surface import Surface
from sumfit.truth import rank_by_support

__all__ = ["AUTO", "ChoiceWeights", "Chooser"]

AUTO = "auto"
"""Value of the option ``rerank`` that stands for the model's own way to choose."""

_LISTED = 16  # candidates that the search lists and the scorer reads
_CHECKED = 6  # the best of them, whose texts are held against the source
_AFTER_BEST = 64  # expansions that the list may cost once the best is certain
_AT_ONCE = 32  # candidates that are read between two looks at the clock


@dataclass(frozen=True, slots=True)
class ChoiceWeights:
    """What a candidate's parts weigh, in nats; tuned on marked validation texts.

    Attributes:
        graph: Weight of the graph's own log-probability.
        length: Nats for each character, so that a short text does not win by being short.
        support: Weight of the penalty for what the source does not say.
        label: What a label at the beginning costs that the source does not have ("net: ...").
    """

    graph: float = 0.3
    length: float = 0.2
    support: float = 1.5
    label: float = 4.0


class Chooser:
    """Orders the candidates of one text, by the scorer and by what the source supports."""

    def __init__(
        self,
        scorer: Scorer,
        prediction: Prediction,
        source_ids: Sequence[int],
        tokenizer: Tokenizer,
        surface: Surface,
        weights: ChoiceWeights | None = None,
    ) -> None:
        """Store what the scorer reads.

        Args:
            scorer: The model's scorer.
            prediction: What the network made of the text.
            source_ids: Vocabulary ids of the text.
            tokenizer: The model's tokenizer.
            surface: Looks at texts about this source.
            weights: What a candidate's parts weigh.
        """
        assert prediction.memory is not None
        self._scorer = scorer
        self._memory = prediction.memory
        self._words = np.concatenate(
            [prediction.dag.word_ids.astype(np.int64), np.asarray(source_ids, dtype=np.int64)]
        )
        self._tokenizer = tokenizer
        self._surface = surface
        self._weights = weights or ChoiceWeights()
        self._totals: dict[tuple[int, ...], float] = {}

    @staticmethod
    def is_used(options: Options) -> bool:
        """Say whether the options leave the choice to the scorer.

        Args:
            options: The caller's options.

        Returns:
            The verdict: natural text, exact search, and no other reranker asked for.
        """
        is_default = options.rerank == AUTO and options.method == "seqmap"
        return is_default and options.profile == "natural"

    def ranking(self, deadline: Deadline) -> Ranking:
        """Return how long a list the search makes, and the scorer's order of it.

        Args:
            deadline: Once it is over, the scorer reads no more; what it has not read comes last.

        Returns:
            The order.
        """
        rank = partial(self._ranked, deadline=deadline)
        return Ranking(_LISTED, _AFTER_BEST, rank, n_read=_CHECKED)

    @staticmethod
    def n_wanted(options: Options) -> int:
        """Return how many candidates are to be looked at as texts.

        Args:
            options: The caller's options.

        Returns:
            The number, at least the caller's ``n_best``.
        """
        return max(options.n_best, _CHECKED)

    def order(
        self, candidates: Sequence[Candidate], source: str, deadline: Deadline
    ) -> list[Candidate]:
        """Order candidates by the scorer and what their source supports.

        Args:
            candidates: Verified candidates, in the scorer's order.
            source: The text that the model read.
            deadline: Once it is over, no more are read.

        Returns:
            All of them, best first, with their ``choice_score`` if there was time for it; but the
            first is none of those that were listed only because the caller asked for many.
        """
        judged: list[Candidate] = []
        for begin in range(0, len(candidates), _AT_ONCE):
            if deadline.is_over:
                deadline.stop()
                break
            some = [
                one
                for one in candidates[begin : begin + _AT_ONCE]
                if one.hypothesis.words in self._totals
            ]
            penalties = rank_by_support(source, [one.text for one in some])
            for one, penalty in zip(some, penalties, strict=True):
                total = self._totals[one.hypothesis.words] - self._weights.support * penalty
                judged.append(replace(one, choice_score=total))
        if not judged:
            return list(candidates)
        known = {one.text for one in judged}
        first = min(judged, key=lambda one: (one.is_extra, -(one.choice_score or 0.0)))
        rest = [one for one in judged if one is not first]
        unread = [one for one in candidates if one.text not in known]
        return [first, *sorted(rest, key=lambda one: -(one.choice_score or 0.0)), *unread]

    def _ranked(self, dag: DAG, found: Sequence[Hypothesis], *, deadline: Deadline) -> Ranked:
        """Return the scorer's order of hypotheses whose texts are not made yet."""
        new = [one for one in found if one.words not in self._totals]
        for begin in range(0, len(new), _AT_ONCE):
            if deadline.is_over:
                deadline.stop()
                break
            self._score(new[begin : begin + _AT_ONCE])
        totals = [self._totals.get(one.words, -math.inf) for one in found]
        return Ranked(sorted(range(len(found)), key=lambda place: -totals[place]))

    def _score(self, new: Sequence[Hypothesis]) -> None:
        logp = self._scorer.score(self._memory, [one.words for one in new], self._words)
        weights = self._weights
        for one, own in zip(new, logp.tolist(), strict=True):
            text = self._tokenizer.decode(one.words)
            total = own + weights.graph * one.log_prob + weights.length * len(text)
            total -= 0.0 if self._surface.has_labels(text) else weights.label
            self._totals[one.words] = total
