"""The asyncio client against a real server."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from sumfit import Summarizer
from sumfit.errors import (
    ConfigError,
    ConflictingBudgetError,
    EmptyInputError,
    OverloadedError,
    ServiceError,
    TimeLimitError,
)
from sumfit.serving import AsyncClient
from tests.tiny_model import TEXTS


def test_summaries_are_those_of_the_library(live_url: str, server_summarizer: Summarizer) -> None:
    async def scenario() -> None:
        async with AsyncClient(live_url) as client:
            summary = await client.summarize(TEXTS[0], max_chars=40, n_best=2)
            expected = server_summarizer(TEXTS[0], max_chars=40, n_best=2)
            assert (summary.text, summary.length) == (expected.text, expected.length)
            assert summary.log_prob == pytest.approx(expected.log_prob)
            assert summary.optimal
            assert summary.gap == 0
            for name in ("chosen_by", "choice_score", "unfinished", "rank"):
                assert getattr(summary, name) == getattr(expected, name)
            assert (summary.checks, summary.unsupported) == (expected.checks, expected.unsupported)
            assert summary.alternatives[0].text == expected.alternatives[0].text
            many = await client.summarize_many([*TEXTS, ""], max_words=4)
            assert [one.text for one in many[:-1]] == [
                server_summarizer(text, max_words=4).text for text in TEXTS
            ]
            assert isinstance(many[-1].error, EmptyInputError)
            assert math.isnan(many[-1].log_prob)
            assert (await client.describe())["name"] == "tiny-copy"

    asyncio.run(scenario())


def test_a_stream_keeps_order_and_carries_errors(
    live_url: str, server_summarizer: Summarizer
) -> None:
    async def source() -> AsyncIterator[str]:
        for text in [*TEXTS, " ", *TEXTS]:
            yield text

    async def scenario() -> None:
        async with AsyncClient(live_url, n_parallel=3) as client:
            found = [summary async for summary in client.stream(source(), max_chars=40)]
            again = [summary async for summary in client.stream(TEXTS, max_chars=40)]
        texts = [server_summarizer(text, max_chars=40).text for text in TEXTS]
        assert [summary.text for summary in found] == [*texts, "", *texts]
        assert isinstance(found[len(TEXTS)].error, EmptyInputError)
        assert [summary.text for summary in again] == texts

    asyncio.run(scenario())


def test_errors_are_raised_as_the_class_that_the_server_raised(live_url: str) -> None:
    async def scenario() -> None:
        async with AsyncClient(live_url) as client:
            with pytest.raises(ConflictingBudgetError, match="two length specifications"):
                await client.summarize("a b c", max_chars=2, max_words=1)
            with pytest.raises(ConfigError, match="unknown field 'max_char'"):
                await client.summarize("a b c", max_char=2)

    asyncio.run(scenario())


def replying(*responses: httpx.Response | Exception) -> tuple[httpx.MockTransport, list[str]]:
    """A transport that gives these responses in turn, and the list of what was asked."""
    seen: list[str] = []
    rest = list(responses)

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization", ""))
        response = rest.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    return httpx.MockTransport(handle), seen


def overloaded() -> httpx.Response:
    error = {"type": "overloaded", "message": "full", "param": None, "request_id": "x"}
    return httpx.Response(429, json={"error": error}, headers={"retry-after": "0"})


def test_an_overloaded_server_is_asked_again(live_url: str) -> None:
    good = httpx.get(f"{live_url}/v1/model", trust_env=False).json()

    async def scenario() -> None:
        transport, seen = replying(overloaded(), overloaded(), httpx.Response(200, json=good))
        async with AsyncClient("http://h", api_key="k", transport=transport) as client:
            assert (await client.describe())["name"] == "tiny-copy"
        assert seen == ["Bearer k"] * 3

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("response", "kind", "message"),
    [
        (overloaded, OverloadedError, "full"),
        (lambda: httpx.Response(502, text="<html>"), ServiceError, "502 without an explanation"),
        (lambda: httpx.ConnectError("refused"), ServiceError, "cannot be reached: refused"),
        (lambda: httpx.ReadTimeout("slow"), TimeLimitError, "did not answer in time"),
    ],
)
def test_failures_are_typed(
    response: Callable[[], httpx.Response | Exception], kind: type[Exception], message: str
) -> None:
    async def scenario() -> None:
        transport, _ = replying(response())
        async with AsyncClient("http://h", transport=transport, n_tries=1) as client:
            with pytest.raises(kind, match=message):
                await client.describe()

    asyncio.run(scenario())


def test_numbers_below_one_are_refused() -> None:
    with pytest.raises(ConfigError, match="n_parallel must be at least 1, was 0"):
        AsyncClient(n_parallel=0)
