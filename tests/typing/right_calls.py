"""Calls that a type checker must accept, with the types of what they return; never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from typing_extensions import assert_type

import sumfit
from sumfit import DAG, Summarizer, Summary
from sumfit.pipeline import Inspection, SummarizationPipeline, SummaryRecord


def texts() -> Iterator[str]:
    yield "A text."


def right(fit: Summarizer) -> None:
    assert_type(fit("a", max_chars=3), Summary)
    assert_type(fit("a", preset="seo-title", style="news", rerank=None), Summary)
    assert_type(fit("a", max_length=3, unit="words"), Summary)
    assert_type(fit("a", max_length=3, unit=len, banned=["b"]), Summary)
    assert_type(fit("a", max_chars=[3, 5]), list[Summary])
    assert_type(fit("a", limits=[3, 5], unit="chars"), list[Summary])
    assert_type(fit(["a", "b"], max_chars=3, on_error="raise"), list[Summary])
    assert_type(fit(("a", None), max_chars=[3, 5]), list[Summary])
    assert_type(fit(["a"], limits=[3, 5], unit="chars"), list[list[Summary]])
    assert_type(fit(texts(), max_words=3, batch_size=8), Iterator[Summary])
    assert_type(fit.stream(["a"], max_words=3), Iterator[Summary])
    assert_type(fit.summarize("a", max_words=3), Summary)
    assert_type(fit.inspect("a", max_words=3), Inspection)
    assert_type(fit.graph("a"), DAG)


async def right_too(fit: Summarizer) -> None:
    assert_type(await fit.acall("a", max_chars=3), Summary)
    assert_type(await fit.acall(["a"], max_chars=3), list[Summary])
    assert_type(fit.astream(texts(), max_chars=3), AsyncIterator[Summary])
    assert_type(fit.astream(["a"], limits=[3, 5], unit="chars"), AsyncIterator[list[Summary]])


def right_drop_in(fit: Summarizer) -> None:
    summarizer = sumfit.pipeline("summarization", device=-1, framework="pt", max_length=20)
    assert_type(summarizer, SummarizationPipeline)
    assert_type(summarizer("a", max_length=20, min_length=5, do_sample=False), list[SummaryRecord])
    assert_type(summarizer(["a", "b"], max_new_tokens=20, num_beams=4), list[SummaryRecord])
    assert_type(summarizer(texts(), max_chars=60, truncation=True), Iterator[SummaryRecord])
    assert_type(summarizer("a", max_words=8)[0]["summary_text"], str)
    assert_type(sumfit.pipeline(model=fit, max_words=5).summarizer, Summarizer)
