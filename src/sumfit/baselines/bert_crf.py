"""Summaries of the BERT-CRF baseline: Viterbi over the candidates of each slot.

Owns `best_labels`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from sumfit.decoding.torch_crf import viterbi
from sumfit.losses.crf import choose_candidates, forbid_leaving
from sumfit.models.bert_crf import END, BertCRF

__all__ = ["best_labels"]


@torch.no_grad()
def best_labels(network: BertCRF, source_ids: Tensor, mask: Tensor) -> list[tuple[list[int], float]]:
    """Find the best labelling of each source, which is not empty.

    Args:
        network: The network, in evaluation mode.
        source_ids: ``(B, T)`` int64, pad 0.
        mask: ``(B, S)`` ``True`` = real slot.

    Returns:
        For each source the words before the end, and the score of the labelling.
    """
    logits = network.logits(network.slots(source_ids, mask))
    candidates = choose_candidates(logits, n_candidates=network.config.n_candidates, end=END)
    with torch.autocast(logits.device.type, enabled=False):
        emission = logits.gather(2, candidates).float()
        start = network.start_scores(candidates[:, 0])
        first = (emission[:, 0] + start).masked_fill(candidates[:, 0] == END, -math.inf)
        emission = torch.cat([first[:, None], emission[:, 1:]], dim=1)
        transition = forbid_leaving(network.transitions(candidates), candidates, end=END)
        places, scores = viterbi(emission, transition, mask)
    labels = candidates.gather(2, places[..., None])[..., 0]
    labels = torch.where(mask, labels, END)
    lengths = (F.pad(labels, (0, 1), value=END) == END).int().argmax(dim=1)
    rows = zip(labels.tolist(), lengths.tolist(), scores.tolist(), strict=True)
    return [(row[:length], score) for row, length, score in rows]
