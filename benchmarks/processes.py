"""What processes take of a machine, read from ``/proc``: a tree of them, and everything else.

Owns reading and arithmetic alone; on a system without ``/proc`` only the load average is known.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["Busy", "Process", "descendants", "parse_stat", "snapshot", "used_share"]

_PROC = Path("/proc")
_IDLE = (3, 4)  # columns of /proc/stat: idle, waiting for a disk


class Process(NamedTuple):
    """One line of ``/proc/PID/stat``.

    Attributes:
        pid: Number of the process.
        parent: Number of the one that started it.
        ticks: Processor time so far, in clock ticks.
    """

    pid: int
    parent: int
    ticks: int

    @property
    def seconds(self) -> float:
        """Processor time so far."""
        return self.ticks / os.sysconf("SC_CLK_TCK")


def parse_stat(line: str) -> Process:
    """Read a line of ``/proc/PID/stat``, whose second field may hold blanks and parentheses.

    Args:
        line: The line.

    Returns:
        The process.
    """
    before, _, after = line.rpartition(")")
    fields = after.split()
    return Process(int(before.split("(")[0]), int(fields[1]), int(fields[11]) + int(fields[12]))


def snapshot() -> list[Process]:
    """Every process there is now.

    Returns:
        Processes in no order; those that end meanwhile are left out.
    """
    found = []
    for path in _PROC.glob("[0-9]*/stat"):
        try:
            found.append(parse_stat(path.read_text(encoding="utf-8", errors="replace")))
        except OSError:
            continue
    return found


def descendants(root: int, processes: Iterable[Process]) -> list[Process]:
    """A process and everything that it and its children started.

    Args:
        root: Number of the process.
        processes: All processes.

    Returns:
        The tree, the root included if it is there.
    """
    children: dict[int, list[Process]] = {}
    tree = []
    for one in processes:
        children.setdefault(one.parent, []).append(one)
        if one.pid == root:
            tree.append(one)
    waiting = [root]
    while waiting:
        own = children.get(waiting.pop(), [])
        tree += own
        waiting += [one.pid for one in own]
    return tree


def command_line(pid: int) -> str:
    """How a process was started, or the title it gave itself.

    Args:
        pid: Its number.

    Returns:
        Words with blanks between; empty if it is gone.
    """
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def used_share(before: str, after: str) -> float:
    """Share of all processors' time that was used between two readings of ``/proc/stat``.

    Args:
        before: Its first line at first.
        after: Its first line later.

    Returns:
        Between 0 and 1; 0 if no time went by.
    """
    first, last = ([int(field) for field in line.split()[1:9]] for line in (before, after))
    gone = [later - sooner for sooner, later in zip(first, last, strict=True)]
    whole = sum(gone)
    return 1 - sum(gone[column] for column in _IDLE) / whole if whole else 0.0


class Busy:
    """How busy the machine was since this was made, with this process and without."""

    def __init__(self) -> None:
        """Begin."""
        self._began, self._own, self._stat = time.perf_counter(), os.times(), _first_line()

    def line(self, watched: Mapping[int, float] | None = None) -> str:
        """Say it.

        Args:
            watched: Processor seconds of each process that belongs to the measurement besides
                this one; those of its children that have ended, if not given.

        Returns:
            Processors' time used, what of it others took, and the load average.
        """
        load = f"load average {os.getloadavg()[0]:.1f}"
        now, n = _first_line(), os.cpu_count() or 1
        if not (now and self._stat):
            return load
        seconds = (time.perf_counter() - self._began) * n
        gone = [later - sooner for sooner, later in zip(self._own, os.times(), strict=True)]
        children = sum(gone[2:4]) if watched is None else sum(watched.values())
        own = sum(gone[:2]) + children
        used = used_share(self._stat, now)
        rest = max(0.0, used - own / seconds)
        return f"{n} processors {used:.0%} busy, {rest:.0%} with other work; {load}"


def _first_line() -> str:
    try:
        with (_PROC / "stat").open(encoding="ascii") as file:
            return file.readline()
    except OSError:
        return ""
