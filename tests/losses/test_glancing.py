"""Glancing reveals the right number of words, on the path only."""

from __future__ import annotations

import torch

from sumfit.losses import choose_revealed


def test_number_revealed_is_the_rounded_share_of_wrong_words() -> None:
    alignment = torch.full((4, 12), -1)
    alignment[:, 1:9] = torch.arange(8)
    alignment[3] = -1  # no path: nothing to reveal
    is_right = torch.zeros(4, 12, dtype=torch.bool)
    is_right[1, 1:5] = True
    is_right[2, 1:9] = True
    n_targets = torch.full((4,), 8)
    gen = torch.Generator().manual_seed(0)
    seen = torch.zeros(12)
    for _ in range(200):
        revealed = choose_revealed(
            alignment, is_right=is_right, n_targets=n_targets, ratio=0.3, generator=gen
        )
        assert revealed.sum(1).tolist() == [2, 1, 0, 0]  # 0.3 * 8 = 2.4, 0.3 * 4 = 1.2
        assert not revealed[alignment < 0].any()
        seen += revealed[0]
    assert seen[1:9].min() > 25  # each of 8 words expected 50 times in 200 draws of 2


def test_same_generator_state_reveals_the_same_words() -> None:
    alignment = torch.arange(-1, 9)[None].expand(3, 10)
    arguments = {
        "is_right": torch.zeros(3, 10, dtype=torch.bool),
        "n_targets": torch.full((3,), 9),
        "ratio": 0.5,
    }
    draws = [
        choose_revealed(alignment, generator=torch.Generator().manual_seed(seed), **arguments)
        for seed in (7, 7, 8)
    ]
    assert draws[0].equal(draws[1])
    assert not draws[0].equal(draws[2])
