"""The gradient of one step: a sum over batches, which stays exact when memory runs out.

Owns the loss of a batch, its seed, and the splitting of a batch that does not fit. Does not own
what is done with the gradient (`sumfit.training.optimise`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import torch
from torch import Tensor

from sumfit.errors import TrainingError
from sumfit.losses.objective import LossOutput
from sumfit.models.network import Network
from sumfit.training.journal import Window
from sumfit.training.loader import MicroBatch
from sumfit.training.optimise import Optimiser
from sumfit.training.recipe import Recipe
from sumfit.training.systems import LossOptions, get_system
from sumfit.training.validation import autocast

__all__ = ["StepGradient"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Part:
    """A batch, or half of one, that the gradient is made of."""

    micro: MicroBatch
    tensors: dict[str, Tensor]
    number: int


class StepGradient:
    """Sums the gradients of the batches of a step."""

    def __init__(
        self, recipe: Recipe, model: Network, optimiser: Optimiser, device: torch.device
    ) -> None:
        """Remember what a loss needs.

        Args:
            recipe: The recipe.
            model: The network.
            optimiser: Holds the gradients.
            device: Where the network is.
        """
        self._recipe = recipe
        self._system = get_system(recipe.system)
        self._model = model
        self._optimiser = optimiser
        self._device = device
        self._generator = torch.Generator(device=device)
        self._parts: list[_Part] = []
        self._step = 0
        self._glance = 0.0

    def begin(self, *, step: int, glance: float) -> None:
        """Begin a step with a gradient of zero.

        Args:
            step: Steps done before.
            glance: Share of words that glancing reveals.
        """
        self._step, self._glance = step, glance
        self._parts.clear()
        self._optimiser.zero_gradients()

    def add(self, micro: MicroBatch, window: Window) -> None:
        """Add the gradient of one batch; split it once if memory runs out.

        Args:
            micro: The batch.
            window: Gets its loss and counts.

        Raises:
            TrainingError: If even half of it does not fit.
        """
        try:
            self._add(_Part(micro, micro.tensors, 0), window)
        except torch.OutOfMemoryError:
            logger.warning("out of memory on %s; splitting it", _describe(micro))
        else:
            return
        torch.cuda.empty_cache()
        window.add_split()
        # The failed attempt may have added to the gradient what the halves will add again, so the
        # sum is computed again: the same seeds give the same terms.
        self._optimiser.zero_gradients()
        for part in self._parts:
            self._loss(part)
        half = len(micro.items) // 2
        for number, rows in enumerate((slice(None, half), slice(half, None))):
            tensors = {name: value[rows] for name, value in micro.tensors.items()}
            try:
                self._add(_Part(micro, tensors, number), window)
            except torch.OutOfMemoryError as error:
                raise TrainingError(
                    f"out of memory on half of {_describe(micro)}; lower data.batch_tokens "
                    f"(now {self._recipe.data.batch_tokens}) and resume"
                ) from error

    def _add(self, part: _Part, window: Window) -> None:
        window.add(self._loss(part))
        self._parts.append(part)

    def _loss(self, part: _Part) -> LossOutput:
        """Add the gradient of a part; return its loss."""
        recipe = self._recipe
        # Randomness depends on the step and the batch's place in it alone, so a resumed run and
        # one on another number of processes draw the same.
        seed = hash((recipe.seed, self._step, part.micro.place, part.number)) & 0x7FFF_FFFF
        torch.manual_seed(seed)
        self._generator.manual_seed(seed)
        on_device = {k: v.to(self._device, non_blocking=True) for k, v in part.tensors.items()}
        options = LossOptions(
            label_smoothing=recipe.loss.label_smoothing,
            glance_ratio=self._glance,
            ngram_weight=recipe.loss.ngram_weight,
            risk_weight=recipe.loss.risk_weight,
            mass_weight=recipe.loss.mass_weight,
            scorer_weight=recipe.loss.scorer_weight,
            preference_weight=recipe.loss.preference_weight,
            verdict_weight=recipe.loss.verdict_weight,
            generator=self._generator,
        )
        with autocast(self._device, recipe.run.precision):
            out = self._system.loss(self._model, on_device, options)
        # Gradients are summed over batches and processes, so each word of the step weighs the
        # same, whatever batch it is in.
        torch.autograd.backward(out.loss * (out.n_tokens / part.micro.n_step_targets))
        return out


def _describe(micro: MicroBatch) -> str:
    shapes = {name: tuple(value.shape) for name, value in micro.tensors.items()}
    first = ", ".join(map(str, micro.items[:4].tolist()))
    return (
        f"a batch of {len(micro.items)} pairs, source {shapes['source_ids']}, graph "
        f"{shapes['vertex_mask']}, target {shapes['target_ids']} (items {first}, ...)"
    )
