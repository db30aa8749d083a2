"""Multi-head attention over padded batches.

Owns the choice of kernel: torch's own, or the fused one for short rows on CUDA. Does not own
projections (`sumfit.models.dat`). Query, key and value come packed as the projections make them,
and their gradients go back packed.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["causal_attend", "cross_attend", "self_attend"]

_MAX_FUSED_LENGTH = 128
_FUSED_TYPES = (torch.bfloat16, torch.float16)
_HAS_TRITON = find_spec("triton") is not None and os.environ.get("SUMFIT_KERNELS") != "0"


def self_attend(qkv: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    """Return every row's mixture of the rows of its own item.

    Args:
        qkv: ``(B, S, 3 D)`` query, key and value of each row.
        mask: ``(B, S)`` ``True`` = real; at least one an item.
        n_heads: Heads; divides ``D``.

    Returns:
        ``(B, S, D)``.
    """
    if _is_fused(qkv, qkv.shape[1], n_heads):
        out: Tensor = _self_attention(qkv, mask, n_heads)
        return out
    query, key, value = qkv.chunk(3, dim=-1)
    return _attend(query, key, value, mask, n_heads)


def cross_attend(query: Tensor, key_value: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    """Return every row's mixture of the rows of its source.

    Args:
        query: ``(B, S, D)``.
        key_value: ``(B, T, 2 D)`` key and value of each source row.
        mask: ``(B, T)`` ``True`` = real; at least one an item.
        n_heads: Heads; divides ``D``.

    Returns:
        ``(B, S, D)``.
    """
    longest = max(query.shape[1], key_value.shape[1])
    if _is_fused(query, longest, n_heads):
        out: Tensor = _cross_attention(query, key_value, mask, n_heads)
        return out
    key, value = key_value.chunk(2, dim=-1)
    return _attend(query, key, value, mask, n_heads)


def causal_attend(qkv: Tensor, n_heads: int) -> Tensor:
    """Return every row's mixture of itself and the rows before it.

    Rows padded at the end need no mask: no real row sees them.

    Args:
        qkv: ``(B, U, 3 D)`` query, key and value of each row.
        n_heads: Heads; divides ``D``.

    Returns:
        ``(B, U, D)``.
    """
    n_items, n_rows, width = qkv.shape
    split = (n_items, n_rows, 3, n_heads, width // (3 * n_heads))
    query, key, value = qkv.view(split).permute(2, 0, 3, 1, 4)
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return mixed.transpose(1, 2).reshape(n_items, n_rows, width // 3)


def _is_fused(rows: Tensor, length: int, n_heads: int) -> bool:
    if not (_HAS_TRITON and rows.is_cuda and rows.dtype in _FUSED_TYPES):
        return False
    return length <= _MAX_FUSED_LENGTH


def _attend(query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor, n_heads: int) -> Tensor:
    n_items, n_queries, width = query.shape
    q, k, v = (
        x.reshape(n_items, x.shape[1], n_heads, width // n_heads).transpose(1, 2)
        for x in (query, key, value)
    )
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=key_mask[:, None, None, :])
    return mixed.transpose(1, 2).reshape(n_items, n_queries, width)


@torch.library.custom_op("sumfit::self_attention", mutates_args=())
def _self_attention(qkv: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    from sumfit.models.kernels import attention

    query, key, value = qkv.chunk(3, dim=-1)
    return attention.forward(query, key, value, mask, n_heads)


@torch.library.custom_op("sumfit::self_attention_grad", mutates_args=())
def _self_attention_grad(grad_out: Tensor, qkv: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    from sumfit.models.kernels import attention

    query, key, value = qkv.chunk(3, dim=-1)
    grad = torch.empty_like(qkv)
    grad_q, grad_k, grad_v = grad.chunk(3, dim=-1)
    grads = (grad_q, grad_k, grad_v)
    attention.backward(grad_out.contiguous(), query, key, value, mask, n_heads, grads)
    return grad


@torch.library.custom_op("sumfit::cross_attention", mutates_args=())
def _cross_attention(query: Tensor, key_value: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    from sumfit.models.kernels import attention

    key, value = key_value.chunk(2, dim=-1)
    return attention.forward(query, key, value, mask, n_heads)


@torch.library.custom_op("sumfit::cross_attention_grad", mutates_args=())
def _cross_attention_grad(
    grad_out: Tensor, query: Tensor, key_value: Tensor, mask: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    from sumfit.models.kernels import attention

    key, value = key_value.chunk(2, dim=-1)
    grad_q, grad_kv = torch.empty_like(query), torch.empty_like(key_value)
    grad_k, grad_v = grad_kv.chunk(2, dim=-1)
    grads = (grad_q, grad_k, grad_v)
    attention.backward(grad_out.contiguous(), query, key, value, mask, n_heads, grads)
    return grad_q, grad_kv


@_self_attention.register_fake
def _(qkv: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    return qkv.new_empty(*qkv.shape[:2], qkv.shape[2] // 3)


@_self_attention_grad.register_fake
def _(grad_out: Tensor, qkv: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    return torch.empty_like(qkv)


@_cross_attention.register_fake
def _(query: Tensor, key_value: Tensor, mask: Tensor, n_heads: int) -> Tensor:
    return query.new_empty(query.shape)


@_cross_attention_grad.register_fake
def _(
    grad_out: Tensor, query: Tensor, key_value: Tensor, mask: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(query), torch.empty_like(key_value)


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    *tensors, ctx.n_heads = inputs
    ctx.save_for_backward(*tensors)


def _self_backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, None, None]:
    return _self_attention_grad(grad_out, *ctx.saved_tensors, ctx.n_heads), None, None


def _cross_backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, None, None]:
    grad_q, grad_kv = _cross_attention_grad(grad_out, *ctx.saved_tensors, ctx.n_heads)
    return grad_q, grad_kv, None, None


_self_attention.register_autograd(_self_backward, setup_context=_keep_inputs)
_cross_attention.register_autograd(_cross_backward, setup_context=_keep_inputs)
