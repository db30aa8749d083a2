"""The BERT-CRF baseline's network: BERT reads the source and writes at its positions.

Owns `BertCRF`, after Su et al. 2021. Does not own its loss (`sumfit.losses.crf`) or its decoding
(`sumfit.decoding.device.crf`).

All blocks are BERT's encoder. The first S positions of the source are the slots of the summary;
where the source is shorter than that, ``<mask>`` fills it up. A slot is a piece or `END`; scores of
two labels in a row come from a product of two low-rank tables.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.models.config import BOS, MASK, PAD, DATConfig
from sumfit.models.layers import Block, Entry, init_weights
from sumfit.models.network import Network

__all__ = ["END", "BertCRF"]

END = MASK
"""Label of all slots after the summary; no text holds ``<mask>``, so it is free for that."""


class BertCRF(Network):
    """Predicts the scores of labels and of pairs of labels from source tokens.

    ``leaving`` and ``entering`` are the ``(V, r)`` tables whose product scores a pair; the row of
    ``<bos>`` in ``leaving`` stands for the start.
    """

    system = "bert-crf"
    is_one_stack = True

    def __init__(self, config: DATConfig) -> None:
        """Build the network with random weights.

        Args:
            config: The shape; ``vertex_scale``, ``min_vertices`` and ``max_vertices`` size the
                slots, ``transition_rank`` the tables.
        """
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.source_entry = Entry(config, max(config.max_source_tokens, config.max_vertices))
        self.encoder = nn.ModuleList(Block(config) for _ in range(config.n_encoder_layers))
        self.decoder = nn.ModuleList(Block(config) for _ in range(config.n_decoder_layers))
        self.leaving = nn.Embedding(config.vocab_size, config.transition_rank)
        self.entering = nn.Embedding(config.vocab_size, config.transition_rank)
        self.apply(init_weights)

    def slots(self, source_ids: Tensor, mask: Tensor) -> Tensor:
        """Return the state of every slot.

        Args:
            source_ids: ``(B, T)`` int64, pad 0, at least one token a row.
            mask: ``(B, S)`` ``True`` = real slot.

        Returns:
            ``(B, S, D)``.
        """
        n_more = max(0, mask.shape[1] - source_ids.shape[1])
        ids = F.pad(source_ids, (0, n_more), value=PAD)
        is_slot = F.pad(mask, (0, ids.shape[1] - mask.shape[1]), value=False)
        ids = torch.where(is_slot & (ids == PAD), MASK, ids)
        x: Tensor = self.source_entry(self.embedding(ids))
        is_real = ids != PAD
        for block in (*self.encoder, *self.decoder):
            x = block(x, is_real)
        return x[:, : mask.shape[1]]

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the scores of all labels.

        Args:
            hidden: ``(..., D)`` slot states.

        Returns:
            ``(..., V)`` in the type of the states; those below `END` mean nothing.
        """
        return F.linear(hidden, self.embedding.weight.to(hidden.dtype))

    def transitions(self, candidates: Tensor) -> Tensor:
        """Score every pair of candidates of neighbouring slots.

        Args:
            candidates: ``(B, S, K)`` labels.

        Returns:
            ``(B, S - 1, K, K)`` float32, ``[from, to]``.
        """
        with torch.autocast(candidates.device.type, enabled=False):
            leaving: Tensor = self.leaving(candidates[:, :-1]).float()
            entering: Tensor = self.entering(candidates[:, 1:]).float()
            return leaving @ entering.transpose(2, 3)

    def pair_scores(self, labels: Tensor) -> Tensor:
        """Score the pairs of one labelling, the start included.

        Args:
            labels: ``(B, S)``.

        Returns:
            ``(B, S)`` float32: the score of each label after the one before it.
        """
        before = F.pad(labels[:, :-1], (1, 0), value=BOS)
        leaving: Tensor = self.leaving(before).float()
        entering: Tensor = self.entering(labels).float()
        return (leaving * entering).sum(dim=-1)

    def start_scores(self, candidates: Tensor) -> Tensor:
        """Score candidates of the first slot after the start.

        Args:
            candidates: ``(B, K)`` labels.

        Returns:
            ``(B, K)`` float32.
        """
        entering: Tensor = self.entering(candidates).float()
        return entering @ self.leaving.weight[BOS].float()
