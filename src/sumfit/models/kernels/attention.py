"""Attention over short rows as Triton kernels: one program per item and head, one tile each.

Titles and news leads have some 50 tokens, so all scores of a head fit one tile: nothing is stored
between the passes but the inputs, and the backward pass needs no second sweep.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["MAX_LENGTH", "backward", "forward"]

MAX_LENGTH = 128


def forward(query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor, n_heads: int) -> Tensor:
    """Return softmax(Q K^T / sqrt(d)) V of every head, side by side.

    Args:
        query: ``(B, Q, D)``, last axis dense, as are key's and value's.
        key: ``(B, T, D)``.
        value: ``(B, T, D)``, strides as key's.
        key_mask: ``(B, T)`` bool, ``True`` = real.
        n_heads: Heads.

    Returns:
        ``(B, Q, D)`` contiguous.
    """
    out = torch.empty(query.shape, dtype=query.dtype, device=query.device)
    grid, shape = _launch(query, key, n_heads)
    _forward[grid](query, key, value, key_mask.contiguous(), out, **shape)
    return out


def backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_mask: Tensor,
    n_heads: int,
    grads: tuple[Tensor, Tensor, Tensor],
) -> None:
    """Write the gradients of query, key and value.

    Args:
        grad_out: ``(B, Q, D)`` contiguous.
        query: As in `forward`.
        key: As in `forward`.
        value: As in `forward`.
        key_mask: As in `forward`.
        n_heads: Heads.
        grads: Filled in place; strides as those of query, key and value.
    """
    grid, shape = _launch(query, key, n_heads)
    _backward[grid](grad_out, query, key, value, key_mask.contiguous(), *grads, **shape)


def _launch(query: Tensor, key: Tensor, n_heads: int) -> tuple[tuple[int], dict[str, object]]:
    n_items, n_queries, width = query.shape
    n_keys = key.shape[1]
    block_q = max(16, triton.next_power_of_2(n_queries))
    block_k = max(16, triton.next_power_of_2(n_keys))
    shape = {
        "q_item": query.stride(0), "q_row": query.stride(1),
        "k_item": key.stride(0), "k_row": key.stride(1),
        "Q": n_queries, "T": n_keys, "scale": (width // n_heads) ** -0.5,
        "HEADS": n_heads, "HEAD": width // n_heads, "BLOCK_Q": block_q, "BLOCK_K": block_k,
        "num_warps": 8 if block_q * block_k > 64 * 64 else 4,
    }  # fmt: skip
    return (n_items * n_heads,), shape


@triton.jit
def _probability(q, k, key_mask, item, column, T, scale):
    real = tl.load(key_mask + item * T + column, mask=column < T, other=0) != 0
    scores = tl.dot(q, tl.trans(k)) * scale
    scores = tl.where(real[None, :], scores, float("-inf"))
    peak = tl.max(scores, axis=1)
    share = tl.exp(scores - tl.where(peak == float("-inf"), 0.0, peak)[:, None])
    total = tl.sum(share, axis=1)
    return share / tl.where(total == 0.0, 1.0, total)[:, None]


@triton.jit
def _forward(
    query, key, value, key_mask, out, q_item, q_row, k_item, k_row, Q, T, scale,
    HEADS: tl.constexpr, HEAD: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    item = (tl.program_id(0) // HEADS).to(tl.int64)
    head = tl.program_id(0) % HEADS
    row, column, lane = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, HEAD)
    q_place = item * q_item + row[:, None] * q_row + head * HEAD + lane[None, :]
    k_place = item * k_item + column[:, None] * k_row + head * HEAD + lane[None, :]
    q = tl.load(query + q_place, mask=(row < Q)[:, None], other=0.0)
    k = tl.load(key + k_place, mask=(column < T)[:, None], other=0.0)
    v = tl.load(value + k_place, mask=(column < T)[:, None], other=0.0)
    share = _probability(q, k, key_mask, item, column, T, scale)
    mixed = tl.dot(share.to(v.dtype), v)
    place = (item * Q + row[:, None]) * (HEADS * HEAD) + head * HEAD + lane[None, :]
    tl.store(out + place, mixed.to(out.dtype.element_ty), mask=(row < Q)[:, None])


@triton.jit
def _backward(
    grad_out, query, key, value, key_mask, grad_q, grad_k, grad_v,
    q_item, q_row, k_item, k_row, Q, T, scale,
    HEADS: tl.constexpr, HEAD: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    item = (tl.program_id(0) // HEADS).to(tl.int64)
    head = tl.program_id(0) % HEADS
    row, column, lane = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, HEAD)
    is_row, is_column = (row < Q)[:, None], (column < T)[:, None]
    q_place = item * q_item + row[:, None] * q_row + head * HEAD + lane[None, :]
    k_place = item * k_item + column[:, None] * k_row + head * HEAD + lane[None, :]
    place = (item * Q + row[:, None]) * (HEADS * HEAD) + head * HEAD + lane[None, :]
    q = tl.load(query + q_place, mask=is_row, other=0.0)
    k = tl.load(key + k_place, mask=is_column, other=0.0)
    v = tl.load(value + k_place, mask=is_column, other=0.0)
    grad = tl.load(grad_out + place, mask=is_row, other=0.0)
    share = _probability(q, k, key_mask, item, column, T, scale)
    grad_value = tl.dot(tl.trans(share.to(grad.dtype)), grad)
    tl.store(grad_v + k_place, grad_value.to(grad_v.dtype.element_ty), mask=is_column)
    grad_share = tl.dot(grad, tl.trans(v))
    mean = tl.sum(share * grad_share, axis=1)
    grad_scores = (share * (grad_share - mean[:, None]) * scale).to(q.dtype)
    tl.store(grad_q + q_place, tl.dot(grad_scores, k).to(grad_q.dtype.element_ty), mask=is_row)
    grad_key = tl.dot(tl.trans(grad_scores), q)
    tl.store(grad_k + k_place, grad_key.to(grad_k.dtype.element_ty), mask=is_column)
