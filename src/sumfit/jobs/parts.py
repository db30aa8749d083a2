"""The job directory: finished parts, written so that a crash at any moment loses at most one.

Owns the manifest, the lock, and the part files. A part is complete or not there: it is written
under another name, flushed to the disk, and renamed.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from sumfit.errors import ConfigError, DataFormatError, OverloadedError, joined
from sumfit.jobs.fingerprint import differences
from sumfit.writing import flush_to_disk, replace_file, sync_folder

__all__ = ["JobDirectory"]

_MANIFEST = "job.json"
_DONE_SUFFIX = ".done"


class JobDirectory:
    """``OUTPUT.job``: what a job has done so far; removed where that is nothing."""

    def __init__(self, output: Path) -> None:
        """Name the directory; nothing is made yet.

        Args:
            output: The job's output file, no link.
        """
        self.path = output.with_name(output.name + ".job")
        self._done_path = output.with_name(output.name + ".job" + _DONE_SUFFIX)
        self._lock: IO[bytes] | None = None

    @contextlib.contextmanager
    def open(self, fingerprint: Mapping[str, Any], *, restart: bool) -> Iterator[bool]:
        """Take the directory for this process, making it or going on with it.

        Args:
            fingerprint: What decides the parts' content.
            restart: Empty it first.

        Yields:
            Whether the job was complete already, and only its directory was left over.

        Raises:
            ConfigError: If it belongs to a job with other options or input.
            OverloadedError: If another process is working in it.
        """
        if self._is_leftover(fingerprint, restart):
            shutil.rmtree(self._done_path, ignore_errors=True)
            yield True
            return
        shutil.rmtree(self._done_path, ignore_errors=True)
        self.path.mkdir(exist_ok=True)
        sync_folder(self.path.parent)
        self._lock = _locked(self.path / "lock", self.path)
        try:
            if restart:
                self._clear()
            self._check_manifest(fingerprint)
            yield False
        finally:
            self._remove_if_nothing_is_done()
            if self._lock is not None:
                self._lock.close()
            self._lock = None

    def is_begun(self) -> bool:
        """Return whether an earlier run has left anything here."""
        return self.path.exists() or self._done_path.exists()

    def finished(self) -> set[int]:
        """Numbers of the finished parts.

        Returns:
            Chunk indices.
        """
        return {int(file.stem) for file in self.path.glob("[0-9]*.jsonl")}

    def save(self, index: int, results: Sequence[Mapping[str, Any]]) -> None:
        """Store a part for good.

        Args:
            index: Chunk index.
            results: One object per record.
        """
        temporary = self.path / f"{index:09d}.tmp"
        lines = "".join(json.dumps(result) + "\n" for result in results)
        with temporary.open("w", encoding="ascii") as file:
            file.write(lines)
            flush_to_disk(file)
        replace_file(temporary, self._part(index))

    def results(self, n_parts: int) -> Iterator[dict[str, Any]]:
        """Read all results in the order of the input.

        Args:
            n_parts: Parts that there must be.

        Yields:
            One object per record.

        Raises:
            DataFormatError: If a part is missing or damaged.
        """
        for index in range(n_parts):
            try:
                text = self._part(index).read_text(encoding="ascii")
                yield from [json.loads(line) for line in text.splitlines()]
            except (OSError, ValueError) as error:
                raise DataFormatError(
                    f"{self._part(index)} cannot be read ({error}); delete it and run the same "
                    "command again"
                ) from error

    def finish(self) -> None:
        """Remove the directory of a job whose output is complete."""
        self.path.replace(self._done_path)  # from here on the job counts as done
        sync_folder(self._done_path.parent)
        shutil.rmtree(self._done_path, ignore_errors=True)

    def _part(self, index: int) -> Path:
        return self.path / f"{index:09d}.jsonl"

    def _clear(self) -> None:
        for file in self.path.iterdir():
            if file.name != "lock":
                file.unlink()

    def _remove_if_nothing_is_done(self) -> None:
        """After an error before the first part there is nothing to go on with."""
        if not self.finished():
            for file in (*self.path.glob("*.tmp"), self.path / _MANIFEST, self.path / "lock"):
                file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not there any more, or another's files in it
                self.path.rmdir()

    def _is_leftover(self, fingerprint: Mapping[str, Any], restart: bool) -> bool:
        if restart or self.path.exists():
            return False
        with contextlib.suppress(OSError, ValueError):
            return bool(json.loads((self._done_path / _MANIFEST).read_bytes()) == fingerprint)
        return False

    def _check_manifest(self, fingerprint: Mapping[str, Any]) -> None:
        file = self.path / _MANIFEST
        if not self.finished():
            temporary = self.path / "job.tmp"
            with temporary.open("w", encoding="utf-8") as stream:
                json.dump(fingerprint, stream, indent=1)
                flush_to_disk(stream)
            replace_file(temporary, file)
            return
        try:
            before = json.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise ConfigError(f"{file} is damaged; start over with --restart") from error
        changes = differences(before, json.loads(json.dumps(fingerprint)))
        if changes:
            raise ConfigError(
                f"{self.path} holds an unfinished job, and ",
                *joined("; ", changes),
                ". Run it as before to go on, or start over with --restart",
            )


def _locked(file: Path, directory: Path) -> IO[bytes] | None:
    """Open a file under a lock that ends with this process, however it ends (not on Windows)."""
    if sys.platform == "win32":
        return None
    import fcntl

    stream = file.open("ab")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        raise OverloadedError(
            f"another process is working in {directory}; wait for it, or stop it first"
        ) from error
    return stream
