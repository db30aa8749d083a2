"""Multi-head attention over padded batches.

Owns the choice of kernel; does not own projections (`sumfit.models.dat`).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

__all__ = ["attend"]


def attend(query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor, n_heads: int) -> Tensor:
    """Return softmax(Q K^T / sqrt(d)) V of every head, side by side.

    Args:
        query: ``(B, Q, D)``.
        key: ``(B, T, D)``.
        value: ``(B, T, D)``.
        key_mask: ``(B, T)`` ``True`` = real; at least one a row.
        n_heads: Heads; divides ``D``.

    Returns:
        ``(B, Q, D)``.
    """
    n_items, n_queries, width = query.shape
    q, k, v = (
        x.reshape(n_items, x.shape[1], n_heads, width // n_heads).transpose(1, 2)
        for x in (query, key, value)
    )
    mask = key_mask[:, None, None, :].expand(n_items, n_heads, n_queries, key.shape[1])
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return mixed.transpose(1, 2).reshape(n_items, n_queries, width)
