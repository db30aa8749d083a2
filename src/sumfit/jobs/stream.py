"""Records summarised as they come, without a file job.

Owns keeping each record beside its summaries, and the line that counts them. Does not own reading
or writing.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from sumfit.hypothesis import Summary
from sumfit.jobs.items import Item

if TYPE_CHECKING:
    from sumfit.pipeline import Summarizer

__all__ = ["StreamProgress", "summarize_items"]

_INTERVAL_S = 0.1


class StreamProgress:
    """A line on stderr that counts, shown only where stderr is a terminal.

    Nothing is shown where results go to the same terminal: they are progress enough.
    """

    def __init__(self, what: str, *, stream: TextIO | None = None) -> None:
        """Start the clock.

        Args:
            what: What is counted, in the plural.
            stream: Where to write; stderr if not given.
        """
        self._what = what
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._shown = 0.0
        self._count = 0
        self._is_shown = self._stream.isatty() and not sys.stdout.isatty()

    def __enter__(self) -> StreamProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown and self._count:
            self._show(end="\n")

    def advance(self, n_failed: int) -> None:
        """Count one more.

        Args:
            n_failed: How many have failed so far.
        """
        self._count += 1
        now = time.monotonic()
        if self._is_shown and now - self._shown >= _INTERVAL_S:
            self._shown = now
            self._show(end="", n_failed=n_failed)

    def _show(self, *, end: str, n_failed: int = 0) -> None:
        elapsed = time.monotonic() - self._started
        rate = self._count / elapsed if elapsed > 0 else 0.0
        failed = f", {n_failed:,} failed" if n_failed else ""
        minutes, seconds = divmod(int(elapsed), 60)
        line = f"{self._count:,} {self._what}, {rate:,.0f}/s{failed}, {minutes}:{seconds:02d}"
        self._stream.write(f"\r\x1b[K{line}{end}")
        self._stream.flush()


def summarize_items(
    summarizer: Summarizer,
    items: Iterator[Item],
    *,
    has_own_limits: bool = False,
    batch_size: int | None = None,
    **keywords: Any,
) -> Iterator[tuple[Item, list[Summary]]]:
    """Pair each item with its summaries, in order, as they come.

    Args:
        summarizer: The model.
        items: The items; a bad one passes through beside the model.
        has_own_limits: Whether each item has a limit of its own.
        batch_size: Texts that a batching backend predicts at once.
        **keywords: As for `sumfit.Summarizer.stream`.

    Yields:
        An item, and one summary for each limit.
    """
    waiting: deque[Item] = deque()
    limits: deque[int] = deque()

    def texts() -> Iterator[str | None]:
        for item in items:
            waiting.append(item)
            limits.append(item.limit or 0)
            yield item.text

    def own_limits() -> Iterator[int]:
        while True:
            yield limits.popleft()

    if has_own_limits:
        keywords["max_length"] = own_limits()
    for result in summarizer.stream(texts(), batch_size=batch_size, **keywords):
        yield waiting.popleft(), result if isinstance(result, list) else [result]
