r"""Minimum risk over n-best lists: the graph learns which of its own candidates are worth most.

Owns `list_risk`, on log-probabilities alone, and `risk_objective`, which takes those of a text's
reference and candidates from one graph. With candidates ``y_1 .. y_K``, their gains ``g_k`` and
what the search added to their log-probabilities, ``b_k`` (Shen et al. 2016, Section 3, with gains
in place of losses and a sharpness of 1)::

    p_k  = softmax_k( log P(y_k) + b_k )
    gain = sum_k p_k g_k
    mass = -log( sum_k P(y_k) ) / mean_k |y_k|
    loss = -log P(y_0)  +  |y_0| (mass_weight * mass - risk_weight * gain)

``y_0`` is the reference, and each P a sum over the paths of the graph (Eq. 2). The gain only says
how candidates stand to each other; the mass keeps all of them likely.

The scorer, where the model has one, learns from the same lists which candidate to prefer. With its
log-probabilities ``s_k`` of whole candidates::

    preference = mean over pairs with g_i > g_j of softplus( (s_j + b_j - s_i - b_i) / 2 )

(Bradley and Terry 1952, as in Christiano et al. 2017, Eq. 1, with the likelihood for a reward), and
``|y_0| preference_weight * preference`` is added to its cross-entropy on the reference.

Its verdict ``v_k``, the logit that a candidate may be printed, learns the gains themselves::

    verdict = mean over k of -( g_k log sigmoid(v_k) + (1 - g_k) log sigmoid(-v_k) )
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from sumfit.losses.dag_loss import DagNll, dag_nll
from sumfit.losses.objective import GraphModel, LossOutput, smooth_nll, total_loss
from sumfit.losses.ranking import ranking_loss
from sumfit.losses.scorer import read_lines
from sumfit.losses.vocab import score_words

__all__ = ["ListRisk", "list_risk", "risk_objective"]

_NATS_FOR_A_LOGIT = 2.0  # of a difference of two log-probabilities of whole candidates


class ListRisk(NamedTuple):
    """What the lists of B texts are worth; 0 where fewer than two candidates can be used.

    Attributes:
        gain: ``(B,)`` expected gain.
        mass: ``(B,)`` nats per piece that all candidates together have lost.
    """

    gain: Tensor
    mass: Tensor


def list_risk(nll: Tensor, *, n_pieces: Tensor, bonuses: Tensor, gains: Tensor) -> ListRisk:
    """Return expected gain and mass of lists. Candidates without a finite ``nll`` are left out.

    Args:
        nll: ``(B, K)`` ``-log P`` of each candidate.
        n_pieces: ``(B, K)`` pieces of each; 0 where there is none.
        bonuses: ``(B, K)`` nats that the search added to each log-probability.
        gains: ``(B, K)`` what each candidate is worth.

    Returns:
        Both, with gradients to ``nll``.
    """
    is_usable = (n_pieces > 0) & nll.isfinite()
    has_choice = is_usable.sum(dim=1) > 1
    is_usable &= has_choice[:, None]
    logp = torch.where(is_usable, -nll, -math.inf)
    # A row of -inf alone would have the gradient NaN.
    logp = torch.where(has_choice[:, None], logp, 0.0)
    chosen = (logp + bonuses).softmax(dim=1)
    gain = torch.where(is_usable, chosen * gains, 0.0).sum(dim=1)
    mean = torch.where(is_usable, n_pieces, 0).sum(dim=1) / is_usable.sum(dim=1).clamp(min=1)
    mass = torch.where(has_choice, -logp.logsumexp(dim=1) / mean.clamp(min=1), 0.0)
    return ListRisk(gain, mass)


def risk_objective(
    model: GraphModel,
    batch: Mapping[str, Tensor],
    *,
    risk_weight: float = 0.0,
    mass_weight: float = 0.0,
    label_smoothing: float = 0.0,
    scorer_weight: float = 0.0,
    preference_weight: float = 0.0,
    verdict_weight: float = 0.0,
) -> LossOutput:
    """Return the loss of one batch of texts with candidates. One pass through the graph's network.

    Args:
        model: The network.
        batch: As for `sumfit.losses.objective`, and ``candidate_ids (B, K, U)``, pad 0,
            ``candidate_pieces (B, K)``, 0 = none, ``bonuses (B, K)`` and ``gains (B, K)``.
        risk_weight: Weight of the expected gain, per word of the reference.
        mass_weight: Weight of the candidates' mass, per word of the reference.
        label_smoothing: As for `sumfit.losses.objective`; of the reference alone.
        scorer_weight: Weight of the scorer's cross-entropy on the reference.
        preference_weight: Weight of the scorer's preference, per word of the reference.
        verdict_weight: Weight of the scorer's verdict, per word of the reference.

    Returns:
        Loss and counts; ``gain`` among the statistics is the expected gain, each text weighted by
        the words of its reference, ``prefers`` the share of pairs that the scorer orders as
        their gains do, and ``verdict`` the nats that its verdict needs for a candidate.
    """
    target_ids, n_vertices = batch["target_ids"], batch["n_vertices"]
    n_targets = (target_ids != 0).sum(dim=1)
    mask = batch["vertex_mask"] if "vertex_mask" in batch else model.vertex_mask(n_vertices)
    memory, source_mask = model.encode(batch["source_ids"])
    hidden = model.decode(model.vertex_ids(mask), mask, memory, source_mask)
    ids = _side_by_side(target_ids, batch["candidate_ids"])
    n_pieces = torch.cat([n_targets[:, None], batch["candidate_pieces"]], dim=1)
    scores = score_words(hidden, model.embedding.weight, ids.flatten(1), n_special=model.n_special)
    links = model.link_logp(hidden, mask)
    all_nll, posterior = _nll_of_all(scores.match_logp, links, n_vertices, n_pieces)
    loss = nll = all_nll[:, 0]
    if label_smoothing > 0:
        smooth = smooth_nll(posterior[:, 0].sum(dim=2), scores.uniform_nll)
        loss = (1 - label_smoothing) * nll + label_smoothing * smooth
    gain, mass = list_risk(
        all_nll[:, 1:],
        n_pieces=batch["candidate_pieces"],
        bonuses=batch["bonuses"],
        gains=batch["gains"],
    )
    loss = loss + n_targets * (mass_weight * mass - risk_weight * gain)
    n_words = n_targets.sum().clamp(min=1)
    stats = {"gain": (gain.detach() * n_targets).sum() / n_words}
    if scorer_weight or preference_weight or verdict_weight:
        n_items, n_all, _ = ids.shape
        lines = read_lines(
            model,
            ids.flatten(0, 1),
            memory.repeat_interleave(n_all, dim=0),
            source_mask.repeat_interleave(n_all, dim=0),
            judges=verdict_weight > 0,
        )
        scored = lines.nll.view(n_items, n_all)
        logits = (batch["bonuses"] - scored[:, 1:]) / _NATS_FOR_A_LOGIT
        is_there = batch["candidate_pieces"] > 0
        preferred, share = _preference(logits.masked_fill(~is_there, -math.inf), batch["gains"])
        loss = loss + scorer_weight * scored[:, 0] + preference_weight * n_targets * preferred
        stats |= {"scorer": scored[:, 0].detach().sum() / n_words, "prefers": share}
        if lines.verdict is not None:
            verdict = lines.verdict.view(n_items, n_all)[:, 1:]
            judged, mean = _verdict_loss(verdict, batch["gains"], is_there)
            loss = loss + verdict_weight * n_targets * judged
            stats["verdict"] = mean
    return total_loss(loss, nll, n_targets, stats)


def _preference(logits: Tensor, gains: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``(B,)`` the loss of each list's pairs, and the share of pairs in the right order."""
    nothing = torch.zeros(len(logits), dtype=torch.int64, device=logits.device)
    loss = ranking_loss(logits, gains, nothing, loss="pairwise")
    is_there = logits > -math.inf
    is_pair = (gains[:, :, None] > gains[:, None, :]) & is_there[:, :, None] & is_there[:, None, :]
    is_right = is_pair & (logits.detach()[:, :, None] > logits.detach()[:, None, :])
    return loss, is_right.sum() / is_pair.sum().clamp(min=1)


def _verdict_loss(logits: Tensor, gains: Tensor, is_there: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``(B,)`` the loss of each list, 0 without a choice, and the mean of a candidate."""
    is_judged = is_there & (is_there.sum(dim=1, keepdim=True) > 1)
    nats = F.binary_cross_entropy_with_logits(logits, gains.float(), reduction="none")
    nats = torch.where(is_judged, nats, 0.0)
    counts = is_judged.sum(dim=1)
    mean = nats.detach().sum() / counts.sum().clamp(min=1)
    return nats.sum(dim=1) / counts.clamp(min=1), mean


def _side_by_side(target_ids: Tensor, candidate_ids: Tensor) -> Tensor:
    """Return ``(B, 1 + K, U)`` reference and candidates, all padded to the longest of them."""
    width = max(target_ids.shape[1], candidate_ids.shape[2])
    all_ids = [target_ids[:, None], candidate_ids]
    return torch.cat([F.pad(ids, (0, width - ids.shape[2])) for ids in all_ids], dim=1)


def _nll_of_all(match: Tensor, links: Tensor, n_vertices: Tensor, n_pieces: Tensor) -> DagNll:
    """Return ``(B, K)`` nll and ``(B, K, S, U)`` posteriors of K targets side by side."""
    n_items, size, _ = match.shape
    n_all = n_pieces.shape[1]
    match = match.view(n_items, size, n_all, -1).transpose(1, 2)
    links = links[:, None].expand(-1, n_all, -1, -1)
    nll, posterior = dag_nll(
        match.flatten(0, 1),
        links.flatten(0, 1),
        n_vertices=n_vertices.repeat_interleave(n_all),
        n_targets=n_pieces.flatten(),
    )
    return DagNll(nll.view(n_items, n_all), posterior.view(match.shape))
