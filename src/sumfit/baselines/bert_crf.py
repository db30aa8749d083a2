"""The BERT-CRF baseline: Viterbi over the candidates of each slot, then a cut where it is too long.

Owns `best_labels` and what a text's slots are. Does not own the recursion
(`sumfit.decoding.device.crf`) or the cut (`sumfit.baselines.fitting`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from sumfit.baselines.base import Baseline, BaselineOptions, Wanted, Written
from sumfit.baselines.ctc import pad_slots
from sumfit.decoding.device.crf import viterbi
from sumfit.errors import SumfitError
from sumfit.losses.crf import choose_candidates, forbid_leaving, log_partition
from sumfit.models.bert_crf import END, BertCRF

__all__ = ["BertCRFBaseline", "Labelling", "best_labels"]


class BertCRFBaseline(Baseline):
    """BERT-CRF, which ends a summary where it likes; soft."""

    method = "viterbi"

    def write(
        self, wanted: Sequence[Wanted], options: BaselineOptions
    ) -> list[Written | SumfitError]:
        """Write summaries of texts of similar length together.

        Args:
            wanted: Texts and requests.
            options: Nothing that matters here.

        Returns:
            What was written for each, as long as the model made it.
        """
        network: Any = self.network
        assert isinstance(network, BertCRF)
        rows = [item.source.ids for item in wanted]
        source_ids, mask = pad_slots(rows, [network.config.n_vertices(len(row)) for row in rows])
        found = best_labels(network, source_ids.to(self.device), mask.to(self.device))
        return [Written(tuple(item.words), item.log_prob, item.score) for item in found]


class Labelling(NamedTuple):
    """The words of the best labelling, its score, and its log-probability among the candidates."""

    words: list[int]
    score: float
    log_prob: float


@torch.no_grad()
def best_labels(network: BertCRF, source_ids: Tensor, mask: Tensor) -> list[Labelling]:
    """Find the best labelling of each source, which is not empty.

    Args:
        network: The network, in evaluation mode.
        source_ids: ``(B, T)`` int64, pad 0.
        mask: ``(B, S)`` ``True`` = real slot.

    Returns:
        For each source the words before the end.
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
        log_probs = scores - log_partition(emission, transition, mask)
    labels = candidates.gather(2, places[..., None])[..., 0]
    labels = torch.where(mask, labels, END)
    lengths = (F.pad(labels, (0, 1), value=END) == END).int().argmax(dim=1)
    rows = zip(*(x.tolist() for x in (labels, lengths, scores, log_probs)), strict=True)
    return [Labelling(row[:length], score, log_prob) for row, length, score, log_prob in rows]
