"""The neural reranker: an encoder, one joint layer over all candidates, and a head.

Owns the network. Does not own its loss (`sumfit.losses.ranking`), its start weights
(`sumfit.models.pretrained`) or its files.

Source and candidates are encoded one by one. The embedding of its rank is added to every word of a
candidate; then one block lets all words of all candidates attend to each other and to the source.
Padding and missing candidates are masked everywhere: they change nothing.

Without an encoder (``encoder="none"``) the head is all there is: it reads the features alone.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.models.config import DATConfig
from sumfit.models.layers import Block, Entry, init_weights, masked_mean
from sumfit.models.reranker_config import RerankerShape

__all__ = ["PooledHead", "RankHead", "Reranker"]


class Reranker(nn.Module):
    """Scores the candidates of a list against each other."""

    def __init__(self, shape: RerankerShape) -> None:
        """Build the network with random weights.

        Args:
            shape: The shape of the network.
        """
        super().__init__()
        self.shape = shape
        self.has_encoder = shape.encoder != "none"
        if self.has_encoder:
            self._build_encoder(shape)
        self.head = RankHead(shape) if shape.head == "rank" else PooledHead(shape)
        self.apply(init_weights)
        for part in self.head.children():
            assert isinstance(part, nn.Linear)
            part.reset_parameters()  # larger: what reaches the encoder passes through it

    def _build_encoder(self, shape: RerankerShape) -> None:
        block = _block_shape(shape)
        self.embedding = nn.Embedding(shape.vocab_size, shape.width)
        self.entry = Entry(block, shape.n_positions)
        self.layers = nn.ModuleList(Block(block) for _ in range(shape.n_layers))
        n_ranks = shape.n_candidates
        self.rank = nn.Embedding(n_ranks, shape.width) if shape.rank_embedding else None
        self.joint = Block(block, reads_source=True)

    def forward(
        self, source_ids: Tensor, candidate_ids: Tensor, features: Tensor | None = None
    ) -> Tensor:
        """Score the candidates of each list.

        Args:
            source_ids: ``(B, T)`` int64, padded; at least one piece a row.
            candidate_ids: ``(B, K, U)`` int64, padded; most probable candidate first, a missing
                one is all padding; ``K`` at most ``shape.n_candidates``.
            features: ``(B, K, F)`` float32, for a head that reads them.

        Returns:
            ``(B, K)`` float32 logits of the choice; ``-inf`` where a candidate is missing.
        """
        n_lists, n_candidates, size = candidate_ids.shape
        if not self.has_encoder:
            assert features is not None, "without an encoder there is nothing else to read"
            there = candidate_ids != self.shape.pad_id
            logits: Tensor = self.head(features.new_zeros((*there.shape, 0)), there, features)
            return logits.masked_fill(~there.any(-1), -math.inf)
        memory, source_mask = self.encode(source_ids)
        flat = candidate_ids.view(n_lists * n_candidates, size)
        words, _ = self.encode(flat)
        words = words.view(n_lists, n_candidates, size, -1)
        if self.rank is not None:
            words = words + self.rank.weight[:n_candidates, None].to(words.dtype)
        mask = candidate_ids != self.shape.pad_id
        joined = words.view(n_lists, n_candidates * size, -1)
        read = self.joint(joined, mask.flatten(1), memory, source_mask)
        # Candidates differ by little: the head stays in float32.
        with torch.autocast(read.device.type, enabled=False):
            logits = self.head(read.view_as(words).float(), mask, features)
        return logits.masked_fill(~mask.any(-1), -math.inf)

    def encode(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Encode texts one by one.

        Args:
            ids: ``(N, T)`` int64, padded.

        Returns:
            ``(N, T, D)`` encoded pieces and ``(N, T)`` mask, ``True`` = real.
        """
        mask = ids != self.shape.pad_id
        # A row without any piece would attend to nothing, which is NaN: it sees its first place,
        # and is masked later on.
        seen = torch.cat([mask[:, :1] | ~mask.any(1, keepdim=True), mask[:, 1:]], dim=1)
        x = self.entry(self.embedding(ids))
        for layer in self.layers:
            x = layer(x, seen)
        return x, mask

    def compile_blocks(self) -> None:
        """Compile the blocks in place, for any batch size and length; names stay the same."""
        if self.has_encoder:
            for block in (self.entry, *self.layers, self.joint):
                block.compile(dynamic=True)


class RankHead(nn.Module):
    """The paper's head: all words of all candidates pooled, one output for each rank."""

    def __init__(self, shape: RerankerShape) -> None:
        """Build the layer.

        Args:
            shape: The shape of the network.
        """
        super().__init__()
        self.out = nn.Linear(shape.width, shape.n_candidates)

    def forward(self, words: Tensor, mask: Tensor, features: Tensor | None) -> Tensor:
        """Score every rank that is there.

        Args:
            words: ``(B, K, U, D)`` words after the joint layer.
            mask: ``(B, K, U)`` ``True`` = real.
            features: Not read.

        Returns:
            ``(B, K)`` float32.
        """
        pooled = masked_mean(words.flatten(1, 2), mask.flatten(1))
        logits: Tensor = F.linear(pooled, self.out.weight.float(), self.out.bias.float())
        return logits[:, : words.shape[1]]


class PooledHead(nn.Module):
    """One score for each candidate, from its own words and its features."""

    def __init__(self, shape: RerankerShape) -> None:
        """Build the layers.

        Args:
            shape: The shape of the network.
        """
        super().__init__()
        width = 0 if shape.encoder == "none" else shape.width
        self.inner = nn.Linear(width + shape.n_features, shape.head_width)
        self.dropout = 0.0 if width else shape.dropout
        self.out = nn.Linear(shape.head_width + shape.n_features, 1)

    def forward(self, words: Tensor, mask: Tensor, features: Tensor | None) -> Tensor:
        """Score every candidate.

        Args:
            words: ``(B, K, U, D)`` words after the joint layer.
            mask: ``(B, K, U)`` ``True`` = real.
            features: ``(B, K, F)`` float32; ``None`` for none.

        Returns:
            ``(B, K)`` float32.
        """
        parts = [masked_mean(words, mask)]
        if features is not None:
            parts.append(features.float())
        hidden = torch.cat(parts, dim=-1)
        inner = F.gelu(F.linear(hidden, self.inner.weight.float(), self.inner.bias.float()))
        inner = F.dropout(inner, self.dropout, self.training)
        read = torch.cat([inner, *parts[1:]], dim=-1)
        logits: Tensor = F.linear(read, self.out.weight.float(), self.out.bias.float())
        return logits.squeeze(-1)


def _block_shape(shape: RerankerShape) -> DATConfig:
    """The numbers that the blocks of `sumfit.models.layers` read."""
    return DATConfig(
        width=shape.width,
        n_heads=shape.n_heads,
        n_link_heads=1,
        ffn_width=shape.ffn_width,
        dropout=shape.dropout,
        layer_norm_eps=shape.layer_norm_eps,
    )
