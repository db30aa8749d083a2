r"""The best labelling of a conditional random field, for the BERT-CRF baseline.

Owns `viterbi` on batched tensors:

.. math:: \max_y \sum_s e_s(y_s) + t(y_{s-1}, y_s)

over the candidates of each slot, by Eq. A15 with the maximum for the sum. Does not own candidates
or scores.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["viterbi"]


@torch.no_grad()
def viterbi(emission: Tensor, transition: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Find the labelling of highest score. Time O(S K²) an item, in S steps over the batch.

    Args:
        emission: ``(B, S, K)`` scores, those of the start in the first slot included; ``-inf`` =
            impossible.
        transition: ``(B, S - 1, K, K)`` scores, ``[from, to]``; ``-inf`` = impossible.
        mask: ``(B, S)`` ``True`` = real slot, the real ones first.

    Returns:
        ``(B, S)`` int64 places among the candidates, 0 for padding, and ``(B,)`` scores.
    """
    n_candidates = emission.shape[2]
    stay = torch.arange(n_candidates, device=emission.device).expand(emission.shape[0], -1)
    best = emission[:, 0]
    came = []
    for slot in range(1, emission.shape[1]):
        is_real = mask[:, slot, None]
        value, source = (best[:, :, None] + transition[:, slot - 1]).max(dim=1)
        best = torch.where(is_real, value + emission[:, slot], best)
        came.append(torch.where(is_real, source, stay))
    score, label = best.max(dim=1)
    labels = [label]
    for source in reversed(came):
        labels.append(source.gather(1, labels[-1][:, None])[:, 0])
    path = torch.stack(labels[::-1], dim=1)
    return torch.where(mask, path, 0), score
