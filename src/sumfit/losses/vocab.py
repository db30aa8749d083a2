"""Log-probabilities of the target words at every vertex, without a float32 ``(B, S, V)``.

Owns the log-sum-exp over the vocabulary, in slices of rows so that memory stays bounded, and its
gradient. A target word's own logit is one small product with its embedding.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from sumfit.losses.kernels import has_kernels

__all__ = ["LabelScores", "WordGuesses", "WordScores", "guess_words", "score_labels", "score_words"]

_MAX_SLICE_ELEMENTS = 1 << 29  # logits computed at once: 1 GB in bfloat16
_MAX_KEPT_ELEMENTS = 1 << 31  # logits kept for the backward pass, which else computes them again


class WordScores(NamedTuple):
    """Scores of target words.

    Attributes:
        match_logp: ``(B, S, U)`` float32 log-probability of each target word at each vertex.
        uniform_nll: ``(B, S)`` float32 mean of ``-log p`` over all real words, for smoothing.
    """

    match_logp: Tensor
    uniform_nll: Tensor


class LabelScores(NamedTuple):
    """Scores of one word at each place.

    Attributes:
        logp: ``(B, U)`` float32 log-probability of the word.
        uniform_nll: ``(B, U)`` float32 mean of ``-log p`` over all real words, for smoothing.
    """

    logp: Tensor
    uniform_nll: Tensor


class WordGuesses(NamedTuple):
    """Scores of target words without gradients, and what each vertex would say by itself.

    Attributes:
        match_logp: ``(B, S, U)`` float32 log-probability of each target word at each vertex.
        best: ``(B, S)`` int64 most probable word of each vertex.
    """

    match_logp: Tensor
    best: Tensor


def score_words(
    hidden: Tensor, weight: Tensor, target_ids: Tensor, *, n_special: int
) -> WordScores:
    """Score the target words at every vertex under a softmax over the real words.

    Time O(B S V D). The logits are kept for the backward pass up to a bound, and computed again
    beyond it.

    Args:
        hidden: ``(B, S, D)`` vertex states.
        weight: ``(V, D)`` word embeddings.
        target_ids: ``(B, U)`` target words.
        n_special: Ids below this one are impossible and take no probability.

    Returns:
        Scores with gradients to ``hidden`` and ``weight``.
    """
    rows = hidden.reshape(-1, hidden.shape[-1])
    total: Tensor = _LinearLogSumExp.apply(rows, weight, n_special)  # type: ignore[no-untyped-call]
    total = total.view(hidden.shape[:2])
    with torch.autocast(hidden.device.type, enabled=False):
        match_logp = _target_logits(hidden, weight, target_ids) - total[..., None]
        mean_word = weight[n_special:].mean(dim=0).float()
        return WordScores(match_logp, total - hidden.float() @ mean_word)


def score_labels(hidden: Tensor, weight: Tensor, labels: Tensor, *, n_special: int) -> LabelScores:
    """Score one word at each place under a softmax over the real words.

    Time O(B U V D); memory as for `score_words`.

    Args:
        hidden: ``(B, U, D)`` states.
        weight: ``(V, D)`` word embeddings.
        labels: ``(B, U)`` the words.
        n_special: Ids below this one are impossible and take no probability.

    Returns:
        Scores with gradients to ``hidden`` and ``weight``.
    """
    rows = hidden.reshape(-1, hidden.shape[-1])
    total: Tensor = _LinearLogSumExp.apply(rows, weight, n_special)  # type: ignore[no-untyped-call]
    total = total.view(labels.shape)
    with torch.autocast(hidden.device.type, enabled=False):
        # Rounded as in the large product, so that logit and total agree where p is close to 1.
        words = F.embedding(labels, weight).to(hidden.dtype).float()
        logits = (hidden.float() * words).sum(dim=-1)
        mean_word = weight[n_special:].mean(dim=0).float()
        return LabelScores(logits - total, total - hidden.float() @ mean_word)


@torch.no_grad()
def guess_words(
    hidden: Tensor, weight: Tensor, target_ids: Tensor, *, n_special: int
) -> WordGuesses:
    """Score the target words and find each vertex's most probable word, without gradients.

    Args:
        hidden: ``(B, S, D)`` vertex states.
        weight: ``(V, D)`` word embeddings.
        target_ids: ``(B, U)`` target words.
        n_special: Ids below this one are never returned and take no probability.

    Returns:
        Scores and words.
    """
    table = weight.to(hidden.dtype)
    totals, words = [], []
    for part in _slices(hidden.reshape(-1, hidden.shape[-1]), table):
        total, best = _row_totals(_logits(part, table), n_special, wants_best=True)
        totals.append(total)
        words.append(best)
    total = torch.cat(totals).view(hidden.shape[:2])
    with torch.autocast(hidden.device.type, enabled=False):
        match_logp = _target_logits(hidden, weight, target_ids) - total[..., None]
    return WordGuesses(match_logp, torch.cat(words).view(hidden.shape[:2]))


class _LinearLogSumExp(torch.autograd.Function):
    """``(N,)`` log-sum-exp of ``hidden @ weight.T`` over the real words."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, n_special: int) -> Tensor:
        table = weight.to(hidden.dtype)
        keeps = hidden.shape[0] * table.shape[0] <= _MAX_KEPT_ELEMENTS
        totals, kept = [], []
        for part in _slices(hidden, table):
            logits = _logits(part, table)
            totals.append(_row_totals(logits, n_special, wants_best=False)[0])
            kept.append(logits if keeps and any(ctx.needs_input_grad) else None)
        total = torch.cat(totals)
        ctx.save_for_backward(hidden, table, total)
        ctx.kept = kept
        ctx.n_special = n_special
        ctx.weight_dtype = weight.dtype
        return total

    @staticmethod
    def backward(ctx: Any, grad_total: Tensor) -> tuple[Tensor, Tensor, None]:
        hidden, table, total = ctx.saved_tensors
        kept, ctx.kept = ctx.kept, [None] * len(ctx.kept)  # overwritten below: use them once
        grad_hidden = torch.empty_like(hidden)
        grad_table: Tensor | None = None
        start = 0
        for part, logits in zip(_slices(hidden, table), kept, strict=True):
            rows = slice(start, start + part.shape[0])
            logits = _logits(part, table) if logits is None else logits
            grad = _softmax_grad_(logits, total[rows], grad_total[rows], ctx.n_special)
            torch.mm(grad, table, out=grad_hidden[rows])
            added = grad.T @ part
            grad_table = added.float() if grad_table is None else grad_table + added
            start += part.shape[0]
        assert grad_table is not None
        return grad_hidden, grad_table.to(ctx.weight_dtype), None


def _target_logits(hidden: Tensor, weight: Tensor, target_ids: Tensor) -> Tensor:
    # Rounded as in the large product, so that logit and total agree where p is close to 1.
    words = F.embedding(target_ids, weight).to(hidden.dtype).float()
    return hidden.float() @ words.transpose(1, 2)


def _slices(rows: Tensor, table: Tensor) -> tuple[Tensor, ...]:
    return torch.split(rows, max(1, _MAX_SLICE_ELEMENTS // table.shape[0]))


def _logits(rows: Tensor, table: Tensor) -> Tensor:
    with torch.autocast(rows.device.type, enabled=False):
        return rows @ table.T


def _row_totals(logits: Tensor, n_special: int, *, wants_best: bool) -> tuple[Tensor, Tensor]:
    """Return ``(N,)`` log-sum-exp over the real words and ``(N,)`` best words."""
    if has_kernels(logits):
        from sumfit.losses.kernels import vocab

        if logits.shape[1] <= vocab.MAX_VOCAB:
            return vocab.row_totals(logits, n_special=n_special, wants_best=wants_best)
    real = logits[:, n_special:].float()
    best = real.argmax(dim=1) + n_special if wants_best else torch.empty(0, dtype=torch.int64)
    return real.logsumexp(dim=1), best


def _softmax_grad_(logits: Tensor, total: Tensor, grad_total: Tensor, n_special: int) -> Tensor:
    """Return ``grad_total * softmax(logits)`` in the memory of the logits, 0 at special words."""
    if has_kernels(logits):
        from sumfit.losses.kernels import vocab

        if logits.shape[1] <= vocab.MAX_VOCAB:
            vocab.softmax_grad_(logits, total, grad_total, n_special=n_special)
            return logits
    logits[:, :n_special] = -math.inf
    logits.sub_(total[:, None]).exp_().mul_(grad_total[:, None])
    return logits
