"""The CTC baseline's network: one stack of self-attention blocks, a label for every slot.

Owns `CTC`, after the length-controlled CTC summariser of Liu et al. 2022 (NAUS, NACC). Does not own
its loss (`sumfit.losses.ctc`) or its decoding (`sumfit.decoding.methods.ctc`).

The lower blocks read the source. Their states are spread evenly over slots, whose number follows
the rule that sizes the DAT's graphs (with ``vertex_scale`` 1, one for every source piece between
the two bounds), and the upper blocks turn slots into labels: a piece, or the blank. There is no
attention to the source, because every slot is a place of it.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.models.config import MASK, DATConfig
from sumfit.models.layers import Block, Entry, init_weights
from sumfit.models.network import Network

__all__ = ["BLANK", "CTC"]

BLANK = MASK
"""Label that emits nothing; no text holds ``<mask>``, so its embedding is free to stand for it."""


class CTC(Network):
    """Predicts the labels of slots from source tokens."""

    system = "ctc"
    is_one_stack = True

    def __init__(self, config: DATConfig) -> None:
        """Build the network with random weights.

        Args:
            config: The shape; ``vertex_scale``, ``min_vertices`` and ``max_vertices`` size the
                slots.
        """
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.source_entry = Entry(config, config.max_source_tokens)
        self.slot_entry = Entry(config, config.max_vertices)
        self.encoder = nn.ModuleList(Block(config) for _ in range(config.n_encoder_layers))
        self.decoder = nn.ModuleList(Block(config) for _ in range(config.n_decoder_layers))
        self.apply(init_weights)

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of source and slots."""
        return (self.source_entry, self.slot_entry)

    def forward(self, source_ids: Tensor, mask: Tensor) -> Tensor:
        """Return the log-probabilities of all labels.

        Args:
            source_ids: ``(B, T)`` int64, pad 0, at least one token a row.
            mask: ``(B, S)`` ``True`` = real slot.

        Returns:
            ``(B, S, V)`` float32; `BLANK` and the pieces share the probability.
        """
        return self.label_logp(self.slots(source_ids, mask))

    def slots(self, source_ids: Tensor, mask: Tensor) -> Tensor:
        """Return the state of every slot.

        Args:
            source_ids: ``(B, T)`` int64, pad 0, at least one token a row.
            mask: ``(B, S)`` ``True`` = real slot.

        Returns:
            ``(B, S, D)``.
        """
        memory, source_mask = self.encode(source_ids)
        places = spread(source_mask.sum(dim=1), mask)
        x: Tensor = memory.gather(1, places[..., None].expand(-1, -1, memory.shape[2]))
        x = self.slot_entry(x)
        for block in self.decoder:
            x = block(x, mask)
        return x

    def label_logp(self, hidden: Tensor) -> Tensor:
        """Return log-probabilities of all labels; the special ids but the blank are impossible.

        Args:
            hidden: ``(..., D)`` slot states.

        Returns:
            ``(..., V)`` float32.
        """
        logits = F.linear(hidden, self.embedding.weight.to(hidden.dtype)).float()
        special = torch.arange(logits.shape[-1], device=logits.device) < BLANK
        return logits.masked_fill(special, -math.inf).log_softmax(dim=-1)


def spread(n_source: Tensor, mask: Tensor) -> Tensor:
    """Say which source token each slot stands for: in order, each about equally often.

    Where there are fewer slots than tokens, some have none.

    Args:
        n_source: ``(B,)`` tokens of each source.
        mask: ``(B, S)`` ``True`` = real slot.

    Returns:
        ``(B, S)`` int64 places; the last token's for padding.
    """
    slot = torch.arange(mask.shape[1], device=mask.device)
    places = slot * n_source[:, None] // mask.sum(dim=1, keepdim=True).clamp(min=1)
    return torch.minimum(places, n_source[:, None] - 1)
