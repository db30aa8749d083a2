"""The BERT-CRF baseline as a system to train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from sumfit.data.batching import Batch
from sumfit.losses.crf import crf_objective
from sumfit.losses.objective import LossOutput
from sumfit.models.bert_crf import END, BertCRF
from sumfit.models.network import Network
from sumfit.text import Tokenizer
from sumfit.training.systems.base import LossOptions, System

__all__ = ["BertCRFSystem"]


class BertCRFSystem(System):
    """A field over the slots, and its best labelling, cut after a word, to validate by."""

    name = "bert-crf"

    def loss(
        self, network: Network, batch: Mapping[str, Tensor], options: LossOptions
    ) -> LossOutput:
        """Return the loss of a batch; see `sumfit.losses.crf`.

        Args:
            network: A BERT-CRF network.
            batch: Its tensors.
            options: Settings of the loss.

        Returns:
            Loss and counts.
        """
        assert isinstance(network, BertCRF)
        return crf_objective(
            network,
            batch,
            end=END,
            n_candidates=network.config.n_candidates,
            label_smoothing=options.label_smoothing,
        )

    def summarize(
        self, network: Network, batch: Batch, tokenizer: Tokenizer, budgets: Sequence[int]
    ) -> list[str]:
        """Decode without a limit, and cut what is too long after its last word that fits.

        Args:
            network: A BERT-CRF network.
            batch: The texts.
            tokenizer: Its tokenizer.
            budgets: Words for each text.

        Returns:
            One summary for each text.
        """
        from sumfit.baselines.bert_crf import best_labels
        from sumfit.evaluation.baselines import cut_at_words

        assert isinstance(network, BertCRF)
        device = network.embedding.weight.device
        found = best_labels(
            network,
            torch.from_numpy(batch.source_ids).to(device),
            torch.from_numpy(batch.vertex_mask).to(device),
        )
        texts = [tokenizer.decode(item.words) for item in found]
        return [
            cut_at_words(text, limit=n_words).text
            for text, n_words in zip(texts, budgets, strict=True)
        ]
