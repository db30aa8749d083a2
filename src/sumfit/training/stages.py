"""The stages that every run has, whatever it trains: resume, step, log, validate, save, finish.

Owns their order, and the books kept between them. Does not own what a step, a validation or a
checkpoint is: `sumfit.training.loop` and `sumfit.training.reranking.loop` say that.
"""

from __future__ import annotations

import dataclasses
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from sumfit.errors import ModelFormatError, ModelNotFoundError
from sumfit.training import checkpoints
from sumfit.training.checkpoints import TrainingState
from sumfit.training.clock import Interrupted, RunClock, Timed
from sumfit.training.guard import BadStepGuard
from sumfit.training.heartbeat import Heartbeat
from sumfit.training.journal import Journal
from sumfit.training.loader import MicroBatch, Position, Prefetcher, Stream
from sumfit.training.optimise import Optimiser
from sumfit.training.parallel import Processes

__all__ = ["Progress", "TrainResult", "TrainingRun"]

logger = logging.getLogger(__name__)
OnProgress = Callable[["Progress"], None]


@dataclass(frozen=True, slots=True)
class Progress:
    """What a progress bar shows.

    Attributes:
        step: Steps done.
        share: Share of the run that is over, 0 to 1.
        left_s: Seconds left, estimated.
        values: Means of the last window of the log.
    """

    step: int
    share: float
    left_s: float
    values: dict[str, float]

    def line(self) -> str:
        """Say how far the run is.

        Returns:
            One line without its end.
        """
        values = self.values
        left = "" if self.left_s == float("inf") else f"  {self.left_s / 60:.1f} min left"
        glance = f"glance {values['glance']:.2f}  " if values["glance"] else ""
        return (
            f"step {self.step}  loss {values['loss']:.3f}  nll {values['nll']:.3f}  "
            f"lr {values['lr']:.2e}  grad {values['grad_norm']:.2f}  {glance}"
            f"{values['pairs_per_s']:.0f} pairs/s{left}"
        )


@dataclass(frozen=True, slots=True)
class TrainResult:
    """How a call that trains ended.

    Attributes:
        step: Steps done, over all calls.
        reason: ``max_steps``, ``max_minutes``, ``patience`` or ``interrupted``.
        checkpoint: The last checkpoint.
        best: Best checkpoint, averaged weights; ``None`` without a validation split.
        scores: Last validation.
    """

    step: int
    reason: str
    checkpoint: Path
    best: Path | None
    scores: dict[str, float]


class RunRecipe(Timed, Protocol):
    """What all recipes say."""

    @property
    def output(self) -> Path:
        """Where checkpoints and logs go."""


class TrainingRun(ABC):
    """One process of a run; subclasses fill in the attributes that are only declared here."""

    _recipe: Any  # a RunRecipe; subclasses have more to read from theirs
    _processes: Processes
    _optimiser: Optimiser
    _guard: BadStepGuard
    _clock: RunClock
    _lr: float
    model: nn.Module
    stream: Stream

    def __init__(self, plan: str) -> None:
        """Start the books.

        Args:
            plan: Fingerprint of the order of batches.
        """
        self._state = TrainingState(plan=plan)
        self._scores: dict[str, float] = {}
        self._validated_at = -1
        self._damaged: dict[Path, str] = {}
        self._doing = "training"
        self._heartbeat = Heartbeat(self._describe, logger.info)

    def run(self, *, resume: bool, on_progress: OnProgress | None = None) -> TrainResult:
        """Train until something ends it, then validate and save.

        Args:
            resume: Go on from the last checkpoint that is intact, if there is any checkpoint.
            on_progress: Called in the first process when the log is written.

        Returns:
            How it ended.
        """
        recipe: RunRecipe = self._recipe
        output = recipe.output
        if resume:
            self._resume()
        if recipe.run.compile:
            self.model.compile_blocks()  # type: ignore[operator]
        if self._processes.is_first:
            self._say_what_is_trained()
        stopped = ""
        device = self._processes.device
        prefetcher = Prefetcher(self.stream, self._state.position, device=device)
        resumed_at = self._state.step if resume else None
        is_first = self._processes.is_first
        log = Journal(output, is_first=is_first, resumed_at=resumed_at)
        heartbeat = self._heartbeat if is_first else nullcontext()
        with log as journal, prefetcher as batches, heartbeat:
            with self._clock.listening():
                micro_batches = iter(batches)
                while not (stopped := self._reason_to_stop()):
                    self._step(micro_batches)
                    self._between_steps(journal, on_progress)
            self._finish(journal, on_progress, validates=stopped != "interrupted")
        best = output / "best"
        return TrainResult(
            self._state.step,
            stopped,
            output / f"checkpoint-{self._state.step:08d}",
            best if best.is_dir() else None,
            self._scores,
        )

    @abstractmethod
    def _step(self, micro_batches: Iterator[MicroBatch]) -> None:
        """Take the batches of one step, update the weights, and end with `_note_step`."""

    @abstractmethod
    def _window_values(self) -> dict[str, float] | None:
        """Close the window of the log; ``None`` if nothing happened in it."""

    @abstractmethod
    def _restart_window(self) -> None:
        """Leave the time that validating and saving took out of the speed."""

    @abstractmethod
    def _validate(self, journal: Journal) -> None:
        """Measure the averaged weights; ends with `_note_validation`.

        Measuring, and nothing else, stands in `RunClock.leaving_undone`.
        """

    @abstractmethod
    def _write(self, folder: Path, *, with_training: bool) -> None:
        """Write a checkpoint folder."""

    @abstractmethod
    def _load(self, folder: Path) -> tuple[TrainingState, dict[str, Tensor]]:
        """Read weights into the network; return where the run stood and the optimiser's tensors."""

    @abstractmethod
    def _say_what_is_trained(self) -> None:
        """Log size, data and step, in the first process."""

    def _note_step(self, micro: MicroBatch, items: Sequence[Any], lr: float) -> None:
        """Count a step that was taken, its last batch given."""
        self._guard.remember(self._state.step, list(items))
        self._lr = lr
        self._state = dataclasses.replace(
            self._state,
            step=self._state.step + 1,
            position=micro.after,
            n_pairs=self._state.n_pairs + sum(map(len, items)) * self._processes.size,
        )

    def _between_steps(self, journal: Journal, on_progress: OnProgress | None) -> None:
        run, step = self._recipe.run, self._state.step
        saves = run.save_every and step % run.save_every == 0
        validates = run.validate_every and step % run.validate_every == 0
        if step % run.log_every == 0 or saves or validates:
            self._log(journal, on_progress)
        if validates:
            self._validate_unless_stopped(journal)
        if saves:
            self._save()
        if saves or validates:
            self._restart_window()

    def _validate_unless_stopped(self, journal: Journal) -> None:
        """Validate; a signal ends that at once, and what was measured so far counts for nothing."""
        self._doing = "validating"
        try:
            self._validate(journal)
        except Interrupted:
            logger.info("step %d: validation left undone", self._state.step)
        self._doing = "training"

    def _finish(self, journal: Journal, on_progress: OnProgress | None, *, validates: bool) -> None:
        """Save first: a validation that takes too long must not cost the run."""
        self._clock.agree()
        self._log(journal, on_progress)
        self._save()
        if validates and self._validated_at != self._state.step:
            self._doing = "validating"
            self._validate(journal)
            self._save()

    def _describe(self) -> str:
        step, run = self._state.step, self._recipe.run
        left_s = self._clock.left_s(step)
        left = "" if left_s in (0.0, float("inf")) else f", {left_s / 60:.1f} min left"
        return f"step {step} of {run.max_steps}: {self._doing}{left}"

    def _log(self, journal: Journal, on_progress: OnProgress | None) -> None:
        step = self._state.step
        values = self._window_values()
        if values is None:
            return
        journal.write("train", step, values)
        self._heartbeat.said()
        if on_progress and self._processes.is_first:
            on_progress(Progress(step, self._clock.share(step), self._clock.left_s(step), values))

    def _note_validation(self, journal: Journal, scores: dict[str, float], score: float) -> None:
        """Log scores and keep the averaged weights if they are the best so far.

        Args:
            journal: The log.
            scores: What was measured.
            score: What decides; less is better.
        """
        self._scores = scores
        journal.write("valid", self._state.step, scores)
        shown = {name: round(value, 3) for name, value in scores.items() if "/" not in name}
        logger.info("step %d valid %s", self._state.step, shown)
        self._heartbeat.said()
        if self._state.best is None or score < self._state.best:
            step = self._state.step
            self._state = dataclasses.replace(self._state, best=score, best_step=step, n_stale=0)
            if self._processes.is_first:
                self._write(self._recipe.output / "best", with_training=False)
        else:
            self._state = dataclasses.replace(self._state, n_stale=self._state.n_stale + 1)

    def _save(self) -> None:
        self._state = dataclasses.replace(self._state, elapsed_s=self._clock.total_s)
        if not self._processes.is_first:
            return
        output = self._recipe.output
        with self._clock.timing("save"):
            folder = output / f"checkpoint-{self._state.step:08d}"
            self._write(folder, with_training=True)
            self._damaged.pop(folder, None)
            keep = self._recipe.run.keep_last
            checkpoints.clear_old(output, keep=keep, damaged=self._damaged)

    def _resume(self) -> None:
        """Go on from the newest checkpoint that all processes can read, if there is any."""
        output: Path = self._recipe.output
        for folder in reversed(checkpoints.folders(output)):
            loaded, problem = None, "another process cannot read it"
            try:
                loaded = self._load(folder)
            except (ModelFormatError, ModelNotFoundError) as error:
                problem = str(error)
            (is_damaged,) = self._processes.max_of([float(loaded is None)])
            if loaded is None or is_damaged:
                self._damaged[folder] = problem
                continue
            if self._processes.is_first:
                for one, why in self._damaged.items():
                    logger.warning("%s is damaged, going on from an earlier one: %s", one, why)
            self._restore(folder, *loaded)
            return
        if self._damaged:
            reasons = "\n".join(f"{one.name}: {why}" for one, why in self._damaged.items())
            raise ModelFormatError(
                f"no checkpoint in {output} is intact:\n{reasons}\n"
                "put an intact copy of one back, or move them away to train from the start"
            )

    def _restore(self, folder: Path, state: TrainingState, tensors: dict[str, Tensor]) -> None:
        """Set optimiser and books to a checkpoint whose weights are in the network already."""
        self._optimiser.load(tensors)
        if state.plan != self._state.plan:
            logger.warning(
                "data or batch size changed: starting epoch %d", state.position.epoch + 1
            )
            position = Position(state.position.epoch + 1)
            # Other data has another validation split, so the old best means nothing.
            state = dataclasses.replace(
                state, position=position, plan=self._state.plan, best=None, n_stale=0
            )
        self._state = state
        self._clock.before_s = state.elapsed_s
        logger.info("resuming from %s", folder)

    def _reason_to_stop(self) -> str:
        return self._clock.reason_to_stop(step=self._state.step, n_stale=self._state.n_stale)
