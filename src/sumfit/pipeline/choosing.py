"""The default way to choose a summary: the model's scorer reads the candidates of the exact search.

Owns how many candidates are listed, what their scores are added up from, and when the scorer is
used. Does not own the scorer (`sumfit.runtime.scorer`), the search, or the check of a candidate
against its source (`sumfit.truth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sumfit.dag import DAG
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.pipeline.options import Options
from sumfit.pipeline.ranking import Ranking
from sumfit.rerank.graph import Ranked
from sumfit.runtime import Prediction
from sumfit.runtime.scorer import Scorer
from sumfit.truth import rank_by_support

__all__ = ["AUTO", "Choice", "ChoiceWeights", "Chooser", "chosen"]

AUTO = "auto"
"""Value of the option ``rerank`` that stands for the model's own way to choose."""

_LISTED = 32  # candidates that the search lists
_READ = 24  # texts among them that the scorer reads
_AFTER_BEST = 128  # expansions that the list may cost once the best is certain


@dataclass(frozen=True, slots=True)
class ChoiceWeights:
    """What a candidate's parts weigh, in nats; tuned on marked validation texts.

    Attributes:
        graph: Weight of the graph's own log-probability.
        length: Nats for each character, so that a short text does not win by being short.
        support: Weight of the penalty for what the source does not say.
    """

    graph: float = 0.3
    length: float = 0.2
    support: float = 1.5


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate with what chose it.

    Attributes:
        candidate: The candidate.
        total: What the choice was made by, nats.
        scorer_logp: Log-probability that the scorer gives it.
        penalty: What its source does not support, see `sumfit.truth`.
    """

    candidate: Candidate
    total: float
    scorer_logp: float
    penalty: float


class Chooser:
    """Orders the candidates of one text."""

    def __init__(
        self,
        scorer: Scorer,
        prediction: Prediction,
        source_ids: Sequence[int],
        weights: ChoiceWeights | None = None,
    ) -> None:
        """Store what the scorer reads.

        Args:
            scorer: The model's scorer.
            prediction: What the network made of the text.
            source_ids: Vocabulary ids of the text.
            weights: What a candidate's parts weigh.
        """
        assert prediction.memory is not None
        self._scorer = scorer
        self._memory = prediction.memory
        self._words = np.concatenate(
            [prediction.dag.word_ids.astype(np.int64), np.asarray(source_ids, dtype=np.int64)]
        )
        self._weights = weights or ChoiceWeights()

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

    @staticmethod
    def ranking() -> Ranking:
        """Return how long a list the search makes for the scorer, in the order of scores."""
        return Ranking(_LISTED, _AFTER_BEST, _in_order, n_read=_READ)

    @staticmethod
    def n_wanted(options: Options) -> int:
        """Return how many candidates are to be looked at as texts.

        Args:
            options: The caller's options.

        Returns:
            The number, at least the caller's ``n_best``.
        """
        return max(options.n_best, _READ)

    def order(self, candidates: Sequence[Candidate], source: str) -> list[Choice]:
        """Order candidates, the one to return first.

        Args:
            candidates: Verified candidates of the search.
            source: The text that the model read.

        Returns:
            All of them, those that compete before those that were listed for the caller alone.
        """
        logp = self._scorer.score(
            self._memory, [one.hypothesis.words for one in candidates], self._words
        )
        penalties = rank_by_support(source, [one.text for one in candidates])
        weights, choices = self._weights, []
        for one, own, penalty in zip(candidates, logp.tolist(), penalties, strict=True):
            total = own + weights.graph * one.hypothesis.log_prob
            total += weights.length * len(one.text) - weights.support * penalty
            choices.append(Choice(one, total, own, penalty))
        return sorted(choices, key=lambda one: (one.candidate.is_extra, -one.total))


def chosen(choice: Choice) -> Candidate:
    """Return a choice's candidate with the score that chose it.

    Args:
        choice: The choice.

    Returns:
        The candidate.
    """
    return replace(choice.candidate, choice_score=choice.total)


def _in_order(dag: DAG, found: Sequence[Hypothesis]) -> Ranked:
    return Ranked(range(len(found)))
