"""Work for an event loop: in threads, ended when nobody waits for it any more.

Owns the threads and what a cancelled caller means. Does not own the work
(`sumfit.pipeline.summarizer`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from sumfit.deadline import Hook

__all__ = ["call_in_thread", "iterate_in_threads"]

_END = object()


async def call_in_thread(call: Callable[..., Any], keywords: Mapping[str, Any]) -> Any:
    """Call something that takes ``is_cancelled``; if the caller is cancelled, that ends the work.

    Args:
        call: What to call.
        keywords: Its keywords, a hook of the user's own among them.

    Returns:
        What it returns.
    """
    with _Waiting(keywords) as waiting:
        return await asyncio.to_thread(call, **waiting.keywords)


async def iterate_in_threads(
    make: Callable[..., Iterator[Any]], keywords: Mapping[str, Any]
) -> AsyncIterator[Any]:
    """Take one item after the other, each in a thread.

    Args:
        make: Makes the iterator; takes ``is_cancelled``. Called at once, so that wrong keywords
            are an error before anything is read.
        keywords: Its keywords, a hook of the user's own among them.

    Yields:
        The items.
    """
    with _Waiting(keywords) as waiting:
        items = make(**waiting.keywords)
        while (item := await asyncio.to_thread(next, items, _END)) is not _END:
            yield item


class _Waiting:
    """A caller that waits; once it has gone, the hook among the keywords says so."""

    def __init__(self, keywords: Mapping[str, Any]) -> None:
        self._has_gone = threading.Event()
        self._own: Hook | None = keywords.get("is_cancelled")
        self.keywords = {**keywords, "is_cancelled": self._is_cancelled}

    def _is_cancelled(self) -> bool:
        return self._has_gone.is_set() or (self._own is not None and self._own())

    def __enter__(self) -> _Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self._has_gone.set()
