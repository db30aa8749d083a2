"""Softmax over the vocabulary as Triton kernels: one read of the logits forward, one pass back.

One program holds one row of logits, so ``V`` is bounded (`MAX_VOCAB`).
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["MAX_VOCAB", "row_totals", "softmax_grad_"]

MAX_VOCAB = 1 << 16


def row_totals(logits: Tensor, *, n_special: int, wants_best: bool) -> tuple[Tensor, Tensor]:
    """Return the log-sum-exp of each row over the real words, and its best word.

    Args:
        logits: ``(N, V)`` contiguous, any floating type.
        n_special: Columns below this one are left out.
        wants_best: Whether the second result is filled; empty if not.

    Returns:
        ``(N,)`` float32 totals and ``(N,)`` int64 ids.
    """
    n_rows, vocab_size = logits.shape
    total = torch.empty(n_rows, dtype=torch.float32, device=logits.device)
    best = torch.empty(n_rows if wants_best else 0, dtype=torch.int64, device=logits.device)
    block = triton.next_power_of_2(vocab_size)
    _row_totals[(n_rows,)](
        logits, total, best, vocab_size, n_special,
        BLOCK=block, WANTS_BEST=wants_best, num_warps=_n_warps(block),
    )  # fmt: skip
    return total, best


def softmax_grad_(logits: Tensor, total: Tensor, grad_total: Tensor, *, n_special: int) -> None:
    """Overwrite logits by ``grad_total * exp(logits - total)``, 0 in special columns.

    Args:
        logits: ``(N, V)`` contiguous; changed in place.
        total: ``(N,)`` float32 of `row_totals`.
        grad_total: ``(N,)`` float32.
        n_special: Columns below this one become 0.
    """
    n_rows, vocab_size = logits.shape
    block = triton.next_power_of_2(vocab_size)
    _softmax_grad[(n_rows,)](
        logits, total.contiguous(), grad_total.contiguous(), vocab_size, n_special,
        BLOCK=block, num_warps=_n_warps(block),
    )  # fmt: skip


def _n_warps(block: int) -> int:
    return min(32, max(1, block // 1024))


@triton.jit
def _row_totals(
    logits, total, best, V, n_special, BLOCK: tl.constexpr, WANTS_BEST: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    keep = (column >= n_special) & (column < V)
    x = tl.load(logits + row * V + column, mask=keep, other=float("-inf")).to(tl.float32)
    peak = tl.max(x, axis=0)
    tl.store(total + row, peak + tl.log(tl.sum(tl.exp(x - peak), axis=0)))
    if WANTS_BEST:
        tl.store(best + row, tl.argmax(x, axis=0).to(tl.int64))


@triton.jit
def _softmax_grad(logits, total, grad_total, V, n_special, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    place = logits + row * V + column
    x = tl.load(place, mask=column < V, other=0.0).to(tl.float32)
    share = tl.exp(x - tl.load(total + row)) * tl.load(grad_total + row)
    share = tl.where(column >= n_special, share, 0.0)
    tl.store(place, share.to(logits.dtype.element_ty), mask=column < V)
