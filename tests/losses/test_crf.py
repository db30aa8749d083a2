"""The field's sum over labellings equals enumeration, gradients included."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from sumfit.losses.crf import choose_candidates, fill_with_end, forbid_leaving, log_partition
from tests.crf_cases import draw, scores_of

END = 3


@pytest.mark.parametrize("seed", range(10))
def test_sum_over_labellings_and_its_gradient_equal_enumeration(seed: int) -> None:
    emission, pair, mask = draw(seed)
    pair[0, 0, 1, 2] = -math.inf
    inputs = [emission.clone().requires_grad_(), pair.clone().requires_grad_()]
    total = log_partition(*inputs, mask)
    others = [emission.clone().requires_grad_(), pair.clone().requires_grad_()]
    expected = torch.stack(
        [
            torch.stack(
                list(scores_of(others[0][row], others[1][row], int(mask[row].sum())).values())
            ).logsumexp(0)
            for row in range(2)
        ]
    )
    torch.testing.assert_close(total, expected)
    total.sum().backward()
    expected.sum().backward()
    for ours, theirs in zip(inputs, others, strict=True):
        torch.testing.assert_close(ours.grad, torch.nan_to_num(theirs.grad))


def test_candidates_are_the_best_with_right_label_and_end() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, 20, generator=generator)
    logits[..., :END] += 50  # special ids never win
    right = torch.randint(END, 20, (3, 5), generator=generator)
    found = choose_candidates(logits, n_candidates=6, end=END, always=right)
    for row, slot in itertools.product(range(3), range(5)):
        kept = found[row, slot].tolist()
        assert len(set(kept)) == 6
        assert {END, int(right[row, slot])} <= set(kept)
        assert min(kept) >= END
        rest = set(range(END, 20)) - set(kept)
        free = set(kept) - {END, int(right[row, slot])}
        values = logits[row, slot]
        assert min(values[v] for v in free) >= max(values[v] for v in rest)
    assert choose_candidates(logits, n_candidates=64, end=END).shape[-1] == 17


def test_nothing_but_the_end_follows_the_end() -> None:
    candidates = torch.tensor([[[5, END, 6], [END, 7, 8]]])
    barred = forbid_leaving(torch.zeros(1, 1, 3, 3), candidates, end=END)[0, 0]
    assert barred.isneginf().tolist() == [
        [False, False, False],
        [False, True, True],
        [False, False, False],
    ]


def test_end_fills_the_slots_that_are_left() -> None:
    targets = torch.tensor([[5, 6, 0], [7, 0, 0]])
    assert fill_with_end(targets, 5, end=END).tolist() == [[5, 6, 3, 3, 3], [7, 3, 3, 3, 3]]
    assert fill_with_end(targets, 2, end=END).tolist() == [[5, 6], [7, 3]]
