from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from sumfit.training.clock import RunClock
from sumfit.training.parallel import Processes


def clock(*, max_minutes: float = 0.0, before_s: float = 0.0, schedule: str = "linear") -> RunClock:
    run = SimpleNamespace(max_steps=100, max_minutes=max_minutes, patience=0, reserve_seconds=0.0)
    recipe = SimpleNamespace(run=run, optimizer=SimpleNamespace(schedule=schedule))
    return RunClock(recipe, Processes("cpu"), started=time.monotonic() - before_s)  # type: ignore[arg-type]


def test_what_went_before_the_first_step_is_no_part_of_the_steps_time() -> None:
    slow = clock(before_s=3600.0)  # an hour of lists, say
    assert slow.left_s(0) == float("inf")
    assert not slow.reason_to_stop(step=0, n_stale=0)
    time.sleep(0.05)
    assert 0.04 < slow.left_s(50) < 60
    assert slow.left_s(100) == 0.0


def test_it_does_count_against_the_limit_of_the_call() -> None:
    limited = clock(before_s=60.0, max_minutes=2.0)
    assert limited.left_s(0) == pytest.approx(60.0, abs=2.0)
    assert not limited.reason_to_stop(step=0, n_stale=0)


@pytest.mark.parametrize("step", [1, 7])
def test_a_process_alone_looks_at_the_clock_at_every_step(step: int) -> None:
    limited = clock(before_s=60.0, max_minutes=1.2, schedule="time")
    assert not limited.reason_to_stop(step=0, n_stale=0)
    limited._started -= 30.0
    assert limited.reason_to_stop(step=step, n_stale=0) == "max_minutes"
    assert limited.share(step) == 1.0
