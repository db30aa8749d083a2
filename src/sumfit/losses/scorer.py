"""What the scorer says of whole lines: the autoregressive decoder that reads candidates.

Owns its cross-entropy and its verdict on the lines of a batch whose sources are encoded already.
Does not own the network (`sumfit.models.dat.DAT.read`).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from sumfit.losses.autoregressive import EOS, target_rows
from sumfit.losses.vocab import score_labels

__all__ = ["LinesRead", "ScoringModel", "read_lines"]


class ScoringModel(Protocol):
    """What the loss needs of a network; `sumfit.models.DAT` has it."""

    embedding: nn.Embedding

    def read(self, ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the scorer's states."""
        ...

    def judge(self, states: Tensor, n_words: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the logit that each line may be printed; only called where that has a weight."""
        ...


class LinesRead(NamedTuple):
    """What the scorer makes of lines.

    Attributes:
        nll: ``(B,)`` nats that it needs for each, its end included.
        verdict: ``(B,)`` logit that each may be printed; ``None`` where it was not asked.
    """

    nll: Tensor
    verdict: Tensor | None


def read_lines(
    model: ScoringModel,
    target_ids: Tensor,
    memory: Tensor,
    source_mask: Tensor,
    *,
    judges: bool = False,
) -> LinesRead:
    """Let the scorer read lines.

    Args:
        model: The network.
        target_ids: ``(B, U)`` lines without start and end, pad 0 at the end.
        memory: ``(B, T, D)`` encoded source.
        source_mask: ``(B, T)`` ``True`` = real token.
        judges: Whether it is asked for its verdict.

    Returns:
        Both, with gradients to the network.
    """
    rows = target_rows(target_ids)
    hidden = model.read(rows.ids, memory, source_mask)
    scores = score_labels(hidden, model.embedding.weight, rows.labels, n_special=EOS)
    nll = torch.where(rows.is_real, -scores.logp, 0.0).sum(dim=1)
    verdict = model.judge(hidden, rows.n_targets, memory, source_mask) if judges else None
    return LinesRead(nll, verdict)
