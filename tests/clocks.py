"""A clock that tests set, so that no test waits and none depends on the machine."""

from __future__ import annotations

__all__ = ["Clock"]


class Clock:
    """Tells a time of its own.

    Attributes:
        now: The time.
        step: Seconds by which each look at it moves it on.
        looks: How often it was asked.
    """

    def __init__(self, now: float = 0.0, *, step: float = 0.0) -> None:
        """Set the clock.

        Args:
            now: The time.
            step: Seconds by which each look moves it on.
        """
        self.now = now
        self.step = step
        self.looks = 0

    def __call__(self) -> float:
        """The time, before it moves on."""
        self.looks += 1
        now, self.now = self.now, self.now + self.step
        return now
