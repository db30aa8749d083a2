"""Records summarised as they come, without a file job.

Owns keeping each record beside its summaries. Does not own reading or writing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sumfit.hypothesis import Summary
from sumfit.jobs.items import Item

if TYPE_CHECKING:
    from sumfit.pipeline import Summarizer

__all__ = ["summarize_items"]


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
