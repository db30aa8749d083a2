r"""The loss of the BERT-CRF baseline: a conditional random field over a few labels of each slot.

Owns `crf_objective` and the recursion `log_partition`. With emission scores ``e`` and pair scores
``t``, a labelling of S slots has probability

.. math:: P(y) = \exp\Big(\sum_s e_s(y_s) + t(y_{s-1}, y_s)\Big) / Z

where Z runs over labellings whose every label is among the K best of its slot (the right label and
the end are always among them; Sun et al. 2019). After the end comes nothing but the end, in the
data and so in Z. To that Su et al. 2021 add a loss of each slot by itself: cross-entropy, and minus
log(1 - p) of the words that neighbours of the slot should say.

Their targets close with two end labels. Here the end fills all slots that are left: Viterbi reads
those slots too, and scores that no target ever covered would decide where a summary ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.losses.objective import LossOutput, total_loss
from sumfit.losses.vocab import score_words

__all__ = ["FieldModel", "choose_candidates", "crf_objective", "forbid_leaving", "log_partition"]

_N_ENDS = 2  # end labels of each target that count in the loss by slots
_MOST_LIKELY = 1 - 1e-6  # bound on p in log(1 - p)


class FieldModel(Protocol):
    """What the loss needs of a network; `sumfit.models.bert_crf.BertCRF` has it."""

    embedding: nn.Embedding

    def slots(self, source_ids: Tensor, mask: Tensor) -> Tensor:
        """Return slot states."""
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """Return label scores."""
        ...

    def transitions(self, candidates: Tensor) -> Tensor:
        """Return scores of pairs of candidates."""
        ...

    def pair_scores(self, labels: Tensor) -> Tensor:
        """Return scores of the pairs of one labelling."""
        ...

    def start_scores(self, candidates: Tensor) -> Tensor:
        """Return scores of candidates after the start."""
        ...


def crf_objective(
    model: FieldModel,
    batch: Mapping[str, Tensor],
    *,
    end: int,
    n_candidates: int,
    slot_weight: float = 0.5,
    window: int = 3,
    label_smoothing: float = 0.0,
) -> LossOutput:
    """Return the loss of one batch: field, plus ``slot_weight`` times the loss by slots.

    Args:
        model: The network.
        batch: ``source_ids (B, T)``, ``target_ids (B, U)``, both pad 0, ``n_vertices (B,)`` slots
            and ``vertex_mask (B, S)``.
        end: Label of the slots after the summary; smaller ids take no probability.
        n_candidates: ``K``, labels of each slot that the field considers.
        slot_weight: Weight of the loss by slots.
        window: Neighbours on each side whose words a slot is kept from.
        label_smoothing: Share of the cross-entropy spread over all labels, in [0, 1).

    Returns:
        Loss and counts; ``nll_sum`` is the field's.
    """
    target_ids, mask = batch["target_ids"], batch["vertex_mask"]
    n_targets = (target_ids != 0).sum(dim=1)
    hidden = model.slots(batch["source_ids"], mask)
    labels = fill_with_end(target_ids, mask.shape[1], end=end)
    nll = _field_nll(model, hidden, labels, mask, end=end, n_candidates=n_candidates)
    nll = torch.where(n_targets <= mask.sum(dim=1), nll, math.inf)
    loss = nll
    if slot_weight > 0:
        by_slot = _slot_loss(
            hidden,
            model.embedding.weight,
            labels[:, : target_ids.shape[1] + _N_ENDS],
            n_labels=torch.minimum(n_targets + _N_ENDS, mask.sum(dim=1)),
            end=end,
            window=window,
            label_smoothing=label_smoothing,
        )
        loss = nll + slot_weight * by_slot
    return total_loss(loss, nll, n_targets)


def fill_with_end(target_ids: Tensor, n_slots: int, *, end: int) -> Tensor:
    """Return the labels of all slots.

    Args:
        target_ids: ``(B, U)`` target words, pad 0.
        n_slots: ``S``.
        end: Label after the summary.

    Returns:
        ``(B, S)`` words, then the end.
    """
    labels = F.pad(target_ids, (0, max(0, n_slots - target_ids.shape[1])))[:, :n_slots]
    return torch.where(labels == 0, end, labels)


@torch.no_grad()
def choose_candidates(
    logits: Tensor, *, n_candidates: int, end: int, always: Tensor | None = None
) -> Tensor:
    """Choose the labels of each slot that the field considers.

    Args:
        logits: ``(B, S, V)`` scores.
        n_candidates: ``K``; fewer where there are fewer labels.
        end: Label after the summary, always among them; ids below it never are.
        always: ``(B, S)`` further labels that are always among them.

    Returns:
        ``(B, S, K)`` int64, all different, without order.
    """
    ranked = logits.detach().clone()
    ranked[..., :end] = -math.inf
    ranked[..., end] = math.inf
    if always is not None:
        ranked.scatter_(-1, always[..., None], math.inf)
    n_labels = logits.shape[-1] - end
    return ranked.topk(min(n_candidates, n_labels), dim=-1, sorted=False).indices


def forbid_leaving(transition: Tensor, candidates: Tensor, *, end: int) -> Tensor:
    """Make it impossible that anything but the end follows the end.

    Args:
        transition: ``(B, S - 1, K, K)`` pair scores.
        candidates: ``(B, S, K)`` labels.
        end: Label after the summary.

    Returns:
        The scores, ``-inf`` where a word follows the end.
    """
    is_end = candidates == end
    leaves = is_end[:, :-1, :, None] & ~is_end[:, 1:, None, :]
    return transition.masked_fill(leaves, -math.inf)


def log_partition(emission: Tensor, transition: Tensor, mask: Tensor) -> Tensor:
    """Sum over all labellings, in logs (Eq. A15). Time O(S K²) an item, in S steps over the batch.

    Args:
        emission: ``(B, S, K)`` float32 scores, those of the start in the first slot included.
        transition: ``(B, S - 1, K, K)`` float32, ``[from, to]``; ``-inf`` = impossible, but each
            label of a slot must have one before it.
        mask: ``(B, S)`` ``True`` = real slot, the real ones first.

    Returns:
        ``(B,)`` log of the sum.
    """
    # unbind, not indexing: the gradient of an index is as large as what it was taken from.
    steps = zip(transition.unbind(1), emission.unbind(1)[1:], mask.unbind(1)[1:], strict=True)
    total = emission[:, 0]
    for pair, label, is_real in steps:
        following = (total[:, :, None] + pair).logsumexp(dim=1) + label
        total = torch.where(is_real[:, None], following, total)
    return total.logsumexp(dim=1)


def _field_nll(
    model: FieldModel, hidden: Tensor, labels: Tensor, mask: Tensor, *, end: int, n_candidates: int
) -> Tensor:
    logits = model.logits(hidden)
    candidates = choose_candidates(logits, n_candidates=n_candidates, end=end, always=labels)
    with torch.autocast(hidden.device.type, enabled=False):
        emission = logits.gather(2, candidates).float()
        start = model.start_scores(candidates[:, 0])
        emission = torch.cat([emission[:, :1] + start[:, None], emission[:, 1:]], dim=1)
        transition = forbid_leaving(model.transitions(candidates), candidates, end=end)
        right = logits.gather(2, labels[..., None])[..., 0].float() + model.pair_scores(labels)
        score = torch.where(mask, right, 0.0).sum(dim=1)
        return log_partition(emission, transition, mask) - score


def _slot_loss(
    hidden: Tensor,
    weight: Tensor,
    labels: Tensor,
    *,
    n_labels: Tensor,
    end: int,
    window: int,
    label_smoothing: float,
) -> Tensor:
    """Return ``(B,)`` cross-entropy of the first slots and unlikelihood of their neighbours."""
    size = labels.shape[1]
    scores = score_words(hidden[:, :size], weight, labels, n_special=end)
    place = torch.arange(size, device=labels.device)
    is_real = place < n_labels[:, None]
    right = scores.match_logp.diagonal(dim1=1, dim2=2)
    nll = -(1 - label_smoothing) * right + label_smoothing * scores.uniform_nll
    is_near = (place[:, None] - place).abs() <= window
    is_other = labels[:, :, None] != labels[:, None, :]
    is_wrong = is_near & is_other & is_real[:, None, :]
    likely = scores.match_logp.exp().clamp(max=_MOST_LIKELY)
    unlikelihood = -torch.where(is_wrong, torch.log1p(-likely), 0.0).sum(dim=2)
    return torch.where(is_real, nll + unlikelihood, 0.0).sum(dim=1)
