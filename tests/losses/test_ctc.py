"""The CTC loss equals enumeration of alignments, gradients included, and counts what cannot fit."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from sumfit.losses.ctc import ctc_nll


def enumerated_nll(label_logp: Tensor, labels: list[int], n_slots: int, n_targets: int) -> Tensor:
    """Minus log of the sum over all labellings that collapse to the target; label 0 is blank."""
    wanted = tuple(labels[:n_targets])
    scores = []
    for alignment in itertools.product(range(label_logp.shape[1]), repeat=n_slots):
        collapsed = [label for label, _ in itertools.groupby(alignment) if label != 0]
        if tuple(collapsed) == wanted:
            scores.append(sum(label_logp[s, label] for s, label in enumerate(alignment)))
    return -torch.stack(scores).logsumexp(0) if scores else torch.tensor(torch.inf)


def draw(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Two items of up to 4 slots and 3 words; equal words happen."""
    generator = torch.Generator().manual_seed(seed)
    n_items, n_slots, n_targets = 2, 4, 3
    target_ids = torch.randint(4, 7, (n_items, n_targets), generator=generator)
    lengths = torch.randint(1, n_targets + 1, (n_items,), generator=generator)
    target_ids[torch.arange(n_targets) >= lengths[:, None]] = 0
    slots = torch.randint(2, n_slots + 1, (n_items,), generator=generator)
    logits = torch.randn(n_items, n_slots, 8, generator=generator, dtype=torch.float64)
    return logits, target_ids, slots, lengths


def label_logp(logits: Tensor, target_ids: Tensor) -> Tensor:
    """Log-probabilities of blank (id 3) and target words under a softmax over ids 3 to 7."""
    logp = logits[..., 3:].log_softmax(-1)
    ids = torch.nn.functional.pad(target_ids, (1, 0), value=3).clamp(min=3) - 3
    return logp.gather(2, ids[:, None, :].expand(-1, logits.shape[1], -1))


@pytest.mark.parametrize("seed", range(25))
def test_loss_and_gradient_equal_enumeration(seed: int) -> None:
    logits, target_ids, n_slots, n_targets = draw(seed)
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    nll = ctc_nll(label_logp(ours, target_ids), target_ids, n_slots=n_slots, n_targets=n_targets)
    full = theirs[..., 3:].log_softmax(-1)
    expected = torch.stack(
        [
            enumerated_nll(
                full[row], (target_ids[row] - 3).tolist(), int(n_slots[row]), int(n_targets[row])
            )
            for row in range(len(target_ids))
        ]
    )
    torch.testing.assert_close(nll.double(), expected, rtol=1e-5, atol=1e-5)
    fits = expected.isfinite()
    weights = torch.tensor([0.7, 1.9], dtype=torch.float64)
    torch.where(fits, nll.double() * weights, 0.0).sum().backward()
    if fits.any():
        torch.where(fits, expected * weights, 0.0).sum().backward()
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5)
    else:
        assert not ours.grad.any()


def test_both_kinds_of_item_are_drawn() -> None:
    """The cases above hold repeated words, short items and targets that do not fit."""
    fits = []
    for seed in range(25):
        logits, target_ids, n_slots, n_targets = draw(seed)
        nll = ctc_nll(
            label_logp(logits, target_ids), target_ids, n_slots=n_slots, n_targets=n_targets
        )
        fits += nll.isfinite().tolist()
    assert 0 < sum(fits) < len(fits)


def test_long_items_agree_with_torch() -> None:
    generator = torch.Generator().manual_seed(5)
    n_items, n_slots, n_targets, n_words = 6, 60, 20, 9
    target_ids = torch.randint(4, n_words, (n_items, n_targets), generator=generator)
    lengths = torch.tensor([20, 1, 7, 13, 20, 18])
    slots = torch.tensor([60, 60, 14, 40, 30, 17])
    target_ids[torch.arange(n_targets) >= lengths[:, None]] = 0
    logits = torch.randn(n_items, n_slots, n_words, generator=generator)
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    nll = ctc_nll(label_logp(ours, target_ids), target_ids, n_slots=slots, n_targets=lengths)
    expected = torch.nn.functional.ctc_loss(
        theirs[..., 3:].log_softmax(-1).transpose(0, 1),
        (target_ids - 3).clamp(min=0),
        slots,
        lengths,
        reduction="none",
        zero_infinity=True,
    )
    fits = nll.isfinite()
    assert 4 <= int(fits.sum()) < n_items
    torch.testing.assert_close(nll[fits], expected[fits], rtol=1e-5, atol=1e-4)
    torch.where(fits, nll, 0.0).sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-5)


def test_gradients_need_no_softmax_below() -> None:
    """The gradient is that of the sum itself, whatever made the scores."""
    _, target_ids, n_slots, n_targets = draw(3)
    n_slots = torch.full_like(n_slots, 4)
    n_targets = torch.ones_like(n_targets)
    scores = -torch.rand(2, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    scores = (scores - 2).requires_grad_()

    def loss(values: Tensor) -> Tensor:
        return ctc_nll(values, target_ids, n_slots=n_slots, n_targets=n_targets).double().sum()

    loss(scores).backward()
    step = 1e-2
    for place in [(0, 0, 0), (0, 1, 1), (1, 2, 1), (1, 3, 0), (0, 2, 3)]:
        moved = [scores.detach().clone() for _ in range(2)]
        moved[0][place] += step
        moved[1][place] -= step
        slope = (loss(moved[0]) - loss(moved[1])) / (2 * step)
        assert scores.grad[place].item() == pytest.approx(slope.item(), abs=2e-3)
