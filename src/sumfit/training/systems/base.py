"""What the trainer needs of a system.

Owns `System` and the options of a loss. Does not own any system.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from sumfit.data.batching import Batch
from sumfit.losses.objective import LossOutput
from sumfit.models.config import DATConfig
from sumfit.models.network import Network, build_network
from sumfit.text import Tokenizer

__all__ = ["LossOptions", "System"]


@dataclass(frozen=True, slots=True)
class LossOptions:
    """Settings of one call of a loss; the defaults are those of a validation.

    Attributes:
        label_smoothing: Share of the probability spread over all words.
        glance_ratio: Share of wrong words revealed; only where the system glances.
        ngram_weight: Share of the loss given to bigram matches; only for graphs.
        risk_weight: Weight of the expected gain of candidates; only for graphs.
        mass_weight: Weight of what all candidates together have lost; only for graphs.
        scorer_weight: Weight of the scorer's cross-entropy; only for graphs that have one.
        preference_weight: Weight of the scorer's preference among marked candidates.
        verdict_weight: Weight of the scorer's verdict on marked candidates.
        generator: Randomness of the loss; the global one if ``None``.
    """

    label_smoothing: float = 0.0
    glance_ratio: float = 0.0
    ngram_weight: float = 0.0
    risk_weight: float = 0.0
    mass_weight: float = 0.0
    scorer_weight: float = 0.0
    preference_weight: float = 0.0
    verdict_weight: float = 0.0
    generator: torch.Generator | None = None


class System(ABC):
    """One kind of model: its network, its loss, and summaries to validate it by.

    Attributes:
        name: As recipes and checkpoints name it.
        glances: Whether its loss reveals target words.
    """

    name: ClassVar[str]
    glances: ClassVar[bool] = False

    def build(self, config: DATConfig, tokenizer: Tokenizer) -> Network:
        """Build the network with random weights.

        Args:
            config: The shape.
            tokenizer: Tokenizer of the corpus.

        Returns:
            The network, on the CPU.
        """
        return build_network(self.name, config)

    @abstractmethod
    def loss(
        self, network: Network, batch: Mapping[str, Tensor], options: LossOptions
    ) -> LossOutput:
        """Return the loss of a batch; nothing here may wait for the GPU.

        Args:
            network: What `build` gave, on its device.
            batch: What `sumfit.training.loader.to_tensors` gives, on that device.
            options: Settings of the loss.

        Returns:
            Loss and counts; items whose loss is not finite are left out and counted.
        """

    @abstractmethod
    def summarize(
        self, network: Network, batch: Batch, tokenizer: Tokenizer, budgets: Sequence[int]
    ) -> list[str]:
        """Write summaries of at most a number of words, for the ROUGE of a validation.

        Args:
            network: The network, in evaluation mode.
            batch: The texts.
            tokenizer: Its tokenizer.
            budgets: Words for each text.

        Returns:
            One summary for each text.
        """
