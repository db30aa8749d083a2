from __future__ import annotations

import threading
import time

from sumfit.training.heartbeat import Heartbeat


def test_silence_is_broken_and_the_end_ends_it() -> None:
    lines: list[str] = []
    heard = threading.Event()

    def say(line: str) -> None:
        lines.append(line)
        heard.set()

    with Heartbeat(lambda: f"line {len(lines)}", say, every_s=0.02):
        assert heard.wait(30)
        heard.clear()
        assert heard.wait(30)
    n_lines = len(lines)
    assert lines[:2] == ["line 0", "line 1"]
    time.sleep(0.1)
    assert len(lines) == n_lines
    assert all(thread.name != "heartbeat" for thread in threading.enumerate())


def test_nothing_is_said_while_others_speak() -> None:
    lines: list[str] = []
    with Heartbeat(lambda: "still here", lines.append, every_s=1e6) as heartbeat:
        heartbeat.said()
        time.sleep(0.05)
    assert lines == []
