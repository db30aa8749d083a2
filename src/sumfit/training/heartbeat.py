"""A line at least every half a minute, so that slow work never looks like work that hangs.

Owns the waiting. Does not own what is said, nor the log that it is said in.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["Heartbeat"]


class Heartbeat:
    """Says what is being done whenever nothing else was said for some time.

    It is a context manager: a thread of its own waits while the with-block works.
    """

    def __init__(
        self, describe: Callable[[], str], say: Callable[[str], object], *, every_s: float = 30.0
    ) -> None:
        """Prepare; the thread starts with the with-block.

        Args:
            describe: Says what is being done; called in the thread.
            say: Takes the line.
            every_s: Longest silence.
        """
        self._describe = describe
        self._say = say
        self._every_s = every_s
        self._last_at = time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def said(self) -> None:
        """Note that something else was said just now."""
        self._last_at = time.monotonic()

    def __enter__(self) -> Heartbeat:
        """Begin to wait."""
        self.said()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End, and wait for a line that is being said."""
        self._is_over.set()
        self._thread.join()

    def _beat(self) -> None:
        while True:
            left_s = self._last_at + self._every_s - time.monotonic()
            if left_s > 0:
                if self._is_over.wait(left_s):
                    return
                continue
            self._say(self._describe())
            self.said()
