"""The training objective: glance, score, sum over paths, smooth.

Owns the order of the steps and the counting of items that cannot be trained on. Does not own the
network: anything with the methods of `GraphModel` will do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from sumfit.losses.dag_loss import best_alignment, dag_nll
from sumfit.losses.glancing import choose_revealed
from sumfit.losses.ngram import ngram_loss
from sumfit.losses.vocab import guess_words, score_words

__all__ = ["GraphModel", "LossOutput", "objective", "smooth_nll", "total_loss"]


class GraphModel(Protocol):
    """What the objective needs of a network; `sumfit.models.DAT` has it."""

    embedding: nn.Embedding
    n_special: int

    def encode(self, source_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return encoded source and mask."""
        ...

    def decode(self, ids: Tensor, mask: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return vertex states."""
        ...

    def link_logp(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return link log-probabilities."""
        ...

    def vertex_mask(self, n_vertices: Tensor) -> Tensor:
        """Return the mask of real vertices."""
        ...

    def vertex_ids(self, mask: Tensor) -> Tensor:
        """Return what the decoder reads when nothing is revealed."""
        ...

    def read(self, ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the states of the scorer; only called where it has a weight."""
        ...

    def judge(self, states: Tensor, n_words: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the scorer's verdict on lines; only called where it has a weight."""
        ...


@dataclass(frozen=True, slots=True)
class LossOutput:
    """Loss of one batch and what it was made of. Counts stay on the device until read.

    Attributes:
        loss: Scalar to call ``backward`` on: smoothed nats per target word of the finite items.
            Multiply by ``n_tokens`` for a sum that adds up over batches and processes.
        nll_sum: Scalar, ``-log P(target)`` of the finite items, summed, without smoothing.
        n_tokens: Scalar, target words of the finite items.
        n_items: Scalar, finite items.
        n_nonfinite: Scalar, items left out because their loss was infinite or NaN.
        is_finite: ``(B,)`` bool, which items were kept.
        stats: Scalars worth logging: ``revealed`` and ``right`` are shares of target words,
            present when glancing; ``gain`` is that of `sumfit.losses.risk`.
    """

    loss: Tensor
    nll_sum: Tensor
    n_tokens: Tensor
    n_items: Tensor
    n_nonfinite: Tensor
    is_finite: Tensor
    stats: dict[str, Tensor] = field(default_factory=dict)


def objective(
    model: GraphModel,
    batch: Mapping[str, Tensor],
    *,
    glance_ratio: float = 0.0,
    label_smoothing: float = 0.0,
    ngram_weight: float = 0.0,
    scorer_weight: float = 0.0,
    generator: torch.Generator | None = None,
) -> LossOutput:
    """Return the loss of one batch.

    With ``e = label_smoothing`` and ``q_s`` the posterior that vertex ``s`` is on the path (held
    fixed)::

        loss = (1 - e) * -log P(y)  +  e * sum_s q_s * mean_v( -log p(v | s) )

    which has the gradient of cross-entropy against smoothed words at the vertices used. A revealed
    vertex may emit its word only, and learns nothing from it.

    Args:
        model: The network.
        batch: ``source_ids (B, T)``, ``target_ids (B, U)`` without bos and eos, both pad 0,
            ``n_vertices (B,)``; optional ``vertex_mask (B, S)``, which saves a wait for the GPU.
        glance_ratio: Share of the wrong target words revealed; 0 skips the first pass.
        label_smoothing: ``e``, in [0, 1).
        ngram_weight: Share of the loss given to `ngram_loss` of bigrams, per target word; 0 to 1.
        scorer_weight: Weight of the scorer's cross-entropy, added to the loss of the graph.
        generator: Randomness of glancing; the global one if ``None``.

    Returns:
        Loss and counts.
    """
    target_ids, n_vertices = batch["target_ids"], batch["n_vertices"]
    lengths = {"n_vertices": n_vertices, "n_targets": (target_ids != 0).sum(dim=1)}
    memory, source_mask = model.encode(batch["source_ids"])
    mask = batch["vertex_mask"] if "vertex_mask" in batch else model.vertex_mask(n_vertices)
    vertex_ids = model.vertex_ids(mask)
    glanced: _Glanced | None = None
    if glance_ratio > 0:
        with torch.no_grad():
            hidden = model.decode(vertex_ids, mask, memory, source_mask)
        glanced = _glance(model, hidden, mask, target_ids, lengths, glance_ratio, generator)
        vertex_ids = torch.where(glanced.revealed, glanced.words, vertex_ids)
        # Weights that autocast rounded without recording must not serve the recorded pass.
        torch.clear_autocast_cache()

    hidden = model.decode(vertex_ids, mask, memory, source_mask)
    scores = score_words(hidden, model.embedding.weight, target_ids, n_special=model.n_special)
    match_logp = scores.match_logp
    if glanced is not None:
        match_logp = _force(match_logp, glanced.alignment, glanced.revealed)
    links = model.link_logp(hidden, mask)
    nll, posterior = dag_nll(match_logp, links, **lengths)
    loss = nll
    if label_smoothing > 0:
        on_path = posterior.sum(dim=2)
        if glanced is not None:
            on_path = on_path.masked_fill(glanced.revealed, 0.0)
        smooth = smooth_nll(on_path, scores.uniform_nll)
        loss = (1 - label_smoothing) * nll + label_smoothing * smooth
    if ngram_weight > 0:
        n_targets = lengths["n_targets"]
        missed = ngram_loss(
            match_logp, links, target_ids, n_vertices=n_vertices, n_targets=n_targets
        )
        loss = (1 - ngram_weight) * loss + ngram_weight * missed * n_targets
    stats = {} if glanced is None else glanced.stats
    if scorer_weight > 0:
        scored = _scorer_nll(model, target_ids, memory, source_mask)
        loss = loss + scorer_weight * scored
        stats = {**stats, "scorer": scored.detach().sum() / lengths["n_targets"].sum()}
    return total_loss(loss, nll, lengths["n_targets"], stats)


def _scorer_nll(
    model: GraphModel, target_ids: Tensor, memory: Tensor, source_mask: Tensor
) -> Tensor:
    # Only here: `sumfit.losses.autoregressive` takes `total_loss` from this module.
    from sumfit.losses.scorer import read_lines

    return read_lines(model, target_ids, memory, source_mask).nll


class _Glanced(NamedTuple):
    """``(B, S)`` best alignment, vertices revealed and the words they are shown; shares to log."""

    alignment: Tensor
    revealed: Tensor
    words: Tensor
    stats: dict[str, Tensor]


@torch.no_grad()
def _glance(
    model: GraphModel,
    hidden: Tensor,
    mask: Tensor,
    target_ids: Tensor,
    lengths: dict[str, Tensor],
    ratio: float,
    generator: torch.Generator | None,
) -> _Glanced:
    """Align the target to the graph as it is, and pick the words to reveal."""
    weight, n_targets = model.embedding.weight, lengths["n_targets"]
    match_logp, best = guess_words(hidden, weight, target_ids, n_special=model.n_special)
    alignment = best_alignment(match_logp, model.link_logp(hidden, mask), **lengths)
    words = target_ids.gather(1, alignment.clamp(min=0))
    is_right = (best == words) & (alignment >= 0)
    revealed = choose_revealed(
        alignment, is_right=is_right, n_targets=n_targets, ratio=ratio, generator=generator
    )
    n_words = n_targets.sum().clamp(min=1)
    stats = {"revealed": revealed.sum() / n_words, "right": is_right.sum() / n_words}
    return _Glanced(alignment, revealed, words, stats)


def _force(match_logp: Tensor, alignment: Tensor, revealed: Tensor) -> Tensor:
    """Let a revealed vertex emit its own word alone, at its present probability."""
    index = torch.arange(match_logp.shape[2], device=match_logp.device)
    is_own = alignment[..., None] == index
    forced = match_logp.detach().masked_fill(~is_own, -math.inf)
    return torch.where(revealed[..., None], forced, match_logp)


def smooth_nll(on_path: Tensor, uniform_nll: Tensor) -> Tensor:
    """Return what the vertices on the path need for a word drawn uniformly.

    Args:
        on_path: ``(B, S)`` posterior that each vertex is on the path, held fixed.
        uniform_nll: ``(B, S)`` mean over all words of ``-log p``.

    Returns:
        ``(B,)`` nats.
    """
    # where: 0 * NaN would let a bad item through.
    return torch.where(on_path > 0, on_path * uniform_nll, 0.0).sum(dim=1)


def total_loss(
    loss: Tensor, nll: Tensor, n_targets: Tensor, stats: dict[str, Tensor] | None = None
) -> LossOutput:
    """Add up the losses of a batch, leaving out what is not finite.

    Args:
        loss: ``(B,)`` what is trained on.
        nll: ``(B,)`` ``-log P(target)``.
        n_targets: ``(B,)`` target words.
        stats: Scalars worth logging.

    Returns:
        Loss and counts; they stay on the device.
    """
    is_finite = loss.isfinite() & nll.isfinite()
    n_tokens = torch.where(is_finite, n_targets, 0).sum()
    n_items = is_finite.sum()
    return LossOutput(
        loss=torch.where(is_finite, loss, 0.0).sum() / n_tokens.clamp(min=1),
        nll_sum=torch.where(is_finite, nll, 0.0).sum().detach(),
        n_tokens=n_tokens,
        n_items=n_items,
        n_nonfinite=is_finite.numel() - n_items,
        is_finite=is_finite,
        stats=stats or {},
    )
