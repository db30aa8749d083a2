"""Calls that a type checker must accept, with the types of what they return; never run."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_type

from sumfit import DAG, Summarizer, Summary
from sumfit.pipeline import Inspection


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
