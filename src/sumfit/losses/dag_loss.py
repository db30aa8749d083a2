r"""Negative log-probability of a target under a graph, summed over all paths, and its best path.

Owns the recursions over target words, in plain torch, and the choice of a faster version on a
GPU (`sumfit.losses.kernels.dag`). Does not own the scores that go in (`sumfit.losses.vocab`).

With ``m[j, u]`` the log-probability of target word ``u`` at vertex ``j`` and ``l[i, j]`` that of a
link (docs/algorithms.md, Eq. 2)::

    alpha_0[j] = 0 if j == 0 else -inf
    alpha_u[j] = m[j, u] + logsumexp_i( alpha_{u-1}[i] + l[i, j] )          u = 1..U
    log P      = logsumexp_i( alpha_U[i] + l[i, S-1] )
    beta_U[i]  = l[i, S-1]
    beta_u[i]  = logsumexp_j( l[i, j] + m[j, u+1] + beta_{u+1}[j] )

Gradients come from posteriors of the same tables, so the loop itself is never recorded. Everything
is float32 and in logs: an early vertex may hold e^-100 of the mass of a late one and still carry
every path that can finish.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from sumfit.losses.kernels import has_kernels

__all__ = ["DagNll", "best_alignment", "dag_nll"]


class DagNll(NamedTuple):
    """Loss of each item and where its target words came from.

    Attributes:
        nll: ``(B,)`` nats; ``inf`` where no path emits the target, NaN where a score was NaN.
        posterior: ``(B, S, U)`` probability, given the target, that the vertex emits the target
            word; no gradient; all 0 where ``nll`` is not finite.
    """

    nll: Tensor
    posterior: Tensor


def dag_nll(
    match_logp: Tensor, link_logp: Tensor, *, n_vertices: Tensor, n_targets: Tensor
) -> DagNll:
    """Return ``-log P(target)`` of Eq. 2, start and end vertex as path ends.

    Time O(U S^2), memory O(U S + S^2). An item without a path gets no gradient.

    Args:
        match_logp: ``(B, S, U)`` log-probability of each target word at each vertex.
        link_logp: ``(B, S, S)`` link log-probabilities, ``[from, to]``; ``-inf`` = no link.
        n_vertices: ``(B,)`` real vertices of each graph; the last one is the end.
        n_targets: ``(B,)`` target words of each item.

    Returns:
        Loss and posterior of each item.
    """
    with torch.autocast(match_logp.device.type, enabled=False):
        nll, posterior = _DagNll.apply(  # type: ignore[no-untyped-call]
            match_logp.float(), link_logp.float(), n_vertices, n_targets
        )
    return DagNll(nll, posterior)


@torch.no_grad()
def best_alignment(
    match_logp: Tensor, link_logp: Tensor, *, n_vertices: Tensor, n_targets: Tensor
) -> Tensor:
    """Return which target word each vertex emits on the most probable path of the target.

    Args:
        match_logp: ``(B, S, U)`` log-probability of each target word at each vertex.
        link_logp: ``(B, S, S)`` link log-probabilities, ``[from, to]``; ``-inf`` = no link.
        n_vertices: ``(B,)`` real vertices of each graph.
        n_targets: ``(B,)`` target words of each item.

    Returns:
        ``(B, S)`` int64 index of the target word; -1 off the path and where no path exists.
    """
    match, link = match_logp.float(), link_logp.float()
    if has_kernels(match):
        from sumfit.losses.kernels import dag

        return dag.best_alignment(match, link, n_vertices, n_targets)
    return _best_alignment(match, link, n_vertices, n_targets)


class _DagNll(torch.autograd.Function):
    """Loss with posteriors as gradients."""

    @staticmethod
    def forward(
        ctx: Any, match: Tensor, link: Tensor, n_vertices: Tensor, n_targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        scores = (match, link, n_vertices, n_targets)
        if has_kernels(match):
            from sumfit.losses.kernels import dag

            logp, posterior, link_posterior = dag.sweep(*scores)
        else:
            logp, posterior, link_posterior = _sweep(*scores)
        ctx.save_for_backward(posterior, link_posterior)
        ctx.mark_non_differentiable(posterior)
        return -logp, posterior

    @staticmethod
    def backward(
        ctx: Any, grad_nll: Tensor, _grad_posterior: Tensor
    ) -> tuple[Tensor, Tensor, None, None]:
        posterior, link_posterior = ctx.saved_tensors
        scale = -grad_nll[:, None, None]
        return posterior * scale, link_posterior * scale, None, None


def _sweep(
    match: Tensor, link: Tensor, n_vertices: Tensor, n_targets: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``(B,)`` log P and posteriors of words ``(B, S, U)`` and links ``(B, S, S)``."""
    n_words = match.shape[2]
    alpha = _start(match)
    tables = [alpha]
    for word in range(n_words):
        alpha = (alpha[:, :, None] + link).logsumexp(dim=1) + match[:, :, word]
        tables.append(alpha)
    to_end = _to_end(link, n_vertices)
    final = _at(torch.stack(tables, 1), n_targets) + to_end
    logp = final.logsumexp(dim=1)

    is_finite = logp.isfinite()
    shift = torch.where(is_finite, logp, 0.0)[:, None]
    keep = is_finite[:, None, None]
    link_posterior = torch.zeros_like(link)
    closing = torch.where(keep[..., 0], (final - shift).exp(), 0.0)
    end = (n_vertices - 1).long()[:, None, None].expand(-1, link.shape[1], 1)
    link_posterior.scatter_add_(2, end, closing[..., None])
    posterior = torch.zeros_like(match)
    beta = torch.full_like(to_end, -math.inf)
    for word in range(n_words - 1, -1, -1):
        beta = torch.where((n_targets == word + 1)[:, None], to_end, beta)
        onward = link + (match[:, :, word] + beta)[:, None, :]
        joint = (onward + (tables[word] - shift)[:, :, None]).exp()
        joint = torch.where(keep, joint, 0.0)
        link_posterior += joint
        posterior[:, :, word] = joint.sum(dim=1)
        beta = onward.logsumexp(dim=2)
    return logp, posterior, link_posterior


def _best_alignment(match: Tensor, link: Tensor, n_vertices: Tensor, n_targets: Tensor) -> Tensor:
    n_items, size, n_words = match.shape
    alpha = _start(match)
    tables, origins = [alpha], []
    for word in range(n_words):
        best, origin = (alpha[:, :, None] + link).max(dim=1)
        alpha = best + match[:, :, word]
        tables.append(alpha)
        origins.append(origin)
    final = _at(torch.stack(tables, 1), n_targets) + _to_end(link, n_vertices)
    best, vertex = final.max(dim=1)
    alignment = torch.full((n_items, size), -1, dtype=torch.int64, device=match.device)
    for word in range(n_words - 1, -1, -1):
        is_emitted = (word < n_targets) & (best > -math.inf)
        here = alignment.gather(1, vertex[:, None])
        emitted = torch.where(is_emitted[:, None], word, here)
        alignment.scatter_(1, vertex[:, None], emitted)
        before = origins[word].gather(1, vertex[:, None])[:, 0]
        vertex = torch.where(is_emitted, before, vertex)
    return alignment


def _start(match: Tensor) -> Tensor:
    alpha = match.new_full(match.shape[:2], -math.inf)
    alpha[:, 0] = 0.0
    return alpha


def _at(tables: Tensor, n_targets: Tensor) -> Tensor:
    index = n_targets.long()[:, None, None].expand(-1, 1, tables.shape[2])
    return tables.gather(1, index)[:, 0]


def _to_end(link: Tensor, n_vertices: Tensor) -> Tensor:
    index = (n_vertices - 1).long()[:, None, None].expand(-1, link.shape[1], 1)
    return link.gather(2, index)[:, :, 0]
