"""Worker processes that apply a function to many tasks, and what is said when one of them is lost.

Owns their start, one pipe to each, the order of results and their end. Does not own how many there
are (`sumfit.processors`) nor the processes of file jobs, which are replaced (`sumfit.jobs`).

`multiprocessing.Pool` waits forever for a worker that was killed; an executor of
`concurrent.futures` does where the worker was sending a result, and leaves workers behind when the
parent is killed. A pipe to each worker ends on either side with the process on the other.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from sumfit.errors import ServiceError

__all__ = ["Workers"]

Task = TypeVar("Task")
Result = TypeVar("Result")
_Answer = tuple[Any, Exception | None, str]  # result, error, and the traceback of that
_PATIENCE_S = 5.0  # for a process that closed its pipe or was killed


class Workers:
    """Processes started afresh ("spawn"); use them as a context manager, which ends them.

    Interrupts are left to the parent: workers ignore them and are ended by it.
    """

    def __init__(
        self,
        n_workers: int,
        initializer: Callable[..., object] | None = None,
        arguments: tuple[Any, ...] = (),
    ) -> None:
        """Start the processes.

        Args:
            n_workers: How many.
            initializer: Called first in each; what it raises, every task of that process raises.
            arguments: Arguments of it.
        """
        self._lock = threading.Lock()
        self._lost: ServiceError | None = None
        self._all: list[_Worker] = []
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(n_workers, thread_name_prefix="sumfit-process")
        try:
            for _ in range(n_workers):
                self._all.append(_Worker(initializer, arguments))
                self._idle.put(self._all[-1])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes at once, whatever they are at."""
        for worker in self._all:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._all:
            worker.join()

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        *,
        n_ahead: int | None = None,
    ) -> Generator[Result, None, None]:
        """Apply a function to tasks.

        Args:
            function: A function of a module; what it raises is raised here, in its place.
            tasks: Its arguments, taken in this thread as there is room.
            n_ahead: Tasks of each worker at most that are taken before their results are; all if
                ``None``.

        Yields:
            The results, in the order of the tasks.

        Raises:
            ServiceError: If a worker is lost; the others are ended.
        """
        pending: deque[Future[Result]] = deque()
        for task in tasks:
            pending.append(self._threads.submit(self._do, function, task))
            is_full = n_ahead is not None and len(pending) >= n_ahead * len(self._all)
            while pending and (is_full or pending[0].done()):
                is_full = False
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()

    def _do(self, function: Callable[[Task], Result], task: Task) -> Result:
        worker = self._idle.get()
        try:
            result: Result = worker.do(function, task)
            return result
        except _LostError as lost:
            with self._lock:  # the first to go, not those that are ended for it
                if self._lost is None:
                    self._lost = ServiceError(
                        "all worker processes have to last until the work is done, but one "
                        f"{lost}; run it again with fewer worker processes if memory is short"
                    )
            for other in self._all:
                other.kill()
            raise self._lost from None
        finally:
            self._idle.put(worker)


class _LostError(Exception):
    """A worker process is gone; the text says how."""


class _InWorkerError(Exception):
    """The traceback of an error in a worker."""


class _Worker:
    """One process."""

    def __init__(
        self, initializer: Callable[..., object] | None, arguments: tuple[Any, ...]
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, initializer, arguments), daemon=True
        )
        self._process.start()
        theirs.close()  # so that the pipe ends with the process

    def do(self, function: Callable[[Any], Any], task: Any) -> Any:
        """Have a task done; raises `_LostError` if the process is gone."""
        try:
            self._pipe.send((function, task))
            answer: _Answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise _LostError(self._end()) from error
        result, failure, where = answer
        if failure is not None:
            raise failure from _InWorkerError(f"\n{where}")
        return result

    def _end(self) -> str:
        self.join()
        code = self._process.exitcode
        if code is not None and code < 0:
            reason = " (out of memory?)" if code == -signal.SIGKILL else ""
            return f"was killed by signal {-code}{reason}"
        return f"ended by itself with exit code {code}"

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def join(self) -> None:
        """Wait until the process is gone."""
        self._process.join(_PATIENCE_S)


def _serve(
    pipe: Any, initializer: Callable[..., object] | None, arguments: tuple[Any, ...]
) -> None:
    """Do tasks until the parent closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    failed = None
    if initializer is not None:
        _, failure, where = _tried(lambda _: initializer(*arguments), None)
        failed = (None, failure, where) if failure is not None else None
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            function, task = pipe.recv()
            _send(pipe, failed or _tried(function, task))


def _tried(function: Callable[[Any], object], task: Any) -> _Answer:
    try:
        return function(task), None, ""
    except Exception as error:
        return None, error, traceback.format_exc()


def _send(pipe: Any, answer: _Answer) -> None:
    """Send an answer, or why it cannot be: nothing of it is written before all of it is bytes."""
    try:
        pipe.send(answer)
    except ConnectionError:
        raise
    except Exception as error:
        _, failure, where = answer
        pipe.send((None, RuntimeError(repr(failure or error)), where or traceback.format_exc()))
