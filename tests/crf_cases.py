"""Tiny conditional random fields, and all their labellings."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor


def draw(seed: int, *, n_slots: int = 4, n_candidates: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    emission = torch.randn(2, n_slots, n_candidates, generator=generator, dtype=torch.float64)
    pair = torch.randn(
        2, n_slots - 1, n_candidates, n_candidates, generator=generator, dtype=torch.float64
    )
    lengths = torch.randint(1, n_slots + 1, (2,), generator=generator)
    return 2 * emission, 2 * pair, torch.arange(n_slots) < lengths[:, None]


def scores_of(emission: Tensor, pair: Tensor, n_slots: int) -> dict[tuple[int, ...], Tensor]:
    """The score of every labelling of one item."""
    found = {}
    for labels in itertools.product(range(emission.shape[1]), repeat=n_slots):
        total = emission[0, labels[0]]
        for slot in range(1, n_slots):
            total = total + emission[slot, labels[slot]]
            total = total + pair[slot - 1, labels[slot - 1], labels[slot]]
        found[labels] = total
    return found
