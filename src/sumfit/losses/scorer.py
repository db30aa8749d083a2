"""Cross-entropy of the scorer: the autoregressive decoder that reads whole candidates.

Owns its loss on the targets of a batch whose sources are encoded already. Does not own the network
(`sumfit.models.dat.DAT.read`).
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from sumfit.losses.autoregressive import EOS, target_rows
from sumfit.losses.vocab import score_labels

__all__ = ["ScoringModel", "scorer_nll"]


class ScoringModel(Protocol):
    """What the loss needs of a network; `sumfit.models.DAT` has it."""

    embedding: nn.Embedding

    def read(self, ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the scorer's states."""
        ...


def scorer_nll(
    model: ScoringModel, target_ids: Tensor, memory: Tensor, source_mask: Tensor
) -> Tensor:
    """Return what the scorer needs for each target, its end included.

    Args:
        model: The network.
        target_ids: ``(B, U)`` targets without start and end, pad 0 at the end.
        memory: ``(B, T, D)`` encoded source.
        source_mask: ``(B, T)`` ``True`` = real token.

    Returns:
        ``(B,)`` nats, with gradients to the network.
    """
    rows = target_rows(target_ids)
    hidden = model.read(rows.ids, memory, source_mask)
    scores = score_labels(hidden, model.embedding.weight, rows.labels, n_special=EOS)
    return torch.where(rows.is_real, -scores.logp, 0.0).sum(dim=1)
