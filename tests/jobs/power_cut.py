"""A job whose power is cut at every system call that writes, one after the other.

Run as ``python -m tests.jobs.power_cut INPUT OUTPUT MODEL LOSES``, in a process of its own, as it
forks. Each child runs the same job until the call at which its power is cut. With ``LOSES`` what
was not flushed to the disk by then is lost as well: bytes without an ``fsync`` of their file, names
without one of their folder. The parent then looks at what is left, runs the job again, and looks at
the output.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sumfit.jobs import JobSpec, job, run_job
from sumfit.jobs import spec as spec_module
from sumfit.jobs.spec import Chunk
from sumfit.runtime import ModelDirectory

__all__ = ["Disk"]

CUT = 9  # exit code of a child whose power was cut
_REAL_OPEN = io.open
_PIECE = 60  # bytes of one call


class Disk:
    """Counts the calls that change the disk, and forgets what was not flushed at the last."""

    def __init__(self, last_call: int, *, loses: bool, backups: Path) -> None:
        self._n_left = last_call
        self._loses = loses
        self._backups = backups
        self._n_backups = 0
        self._synced: dict[str, int] = {}  # bytes of each file that are on the disk for good
        self._undo: list[tuple[str, Callable[[], None]]] = []  # by folder, oldest first

    def install(self) -> None:
        for name in ("replace", "unlink", "mkdir", "rmdir", "fsync", "chmod"):
            setattr(os, name, self._counted(getattr(os, name), name))
        io.open = self._open  # type: ignore[assignment]

    def tick(self) -> None:
        self._n_left -= 1
        if self._n_left == 0:
            if self._loses:
                self._lose()
            os._exit(CUT)

    def wrote(self, path: str) -> None:
        self._synced.setdefault(path, 0)

    def _lose(self) -> None:
        for _, undo in reversed(self._undo):
            undo()
        for path, size in self._synced.items():
            if os.path.exists(path):
                os.truncate(path, min(size, os.path.getsize(path)))

    def _counted(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            self.tick()
            note = getattr(self, f"_before_{name}", None)
            after = note(*map(_text, arguments)) if note else None
            result = real(*arguments, **keywords)
            if after:
                after()
            return result

        return call

    def _before_fsync(self, number: Any) -> Callable[[], None]:
        place = os.readlink(f"/proc/self/fd/{number}")

        def after() -> None:
            if os.path.isdir(place):
                self._undo = [one for one in self._undo if one[0] != place]
            else:
                self._synced[place] = os.path.getsize(place)

        return after

    def _before_replace(self, source: str, target: str) -> Callable[[], None]:
        backup = self._backup(target)

        def undo() -> None:
            if os.path.lexists(target):
                os.rename(target, source)
            if backup:
                os.link(backup, target)

        def after() -> None:
            if source in self._synced:
                self._synced[target] = self._synced.pop(source)
            self._undo.append((os.path.dirname(target), undo))

        return after

    def _before_unlink(self, path: str) -> Callable[[], None]:
        backup = self._backup(path)

        def undo() -> None:
            if backup and os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
                os.link(backup, path)

        return lambda: self._undo.append((os.path.dirname(path), undo))

    def _backup(self, path: str) -> str:
        if not os.path.isfile(path):
            return ""
        self._n_backups += 1
        backup = str(self._backups / f"{os.getpid()}-{self._n_backups}")
        os.link(path, backup)
        return backup

    def _open(self, file: Any, mode: str = "r", *arguments: Any, **keywords: Any) -> Any:
        path = _text(file)
        if isinstance(file, int) or not set(mode) & set("wax"):
            return _REAL_OPEN(file, mode, *arguments, **keywords)
        self.tick()
        raw = _Writer(path, mode.replace("b", "").replace("t", ""), self)
        buffered = io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, keywords.get("encoding"), newline=keywords.get("newline"))


class _Writer(io.FileIO):
    def __init__(self, path: str, mode: str, disk: Disk) -> None:
        super().__init__(path, mode)
        self._disk = disk
        disk.wrote(os.path.realpath(path))

    def write(self, data: Any) -> int:
        self._disk.tick()
        return super().write(bytes(data[:_PIECE]))  # the caller writes the rest in further calls


def _text(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def fake_run(spec: JobSpec, chunks: Iterator[Chunk], save: Callable[..., None]) -> None:
    """Summaries by formula, and a line in ``saved.log`` for each part that was reported saved."""
    log = os.open(spec.target.parent / "saved.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for chunk in chunks:
        save(chunk.index, [result_of(record) for record in chunk.records])
        os.write(log, f"{chunk.index}\n".encode())


def result_of(record: dict[str, Any]) -> dict[str, Any]:
    return {"line": record["line"], "text": record["text"][:20], "error_type": None, "error": None}


def in_child(act: Callable[[], None]) -> int:
    number = os.fork()
    if number == 0:
        try:
            act()
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def main(source: str, target: str, model: str, loses: str) -> None:
    """Cut every call once; print the number of calls and what went wrong."""
    job.run_local = fake_run
    directory = ModelDirectory.open(model)  # opened once: it is not what is tested
    spec_module.ModelDirectory = SimpleNamespace(open=lambda _: directory)  # type: ignore[misc, assignment]
    output = Path(target)
    spec = JobSpec(
        input=Path(source),
        output=output,
        options={"max_chars": 40},
        model=model,
        chunk_size=2,
        overwrite=True,
    )
    before = output.read_bytes()
    run_job(spec, show_progress=False)
    expected = output.read_bytes()
    backups = Path(source).parent / "backups"
    backups.mkdir()
    problems: list[str] = []
    n_calls = 0
    while True:
        n_calls += 1
        for leftover in output.parent.iterdir():
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        output.write_bytes(before)

        def cut(last_call: int = n_calls) -> None:
            Disk(last_call, loses=loses == "loses", backups=backups).install()
            run_job(spec, show_progress=False)

        code = in_child(cut)
        left = output.read_bytes() if output.exists() else None
        if left not in (before, expected):
            problems.append(f"call {n_calls}: the output is half-written")
        log = output.parent / "saved.log"
        saved = set(log.read_text().split()) if log.exists() else set()
        parts = {str(int(file.stem)) for file in output.parent.glob("*.job/0*.jsonl")}
        if left != expected and not saved <= parts:
            problems.append(f"call {n_calls}: parts {saved - parts} are lost")
        if code not in (0, CUT):
            problems.append(f"call {n_calls}: exit code {code}")
        if in_child(lambda: void(run_job(spec, show_progress=False))) != 0:
            problems.append(f"call {n_calls}: the job does not go on")
        if output.read_bytes() != expected:
            problems.append(f"call {n_calls}: another output after going on")
        rest = {file.name for file in output.parent.iterdir()} - {output.name, "saved.log"}
        if rest:
            problems.append(f"call {n_calls}: {rest} left over")
        if code == 0:
            break
    sys.stdout.write(json.dumps({"n_calls": n_calls, "problems": problems}))


def void(_: object) -> None:
    """Nothing, of something."""


if __name__ == "__main__":
    main(*sys.argv[1:])
