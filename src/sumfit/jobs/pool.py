"""Worker processes of a job on this machine.

Owns starting, feeding, replacing and stopping them. A worker that dies takes nothing with it: its
chunk is given to a new one, twice at most.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

from sumfit.errors import ConfigError, ServiceError
from sumfit.jobs.spec import Chunk, JobSpec

__all__ = ["run_local"]

Save = Callable[[int, list[dict[str, Any]]], None]

_TRIES = 3


def run_local(spec: JobSpec, chunks: Iterator[Chunk], save: Save) -> None:
    """Summarise chunks in several processes.

    Args:
        spec: The job.
        chunks: What is left to do; taken one at a time as workers become free.
        save: Called in some thread with each chunk's index and results, in any order.

    Raises:
        ServiceError: If a worker cannot start, or keeps dying on the same chunk.
    """
    source = _Shared(chunks)
    is_warm = threading.Event()

    def save_first(index: int, results: list[dict[str, Any]]) -> None:
        save(index, results)
        is_warm.set()

    def feed(number: int) -> None:
        # The first worker compiles what is not compiled yet; the others find it done.
        while number and not is_warm.wait(0.1) and not source.is_stopped:
            pass
        _feed(spec, source, save_first)

    with ThreadPoolExecutor(spec.n_processes, thread_name_prefix="sumfit-job") as threads:
        futures = [threads.submit(feed, number) for number in range(spec.n_processes)]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            source.abandon()
            raise
        finally:
            source.stop()
    for future in done:
        future.result()


class _Shared:
    """An iterator that several threads take from, and that can be stopped with their workers."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self.is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True

    def abandon(self) -> None:
        """Stop, and end the workers whatever they are at."""
        self.stop()
        with self._lock:
            for worker in self._workers:
                worker.kill()

    def start_worker(self, spec: JobSpec) -> _Worker:
        """Start a worker; raises `EOFError` if it is gone before it is ready."""
        with self._lock:
            if self.is_stopped:
                raise EOFError
            worker = _Worker(spec)
            self._workers.append(worker)
        worker.begin(spec)
        return worker

    def __iter__(self) -> Iterator[Chunk]:
        while not self.is_stopped:
            with self._lock:
                chunk = next(self._chunks, None)
            if chunk is None:
                return
            yield chunk


def _feed(spec: JobSpec, chunks: _Shared, save: Save) -> None:
    worker: _Worker | None = None
    try:
        for chunk in chunks:
            for attempt in range(1, _TRIES + 1):
                try:
                    worker = worker or chunks.start_worker(spec)
                    save(chunk.index, worker.run(chunk))
                    break
                except (BrokenPipeError, EOFError) as error:
                    code = worker.close() if worker else None
                    worker = None
                    if chunks.is_stopped:
                        return
                    if attempt == _TRIES:
                        first = chunk.index * spec.chunk_size + 1
                        raise ServiceError(
                            f"a worker died {_TRIES} times (exit code {code}) on records {first} "
                            f"to {first + len(chunk.records) - 1}; look at these records, or "
                            "give fewer --processes if memory is short"
                        ) from error
    finally:
        chunks.stop()
        if worker is not None:
            worker.close()


class _Worker:
    """One worker process."""

    def __init__(self, spec: JobSpec) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sumfit.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="ascii",
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for this process, which ends the workers
        )

    def begin(self, spec: JobSpec) -> None:
        """Load the model; raises `EOFError` if the process is gone."""
        try:
            self._send({"model": spec.model, "options": dict(spec.options)})
            self._receive()
        except BaseException:
            self.close()
            raise

    def run(self, chunk: Chunk) -> list[dict[str, Any]]:
        """Summarise one chunk; raises `EOFError` if the process is gone."""
        self._send({"index": chunk.index, "records": chunk.records})
        answer = self._receive()
        results: list[dict[str, Any]] = answer["results"]
        return results

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> int:
        """End the process and return its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            code = self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._process.stdout.close()
        return code

    def _send(self, content: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(content) + "\n")
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            kind = ConfigError if answer["exit_code"] == 2 else ServiceError
            raise kind.from_parts(answer["failed"])
        return answer
