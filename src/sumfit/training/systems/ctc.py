"""The CTC baseline as a system to train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from sumfit.data.batching import Batch
from sumfit.losses.ctc import ctc_objective
from sumfit.losses.objective import LossOutput
from sumfit.models.ctc import BLANK, CTC
from sumfit.models.network import Network
from sumfit.text import Tokenizer
from sumfit.training.systems.base import LossOptions, System

__all__ = ["CTCSystem"]


class CTCSystem(System):
    """Labels of slots: the sum over all alignments, and the best alignment to validate by."""

    name = "ctc"

    def loss(
        self, network: Network, batch: Mapping[str, Tensor], options: LossOptions
    ) -> LossOutput:
        """Return the loss of a batch; see `sumfit.losses.ctc`.

        Args:
            network: A CTC network.
            batch: Its tensors.
            options: Settings of the loss.

        Returns:
            Loss and counts.
        """
        assert isinstance(network, CTC)
        return ctc_objective(network, batch, blank=BLANK, label_smoothing=options.label_smoothing)

    def summarize(
        self, network: Network, batch: Batch, tokenizer: Tokenizer, budgets: Sequence[int]
    ) -> list[str]:
        """Decode to exactly a number of words, or at most it where that cannot be.

        Args:
            network: A CTC network.
            batch: The texts.
            tokenizer: Its tokenizer.
            budgets: Words for each text.

        Returns:
            One summary for each; empty where the budget cannot be met at all.
        """
        # Only here: decoders and length tables are many imports for a run that looks at the loss.
        from sumfit.baselines.ctc import best_of_words

        assert isinstance(network, CTC)
        device = network.embedding.weight.device
        with torch.no_grad():
            frames = network(
                torch.from_numpy(batch.source_ids).to(device),
                torch.from_numpy(batch.vertex_mask).to(device),
            )
        summaries = []
        sizes = batch.n_vertices.tolist()
        for label_logp, n_slots, n_words in zip(frames.cpu().numpy(), sizes, budgets, strict=True):
            words = best_of_words(label_logp[:n_slots], tokenizer, n_words)
            summaries.append(tokenizer.decode(words))
        return summaries
