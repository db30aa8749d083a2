"""Works become calls in time, and summaries JSON."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest

from sumfit import Summary
from sumfit.errors import SumfitError
from sumfit.serving.batching import Batcher
from sumfit.serving.engine import limits_work, reply_of, run_works, text_works

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
        (text_works(["a"] * 5, {"max_chars": 5, "time_limit_s": 2.0}), 0.8),
        ([limits_work("a", {"max_chars": [5] * 8, "time_limit_s": 2.0})], 0.5),
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
