"""Steps that were skipped because their gradient was not finite: named, counted, and at last fatal.

Owns the memory of which items the recent steps saw. Does not own the skipping itself, which
happens on the device (`sumfit.training.optimise`).
"""

from __future__ import annotations

import logging

import numpy as np
import numpy.typing as npt

from sumfit.errors import TrainingError
from sumfit.training.optimise import Optimiser

__all__ = ["BadStepGuard"]

logger = logging.getLogger(__name__)
_SHOWN = 8


class BadStepGuard:
    """Remembers the items of each step until the flags of the optimiser are read."""

    def __init__(self, optimiser: Optimiser, *, max_bad_steps: int) -> None:
        """Start with no steps.

        Args:
            optimiser: Whose flags to read.
            max_bad_steps: Bad steps in a row that end the run.
        """
        self._optimiser = optimiser
        self._max_bad_steps = max_bad_steps
        self._items: dict[int, list[npt.NDArray[np.int64]]] = {}

    def remember(self, step: int, items: list[npt.NDArray[np.int64]]) -> None:
        """Note what a step saw.

        Args:
            step: Steps done before it.
            items: Places in the corpus, one array for each batch.
        """
        self._items[step] = items

    def check(self) -> int:
        """Read the flags of the steps since the last check; waits for the device.

        Returns:
            Steps skipped.

        Raises:
            TrainingError: If too many were skipped in a row.
        """
        flags = self._optimiser.flags.tolist()
        bad = [step for step in self._items if flags[step % len(flags)] > 0]
        worst = int(self._optimiser.most_bad_in_a_row.item())
        for step in bad[:3]:
            logger.warning(
                "step %d skipped: its gradient is not finite (items %s, ... of the corpus)",
                step,
                self._name(step),
            )
        if worst >= self._max_bad_steps:
            raise TrainingError(
                f"the gradient was not finite in {worst} steps in a row, the last of them step "
                f"{bad[-1]} (items {self._name(bad[-1])}, ... of the corpus); lower optimizer.lr "
                "or use run.precision=fp32, and resume from the last checkpoint"
            )
        self._items.clear()
        self._optimiser.flags.zero_()
        self._optimiser.most_bad_in_a_row.zero_()
        return len(bad)

    def _name(self, step: int) -> str:
        return ", ".join(map(str, np.concatenate(self._items[step])[:_SHOWN].tolist()))
