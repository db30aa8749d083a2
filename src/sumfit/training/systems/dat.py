"""The Directed Acyclic Transformer as a system to train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from sumfit.data.batching import Batch
from sumfit.losses.objective import LossOutput, objective
from sumfit.losses.risk import risk_objective
from sumfit.models.dat import DAT
from sumfit.models.network import Network
from sumfit.text import Tokenizer
from sumfit.training.systems.base import LossOptions, System

__all__ = ["DATSystem"]


class DATSystem(System):
    """Graphs: the sum over all paths with glancing, and PathMAP to validate by."""

    name = "dat"
    glances = True

    def loss(
        self, network: Network, batch: Mapping[str, Tensor], options: LossOptions
    ) -> LossOutput:
        """Return the loss of a batch; see `sumfit.losses.objective`, and `risk` for candidates.

        Args:
            network: A DAT.
            batch: Its tensors.
            options: Settings of the loss.

        Returns:
            Loss and counts.
        """
        assert isinstance(network, DAT)
        if "candidate_ids" in batch:
            return risk_objective(
                network,
                batch,
                risk_weight=options.risk_weight,
                mass_weight=options.mass_weight,
                label_smoothing=options.label_smoothing,
                scorer_weight=options.scorer_weight,
                preference_weight=options.preference_weight,
                verdict_weight=options.verdict_weight,
            )
        return objective(
            network,
            batch,
            glance_ratio=options.glance_ratio,
            label_smoothing=options.label_smoothing,
            ngram_weight=options.ngram_weight,
            scorer_weight=options.scorer_weight,
            generator=options.generator,
        )

    def summarize(
        self, network: Network, batch: Batch, tokenizer: Tokenizer, budgets: Sequence[int]
    ) -> list[str]:
        """Decode with PathMAP; see `sumfit.training.summaries`.

        Args:
            network: A DAT.
            batch: The texts.
            tokenizer: Its tokenizer.
            budgets: Words for each text.

        Returns:
            One summary for each text.
        """
        # Only here: decoders and length tables are many imports for a run that looks at the loss.
        from sumfit.training.summaries import summarize

        assert isinstance(network, DAT)
        return summarize(network, batch, tokenizer, budgets)
