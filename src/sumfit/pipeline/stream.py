"""Work on an endless stream of items in several threads, in order, with a bounded look-ahead.

Owns `ordered_map` and `grouped`. Knows nothing about texts or models.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

__all__ = ["grouped", "ordered_map"]

A = TypeVar("A")
B = TypeVar("B")


def ordered_map(
    function: Callable[[A], B], items: Iterable[A], *, n_workers: int, look_ahead: int
) -> Iterator[B]:
    """Apply a function to items in threads and yield the results in the items' order.

    At most ``n_workers + look_ahead`` items are taken before the first of them is yielded, so
    the input may be endless. When the consumer stops early, no further item is started.

    Args:
        function: Must be safe to call from several threads.
        items: Any iterable; it is advanced in the consumer's thread.
        n_workers: Threads; with 1 everything happens in the consumer's thread.
        look_ahead: Items that may wait beside those in work.

    Yields:
        One result per item; an exception of ``function`` is raised in its place, one of
        ``items`` behind the results of the items before it.
    """
    if n_workers <= 1:
        yield from map(function, items)
        return
    pending: deque[Future[B]] = deque()
    pool = ThreadPoolExecutor(n_workers, thread_name_prefix="sumfit")
    try:
        iterator = iter(items)
        broken: Exception | None = None
        while True:
            try:
                item = next(iterator)
            except StopIteration:
                break
            except Exception as error:
                broken = error
                break
            pending.append(pool.submit(function, item))
            if len(pending) > n_workers + look_ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
        if broken is not None:
            raise broken
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def grouped(items: Iterable[A], size: int) -> Iterator[list[A]]:
    """Cut a stream into lists.

    Args:
        items: Any iterable.
        size: Items per list; the last may be shorter.

    Yields:
        Lists of ``size`` items.
    """
    iterator = iter(items)
    while group := list(islice(iterator, size)):
        yield group
