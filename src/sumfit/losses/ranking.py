"""Losses of a reranker: how well it chooses from lists whose gains are known.

Owns the targets and the losses. A gain is how much of the reference a candidate shares, 0 to 1.
Missing candidates have logits of ``-inf`` and take no part.

With logits ``s``, their softmax ``p`` and gains ``g`` of the candidates that are there:

- ``one-hot``: ``-sum_k t_k log p_k``, ``t`` all on the best candidate, smoothed;
- ``listwise``: the same with ``t = softmax(g / temperature)``, smoothed;
- ``pairwise``: ``log(1 + exp(s_j - s_i))`` over all pairs with ``g_i > g_j``, each weighted by its
  difference of gains;
- ``risk``: ``sum_k p_k (max g - g_k)``, the gain that a draw from ``p`` is expected to miss.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["RankingLoss", "ranking_loss", "smoothed"]

RankingLoss = Literal["one-hot", "listwise", "pairwise", "risk"]


def ranking_loss(
    logits: Tensor,
    gains: Tensor,
    best: Tensor,
    *,
    loss: RankingLoss = "listwise",
    temperature: float = 0.1,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compute the loss of each list.

    Args:
        logits: ``(B, K)`` float32; ``-inf`` where a candidate is missing, at least one is there.
        gains: ``(B, K)`` float32, 0 to 1; anything where a candidate is missing.
        best: ``(B,)`` int64 place of the target of ``one-hot``.
        loss: Which loss.
        temperature: Of the target of ``listwise``.
        label_smoothing: Share of the target spread evenly over the candidates that are there.

    Returns:
        ``(B,)`` float32.
    """
    is_there = logits > -math.inf
    if loss == "pairwise":
        return _pairwise(logits, gains, is_there)
    log_p = logits.log_softmax(dim=-1).masked_fill(~is_there, 0.0)
    if loss == "risk":
        missed = gains.masked_fill(~is_there, -math.inf).amax(-1, keepdim=True) - gains
        return (log_p.exp() * missed.masked_fill(~is_there, 0.0)).sum(-1)
    if loss == "one-hot":
        target = F.one_hot(best, logits.shape[1]).float()
    else:
        target = (gains / temperature).masked_fill(~is_there, -math.inf).softmax(dim=-1)
    return -(smoothed(target, is_there, label_smoothing) * log_p).sum(-1)


def smoothed(target: Tensor, is_there: Tensor, share: float) -> Tensor:
    """Spread a share of each target evenly over the candidates that are there.

    Args:
        target: ``(B, K)`` each row sums to 1.
        is_there: ``(B, K)`` ``True`` = not missing.
        share: 0 to 1.

    Returns:
        ``(B, K)``.
    """
    if not share:
        return target
    even = is_there.float() / is_there.sum(-1, keepdim=True)
    return (1.0 - share) * target + share * even


def _pairwise(logits: Tensor, gains: Tensor, is_there: Tensor) -> Tensor:
    safe = logits.masked_fill(~is_there, 0.0)
    margin = safe[:, :, None] - safe[:, None, :]
    weight = (gains[:, :, None] - gains[:, None, :]).clamp(min=0.0)
    weight = weight * (is_there[:, :, None] & is_there[:, None, :])
    total = (F.softplus(-margin) * weight).sum((1, 2))
    loss: Tensor = total / weight.sum((1, 2)).clamp(min=1e-6)
    return torch.where(weight.sum((1, 2)) > 0, loss, 0.0 * safe.sum(-1))
