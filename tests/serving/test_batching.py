"""The queue: bounded, fair, and rid of work that nobody waits for."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from sumfit.errors import OverloadedError, ServiceError
from sumfit.serving.batching import Batch, Batcher, Work


class Recorder:
    """Run function that can be held up."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.release = threading.Event()
        self.release.set()

    def __call__(self, batch: Batch) -> list[Any]:
        assert self.release.wait(10)
        self.batches.append([work.payload for work in batch.works])
        return [work.payload * 10 for work in batch.works]


def works(*payloads: int, key: str = "a") -> list[Work]:
    return [Work(key, payload) for payload in payloads]


def make(run: Any, **changes: Any) -> Batcher:
    return Batcher(run, **{"n_workers": 1, "max_batch": 4, "queue_size": 8, **changes})


def test_results_come_back_in_the_order_of_the_works() -> None:
    async def scenario() -> None:
        batcher = make(Recorder(), n_workers=3, max_batch=2, queue_size=100)
        jobs = [batcher.submit(works(*range(n)), time_limit_s=5) for n in range(1, 12)]
        for n, results in enumerate(await asyncio.gather(*jobs), start=1):
            assert results == [10 * i for i in range(n)]
        assert await batcher.close(5)

    asyncio.run(scenario())


def test_works_of_different_requests_share_a_batch_when_their_keys_agree() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run)
        jobs = [asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5))]
        await asyncio.sleep(0.05)  # the worker is held up by the first; the others queue
        for payload, key in ((1, "a"), (2, "b"), (3, "a")):
            job = batcher.submit(works(payload, key=key), time_limit_s=5)
            jobs.append(asyncio.ensure_future(job))
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(*jobs)
        assert run.batches == [[0], [1, 3], [2]]
        await batcher.close(5)

    asyncio.run(scenario())


def test_requests_come_in_their_order_where_texts_are_not_read_together() -> None:
    """Those that ask for what many ask for passed the others, which waited twice as long."""

    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run, queue_size=100, n_together=1)
        jobs = [asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5))]
        await asyncio.sleep(0.05)
        for payloads, key in (([1, 2, 3], "a"), ([4], "b"), ([5, 6], "a"), ([7], "c"), ([8], "a")):
            job = batcher.submit(works(*payloads, key=key), time_limit_s=5)
            jobs.append(asyncio.ensure_future(job))
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(*jobs)
        assert run.batches == [[0], [1, 2, 3], [4], [5, 6], [7], [8]]
        await batcher.close(5)

    asyncio.run(scenario())


def test_a_batch_is_filled_up_to_what_is_read_together() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run, queue_size=100, max_batch=8, n_together=3)
        jobs = [asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5))]
        await asyncio.sleep(0.05)
        for payload in range(1, 6):
            job = batcher.submit(works(payload), time_limit_s=5)
            jobs.append(asyncio.ensure_future(job))
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(*jobs)
        assert run.batches == [[0], [1, 2, 3], [4, 5]]
        await batcher.close(5)

    asyncio.run(scenario())


def test_a_turn_of_a_request_ends_after_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request with few but slow texts takes turns as one with many does."""

    async def scenario() -> None:
        run = Recorder()
        pace = Pace(0.9)
        monkeypatch.setattr("sumfit.serving.batching.time", pace)

        def timed_run(batch: Batch) -> list[Any]:
            pace(batch)
            return run(batch)

        batcher = make(timed_run, queue_size=100, max_batch=8, n_together=1)
        await batcher.submit(works(0), time_limit_s=500)  # measures the pace
        run.release.clear()
        held = asyncio.ensure_future(batcher.submit(works(0), time_limit_s=500))
        slow = asyncio.ensure_future(batcher.submit(works(*[1] * 7), time_limit_s=500))
        small = asyncio.ensure_future(batcher.submit(works(2), time_limit_s=500))
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(held, slow, small)
        order = [batch[0] for batch in run.batches[2:]]
        assert order == [1, 1, 1, 2, 1, 1, 1, 1]  # 2.7 s are the first turn above 2 s
        assert {len(batch) for batch in run.batches[2:]} == {1}
        await batcher.close(5)

    asyncio.run(scenario())


def test_a_large_request_delays_a_small_one_by_one_batch_at_most() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run, queue_size=1000)
        large = asyncio.ensure_future(batcher.submit(works(*range(100)), time_limit_s=5))
        await asyncio.sleep(0.05)
        small = asyncio.ensure_future(batcher.submit(works(777, key="b"), time_limit_s=5))
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(large, small)
        assert [777] in run.batches[:3]
        await batcher.close(5)

    asyncio.run(scenario())


def test_a_full_queue_refuses_and_says_how_full_it_is() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run)
        first = asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5))
        await asyncio.sleep(0.05)
        queued = asyncio.ensure_future(batcher.submit(works(*range(8)), time_limit_s=5))
        await asyncio.sleep(0.05)
        assert batcher.n_waiting == 8
        assert not batcher.is_accepting
        with pytest.raises(OverloadedError, match="8 texts of this client are waiting"):
            await batcher.submit(works(1), time_limit_s=5)
        run.release.set()
        await asyncio.gather(first, queued)
        assert batcher.n_waiting == 0
        assert batcher.is_accepting
        await batcher.close(5)

    asyncio.run(scenario())


def test_a_request_larger_than_the_queue_is_accepted_when_nothing_waits() -> None:
    async def scenario() -> None:
        batcher = make(Recorder())
        assert len(await batcher.submit(works(*range(50)), time_limit_s=5)) == 50
        await batcher.close(5)

    asyncio.run(scenario())


class Pace:
    """The clock of a batcher whose batches take what the test says, and a little real time."""

    def __init__(self, *seconds_per_work: float) -> None:
        self.left = list(seconds_per_work)
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def __call__(self, batch: Batch) -> list[Any]:
        size = len(batch.works)
        self.now += size * (self.left.pop(0) if len(self.left) > 1 else self.left[0])
        time.sleep(0.01)
        return [None] * size


def test_a_request_that_could_not_be_done_in_time_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        run = Pace(0.05)
        monkeypatch.setattr("sumfit.serving.batching.time", run)
        batcher = make(run, queue_size=1000)
        await batcher.submit(works(1, 2), time_limit_s=5)  # measures the pace
        long = asyncio.ensure_future(batcher.submit(works(*range(40)), time_limit_s=5))
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError, match=r"s of work, and a request may take 0\.2 s"):
            await batcher.submit(works(1), time_limit_s=0.2)
        assert batcher.retry_after_s() == 2  # 36 texts of 0.05 s
        long.cancel()
        await asyncio.gather(long, return_exceptions=True)
        await batcher.close(5)

    asyncio.run(scenario())


def test_one_slow_batch_does_not_make_the_queue_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        run = Pace(0.01, 2.0, 0.0)
        monkeypatch.setattr("sumfit.serving.batching.time", run)
        batcher = make(run, queue_size=1000)
        await batcher.submit(works(1), time_limit_s=5)
        await batcher.submit(works(2), time_limit_s=5)  # counts as 0.05 s, a tenth of it at once
        monkeypatch.setattr(Batcher, "n_waiting", 100)
        assert batcher.retry_after_s() <= 2
        batcher.forget_pace()
        assert batcher.retry_after_s() == 1
        await batcher.close(5)

    asyncio.run(scenario())


def test_cancelled_work_is_not_started() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run)
        first = asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5))
        await asyncio.sleep(0.05)
        second = asyncio.ensure_future(batcher.submit(works(1, 2, 3), time_limit_s=5))
        await asyncio.sleep(0.05)
        second.cancel()
        await asyncio.sleep(0.05)
        assert batcher.n_waiting == 0
        run.release.set()
        await first
        assert await batcher.close(5)
        assert run.batches == [[0]]

    asyncio.run(scenario())


def test_the_time_limit_drops_waiting_work() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run)
        first = asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5))
        await asyncio.sleep(0.05)
        with pytest.raises(asyncio.TimeoutError):
            await batcher.submit(works(1), time_limit_s=0.05)
        assert batcher.n_waiting == 0
        run.release.set()
        await first
        await batcher.close(5)
        assert run.batches == [[0]]

    asyncio.run(scenario())


def test_an_exception_reaches_its_requests_and_the_worker_goes_on() -> None:
    async def scenario() -> None:
        def run(batch: Batch) -> list[Any]:
            if any(work.payload < 0 for work in batch.works):
                raise RuntimeError("broken")
            return [work.payload for work in batch.works]

        batcher = make(run)
        with pytest.raises(RuntimeError, match="broken"):
            await batcher.submit(works(-1), time_limit_s=5)
        assert await batcher.submit(works(5), time_limit_s=5) == [5]
        await batcher.close(5)

    asyncio.run(scenario())


def test_closing_finishes_what_was_accepted_and_refuses_the_rest() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run)
        accepted = asyncio.ensure_future(batcher.submit(works(1, 2), time_limit_s=5))
        await asyncio.sleep(0.05)
        closing = asyncio.ensure_future(batcher.close(5))
        await asyncio.sleep(0.05)
        with pytest.raises(ServiceError, match="the server is stopping"):
            await batcher.submit(works(3), time_limit_s=5)
        run.release.set()
        assert await accepted == [10, 20]
        assert await closing

    asyncio.run(scenario())


def test_closing_gives_up_after_its_time_limit() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run)
        stuck = asyncio.ensure_future(batcher.submit(works(1), time_limit_s=5))
        await asyncio.sleep(0.05)
        assert not await batcher.close(0.05)
        run.release.set()
        await stuck

    asyncio.run(scenario())


def test_clients_take_turns_however_many_requests_one_sends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        run = Recorder()
        pace = Pace(1.0)  # every text takes a second
        monkeypatch.setattr("sumfit.serving.batching.time", pace)

        def timed_run(batch: Batch) -> list[Any]:
            pace(batch)
            return run(batch)

        run.release.clear()
        batcher = make(timed_run, queue_size=1000, max_batch=2)
        hog = [
            asyncio.ensure_future(
                batcher.submit(works(i, i, i, key=f"k{i}"), time_limit_s=500, client="hog")
            )
            for i in range(20)
        ]
        await asyncio.sleep(0.05)
        other = [
            asyncio.ensure_future(
                batcher.submit(works(100 + i, key="o"), time_limit_s=500, client="other")
            )
            for i in range(4)
        ]
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(*hog, *other)
        places = [i for i, batch in enumerate(run.batches) if batch[0] >= 100]
        # The first and last of other's may wait for one batch of the hog's.
        assert places[0] == 1
        assert len(places) == 2 or places[-1] <= 5
        await batcher.close(5)

    asyncio.run(scenario())


def test_a_client_whose_texts_take_long_has_as_many_seconds_as_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Turns of equal number gave it all but a few hundredths of the workers' time."""

    async def scenario() -> None:
        run = Recorder()
        clock = Pace(0.0)
        monkeypatch.setattr("sumfit.serving.batching.time", clock)
        used = {"slow": 0.0, "quick": 0.0}
        shares: list[float] = []

        def timed_run(batch: Batch) -> list[Any]:
            results = run(batch)
            for work in batch.works:
                clock.now += work.payload
                used["slow" if work.payload > 1 else "quick"] += work.payload
            shares.append(used["quick"] / sum(used.values()))
            return results

        batcher = make(timed_run, queue_size=1000, max_batch=4)
        run.release.clear()
        slow = [
            asyncio.ensure_future(
                batcher.submit([Work(f"s{i}", 5.0)], time_limit_s=10_000, client="slow")
            )
            for i in range(20)
        ]
        quick = [
            asyncio.ensure_future(
                batcher.submit([Work(f"q{i}", 0.125)], time_limit_s=10_000, client="quick")
            )
            for i in range(400)
        ]
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(*quick)
        assert len(shares) < 400 + 13  # else the slow ones had more than half
        assert all(share > 0.4 for share in shares[200:])
        await asyncio.gather(*slow)
        await batcher.close(5)

    asyncio.run(scenario())


@pytest.mark.parametrize("large_s", [0.03125, 4.0])
def test_beside_small_requests_a_long_one_has_a_quarter_of_the_seconds(
    monkeypatch: pytest.MonkeyPatch, large_s: float
) -> None:
    async def scenario() -> None:
        clock = Pace(0.0)
        monkeypatch.setattr("sumfit.serving.batching.time", clock)
        used = {"large": 0.0, "small": 0.0}

        def timed_run(batch: Batch) -> list[Any]:
            for work in batch.works:
                clock.now += large_s if work.key == "large" else 0.25
                used[str(work.key)] += large_s if work.key == "large" else 0.25
            return [None] * len(batch.works)

        batcher = make(timed_run, queue_size=100_000, max_batch=16, n_together=1)
        all_of_it = [Work("large", None) for _ in range(20_000)]
        large = asyncio.ensure_future(batcher.submit(all_of_it, time_limit_s=1e6, client="large"))

        async def ask() -> None:
            for _ in range(100):
                await batcher.submit([Work("small", None)], time_limit_s=1e6, client="other")

        await asyncio.gather(*(ask() for _ in range(4)))
        assert 0.2 < used["large"] / sum(used.values()) < 0.3
        large.cancel()
        await asyncio.gather(large, return_exceptions=True)
        await batcher.close(5)

    asyncio.run(scenario())


@pytest.mark.parametrize(("seconds", "held"), [(0.5, "large small"), (5.0, "small small")])
def test_beside_a_long_request_small_ones_may_have_all_workers(
    monkeypatch: pytest.MonkeyPatch, seconds: float, held: str
) -> None:
    async def scenario() -> None:
        clock = Pace(0.0)
        monkeypatch.setattr("sumfit.serving.batching.time", clock)
        running: list[tuple[str, threading.Event]] = []

        def run(batch: Batch) -> list[Any]:
            running.append((str(batch.works[0].key), threading.Event()))
            assert running[-1][1].wait(10)
            return [None] * len(batch.works)

        async def end_first() -> None:
            ended = running.pop(0)
            ended[1].set()
            while len(running) < 2:
                await asyncio.sleep(0.005)

        batcher = make(run, n_workers=2, max_batch=1, queue_size=1000)
        large = [Work("large", None)] * 100
        jobs = [asyncio.ensure_future(batcher.submit(large, time_limit_s=1e6, client="large"))]
        while len(running) < 2:
            await asyncio.sleep(0.005)
        clock.now += seconds
        await end_first()
        for _ in range(5):
            small = [Work("small", None)]
            jobs.append(
                asyncio.ensure_future(batcher.submit(small, time_limit_s=1e6, client="other"))
            )
        await asyncio.sleep(0)
        await end_first()
        await end_first()
        assert " ".join(sorted(key for key, _ in running)) == held
        for job in jobs:
            job.cancel()
        for _, event in running:
            event.set()
        await asyncio.gather(*jobs, return_exceptions=True)
        await batcher.close(5)

    asyncio.run(scenario())


def test_one_client_fills_its_part_of_the_queue_and_no_more() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run, queue_size=8, client_queue_size=5)
        jobs = [asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5, client="first"))]
        await asyncio.sleep(0.05)

        def queue(n_works: int, client: str) -> None:
            job = batcher.submit(works(*range(n_works)), time_limit_s=5, client=client)
            jobs.append(asyncio.ensure_future(job))

        queue(50, "hog")  # more than the queue holds, but nothing waits
        await asyncio.sleep(0.05)
        with pytest.raises(OverloadedError, match="50 texts of this client are waiting, and 5 of"):
            await batcher.submit(works(1), time_limit_s=5, client="hog")
        assert batcher.is_accepting
        queue(3, "other")
        await asyncio.sleep(0.05)
        assert not batcher.is_accepting
        with pytest.raises(OverloadedError, match="53 texts are waiting and the queue holds 8"):
            await batcher.submit(works(1), time_limit_s=5, client="third")
        run.release.set()
        await asyncio.gather(*jobs)
        await batcher.close(5)

    asyncio.run(scenario())


def test_a_client_whose_texts_take_long_gets_small_batches_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sumfit.serving.batching._BATCH_S", 0.5)

    async def scenario() -> None:
        run = Recorder()

        def slow_run(batch: Batch) -> list[Any]:
            if batch.works[0].payload == 1:
                time.sleep(0.3 * len(batch.works))
            return run(batch)

        batcher = make(slow_run, queue_size=100, max_batch=4)
        hog = asyncio.ensure_future(batcher.submit(works(*[1] * 8), time_limit_s=20, client="hog"))
        await asyncio.sleep(0.05)
        await batcher.submit(works(*[2] * 8), time_limit_s=20, client="other")
        await hog
        sizes = [len(batch) for batch in run.batches if batch[0] == 1]
        assert sizes[0] == 4
        assert set(sizes[1:]) == {1}
        assert all(len(set(batch)) == 1 for batch in run.batches[2:])
        await batcher.close(20)

    asyncio.run(scenario())


def test_a_newcomer_is_told_of_the_wait_before_its_turn_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        run = Pace(1.0)
        monkeypatch.setattr("sumfit.serving.batching.time", run)
        batcher = make(run, queue_size=1000, client_queue_size=500, max_batch=1)
        await batcher.submit(works(1), time_limit_s=50, client="hog")
        hog = asyncio.ensure_future(
            batcher.submit(works(*range(100)), time_limit_s=500, client="hog")
        )
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError, match="99 texts come before it"):
            await batcher.submit(works(1), time_limit_s=5, client="hog")
        assert await batcher.submit(works(1), time_limit_s=5, client="other") == [None]
        hog.cancel()
        await asyncio.gather(hog, return_exceptions=True)
        await batcher.close(5)

    asyncio.run(scenario())


def test_long_texts_have_batches_of_their_own() -> None:
    async def scenario() -> None:
        run = Recorder()
        run.release.clear()
        batcher = make(run, queue_size=100, max_batch=8)
        first = asyncio.ensure_future(batcher.submit(works(0), time_limit_s=5))
        await asyncio.sleep(0.05)
        sizes = [10, 60_000, 10, 10, 1_000_000, 1_000_000, 10]
        mixed = [Work("a", size, n_chars=size) for size in sizes]
        rest = asyncio.ensure_future(batcher.submit(mixed, time_limit_s=5))
        await asyncio.sleep(0.05)
        run.release.set()
        await asyncio.gather(first, rest)
        assert run.batches[1:] == [[10, 60_000, 10, 10], [1_000_000], [1_000_000], [10]]
        await batcher.close(5)

    asyncio.run(scenario())
