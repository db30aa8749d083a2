"""From a batch of lists to its loss.

Owns the target of the paper's loss. Does not own the losses (`sumfit.losses.ranking`).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from sumfit.losses.ranking import ranking_loss
from sumfit.training.reranking.recipe import RankingSection

__all__ = ["list_losses", "targets"]


def list_losses(logits: Tensor, tensors: Mapping[str, Tensor], loss: RankingSection) -> Tensor:
    """Compute the loss of each list of a batch.

    Args:
        logits: ``(B, K)`` what the network says.
        tensors: The batch.
        loss: The objective.

    Returns:
        ``(B,)`` float32.
    """
    is_there = logits > -torch.inf
    return ranking_loss(
        logits.float() + loss.prior * tensors["mbr"].float(),
        tensors["gains"].float(),
        targets(tensors, is_there, loss),
        loss=loss.kind,
        temperature=loss.temperature,
        label_smoothing=loss.label_smoothing,
    )


def targets(tensors: Mapping[str, Tensor], is_there: Tensor, loss: RankingSection) -> Tensor:
    """Say which candidate of each list should be chosen.

    Args:
        tensors: The batch.
        is_there: ``(B, K)`` ``True`` = not missing.
        loss: By overlap or by gain.

    Returns:
        ``(B,)`` int64; the first of equals, which the summarizer prefers.
    """
    values = tensors["overlaps" if loss.target == "overlap" else "gains"].double()
    # argmax promises no order among equals, so later places get a little less.
    order = torch.arange(values.shape[1], device=values.device) * 1e-9
    return (values.masked_fill(~is_there, -1.0) - order).argmax(-1)
