r"""The loss of the CTC baseline: minus the log of the sum over all alignments.

Owns `ctc_nll` and `ctc_objective`. The recursion is torch's, on the labels of each target alone:
blank and target words, so that no ``(B, S, V)`` is normalised in float32 for it. A slot that emits
blank, a word, or the word of the slot before it (which counts once) makes an alignment, and

.. math:: -\log P(y) = -\log \sum_{a \to y} \prod_s p(a_s \mid s).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.losses.objective import LossOutput, total_loss
from sumfit.losses.vocab import score_words

__all__ = ["SlotModel", "ctc_nll", "ctc_objective"]


class SlotModel(Protocol):
    """What the loss needs of a network; `sumfit.models.ctc.CTC` has it."""

    embedding: nn.Embedding

    def slots(self, source_ids: Tensor, mask: Tensor) -> Tensor:
        """Return slot states."""
        ...


def ctc_objective(
    model: SlotModel,
    batch: Mapping[str, Tensor],
    *,
    blank: int,
    label_smoothing: float = 0.0,
) -> LossOutput:
    """Return the loss of one batch.

    With ``e = label_smoothing``, S slots and U target words::

        loss = (1 - e) * -log P(y)  +  e * U * mean_s( mean_v( -log p(v | s) ) )

    so smoothing weighs as much against a target word as in the DAT's loss. A target that needs
    more slots than there are (one for each word, one more for each word that follows itself) has
    an infinite loss: it is left out and counted.

    Args:
        model: The network.
        batch: ``source_ids (B, T)``, ``target_ids (B, U)``, both pad 0, ``n_vertices (B,)`` slots
            and ``vertex_mask (B, S)``.
        blank: Label that emits nothing; smaller ids take no probability.
        label_smoothing: ``e``, in [0, 1).

    Returns:
        Loss and counts.
    """
    target_ids, mask = batch["target_ids"], batch["vertex_mask"]
    n_targets = (target_ids != 0).sum(dim=1)
    hidden = model.slots(batch["source_ids"], mask)
    labels = F.pad(target_ids, (1, 0), value=blank)
    scores = score_words(hidden, model.embedding.weight, labels, n_special=blank)
    nll = ctc_nll(scores.match_logp, target_ids, n_slots=batch["n_vertices"], n_targets=n_targets)
    loss = nll
    if label_smoothing > 0:
        uniform = torch.where(mask, scores.uniform_nll, 0.0).sum(dim=1) / mask.sum(dim=1)
        loss = (1 - label_smoothing) * nll + label_smoothing * n_targets * uniform
    return total_loss(loss, nll, n_targets)


def ctc_nll(
    label_logp: Tensor, target_ids: Tensor, *, n_slots: Tensor, n_targets: Tensor
) -> Tensor:
    """Return minus the log-probability of each target, summed over its alignments.

    Time O(S U) an item. On CUDA torch copies the lengths to the host first, the one wait of a step.

    Args:
        label_logp: ``(B, S, 1 + U)`` log-probability of the blank and of each target word, any
            floating type; need not sum to 1.
        target_ids: ``(B, U)`` target words, for finding those that are equal.
        n_slots: ``(B,)`` slots of each item.
        n_targets: ``(B,)`` words of each target.

    Returns:
        ``(B,)`` float32; ``inf`` where the target does not fit into the slots, with a gradient of
        0 there.
    """
    nll: Tensor = _AlignmentSum.apply(  # type: ignore[no-untyped-call]
        label_logp.float(), _first_places(target_ids), n_slots, n_targets
    )
    return nll


def _first_places(target_ids: Tensor) -> Tensor:
    """Return ``(B, U)`` labels, from 1: equal words share the place of the first of them."""
    is_same = target_ids[:, :, None] == target_ids[:, None, :]
    return is_same.int().argmax(dim=2) + 1


class _AlignmentSum(torch.autograd.Function):
    """Minus log of the sum over alignments, with the gradient of that and nothing else.

    torch's own gradient is meant for logits below a softmax over all labels: it holds ``p`` minus
    the posterior. Here the labels are a few of many, so ``p`` is taken off again.
    """

    @staticmethod
    def forward(
        ctx: Any, label_logp: Tensor, labels: Tensor, n_slots: Tensor, n_targets: Tensor
    ) -> Tensor:
        with torch.enable_grad():
            scores = label_logp.detach().requires_grad_(ctx.needs_input_grad[0])
            nll = F.ctc_loss(
                scores.transpose(0, 1), labels, n_slots, n_targets, blank=0, reduction="none"
            )
        if ctx.needs_input_grad[0]:
            (grad,) = torch.autograd.grad(nll, scores, torch.ones_like(nll))
            is_real = torch.arange(scores.shape[1], device=scores.device) < n_slots[:, None]
            is_used = is_real & nll.isfinite()[:, None]
            posterior = (scores.detach().exp() - grad).clamp(min=0)
            ctx.save_for_backward(torch.where(is_used[..., None], posterior, 0.0))
        return nll.detach()

    @staticmethod
    def backward(ctx: Any, grad_nll: Tensor) -> tuple[Tensor, None, None, None]:
        (posterior,) = ctx.saved_tensors
        return -grad_nll[:, None, None] * posterior, None, None, None
