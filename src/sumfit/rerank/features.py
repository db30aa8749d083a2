"""Numbers about a candidate that a reranker may read beside its words.

Owns what they are. Computed alike when n-best lists are made for training and at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.hypothesis import Candidate
from sumfit.rerank.mbr import pairwise_gains, posterior

__all__ = [
    "FEATURES",
    "SEARCH_FEATURES",
    "ListNumbers",
    "candidate_features",
    "consensus",
    "search_columns",
]

FloatArray = npt.NDArray[np.float64]

SEARCH_FEATURES = (
    "score_below_best",  # nats below the best score of the list
    "log_prob_below_best",
    "log_prob_per_piece",
    "words",
    "log_rank",  # of its place in the search's own order
    "log_place",  # of its place in the list as it is given
    "expected_f1",  # with what the graph says, above the mean of the list; see sumfit.rerank.graph
)
"""Names of what is known of a candidate without its list's words, in order."""

FEATURES = (
    *SEARCH_FEATURES,
    "consensus",  # expected overlap with what the model would say, see sumfit.rerank.mbr
    "consensus_below_best",
)
"""Names of the features, in order."""

_MOST_NATS = 20.0
_WORDS_SCALE = 10.0
_CONSENSUS_SCALE = 5.0
_F1_SCALE = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class ListNumbers:
    """What the search says of the candidates of one list, in the order of the list.

    Attributes:
        log_probs: ``(K,)`` log-probability of each candidate, nats.
        scores: ``(K,)`` what the search maximised, nats.
        n_pieces: ``(K,)`` pieces of the summarizer's vocabulary.
        ranks: ``(K,)`` its place in the search's own order.
        expected_f1: ``(K,)`` its expected F1 with what the graph says.
    """

    log_probs: npt.NDArray[np.floating]
    scores: npt.NDArray[np.floating]
    n_pieces: npt.NDArray[np.integer]
    ranks: npt.NDArray[np.integer]
    expected_f1: npt.NDArray[np.floating]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> ListNumbers:
        """Take the numbers of candidates.

        Args:
            candidates: The candidates.

        Returns:
            Their numbers.
        """
        hypotheses = [candidate.hypothesis for candidate in candidates]
        return cls(
            log_probs=np.array([one.log_prob for one in hypotheses]),
            scores=np.array([one.score for one in hypotheses]),
            n_pieces=np.array([len(one.words) for one in hypotheses]),
            ranks=np.array([candidate.rank for candidate in candidates]),
            expected_f1=np.array([candidate.expected_f1 for candidate in candidates]),
        )


def consensus(
    words: Sequence[Sequence[str]],
    scores: npt.NDArray[np.floating],
    *,
    temperature: float,
) -> npt.NDArray[np.float64]:
    """Compute the expected overlap of each candidate under the posterior of the list.

    Args:
        words: Words of each candidate.
        scores: Score of each, nats.
        temperature: Of the posterior.

    Returns:
        ``(K,)`` 0 to 1.
    """
    weights = posterior(np.asarray(scores, dtype=np.float64), temperature=temperature)
    return np.asarray(pairwise_gains(words) @ weights)


def search_columns(
    numbers: ListNumbers, n_words: Sequence[int] | npt.NDArray[np.integer]
) -> list[FloatArray]:
    """Compute `SEARCH_FEATURES`.

    Args:
        numbers: What the search says.
        n_words: ``(K,)`` words of each candidate.

    Returns:
        One ``(K,)`` array for each feature.
    """
    scores = np.asarray(numbers.scores, dtype=np.float64)
    log_probs = np.asarray(numbers.log_probs, dtype=np.float64)
    f1 = np.asarray(numbers.expected_f1, dtype=np.float64)
    return [
        np.maximum(scores - scores.max(), -_MOST_NATS),
        np.clip(log_probs - log_probs.max(), -_MOST_NATS, 0),
        np.maximum(log_probs / np.maximum(numbers.n_pieces, 1), -_MOST_NATS),
        np.asarray(n_words) / _WORDS_SCALE,
        np.log1p(numbers.ranks),
        np.log1p(np.arange(scores.size)),
        (f1 - f1.mean()) * _F1_SCALE,
    ]


def candidate_features(
    words: Sequence[Sequence[str]], numbers: ListNumbers, *, temperature: float
) -> npt.NDArray[np.float32]:
    """Compute the features of one list.

    Args:
        words: Words of each of K candidates, at least one candidate.
        numbers: What the search says of them.
        temperature: Of the posterior behind the consensus.

    Returns:
        ``(K, F)`` float32 of moderate size.
    """
    agreed = consensus(words, numbers.scores, temperature=temperature)
    columns = [
        *search_columns(numbers, [len(one) for one in words]),
        agreed * _CONSENSUS_SCALE,
        (agreed - agreed.max()) * 2 * _CONSENSUS_SCALE,
    ]
    return np.stack(columns, axis=-1).astype(np.float32)
