"""Micro-batching: many small requests become few calls, under one bound on what waits.

Owns the queue, its fairness, cancellation and time limits. Does not own what a call does: it is
given a function from texts and options to results.

Texts of all requests wait in one queue of bounded size. A free worker thread takes texts of the
request whose turn it is, and fills its batch with texts of other requests that ask for the same
thing; requests take turns, so a request with thousands of texts delays the others by at most one
batch per worker. There is no timer: batches form while the workers are busy, and a lone request
never waits for company.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sumfit.errors import OverloadedError, ServiceError

__all__ = ["Batcher", "Work"]

_OUTLIER = 5.0  # a batch counts as at most so many times the mean, so that one cannot shut the door
_SMOOTHING = 0.1  # weight of the newest batch in the running mean of seconds per text


@dataclass(frozen=True, slots=True)
class Work:
    """One thing to do.

    Attributes:
        key: Works with equal keys may share a batch.
        payload: Whatever the run function needs.
    """

    key: Hashable
    payload: Any


@dataclass(slots=True, eq=False)
class _Job:
    """The works of one request that have not been given to a worker, and their results."""

    waiting: deque[tuple[int, Work]]
    results: list[Any]
    done: asyncio.Future[list[Any]]
    n_missing: int
    is_cancelled: bool = False


class Batcher:
    """Run works of many requests in shared batches, in a bounded number of threads."""

    def __init__(
        self,
        run: Callable[[Sequence[Work]], Sequence[Any]],
        *,
        n_workers: int,
        max_batch: int,
        queue_size: int,
        on_batch: Callable[[int, float], None] | None = None,
    ) -> None:
        """Prepare a queue; it starts with the first submission.

        Args:
            run: Called in a worker thread with works of equal keys; returns one result each.
            n_workers: Threads.
            max_batch: Most works a call gets.
            queue_size: Most works that may wait. A request larger than that is accepted only
                when nothing waits.
            on_batch: Called on the event loop with the size of each batch and its seconds.
        """
        self._run = run
        self._n_workers = n_workers
        self._max_batch = max_batch
        self._queue_size = queue_size
        self._on_batch = on_batch
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="sumfit-worker")
        self._jobs: deque[_Job] = deque()
        self._n_waiting = 0
        self._n_running = 0
        self._seconds_per_work = 0.0
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def n_waiting(self) -> int:
        """Works that no worker has taken."""
        return self._n_waiting

    @property
    def n_running(self) -> int:
        """Batches being worked on."""
        return self._n_running

    @property
    def is_accepting(self) -> bool:
        """Whether a small request would be accepted now."""
        return not self._is_closed and self.n_waiting < self._queue_size

    def forget_pace(self) -> None:
        """Measure the pace anew, for example after a warm-up that compiled something."""
        self._seconds_per_work = 0.0

    def retry_after_s(self) -> int:
        """Seconds until the queue should have room, at least 1, from the measured pace."""
        backlog_s = self.n_waiting * self._seconds_per_work / self._n_workers
        return max(1, math.ceil(min(backlog_s, 3600.0)))

    async def submit(self, works: Sequence[Work], *, time_limit_s: float) -> list[Any]:
        """Wait for the results of one request.

        If the caller is cancelled, or the time limit runs out, works that no worker has taken
        are dropped and the results of the others are thrown away.

        Args:
            works: What to do, at least one.
            time_limit_s: Longest to wait, in seconds.

        Returns:
            One result per work, in order.

        Raises:
            OverloadedError: If the queue is full, or would not be worked off in time.
            ServiceError: If the batcher was closed.
            asyncio.TimeoutError: If the time limit ran out.
        """
        if self._is_closed:
            raise ServiceError("the server is stopping; send the request to another one")
        self._check_room(len(works), time_limit_s)
        job = _Job(
            waiting=deque(enumerate(works)),
            results=[None] * len(works),
            done=asyncio.get_running_loop().create_future(),
            n_missing=len(works),
        )
        self._jobs.append(job)
        self._n_waiting += len(works)
        self._fill_workers()
        try:
            return await asyncio.wait_for(job.done, time_limit_s)
        finally:
            self._forget(job)

    async def close(self, time_limit_s: float) -> bool:
        """Accept nothing more and wait for what was accepted.

        Args:
            time_limit_s: Longest to wait, in seconds.

        Returns:
            Whether everything was finished in time.
        """
        self._is_closed = True
        deadline = time.monotonic() + time_limit_s
        while (self._jobs or self._tasks) and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        finished = not self._jobs and not self._tasks
        self._pool.shutdown(wait=finished, cancel_futures=True)
        return finished

    def _check_room(self, n_works: int, time_limit_s: float) -> None:
        waiting = self.n_waiting
        if waiting and waiting + n_works > self._queue_size:
            raise OverloadedError(
                f"{waiting} texts are waiting and the queue holds {self._queue_size}; "
                f"try again in {self.retry_after_s()} s"
            )
        expected_s = waiting * self._seconds_per_work / self._n_workers
        if expected_s > time_limit_s:
            raise OverloadedError(
                f"{waiting} texts are waiting, about {expected_s:.0f} s of work, and a request "
                f"may take {time_limit_s:g} s; try again in {self.retry_after_s()} s"
            )

    def _fill_workers(self) -> None:
        while self._n_running < self._n_workers:
            batch = self._next_batch()
            if not batch:
                return
            self._n_running += 1
            task = asyncio.get_running_loop().create_task(self._work(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next_batch(self) -> list[tuple[_Job, int, Work]]:
        while self._jobs and not self._jobs[0].waiting:
            self._jobs.popleft()
        if not self._jobs:
            return []
        key = self._jobs[0].waiting[0][1].key
        batch: list[tuple[_Job, int, Work]] = []
        # Spread what waits over all workers instead of giving the first one everything.
        size = min(self._max_batch, math.ceil(self.n_waiting / self._n_workers))
        for job in self._jobs:
            while job.waiting and job.waiting[0][1].key == key and len(batch) < size:
                index, work = job.waiting.popleft()
                batch.append((job, index, work))
            if len(batch) == size:
                break
        self._jobs.rotate(-1)
        self._n_waiting -= len(batch)
        return batch

    async def _work(self, batch: list[tuple[_Job, int, Work]]) -> None:
        loop = asyncio.get_running_loop()
        start = time.monotonic()
        live = [(job, index, work) for job, index, work in batch if not job.is_cancelled]
        try:
            if live:
                works = [work for _, _, work in live]
                results = await loop.run_in_executor(self._pool, self._run, works)
                for (job, index, _), result in zip(live, results, strict=True):
                    _deliver(job, index, result)
        except Exception as error:  # the request gets it; the worker lives on
            for job, _, _ in live:
                if not job.done.done():
                    job.done.set_exception(error)
        finally:
            seconds = time.monotonic() - start
            self._n_running -= 1
            if live:
                self._note(len(live), seconds)
            self._fill_workers()

    def _note(self, size: int, seconds: float) -> None:
        old = self._seconds_per_work
        pace = min(seconds / size, _OUTLIER * old) if old else seconds / size
        self._seconds_per_work = old + _SMOOTHING * (pace - old) if old else pace
        if self._on_batch is not None:
            self._on_batch(size, seconds)

    def _forget(self, job: _Job) -> None:
        job.is_cancelled = True
        self._n_waiting -= len(job.waiting)
        job.waiting.clear()
        if job in self._jobs:
            self._jobs.remove(job)


def _deliver(job: _Job, index: int, result: Any) -> None:
    job.results[index] = result
    job.n_missing -= 1
    if job.n_missing == 0 and not job.done.done():
        job.done.set_result(job.results)
