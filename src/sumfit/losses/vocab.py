"""Log-probabilities of the target words at every vertex, without keeping ``(B, S, V)``.

Owns the log-sum-exp over the vocabulary, in slices of rows so that memory stays bounded, and its
gradient. A target word's own logit is one small product with its embedding.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["WordScores", "best_words", "score_words"]

_MAX_SLICE_ELEMENTS = 1 << 29  # logits held at once: 1 GB in bfloat16


class WordScores(NamedTuple):
    """Scores of target words.

    Attributes:
        match_logp: ``(B, S, U)`` float32 log-probability of each target word at each vertex.
        uniform_nll: ``(B, S)`` float32 mean of ``-log p`` over all real words, for smoothing.
    """

    match_logp: Tensor
    uniform_nll: Tensor


def score_words(
    hidden: Tensor, weight: Tensor, target_ids: Tensor, *, n_special: int
) -> WordScores:
    """Score the target words at every vertex under a softmax over the real words.

    Time O(B S V D); memory O(slice) for logits, which the backward pass computes again.

    Args:
        hidden: ``(B, S, D)`` vertex states.
        weight: ``(V, D)`` word embeddings.
        target_ids: ``(B, U)`` target words.
        n_special: Ids below this one are impossible and take no probability.

    Returns:
        Scores with gradients to ``hidden`` and ``weight``.
    """
    n_items, size, width = hidden.shape
    rows = hidden.reshape(-1, width)
    total: Tensor = _LinearLogSumExp.apply(rows, weight, n_special)  # type: ignore[no-untyped-call]
    total = total.view(n_items, size)
    with torch.autocast(hidden.device.type, enabled=False):
        # The embeddings are rounded as in the large product, so that both parts of
        # logit - total agree where p is close to 1.
        words = F.embedding(target_ids, weight).to(hidden.dtype).float()
        states = hidden.float()
        logits = states @ words.transpose(1, 2)
        mean_word = weight[n_special:].mean(dim=0).float()
        return WordScores(logits - total[..., None], total - states @ mean_word)


@torch.no_grad()
def best_words(hidden: Tensor, weight: Tensor, *, n_special: int) -> Tensor:
    """Return the most probable word of every vertex.

    Args:
        hidden: ``(B, S, D)`` vertex states.
        weight: ``(V, D)`` word embeddings.
        n_special: Ids below this one are never returned.

    Returns:
        ``(B, S)`` int64.
    """
    rows = hidden.reshape(-1, hidden.shape[-1])
    table = weight.to(hidden.dtype)
    best = [_logits(part, table, n_special).argmax(dim=1) for part in _slices(rows, table)]
    return torch.cat(best).view(hidden.shape[:2])


class _LinearLogSumExp(torch.autograd.Function):
    """``(N,)`` log-sum-exp of ``hidden @ weight.T`` over the real words."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, n_special: int) -> Tensor:
        table = weight.to(hidden.dtype)
        total = torch.cat(
            [
                _logits(part, table, n_special).float().logsumexp(dim=1)
                for part in _slices(hidden, table)
            ]
        )
        ctx.save_for_backward(hidden, table, total)
        ctx.n_special = n_special
        ctx.weight_dtype = weight.dtype
        return total

    @staticmethod
    def backward(ctx: Any, grad_total: Tensor) -> tuple[Tensor, Tensor, None]:
        hidden, table, total = ctx.saved_tensors
        grad_hidden = torch.empty_like(hidden)
        grad_table = torch.zeros(table.shape, dtype=torch.float32, device=table.device)
        start = 0
        for part in _slices(hidden, table):
            rows = slice(start, start + part.shape[0])
            logits = _logits(part, table, ctx.n_special).float()
            grad = ((logits - total[rows, None]).exp() * grad_total[rows, None]).to(hidden.dtype)
            grad_hidden[rows] = grad @ table
            grad_table += grad.T @ part
            start += part.shape[0]
        return grad_hidden, grad_table.to(ctx.weight_dtype), None


def _slices(rows: Tensor, table: Tensor) -> tuple[Tensor, ...]:
    return torch.split(rows, max(1, _MAX_SLICE_ELEMENTS // table.shape[0]))


def _logits(rows: Tensor, table: Tensor, n_special: int) -> Tensor:
    with torch.autocast(rows.device.type, enabled=False):
        logits = rows @ table.T
    logits[:, :n_special] = -math.inf
    return logits
