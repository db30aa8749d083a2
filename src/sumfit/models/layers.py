"""The layers that every network here is built of: entry to the blocks, and BERT's block.

Owns `Entry`, `Block`, their random start and the mean of their rows. Does not own attention kernels
(`sumfit.models.attention`) or whole networks.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.models.attention import cross_attend, self_attend
from sumfit.models.config import DATConfig

__all__ = ["Block", "Entry", "init_weights", "masked_mean"]


class Entry(nn.Module):
    """From word embeddings to the first block: position, norm, dropout."""

    def __init__(self, config: DATConfig, n_positions: int) -> None:
        """Build the layer.

        Args:
            config: The shape of the network.
            n_positions: Longest row.
        """
        super().__init__()
        self.position = nn.Embedding(n_positions, config.width)
        self.norm = nn.LayerNorm(config.width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, words: Tensor, *, first: int | None = None) -> Tensor:
        """Return the states that enter the first block, in autocast's type where it is on.

        Args:
            words: ``(B, S, D)`` word embeddings.
            first: If given, all ``S`` stand at this one position.

        Returns:
            ``(B, S, D)``.
        """
        at = slice(words.shape[1]) if first is None else slice(first, first + 1)
        x: Tensor = self.dropout(self.norm(words + self.position.weight[at]))
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        return x


class Block(nn.Module):
    """One layer: attention, attention to the source if it reads one, feed-forward."""

    def __init__(self, config: DATConfig, *, reads_source: bool = False) -> None:
        """Build the layer.

        Args:
            config: The shape of the network.
            reads_source: Whether it attends to the encoded source.
        """
        super().__init__()
        width = config.width
        self.n_heads = config.n_heads
        self.self_qkv = nn.Linear(width, 3 * width)
        self.self_out = nn.Linear(width, width)
        self.self_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.reads_source = reads_source
        if reads_source:
            self.cross_q = nn.Linear(width, width)
            self.cross_kv = nn.Linear(width, 2 * width)
            self.cross_out = nn.Linear(width, width)
            self.cross_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.ffn_in = nn.Linear(width, config.ffn_width)
        self.ffn_out = nn.Linear(config.ffn_width, width)
        self.ffn_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor,
        memory: Tensor | None = None,
        source_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the next states.

        Args:
            x: ``(B, S, D)`` states.
            mask: ``(B, S)`` ``True`` = real.
            memory: ``(B, T, D)`` encoded source, if the layer reads one.
            source_mask: ``(B, T)`` ``True`` = real.

        Returns:
            ``(B, S, D)`` states.
        """
        mixed = self.self_out(self.attend(x, mask))
        x = self._add(x, mixed, self.self_norm)
        if self.reads_source and memory is not None and source_mask is not None:
            read = cross_attend(self.cross_q(x), self.cross_kv(memory), source_mask, self.n_heads)
            mixed = self.cross_out(read)
            x = self._add(x, mixed, self.cross_norm)
        return self._add(x, self.ffn_out(F.gelu(self.ffn_in(x))), self.ffn_norm)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return every row's mixture of the rows that it may see.

        Args:
            x: ``(B, S, D)`` states.
            mask: ``(B, S)`` ``True`` = real.

        Returns:
            ``(B, S, D)``.
        """
        return self_attend(self.self_qkv(x), mask, self.n_heads)

    def _add(self, x: Tensor, change: Tensor, norm: nn.LayerNorm) -> Tensor:
        # The norm runs in float32 under autocast; the stream keeps the type of the products.
        out: Tensor = norm(x + self.dropout(change))
        return out.to(change.dtype)


def masked_mean(words: Tensor, mask: Tensor) -> Tensor:
    """Average the real rows.

    Args:
        words: ``(..., U, D)``.
        mask: ``(..., U)`` ``True`` = real.

    Returns:
        ``(..., D)`` float32; zeros where there is no real row.
    """
    weight = mask.unsqueeze(-1).float()
    total = (words.float() * weight).sum(-2)
    return total / weight.sum(-2).clamp(min=1.0)


def init_weights(module: nn.Module) -> None:
    """Give one module its random start; for `torch.nn.Module.apply`.

    Args:
        module: Any module.
    """
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
