"""Numbers about a candidate that a reranker may read beside its words.

Owns what they are. Computed alike when n-best lists are made for training and at run time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sumfit.rerank.mbr import pairwise_gains, posterior

__all__ = ["FEATURES", "candidate_features", "consensus"]

FloatArray = npt.NDArray[np.float32]

FEATURES = (
    "score_below_best",  # nats below the best score of the list
    "log_prob_below_best",
    "log_prob_per_piece",
    "words",
    "log_rank",
    "consensus",  # expected overlap with what the model would say, see sumfit.rerank.mbr
    "consensus_below_best",
)
"""Names of the features, in order."""

_MOST_NATS = 20.0
_WORDS_SCALE = 10.0
_CONSENSUS_SCALE = 5.0


def consensus(
    words: Sequence[Sequence[str]],
    scores: Sequence[float] | npt.NDArray[np.float64],
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
    weights = posterior(scores, temperature=temperature)
    return np.asarray(pairwise_gains(words) @ weights)


def candidate_features(
    *,
    log_probs: npt.NDArray[np.floating],
    scores: npt.NDArray[np.floating],
    n_pieces: npt.NDArray[np.integer],
    n_words: npt.NDArray[np.integer],
    consensus: npt.NDArray[np.floating],
) -> FloatArray:
    """Compute the features of one list, or of several of the same length.

    Args:
        log_probs: ``(..., K)`` log-probability of each candidate, nats.
        scores: ``(..., K)`` what the search maximised, nats.
        n_pieces: ``(..., K)`` pieces of the summarizer's vocabulary.
        n_words: ``(..., K)`` words.
        consensus: ``(..., K)`` see `consensus`.

    Returns:
        ``(..., K, F)`` float32 of moderate size.
    """
    log_probs = np.asarray(log_probs, dtype=np.float64)
    scores = np.asarray(scores, dtype=np.float64)
    ranks = np.broadcast_to(np.arange(log_probs.shape[-1]), log_probs.shape)
    columns = [
        np.maximum(scores - scores.max(axis=-1, keepdims=True), -_MOST_NATS),
        np.clip(log_probs - log_probs.max(axis=-1, keepdims=True), -_MOST_NATS, 0),
        np.maximum(log_probs / np.maximum(n_pieces, 1), -_MOST_NATS),
        n_words / _WORDS_SCALE,
        np.log1p(ranks),
        consensus * _CONSENSUS_SCALE,
        (consensus - consensus.max(axis=-1, keepdims=True)) * 2 * _CONSENSUS_SCALE,
    ]
    return np.stack(columns, axis=-1).astype(np.float32)
