"""Worker processes: results in order, a bound on what is in flight, and no wait for the dead."""

from __future__ import annotations

import contextlib
import multiprocessing
import operator
import os
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

from sumfit.errors import ConfigError, ServiceError
from sumfit.workers import Workers

_KILLED = (
    r"^all worker processes have to last until the work is done, but one was killed by signal 9 "
    r"\(out of memory\?\); run it again with fewer worker processes if memory is short$"
)


@pytest.fixture(autouse=True)
def quick_and_clean() -> Iterator[None]:
    """Every test ends soon, whatever was lost, and leaves neither processes nor threads."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 60
    assert not multiprocessing.active_children()
    assert not [t for t in threading.enumerate() if t.name.startswith("sumfit-process")]


def refuse(_: object) -> None:
    raise ConfigError("workers must be willing, was: no")


def last_of(text: bytes) -> bytes:
    return text[:-1] + bytes([os.getpid() % 2]) * (1 << 22)


def nap_first(number: int) -> int:
    time.sleep(0.3 if number == 0 else 0)
    return number


def unpicklable(_: object) -> object:
    return lambda: None


def not_by_pickle(_: object) -> None:
    error = ValueError("one of a kind")
    error.held = threading.Lock()  # type: ignore[attr-defined]
    raise error


def half_a_result(_: object) -> bytes:
    """Die while the result is on its way."""

    def send_half(pipe: Connection, content: bytes) -> None:
        os.write(pipe.fileno(), content[: len(content) // 2])
        signal.raise_signal(signal.SIGKILL)

    Connection._send = send_half  # type: ignore[attr-defined]
    return bytes(1000)


def test_results_come_in_order_from_several_processes() -> None:
    with Workers(2) as workers:
        assert list(workers.map(nap_first, range(20))) == list(range(20))
        assert len(set(workers.map(_pid, range(40)))) == 2
        # Tasks and results far larger than a pipe holds, more of them than workers.
        big = [bytes(1 << 22)] * 6
        assert [len(text) for text in workers.map(last_of, big, n_ahead=3)] == [(2 << 22) - 1] * 6


def _pid(_: int) -> int:
    time.sleep(0.01)
    return os.getpid()


def test_only_so_many_tasks_are_taken_ahead_of_their_results() -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for number in range(30):
            taken.append(number)
            yield number

    with Workers(2) as workers:
        for done, result in enumerate(workers.map(operator.neg, tasks(), n_ahead=2)):
            assert result == -done
            assert len(taken) <= done + 4
    assert len(taken) == 30


@pytest.mark.parametrize("initializer", [None, refuse])
def test_what_a_worker_raises_is_raised_with_its_place(initializer: object) -> None:
    arguments = (None,) if initializer else ()
    function = len if initializer else refuse
    with (
        Workers(2, initializer, arguments) as workers,  # type: ignore[arg-type]
        pytest.raises(ConfigError, match=r"^workers must be willing, was: no$") as caught,
    ):
        list(workers.map(function, ["a", "b"]))  # type: ignore[arg-type]
    assert "in refuse" in str(caught.value.__cause__)


def test_what_cannot_be_sent_is_an_error_and_loses_no_worker() -> None:
    with Workers(1) as workers:
        with pytest.raises(RuntimeError, match="pickle"):
            list(workers.map(unpicklable, [1]))
        with pytest.raises(RuntimeError, match="one of a kind"):
            list(workers.map(not_by_pickle, [1]))
        assert list(workers.map(abs, [-1])) == [1]


def test_a_worker_that_kills_itself_ends_the_work() -> None:
    with Workers(2) as workers:
        results = workers.map(_neg_or_die, [1, 2, 0, 3, 4])
        assert [next(results), next(results)] == [-1, -2]
        with pytest.raises(ServiceError, match=_KILLED):
            next(results)
        with pytest.raises(ServiceError, match=_KILLED):  # for good
            list(workers.map(operator.neg, [1]))


def _neg_or_die(number: int) -> int:
    if not number:
        time.sleep(0.5)  # the results before are on their way
        signal.raise_signal(signal.SIGKILL)
    return -number


def test_a_worker_killed_from_outside_does_not_wait_for_the_task_before() -> None:
    started = time.monotonic()
    with Workers(2) as workers:
        results = workers.map(time.sleep, [0.0, 100.0, 100.0])
        next(results)
        multiprocessing.active_children()[0].kill()
        with pytest.raises(ServiceError, match=_KILLED):
            next(results)
    assert time.monotonic() - started < 50


def test_a_worker_killed_while_it_sends_does_not_hang_the_work() -> None:
    with Workers(2) as workers, pytest.raises(ServiceError, match=_KILLED):
        list(workers.map(half_a_result, [1, 2]))


def test_a_worker_that_leaves_is_no_killed_one() -> None:
    with (
        Workers(1) as workers,
        pytest.raises(ServiceError, match=r"but one ended by itself with exit code 7; run it"),
    ):
        list(workers.map(os._exit, [7]))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_workers_end_at_once_with_whatever_ends_the_work(error: type[BaseException]) -> None:
    started = time.monotonic()
    with contextlib.suppress(error), Workers(2) as workers:
        for _ in workers.map(time.sleep, [0.0, 100.0, 100.0, 100.0]):
            raise error
    assert time.monotonic() - started < 50
