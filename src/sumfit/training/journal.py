"""What a run tells: a line on stderr, ``metrics.jsonl``, TensorBoard.

Owns the running sums of a log window and the three outputs. Sums stay on the device and are read
once per window.
"""

from __future__ import annotations

import importlib
import json
import logging
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sumfit.losses.objective import LossOutput
from sumfit.training.parallel import Processes
from sumfit.writing import naming, write_whole

__all__ = ["Journal", "Window"]

logger = logging.getLogger(__name__)
_STATS = ("revealed", "right", "gain", "scorer", "prefers", "verdict")
_SUMS = (
    *("loss", "nll", "tokens", "items", "nonfinite", *_STATS),  # of a batch
    *("split", "grad_norm", "steps"),
)


class Window:
    """Sums over the steps since the last line of the log."""

    def __init__(self, processes: Processes) -> None:
        """Start an empty window.

        Args:
            processes: The processes to sum over.
        """
        self._processes = processes
        self._sums = torch.zeros(len(_SUMS), dtype=torch.float64).to(processes.device)
        self._started = time.monotonic()

    def add(self, out: LossOutput) -> None:
        """Add a batch.

        Args:
            out: Its loss and counts.
        """
        tokens = out.n_tokens.double()
        zero = torch.zeros_like(tokens)
        values = [
            out.loss.detach().double() * tokens,
            out.nll_sum.double(),
            tokens,
            out.n_items.double(),
            out.n_nonfinite.double(),
            *(out.stats.get(name, zero).double() * tokens for name in _STATS),
            zero,
            zero,
            zero,
        ]
        self._sums += torch.stack(values)

    def add_split(self) -> None:
        """Count a batch that had to be split because memory ran out."""
        self._sums[-3] += 1

    def add_step(self, norm: Tensor) -> None:
        """Count a step.

        Args:
            norm: Its gradient norm; left out of the mean where it is not finite.
        """
        self._sums[-2] += torch.where(norm.isfinite(), norm, 0.0)
        self._sums[-1] += 1

    def close(self) -> dict[str, float]:
        """End the window and begin the next; all processes must call it together.

        Returns:
            Means per target word, mean gradient norm, counts and rates over all processes.
        """
        n_steps = self._sums[-1].item()
        self._processes.sum_(self._sums)
        sums = dict(zip(_SUMS, self._sums.tolist(), strict=True))
        seconds = max(1e-9, time.monotonic() - self._started)
        self._sums.zero_()
        self._started = time.monotonic()
        words = max(1.0, sums["tokens"])
        return {
            "loss": sums["loss"] / words,
            "nll": sums["nll"] / words,
            **{name: sums[name] / words for name in _STATS},
            "grad_norm": sums["grad_norm"] / max(1.0, sums["steps"]),
            "pairs": sums["items"],
            "nonfinite_items": sums["nonfinite"],
            "split_batches": sums["split"],
            "pairs_per_s": sums["items"] / seconds,
            "step_ms": 1000 * seconds / max(1.0, n_steps),
        }

    def restart_clock(self) -> None:
        """Leave the time of a validation or checkpoint out of the rates."""
        self._started = time.monotonic()


class Journal:
    """Writes the log of the first process; the others' is silent."""

    def __init__(self, output: Path, *, is_first: bool, resumed_at: int | None = None) -> None:
        """Open the files.

        Args:
            output: Output directory of the run.
            is_first: Whether this process writes.
            resumed_at: Steps done when the run goes on; records of later ones, which will be done
                again, go from ``metrics.jsonl``.
        """
        self._file = None
        self._board: Any = None
        if not is_first:
            return
        output.mkdir(parents=True, exist_ok=True)
        metrics = output / "metrics.jsonl"
        if resumed_at is not None and metrics.exists():
            _forget_after(metrics, resumed_at)
        self._file = metrics.open("a", encoding="utf-8", newline="\n")
        try:
            board = importlib.import_module("torch.utils.tensorboard")
            self._board = board.SummaryWriter(str(output / "tensorboard"))
        except ImportError:
            logger.info("tensorboard is not installed; metrics go to metrics.jsonl alone")

    def write(self, kind: str, step: int, values: dict[str, float]) -> None:
        """Write one record.

        Args:
            kind: ``train`` or ``valid``.
            step: Steps done.
            values: Numbers by name.
        """
        if self._file is None:
            return
        rounded = {name: float(f"{value:.7g}") for name, value in values.items()}
        with naming(self._file.name):
            self._file.write(json.dumps({"kind": kind, "step": step, **rounded}) + "\n")
            self._file.flush()
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(f"{kind}/{name}", value, step)

    def __enter__(self) -> Journal:
        """Use as a context manager that closes the files."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        if self._file is not None:
            self._file.close()
        if self._board is not None:
            self._board.close()


def _forget_after(metrics: Path, step: int) -> None:
    """Leave out the records of steps after this one, and what a killed run wrote half."""
    lines = metrics.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if line.endswith(b"\n") and _step_of(line) <= step]
    if len(kept) < len(lines):
        logger.info("%s: %d records after step %d left out", metrics, len(lines) - len(kept), step)
        write_whole(metrics, b"".join(kept))


def _step_of(line: bytes) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, TypeError, KeyError):
        return float("inf")
