"""The autoregressive Transformer as a system to train, told the length or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from sumfit.baselines.beam_search import beam_search
from sumfit.data.batching import Batch
from sumfit.evaluation.baselines import cut_at_words
from sumfit.length import unit_costs
from sumfit.length.units.words import UNIT as WORDS
from sumfit.losses.autoregressive import next_word_loss
from sumfit.losses.objective import LossOutput
from sumfit.models.autoregressive import Autoregressive, LengthInformed
from sumfit.models.config import DATConfig
from sumfit.models.network import Network
from sumfit.text import Tokenizer
from sumfit.training.systems.base import LossOptions, System

__all__ = ["ATSystem", "LenInfoSystem"]

_PIECES_PER_WORD = 6  # far more than any headline takes


class ATSystem(System):
    """Cross-entropy of the next word, and truncated beam search to validate by."""

    name = "at"

    def loss(
        self, network: Network, batch: Mapping[str, Tensor], options: LossOptions
    ) -> LossOutput:
        """Return the loss of a batch; see `sumfit.losses.autoregressive`.

        Args:
            network: An autoregressive network.
            batch: Its tensors.
            options: Label smoothing; the others mean nothing here.

        Returns:
            Loss and counts.
        """
        assert isinstance(network, Autoregressive)
        return next_word_loss(
            network,
            batch,
            n_words=self._n_words(network, batch["target_ids"]),
            label_smoothing=options.label_smoothing,
        )

    def summarize(
        self, network: Network, batch: Batch, tokenizer: Tokenizer, budgets: Sequence[int]
    ) -> list[str]:
        """Search with a beam, and cut what is too long.

        Args:
            network: An autoregressive network.
            batch: The texts.
            tokenizer: Its tokenizer.
            budgets: Words for each text; told to the network that wants to know.

        Returns:
            One summary for each text.
        """
        assert isinstance(network, Autoregressive)
        device = network.embedding.weight.device
        is_told = isinstance(network, LengthInformed)
        found = beam_search(
            network,
            torch.from_numpy(batch.source_ids).to(device),
            # A network that has learned little emits no end, and the rest is cut anyway.
            max_pieces=_PIECES_PER_WORD * max(budgets),
            n_words=torch.tensor(list(budgets), device=device) if is_told else None,
        )
        texts = [tokenizer.decode(best.words) for best, *_ in found]
        return [cut_at_words(text, limit=n).text for text, n in zip(texts, budgets, strict=True)]

    def _n_words(self, network: Autoregressive, target_ids: Tensor) -> Tensor | None:
        return None


class LenInfoSystem(ATSystem):
    """The same for a network that is told the reference's length in words."""

    name = "at-leninfo"

    def build(self, config: DATConfig, tokenizer: Tokenizer) -> Network:
        """Build the network with random weights, and tell it what a word is.

        Args:
            config: The shape.
            tokenizer: Tokenizer of the corpus.

        Returns:
            The network, on the CPU.
        """
        network = super().build(config, tokenizer)
        assert isinstance(network, LengthInformed)
        costs = unit_costs(tokenizer, WORDS)
        network.set_word_costs(costs.cost, costs.first_cost)
        return network

    def _n_words(self, network: Autoregressive, target_ids: Tensor) -> Tensor | None:
        assert isinstance(network, LengthInformed)
        return network.count_words(target_ids)[:, -1]
