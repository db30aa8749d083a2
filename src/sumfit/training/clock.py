"""Time and stopping: one clock for all processes, signals, and how much of a run is over.

Owns every decision that depends on the wall clock, so that all processes take the same one.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from sumfit.training.parallel import Processes
from sumfit.training.recipe import OptimizerSection, RunSection

__all__ = ["Interrupted", "RunClock", "Timed"]

logger = logging.getLogger(__name__)
_AGREE_EVERY = 10  # steps between two moments at which several processes agree on time and end


class Interrupted(Exception):
    """A signal came in the middle of work that may be left undone."""


class Timed(Protocol):
    """A recipe of any kind of run."""

    @property
    def run(self) -> RunSection:
        """How long."""

    @property
    def optimizer(self) -> OptimizerSection:
        """The schedule."""


class RunClock:
    """The clock of one call to `sumfit.training.train`.

    Attributes:
        elapsed_s: Seconds since the call began, as all processes last agreed.
        before_s: Seconds that earlier calls of the run took.
        save_s: Longest time that saving took, at least 2 seconds.
        valid_s: Longest time that a validation took, at least 2 seconds.
    """

    elapsed_s: float
    before_s: float
    save_s: float
    valid_s: float

    def __init__(self, recipe: Timed, processes: Processes, *, started: float) -> None:
        """Start it.

        Args:
            recipe: The recipe.
            processes: The processes that must agree.
            started: `time.monotonic` when the call began.
        """
        self._recipe = recipe
        self._processes = processes
        self._started = started
        self._first_step: int | None = None
        self._first_at = started
        self._is_asked_to_stop = False
        self._may_be_left = False
        self.elapsed_s = self.before_s = 0.0
        self.save_s = self.valid_s = 2.0

    @property
    def total_s(self) -> float:
        """Seconds of the run over all calls, as all processes last agreed."""
        return self.before_s + self.elapsed_s

    def reason_to_stop(self, *, step: int, n_stale: int) -> str:
        """Say whether the run is over; all processes must call it together.

        Args:
            step: Steps done.
            n_stale: Validations since the best one.

        Returns:
            ``max_steps``, ``patience``, ``interrupted`` or ``max_minutes``; empty to go on.
        """
        run = self._recipe.run
        if step >= run.max_steps:
            return "max_steps"
        if run.patience and n_stale >= run.patience:
            return "patience"
        if self._first_step is None or self._processes.size == 1 or step % _AGREE_EVERY == 0:
            if self._first_step is None:
                self._first_step, self._first_at = step, time.monotonic()
            if self.agree():
                return "interrupted"
        if run.max_minutes and self.elapsed_s >= self._limit_s():
            return "max_minutes"
        return ""

    def agree(self) -> bool:
        """Make all processes see the same clock; all must call it together.

        Returns:
            Whether any process was asked to stop.
        """
        now = time.monotonic() - self._started
        flag = float(self._is_asked_to_stop)
        self.elapsed_s, stop, self.save_s, self.valid_s = self._processes.max_of(
            [now, flag, self.save_s, self.valid_s]
        )
        return stop > 0

    def share(self, step: int) -> float:
        """Say how much of the run is over.

        Args:
            step: Steps done.

        Returns:
            0 to 1: of this call's time for the schedule ``time``, else of the steps.
        """
        run = self._recipe.run
        if self._recipe.optimizer.schedule == "time" and run.max_minutes:
            return min(1.0, self.elapsed_s / max(1.0, self._limit_s()))
        return min(1.0, step / run.max_steps)

    def left_s(self, step: int) -> float:
        """Estimate the seconds until this call ends.

        Args:
            step: Steps done.

        Returns:
            Seconds; infinite before the first step.
        """
        run = self._recipe.run
        now = time.monotonic()
        n_done = step - (self._first_step or 0)
        # What went before the first step, lists to make for one, says nothing about the steps.
        step_s = (now - self._first_at) / n_done if n_done > 0 else float("inf")
        by_steps = (run.max_steps - step) * step_s if step < run.max_steps else 0.0
        until = self._started + run.max_minutes * 60
        by_time = until - now if run.max_minutes else float("inf")
        return max(0.0, min(by_steps, by_time))

    @contextmanager
    def timing(self, what: str) -> Iterator[None]:
        """Note how long a with-block takes, to leave that much time before the limit.

        Args:
            what: ``save`` or ``valid``.

        Yields:
            Nothing.
        """
        begun = time.monotonic()
        yield
        seconds = time.monotonic() - begun
        if what == "save":
            self.save_s = max(self.save_s, seconds)
        else:
            self.valid_s = max(self.valid_s, seconds)

    @property
    def is_asked_to_stop(self) -> bool:
        """Whether a signal asked this process to stop; the others may not know of it yet."""
        return self._is_asked_to_stop

    @contextmanager
    def leaving_undone(self) -> Iterator[None]:
        """Let a signal end the with-block at once, by `Interrupted`; all processes enter it.

        Among several processes the work has to look at `is_asked_to_stop` and skip what is left:
        one that is gone would keep the others waiting. `Interrupted` then comes in all of them, at
        the end.

        Yields:
            Nothing.

        Raises:
            Interrupted: If a signal came.
        """
        self._may_be_left = self._processes.size == 1
        try:
            yield
        finally:
            self._may_be_left = False
        if self.agree():
            raise Interrupted

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Turn SIGTERM and SIGINT into a request to save and stop; a second one kills.

        Yields:
            Nothing.
        """

        def note(number: int, _: FrameType | None) -> None:
            if self._is_asked_to_stop:
                raise KeyboardInterrupt
            self._is_asked_to_stop = True
            logger.warning("signal %d: saving and stopping", number)
            if self._may_be_left:
                raise Interrupted

        try:
            old = {kind: signal.signal(kind, note) for kind in (signal.SIGTERM, signal.SIGINT)}
        except ValueError:  # not the main thread: whoever runs us listens
            yield
            return
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    def _limit_s(self) -> float:
        """When training must end so that two savings and a validation fit before the limit."""
        run = self._recipe.run
        return run.max_minutes * 60 - run.reserve_seconds - 3 * self.save_s - self.valid_s
