"""Micro-batching: many small requests become few calls, under one bound on what waits.

Owns the queue, its fairness, cancellation and time limits. Does not own what a call does: it is
given a function from texts and options to results.

Texts of all requests wait in one queue of bounded size, of which one client has a share at most. A
free worker thread takes texts of the client whose turn it is (`turns`), of that one's request whose
turn it is. Requests of a client come in their order, each with a turn of one batch's texts or a few
seconds; what is left of it goes behind the others. So small requests are done first come, first
served, thousands of texts delay them by one turn, and a client whose texts take long gets small
batches, and few. Where the model reads several texts at once, a batch is filled up to that number
with texts of other requests that ask for the same thing; where it does not, these would only wait
for each other. There is no timer: batches form while the workers are busy, and a lone request never
waits for company.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from sumfit.errors import OverloadedError, ServiceError
from sumfit.serving.turns import LONG_S, Turn, Turns, surcharge

__all__ = ["Batch", "Batcher", "Work"]

_OUTLIER = 5.0  # a batch counts as at most so many times the mean, so that one cannot shut the door
_SMOOTHING = 0.1  # weight of the newest batch in the running mean of seconds per text
_CLIENT_SMOOTHING = 0.5  # the same for the texts of one client, which may change at once
_BATCH_S = 0.5  # what a batch should take at most, so that the next client's turn comes soon
_TURN_S = 2.0  # what a turn of one request should take at most, before the next of its client
_FIRST_BATCH = 4  # works of a client whose pace is not known yet
_MAX_PACES = 1024  # clients whose pace is remembered
_MAX_BATCH_CHARS = 65_536  # of all its texts; a longer one has a batch of its own
_STUCK_AFTER_S = 1.0  # work that is so late does not heed its time limit


@dataclass(frozen=True, slots=True)
class Work:
    """One thing to do.

    Attributes:
        key: Works with equal keys may share a batch.
        payload: Whatever the run function needs.
        n_chars: How much there is to read for it.
    """

    key: Hashable
    payload: Any
    n_chars: int = 0


@dataclass(slots=True, eq=False)
class _Job:
    """The works of one request that have not been given to a worker, and their results."""

    client: str
    deadline: float
    waiting: deque[tuple[int, Work]]
    results: list[Any]
    done: asyncio.Future[list[Any]]
    n_missing: int
    is_cancelled: bool = False
    used_s: float = 0.0  # of workers
    turn_works: int = 0  # given to workers since its turn began
    turn_s: float = 0.0  # what they should take


@dataclass(slots=True, eq=False)
class _Client:
    """Requests of one client that have works waiting, in the order of their turns."""

    jobs: deque[_Job] = field(default_factory=deque)
    n_waiting: int = 0


class Batch:
    """Works of equal keys in the hands of one worker."""

    def __init__(self, items: Sequence[tuple[_Job, int, Work]]) -> None:
        """Note whose works they are.

        Args:
            items: Each work with its request and its place there.
        """
        self._items = items
        # After the last of these nobody waits any more.
        self._deadline = max(job.deadline for job, _, _ in items)

    @property
    def items(self) -> Sequence[tuple[_Job, int, Work]]:
        """Each work with its request and its place there."""
        return self._items

    @property
    def works(self) -> list[Work]:
        """What to do."""
        return [work for _, _, work in self._items]

    @property
    def is_wanted(self) -> bool:
        """Whether anybody still waits for a result; may be asked from any thread."""
        return any(not job.is_cancelled for job, _, _ in self._items)

    @property
    def seconds_left(self) -> float:
        """Time until the last request in it has run out of it; below 0 afterwards."""
        return self._deadline - time.monotonic()

    def drop_cancelled(self) -> None:
        """Leave out works whose request has ended before they were begun."""
        self._items = [item for item in self._items if not item[0].is_cancelled]


class Batcher:
    """Run works of many requests in shared batches, in a bounded number of threads."""

    def __init__(
        self,
        run: Callable[[Batch], Sequence[Any]],
        *,
        n_workers: int,
        max_batch: int,
        queue_size: int,
        client_queue_size: int | None = None,
        n_together: int | None = None,
        on_batch: Callable[[int, float], None] | None = None,
    ) -> None:
        """Prepare a queue; it starts with the first submission.

        Args:
            run: Called in a worker thread with works of equal keys; returns one result each.
            n_workers: Threads.
            max_batch: Most works a call gets.
            queue_size: Most works that may wait. A request larger than that is accepted only
                when nothing waits.
            client_queue_size: Most works of one client that may wait, and so many of a larger
                request count for the queue; ``None`` for as many as the queue holds.
            n_together: Works that a call does at once. A batch of fewer is filled with works of
                other requests; ``None`` for as many as a batch may hold.
            on_batch: Called on the event loop with the size of each batch and its seconds.
        """
        self._run = run
        self._n_workers = n_workers
        self._max_batch = max_batch
        self._queue_size = queue_size
        self._client_queue_size = client_queue_size or queue_size
        self._n_together = min(max_batch, n_together or max_batch)
        self._on_batch = on_batch
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="sumfit-worker")
        self._clients: OrderedDict[str, _Client] = OrderedDict()  # who had a turn stands behind
        self._turns = Turns(n_workers)
        self._running: set[Batch] = set()
        self._seconds_per_work = 0.0
        self._paces: OrderedDict[str, float] = OrderedDict()  # seconds per work of a client
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def n_waiting(self) -> int:
        """Works that no worker has taken."""
        return sum(client.n_waiting for client in self._clients.values())

    @property
    def n_running(self) -> int:
        """Batches being worked on."""
        return len(self._running)

    @property
    def n_stuck(self) -> int:
        """Batches that are worked on though the time of all their requests has long run out."""
        return sum(batch.seconds_left < -_STUCK_AFTER_S for batch in self._running)

    @property
    def is_stuck(self) -> bool:
        """Whether no worker can take anything, since all are at work that is out of time."""
        return self.n_stuck >= self._n_workers

    @property
    def is_accepting(self) -> bool:
        """Whether a small request of a new client would be accepted now."""
        return not self._is_closed and self._n_counted < self._queue_size

    @property
    def _n_counted(self) -> int:
        """Works waiting, of each client no more than its share."""
        share = self._client_queue_size
        return sum(min(client.n_waiting, share) for client in self._clients.values())

    def forget_pace(self) -> None:
        """Measure the pace again, for example after a warm-up that compiled something."""
        self._seconds_per_work = 0.0
        self._paces.clear()

    def retry_after_s(self) -> int:
        """Seconds until the queue should have room, at least 1, from the measured pace."""
        return max(1, math.ceil(min(self._seconds_of(self.n_waiting), 3600.0)))

    async def submit(
        self, works: Sequence[Work], *, time_limit_s: float, client: str = ""
    ) -> list[Any]:
        """Wait for the results of one request.

        If the caller is cancelled, or the time limit runs out, works that no worker has taken
        are dropped and the results of the others are thrown away.

        Args:
            works: What to do, at least one.
            time_limit_s: Longest to wait, in seconds.
            client: Who asks; requests of one client share its turns and its part of the queue.

        Returns:
            One result per work, in order.

        Raises:
            OverloadedError: If the queue is full, or would not be worked off in time.
            ServiceError: If the batcher was closed.
            asyncio.TimeoutError: If the time limit ran out.
        """
        if self._is_closed:
            raise ServiceError("the server is stopping; send the request to another one")
        self._check_room(client, len(works), time_limit_s)
        job = _Job(
            client=client,
            deadline=time.monotonic() + time_limit_s,
            waiting=deque(enumerate(works)),
            results=[None] * len(works),
            done=asyncio.get_running_loop().create_future(),
            n_missing=len(works),
        )
        if client not in self._clients:
            self._clients[client] = _Client()
            self._turns.join(client)
        queue = self._clients[client]
        queue.jobs.append(job)
        queue.n_waiting += len(works)
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
        while (self._clients or self._tasks) and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        finished = not self._clients and not self._tasks
        self._pool.shutdown(wait=finished, cancel_futures=True)
        return finished

    def _seconds_of(self, n_works: int) -> float:
        return n_works * self._seconds_per_work / self._n_workers

    def _check_room(self, client: str, n_works: int, time_limit_s: float) -> None:
        own = self._clients[client].n_waiting if client in self._clients else 0
        share = self._client_queue_size
        again = f"try again in {self.retry_after_s()} s"
        if own and own + n_works > share:
            raise OverloadedError(
                f"{own} texts of this client are waiting, and {share} of one client may; {again}"
            )
        counted = self._n_counted
        if counted and counted - min(own, share) + min(own + n_works, share) > self._queue_size:
            raise OverloadedError(
                f"{self.n_waiting} texts are waiting and the queue holds {self._queue_size}; "
                f"{again}"
            )
        before = self._n_before(client, own + n_works)
        expected_s = self._seconds_of(before)
        if expected_s > time_limit_s:
            raise OverloadedError(
                f"{before} texts come before it, about {expected_s:.0f} s of work, and a request "
                f"may take {time_limit_s:g} s; {again}"
            )

    def _n_before(self, client: str, n_works: int) -> int:
        """Works that are done before the last of so many of a client is begun, by the turns."""
        most = self._max_batch * math.ceil(n_works / self._max_batch)
        return sum(
            queue.n_waiting if name == client else min(queue.n_waiting, most)
            for name, queue in self._clients.items()
        )

    def _fill_workers(self) -> None:
        while self.n_running < self._n_workers and self._clients:
            batch = self._next_batch()
            self._running.add(batch)
            turn = self._turns.begin(
                _shares(batch.items), self._expected_s(batch.items), time.monotonic()
            )
            task = asyncio.get_running_loop().create_task(self._work(batch, turn))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next_batch(self) -> Batch:
        long = [name for name, queue in self._clients.items() if queue.jobs[0].used_s >= LONG_S]
        name = self._turns.next(self._clients, time.monotonic(), long)
        first = self._clients[name]
        job = first.jobs[0]
        key = job.waiting[0][1].key
        # Spread what waits over all workers instead of giving the first one everything.
        most = math.ceil(self.n_waiting / self._n_workers)
        left = self._max_batch - job.turn_works
        items: list[tuple[_Job, int, Work]] = []
        self._take(first, [job], key, min(self._batch_size_of(name), most, left), items)
        self._clients.move_to_end(name, last=False)
        for other, queue in self._clients.items():
            size = min(self._n_together, self._batch_size_of(other), most)
            self._take(queue, queue.jobs, key, size, items)
        self._clients.move_to_end(name)
        if job.turn_works >= self._max_batch or job.turn_s >= _TURN_S:
            job.turn_works, job.turn_s = 0, 0.0
            first.jobs.rotate(-1)
        for job in {id(job): job for job, _, _ in items}.values():
            self._drop_if_empty(job)
        return Batch(items)

    def _take(
        self,
        queue: _Client,
        jobs: Iterable[_Job],
        key: Hashable,
        size: int,
        items: list[tuple[_Job, int, Work]],
    ) -> None:
        """Fill a batch up to so many works with those of some requests of a client."""
        n_chars = sum(work.n_chars for _, _, work in items)
        for job in jobs:
            while job.waiting and job.waiting[0][1].key == key and len(items) < size:
                n_chars += job.waiting[0][1].n_chars
                if items and n_chars > _MAX_BATCH_CHARS:
                    return
                index, work = job.waiting.popleft()
                items.append((job, index, work))
                queue.n_waiting -= 1
                job.turn_works += 1
                job.turn_s += self._pace_of(job.client)

    def _batch_size_of(self, client: str) -> int:
        """Works of a client that a batch may hold, by how long its works have taken."""
        if client not in self._paces:
            return min(self._max_batch, _FIRST_BATCH)
        pace = max(self._paces[client], 1e-6)
        return max(1, min(self._max_batch, int(_BATCH_S / pace)))

    async def _work(self, batch: Batch, turn: Turn) -> None:
        loop = asyncio.get_running_loop()
        start = time.monotonic()
        batch.drop_cancelled()
        items = batch.items
        try:
            if items:
                results = await loop.run_in_executor(self._pool, self._run, batch)
                for (job, index, _), result in zip(items, results, strict=True):
                    _deliver(job, index, result)
        except Exception as error:  # the request gets it; the worker lives on
            for job, _, _ in items:
                if not job.done.done():
                    job.done.set_exception(error)
        finally:
            now = time.monotonic()
            seconds = now - start
            self._running.discard(batch)
            self._turns.end(turn, now, self._clients, _surcharges(items, seconds))
            if items:
                self._note(batch, seconds)
            self._fill_workers()

    def _expected_s(self, items: Sequence[tuple[_Job, int, Work]]) -> float:
        return sum(self._pace_of(job.client) for job, _, _ in items)

    def _pace_of(self, client: str) -> float:
        return self._paces.get(client, self._seconds_per_work)

    def _note(self, batch: Batch, seconds: float) -> None:
        size = len(batch.items)
        old = self._seconds_per_work
        pace = min(seconds / size, _OUTLIER * old) if old else seconds / size
        self._seconds_per_work = old + _SMOOTHING * (pace - old) if old else pace
        for client in {job.client for job, _, _ in batch.items}:
            before = self._paces.pop(client, seconds / size)
            self._paces[client] = before + _CLIENT_SMOOTHING * (seconds / size - before)
        while len(self._paces) > _MAX_PACES:
            self._paces.popitem(last=False)
        if self._on_batch is not None:
            self._on_batch(size, seconds)

    def _forget(self, job: _Job) -> None:
        job.is_cancelled = True
        if job.waiting:
            self._clients[job.client].n_waiting -= len(job.waiting)
            job.waiting.clear()
            self._drop_if_empty(job)

    def _drop_if_empty(self, job: _Job) -> None:
        queue = self._clients[job.client]
        if not job.waiting:
            queue.jobs.remove(job)
        if not queue.jobs:
            del self._clients[job.client]


def _shares(items: Sequence[tuple[_Job, int, Work]]) -> dict[str, float]:
    """The part of a batch that is each client's."""
    counts = Counter(job.client for job, _, _ in items)
    return {client: count / len(items) for client, count in counts.items()}


def _surcharges(items: Sequence[tuple[_Job, int, Work]], seconds: float) -> dict[str, float]:
    """What long requests in a batch cost their clients; each remembers what it has used."""
    surcharges: defaultdict[str, float] = defaultdict(float)
    for job, n_works in Counter(job for job, _, _ in items).items():
        part_s = seconds * n_works / len(items)
        surcharges[job.client] += surcharge(job.used_s, part_s)
        job.used_s += part_s
    return surcharges


def _deliver(job: _Job, index: int, result: Any) -> None:
    job.results[index] = result
    job.n_missing -= 1
    if job.n_missing == 0 and not job.done.done():
        job.done.set_result(job.results)
