r"""The loss of the CTC baseline: minus the log of the sum over all alignments.

Owns `ctc_nll` and `ctc_objective`. An alignment gives each slot the blank, a word, or the word of
the slot before it again (which counts once), and

.. math:: -\log P(y) = -\log \sum_{a \to y} \prod_s p(a_s \mid s).

torch has this loss, but wants all V labels of every slot normalised in float32, and waits for the
lengths on CUDA. The recursion here runs over the blank and the target's words, and never waits.
"""

from __future__ import annotations

import math
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

    The recursion walks the target's words with a blank before, between and after them, forward and
    (for the gradient) backward, in S steps over the batch. Time and memory O(S U) an item.

    Args:
        label_logp: ``(B, S, 1 + U)`` log-probability of the blank and of each target word, any
            floating type; need not sum to 1.
        target_ids: ``(B, U)`` target words, for finding neighbours that are equal.
        n_slots: ``(B,)`` slots of each item, at least 1.
        n_targets: ``(B,)`` words of each target.

    Returns:
        ``(B,)`` float32; ``inf`` where the target does not fit into the slots, with a gradient of
        0 there.
    """
    nll: Tensor = _AlignmentSum.apply(  # type: ignore[no-untyped-call]
        label_logp.float(), target_ids, n_slots, n_targets
    )
    return nll


class _AlignmentSum(torch.autograd.Function):
    """Minus log of the sum over alignments; its gradient is minus the posterior of the labels."""

    @staticmethod
    def forward(
        ctx: Any, label_logp: Tensor, target_ids: Tensor, n_slots: Tensor, n_targets: Tensor
    ) -> Tensor:
        emission, words = _with_blanks(label_logp, target_ids, n_targets)
        if not ctx.needs_input_grad[0]:
            forward = _prefix_sums(emission, words)
            return -_whole(forward, n_slots, n_targets)
        # Backward is forward on slots and words in reverse: one loop for both.
        slots, places = _in_reverse(emission, n_slots, n_targets)
        mirrored = emission.gather(1, slots).gather(2, places)
        both = _prefix_sums(
            torch.cat([emission, mirrored]), torch.cat([words, words.gather(1, places[:, 0])])
        )
        forward, backward = both.chunk(2)
        backward = backward.gather(2, places).gather(1, slots)
        total = _whole(forward, n_slots, n_targets)
        is_real = torch.arange(emission.shape[1], device=emission.device) < n_slots[:, None]
        is_real = is_real[..., None] & emission.isfinite() & total.isfinite()[:, None, None]
        logp = forward + backward - emission - total[:, None, None]
        posterior = torch.where(is_real, logp, -math.inf).exp()
        blank = posterior[..., ::2].sum(dim=-1, keepdim=True)
        ctx.save_for_backward(torch.cat([blank, posterior[..., 1::2]], dim=-1))
        return -total

    @staticmethod
    def backward(ctx: Any, grad_nll: Tensor) -> tuple[Tensor, None, None, None]:
        (posterior,) = ctx.saved_tensors
        return -grad_nll[:, None, None] * posterior, None, None, None


def _with_blanks(
    label_logp: Tensor, target_ids: Tensor, n_targets: Tensor
) -> tuple[Tensor, Tensor]:
    """Return ``(B, S, L)`` scores and ``(B, L)`` words at ``L = 2 U + 1`` places, -1 = blank."""
    size = 2 * target_ids.shape[1] + 1
    emission = label_logp.new_empty(*label_logp.shape[:2], size)
    emission[..., ::2] = label_logp[..., :1]
    emission[..., 1::2] = label_logp[..., 1:]
    place = torch.arange(size, device=label_logp.device)
    emission.masked_fill_((place > 2 * n_targets[:, None])[:, None], -math.inf)
    words = target_ids.new_full((target_ids.shape[0], size), -1)
    words[:, 1::2] = target_ids
    return emission, words


def _prefix_sums(emission: Tensor, words: Tensor) -> Tensor:
    """Return ``(B, S, L)`` log of the sum over ways to be at a place after each slot.

    A slot stays at the place of the one before it, goes on to the next place, or skips the blank
    between two different words.
    """
    skips = F.pad((words[:, 2:] >= 0) & (words[:, 2:] != words[:, :-2]), (2, 0))
    bar = torch.zeros_like(emission[:, 0]).masked_fill_(~skips, -math.inf)
    now = F.pad(emission[:, 0, :2], (0, emission.shape[2] - 2), value=-math.inf)
    sums = [now]
    for scores in emission.unbind(1)[1:]:
        before = F.pad(now, (2, 0), value=-math.inf)
        ways = torch.stack([before[:, 2:], before[:, 1:-1], before[:, :-2] + bar])
        now = ways.logsumexp(dim=0) + scores
        sums.append(now)
    return torch.stack(sums, dim=1)


def _whole(sums: Tensor, n_slots: Tensor, n_targets: Tensor) -> Tensor:
    """Return ``(B,)`` log of the sum over alignments that end at one of the last two places."""
    last = sums.gather(1, (n_slots - 1)[:, None, None].expand(-1, 1, sums.shape[2]))[:, 0]
    ends = torch.stack([2 * n_targets, (2 * n_targets - 1).clamp(min=0)], dim=1)
    return last.gather(1, ends).logsumexp(dim=1)


def _in_reverse(emission: Tensor, n_slots: Tensor, n_targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``(B, S, L)`` indices that put slots, and ones that put places, in reverse.

    Beyond an item's own slots and places they point at any, which nothing reads; applied twice
    they give back what was there.
    """
    n_items, n_rows, size = emission.shape
    row = torch.arange(n_rows, device=emission.device)
    column = torch.arange(size, device=emission.device)
    slots = torch.where(row < n_slots[:, None], n_slots[:, None] - 1 - row, row)
    last = 2 * n_targets[:, None]
    places = torch.where(column <= last, last - column, column)
    shape = (n_items, n_rows, size)
    return slots[:, :, None].expand(shape), places[:, None, :].expand(shape)
