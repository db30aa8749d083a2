"""Glancing: how many and which target words the decoder is shown while it learns.

Owns the choice of the words revealed. The number falls as the model gets better (Qian et al. 2021,
in the "number-random" form of DA-Transformer); the ratio that scales it is the caller's.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["choose_revealed"]


@torch.no_grad()
def choose_revealed(
    alignment: Tensor,
    *,
    is_right: Tensor,
    n_targets: Tensor,
    ratio: float,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Pick ``round(ratio * wrong words)`` vertices of the best path, uniformly at random.

    Args:
        alignment: ``(B, S)`` target word of each vertex on the best path, -1 off the path.
        is_right: ``(B, S)`` whether the vertex would emit that word by itself.
        n_targets: ``(B,)`` target words of each item.
        ratio: Share of the wrongly predicted words to reveal, 0 to 1.
        generator: Source of randomness; the global one if ``None``.

    Returns:
        ``(B, S)`` bool, ``True`` where the vertex is shown its target word.
    """
    on_path = alignment >= 0
    n_wrong = n_targets - (is_right & on_path).sum(dim=1)
    n_revealed = (n_wrong * ratio + 0.5).floor()
    device = alignment.device if generator is None else generator.device
    order = torch.rand(alignment.shape, generator=generator, device=device)
    order = order.to(alignment.device).masked_fill(~on_path, math.inf)
    rank = order.argsort(dim=1).argsort(dim=1)
    return (rank < n_revealed[:, None]) & on_path
