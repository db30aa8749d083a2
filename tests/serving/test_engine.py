"""Works become calls in time, and summaries JSON."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from sumfit import Summary
from sumfit.errors import SumfitError
from sumfit.serving.batching import Batcher
from sumfit.serving.engine import limits_works, reply_of, run_works, text_works

GOOD = Summary(text="a", length=1, unit="chars", limit=9, log_prob=-1.5, score=-1.0, gap=0.5)


def test_numbers_of_the_models_own_texts_are_never_null() -> None:
    assert reply_of(GOOD)["log_prob"] == -1.5
    for name in ("log_prob", "score"):
        for value in (math.nan, -math.inf):
            with pytest.raises(ValueError, match=f"{name} of a summary of the model is"):
                reply_of(replace(GOOD, **{name: value}))


def test_null_stands_for_what_there_is_not() -> None:
    whole = reply_of(Summary(text="a", length=1, unit="chars", limit=9, origin="source"))
    assert (whole["log_prob"], whole["score"], whole["gap"]) == (None, None, None)
    failed = Summary(text="", length=0, unit="chars", limit=9, error=SumfitError("no"))
    assert reply_of(failed)["log_prob"] is None


@pytest.mark.parametrize(
    ("works", "limit_s"),
    [
        (text_works(["a"], {"max_chars": 5, "time_limit_s": 2.0}), 2.0),
        (text_works(["a"] * 4, {"max_chars": 5, "time_limit_s": 2.0}), 1.0),
        (limits_works("a", {"max_chars": [5] * 8, "time_limit_s": 2.0}), 0.5),
        (limits_works("a", {"max_chars": [5] * 8, "time_limit_s": 0.1}), 0.1),
    ],
)
def test_the_time_that_is_left_is_shared_among_the_searches(works: Any, limit_s: float) -> None:
    seen: list[float] = []

    class Recorder:
        def __call__(self, texts: Any, /, **options: Any) -> list[Summary]:
            seen.append(options["time_limit_s"])
            return [GOOD] * len(texts)

    async def scenario() -> None:
        batcher = Batcher(
            lambda batch: run_works(Recorder(), batch),  # type: ignore[arg-type]
            n_workers=1,
            max_batch=8,
            queue_size=8,
        )
        await batcher.submit(works, time_limit_s=4)
        await batcher.close(5)

    asyncio.run(scenario())
    assert seen == [pytest.approx(limit_s, abs=0.1)]


def test_work_is_told_when_its_request_has_ended() -> None:
    begun, told = threading.Event(), threading.Event()

    class Patient:
        def __call__(self, texts: Any, /, **options: Any) -> list[Summary]:
            begun.set()
            for _ in range(500):
                if options["is_cancelled"]():
                    told.set()
                    break
                time.sleep(0.01)
            return [GOOD] * len(texts)

    async def scenario() -> None:
        batcher = Batcher(
            lambda batch: run_works(Patient(), batch),  # type: ignore[arg-type]
            n_workers=1,
            max_batch=8,
            queue_size=8,
        )
        works = text_works(["a"], {"max_chars": 5})
        task = asyncio.ensure_future(batcher.submit(works, time_limit_s=60))
        assert await asyncio.to_thread(begun.wait, 5)
        assert not told.is_set()
        task.cancel()
        assert await asyncio.to_thread(told.wait, 4)
        assert await batcher.close(5)

    asyncio.run(scenario())


@pytest.mark.parametrize("n_limits", [1, 32, 33, 100])
def test_many_limits_are_several_works_in_their_order(n_limits: int) -> None:
    limits = list(range(10, 10 + n_limits))
    options = {"max_chars": limits, "min_chars": [0] * n_limits, "banned": ["x"], "n_best": 2}
    works = limits_works("a text", options)
    assert len(works) == -(-n_limits // 32)
    assert len({work.key for work in works}) == len(works)
    given = [work.payload[2] for work in works]
    assert [limit for one in given for limit in one["max_chars"]] == limits
    assert all(len(one["min_chars"]) == len(one["max_chars"]) <= 32 for one in given)
    assert all((one["banned"], one["n_best"]) == (["x"], 2) for one in given)


def test_lists_of_limits_that_do_not_agree_are_left_to_the_library() -> None:
    options = {"max_chars": [5] * 40, "min_chars": [1] * 3}
    (work,) = limits_works("a text", options)
    assert work.payload[2] == options
