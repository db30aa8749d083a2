"""How far long work is, on standard error: records, rate, time left.

Owns the line. On a terminal it is drawn over; elsewhere it is written every 15 seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TextIO

from sumfit.data.lines import COMPRESSED
from sumfit.jobs.spec import JobSpec

__all__ = ["Progress", "count_records"]

_EVERY_S = {True: 0.2, False: 15.0}


class Progress:
    """Counts finished records and says so; safe to call from several threads."""

    def __init__(
        self,
        total: int | None,
        *,
        what: str = "records",
        n_resumed: int = 0,
        is_quiet: bool = False,
        stream: TextIO | None = None,
    ) -> None:
        """Start the clock.

        Args:
            total: Records of the input, ``None`` if not known.
            what: What they are called, in the plural.
            n_resumed: Records that an earlier run finished.
            is_quiet: Count only, write nothing.
            stream: Where to write; standard error if not given.
        """
        self._stream = stream or sys.stderr
        self._total = total
        self._what = what
        self._n_resumed = n_resumed
        self._is_quiet = is_quiet
        self._is_terminal = self._stream.isatty()
        self._start = self._last = time.monotonic()
        self._has_written = False
        self._lock = threading.Lock()
        self.n_done = 0
        self.n_errors = 0

    def add(self, n_records: int, n_errors: int = 0) -> None:
        """Count records.

        Args:
            n_records: Newly finished.
            n_errors: Those among them without a summary.
        """
        with self._lock:
            self.n_done += n_records
            self.n_errors += n_errors
            now = time.monotonic()
            if not self._is_quiet and now - self._last >= _EVERY_S[self._is_terminal]:
                self._last = now
                self._write(self.line(now))

    def expect(self, n_records: int) -> None:
        """Count further records as wanted, where the total is known late.

        Args:
            n_records: How many.
        """
        with self._lock:
            self._total = (self._total or 0) + n_records

    def line(self, now: float) -> str:
        """Say how far the job is.

        Args:
            now: Monotonic clock, in seconds.

        Returns:
            One line without its end.
        """
        done = self._n_resumed + self.n_done
        rate = self.n_done / max(now - self._start, 1e-9)
        parts = [f"{done:,} {self._what}"]
        if self._total:
            parts = [f"{done:,} of {self._total:,} {self._what} ({done / self._total:.0%})"]
        parts.append(f"{rate:.1f}/s")
        if self._total and rate > 0:
            parts.append(f"{_duration(max(self._total - done, 0) / rate)} left")
        if self.n_errors:
            parts.append(f"{self.n_errors:,} without a summary")
        return ", ".join(parts)

    def close(self) -> None:
        """Write the last state, where something was written before or a terminal shows it."""
        if self._is_quiet or not (self._is_terminal or self._has_written):
            return
        self._write(self.line(time.monotonic()))
        if self._is_terminal:
            self._stream.write("\n")
            self._stream.flush()

    def _write(self, line: str) -> None:
        self._has_written = True
        self._stream.write(f"\r\x1b[K{line}" if self._is_terminal else f"{line}\n")
        self._stream.flush()


def count_records(spec: JobSpec) -> int | None:
    """Count the records of an input without parsing it, for the progress line alone.

    Args:
        spec: The job.

    Returns:
        The count, exact for Parquet, by line ends for text; ``None`` for compressed files.
    """
    if spec.input_format == "parquet":
        import pyarrow.parquet as pq

        return int(pq.ParquetFile(spec.input).metadata.num_rows)
    if spec.input.suffix.lower() in COMPRESSED or spec.input_format == "json":
        return None
    n_lines = 0
    with spec.input.open("rb") as file:
        while block := file.read(1 << 20):
            n_lines += block.count(b"\n")
    return max(1, n_lines - (spec.input_format in ("csv", "tsv")))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
