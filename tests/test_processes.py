"""Reading ``/proc``: which processes belong to a tree, and how busy the processors were."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import processes
from benchmarks.processes import Process

needs_proc = pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs /proc")


def test_a_name_with_blanks_and_parentheses_moves_no_field() -> None:
    line = "42 (ray::Map (a) b) S 7 42 42 0 -1 4194304 1 2 3 4 250 50 9 9 20 0 1 0 100"
    one = processes.parse_stat(line)
    assert one == Process(42, 7, 300)
    assert one.seconds == 300 / os.sysconf("SC_CLK_TCK")


def test_a_tree_is_a_process_and_all_that_came_of_it() -> None:
    there = [Process(1, 0, 0), Process(5, 4, 0), Process(4, 2, 0), Process(2, 1, 0)]
    there += [Process(3, 1, 0), Process(9, 3, 0)]
    assert sorted(one.pid for one in processes.descendants(2, there)) == [2, 4, 5]
    assert processes.descendants(77, there) == []


def test_waiting_for_a_disk_is_no_work() -> None:
    before = "cpu 100 0 100 1000 50 0 0 0 999 0"
    assert processes.used_share(before, "cpu 130 0 120 1030 70 0 0 0 999 0") == pytest.approx(0.5)
    assert processes.used_share(before, before) == 0


@needs_proc
def test_a_child_is_found_with_its_command_and_its_time() -> None:
    code = "while True: pass"
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        try:
            deadline, seconds = time.monotonic() + 60, 0.0
            while not seconds and time.monotonic() < deadline:
                tree = processes.descendants(os.getpid(), processes.snapshot())
                seconds = sum(one.seconds for one in tree if one.pid == child.pid)
            assert seconds > 0
            assert code in processes.command_line(child.pid)
        finally:
            child.kill()
    assert processes.command_line(child.pid) == ""


def test_what_was_measured_is_not_counted_as_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0, 1.0, 1.0))
    lines = iter(["cpu 0 0 0 0 0 0 0 0", "cpu 80 0 0 20 0 0 0 0"] * 2)
    monkeypatch.setattr(processes, "_first_line", lambda: next(lines))
    clock = iter([0.0, 10.0] * 2)
    monkeypatch.setattr(processes.time, "perf_counter", lambda: next(clock))
    times = iter([(0, 0, 0, 0, 0), (3, 1, 8, 0, 10)] * 2)
    monkeypatch.setattr(os, "times", lambda: next(times))
    said = "2 processors 80% busy, {} with other work; load average 3.0"
    assert processes.Busy().line() == said.format("20%")
    assert processes.Busy().line({5: 4.0, 6: 2.0}) == said.format("30%")
