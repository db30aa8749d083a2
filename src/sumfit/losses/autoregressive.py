"""Cross-entropy of the next word with label smoothing, for the autoregressive baselines.

Owns how a target becomes rows and labels. Does not own the network: anything with the methods of
`SequenceModel` will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.losses.objective import LossOutput, total_loss
from sumfit.losses.vocab import LabelScores, score_labels

__all__ = [
    "SequenceModel",
    "TargetRows",
    "TargetScores",
    "next_word_loss",
    "score_targets",
    "target_rows",
]


BOS, EOS = 1, 2  # ids below the second are never predicted


class SequenceModel(Protocol):
    """What the loss needs of a network; `sumfit.models.autoregressive` has it."""

    embedding: nn.Embedding
    n_positions: int

    def encode(self, source_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return encoded source and mask."""
        ...

    def decode(
        self, ids: Tensor, memory: Tensor, source_mask: Tensor, n_words: Tensor | None = None
    ) -> Tensor:
        """Return the states from which the next words are predicted."""
        ...


class TargetScores(NamedTuple):
    """Scores of the words of targets and their ends, in order, padded at the end.

    Attributes:
        scores: ``(B, U+1)`` log-probability of each, see `sumfit.losses.vocab`.
        is_real: ``(B, U+1)`` which are no padding.
        n_targets: ``(B,)`` words of each target, its end not counted.
    """

    scores: LabelScores
    is_real: Tensor
    n_targets: Tensor


def score_targets(
    model: SequenceModel, source_ids: Tensor, target_ids: Tensor, n_words: Tensor | None = None
) -> TargetScores:
    """Score each word of a target, and its end, after those before it.

    Args:
        model: The network.
        source_ids: ``(B, T)`` sources, pad 0.
        target_ids: ``(B, U)`` targets without start and end, pad 0.
        n_words: ``(B,)`` words of each target, for a model that is told.

    Returns:
        The scores, with gradients to the network.
    """
    # Columns of padding alone may reach beyond the last position.
    target_ids = target_ids[:, : model.n_positions - 1]
    memory, source_mask = model.encode(source_ids)
    rows = target_rows(target_ids)
    hidden = model.decode(rows.ids, memory, source_mask, n_words)
    scores = score_labels(hidden, model.embedding.weight, rows.labels, n_special=EOS)
    return TargetScores(scores, rows.is_real, rows.n_targets)


class TargetRows(NamedTuple):
    """Targets as an autoregressive decoder reads and predicts them.

    Attributes:
        ids: ``(B, U+1)`` what it reads: the start word, then the words.
        labels: ``(B, U+1)`` what it predicts: the words, then the end.
        is_real: ``(B, U+1)`` which labels are no padding.
        n_targets: ``(B,)`` words of each target, its end not counted.
    """

    ids: Tensor
    labels: Tensor
    is_real: Tensor
    n_targets: Tensor


def target_rows(target_ids: Tensor) -> TargetRows:
    """Shift targets by one, so that each place predicts the next word.

    Args:
        target_ids: ``(B, U)`` targets without start and end, pad 0 at the end.

    Returns:
        Rows and labels.
    """
    n_targets = (target_ids != 0).sum(dim=1)
    ids = F.pad(target_ids, (1, 0), value=BOS)
    place = torch.arange(ids.shape[1], device=ids.device)
    labels = torch.where(place == n_targets[:, None], EOS, F.pad(target_ids, (0, 1)))
    return TargetRows(ids, labels, place <= n_targets[:, None], n_targets)


def next_word_loss(
    model: SequenceModel,
    batch: Mapping[str, Tensor],
    *,
    n_words: Tensor | None = None,
    label_smoothing: float = 0.0,
) -> LossOutput:
    """Return the loss of one batch.

    With ``e = label_smoothing``, summed over the words of a target and its end::

        loss = sum_t (1 - e) * -log p(y_t | y_<t)  +  e * mean_v( -log p(v | y_<t) )

    Nothing here waits for the GPU: padded places are scored as well, and left out of the sum.

    Args:
        model: The network.
        batch: ``source_ids (B, T)``, ``target_ids (B, U)`` without start and end, both pad 0.
        n_words: ``(B,)`` words of each target, for a model that is told.
        label_smoothing: ``e``, in [0, 1).

    Returns:
        Loss and counts, per target word as for the graphs: the end is scored but not counted.
    """
    scores, is_real, n_targets = score_targets(
        model, batch["source_ids"], batch["target_ids"], n_words
    )
    nll = torch.where(is_real, -scores.logp, 0.0).sum(dim=1)
    loss = nll
    if label_smoothing > 0:
        smooth = torch.where(is_real, scores.uniform_nll, 0.0).sum(dim=1)
        loss = (1 - label_smoothing) * nll + label_smoothing * smooth
    return total_loss(loss, nll, n_targets)
