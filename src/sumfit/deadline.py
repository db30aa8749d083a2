"""How much time and search one result may take, as one object that is passed down.

Owns `Deadline`. Whoever works on a result asks it between two pieces of work, stops when it is
over, and says so; what is returned then, and what is an error, is the worker's own business.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from sumfit.errors import TimeLimitError, given

__all__ = ["Check", "Clock", "Deadline", "Hook"]

Hook = Callable[[], bool]
"""Says whether work was cancelled; once it has said so, it is not asked again."""

Clock = Callable[[], float]
"""Seconds from any beginning, never going back."""


class Check(Protocol):
    """Called between two pieces of work; raises where there is no time for the next."""

    def __call__(self, needs_s: float = 0.0, /) -> None:
        """Raise if the next piece, of so many seconds, should not be begun."""


class Deadline:
    """A moment after which no more work is begun, and expansions that all work shares.

    Both only run down: a deadline that is over stays so, and expansions never come back. Whoever
    waits for the result may end it before, by the hook that is given. Safe for the one thread that
    works on the result.
    """

    __slots__ = ("_clock", "_ends", "_hook", "_left", "_limit_s", "_was_cancelled", "_was_felt")

    def __init__(
        self,
        limit_s: float | None = None,
        max_expansions: int | None = None,
        *,
        spent_s: float = 0.0,
        clock: Clock = time.perf_counter,
        is_cancelled: Hook | None = None,
    ) -> None:
        """Start the clock.

        Args:
            limit_s: Seconds from now on; ``None`` for no limit.
            max_expansions: Prefixes that searches may expand; ``None`` for as many as each of
                them allows itself.
            spent_s: Seconds of the limit that are spent already.
            clock: Tells the time; another one in tests.
            is_cancelled: Says whether nobody waits for the result any more; asked between two
                pieces of work, in the thread that works.
        """
        self._hook = is_cancelled
        self._was_cancelled = False
        self._clock = clock
        self._limit_s = limit_s
        self._ends = math.inf if limit_s is None else clock() + limit_s - spent_s
        self._left = max_expansions
        self._was_felt = False

    @property
    def is_over(self) -> bool:
        """Whether the time has run out, or the work was cancelled."""
        return self.is_cancelled or self._is_late(0.0)

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the result any more."""
        if self._hook is not None and not self._was_cancelled:
            self._was_cancelled = self._hook()
        return self._was_cancelled

    def is_over_by(self, late_s: float) -> bool:
        """Say whether it has been over for so long, or the work was cancelled.

        Args:
            late_s: Seconds after its end; what is quick may still be done in them.

        Returns:
            The verdict.
        """
        return self.is_cancelled or self._is_late(late_s)

    @property
    def is_spent(self) -> bool:
        """Whether no further search may be begun: the time has run out, or the expansions."""
        return self._left == 0 or self.is_over

    @property
    def may_end(self) -> bool:
        """Whether it may be over at some time, so that long work has to ask now and then."""
        return self._ends < math.inf or self._hook is not None

    @property
    def left_s(self) -> float:
        """Seconds left, 0 or more; infinite without a limit."""
        return math.inf if self._ends == math.inf else max(0.0, self._ends - self._clock())

    @property
    def expansions_left(self) -> int | None:
        """Expansions left; ``None`` for no limit."""
        return self._left

    @property
    def was_felt(self) -> bool:
        """Whether some work was left undone for it."""
        return self._was_felt

    def spend(self, n_expanded: int) -> None:
        """Take expansions off; fewer are left from now on, never more.

        Args:
            n_expanded: How many were made; what is above those left counts as all of them.
        """
        if self._left is not None:
            self._left = max(0, self._left - max(0, n_expanded))

    def stop(self) -> None:
        """Note that work was left undone for it."""
        self._was_felt = True

    def part(self, share: float) -> Deadline:
        """A deadline after a share of the time that is left, for one of several pieces of work.

        Args:
            share: Part of it, 0 to 1.

        Returns:
            A deadline with no limit of expansions of its own.
        """
        part = Deadline(clock=self._clock, is_cancelled=self._hook)
        if self._ends < math.inf:
            now = self._clock()
            part._limit_s = max(0.0, self._ends - now) * share
            part._ends = now + part._limit_s
        return part

    def check(self, doing: str, *, late_s: float = 0.0) -> None:
        """Give up if the time has run out, or the work was cancelled.

        Args:
            doing: What was done meanwhile, for the message.
            late_s: Seconds after its end from which on that counts; below 0, before it.

        Raises:
            TimeLimitError: If it has.
        """
        if self.is_cancelled:
            self.stop()
            raise TimeLimitError(
                f"the call was cancelled while {doing}: its is_cancelled said that nobody waits; "
                "call again without it"
            )
        if self._is_late(late_s):
            self.stop()
            raise TimeLimitError(
                f"the time limit of {self._limit_s:g} s ran out while {doing}; give a shorter text "
                "or a higher ",
                given("time_limit_s"),
            )

    def _is_late(self, late_s: float) -> bool:
        return self._ends < math.inf and self._clock() >= self._ends + late_s
