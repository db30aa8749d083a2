"""A client of the server for asyncio programs.

Owns requests, retries and how replies become summaries. Errors are those of the library: what the
server raised is raised here again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from typing import Any

import httpx

import sumfit.errors
from sumfit.errors import (
    ConfigError,
    OverloadedError,
    ServiceError,
    SumfitError,
    TimeLimitError,
)
from sumfit.hypothesis import SourceSelection, Summary
from sumfit.serving.errors import error_type
from sumfit.serving.fields import PLAIN_FIELDS

__all__ = ["AsyncClient"]

_ERRORS: dict[str, type[SumfitError]] = {
    error_type(kind): kind
    for kind in vars(sumfit.errors).values()
    if isinstance(kind, type) and issubclass(kind, SumfitError) and kind is not SumfitError
}


class AsyncClient:
    """Talks to ``sumfit serve``; use it with ``async with``.

    Example::

        async with AsyncClient("http://127.0.0.1:8077") as client:
            summary = await client.summarize("A long text ...", max_chars=60)
            async for summary in client.stream(texts, max_words=8):
                ...
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8077",
        *,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        n_tries: int = 5,
        n_parallel: int = 8,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Prepare a client; it connects with the first request.

        Args:
            url: Address of the server.
            api_key: Key to send, if the server asks for one.
            timeout_s: Longest to wait for a reply, in seconds.
            n_tries: Times a request is sent while the server is overloaded, waiting as long as
                it says between them.
            n_parallel: Requests under way at once in `stream`.
            transport: How requests are sent, for tests.

        Raises:
            ConfigError: If a number is below 1.
        """
        for name, value in (("n_tries", n_tries), ("n_parallel", n_parallel)):
            if value < 1:
                raise ConfigError(f"{name} must be at least 1, was {value}")
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._http = httpx.AsyncClient(
            base_url=url, headers=headers, timeout=timeout_s, transport=transport, trust_env=False
        )
        self._n_tries = n_tries
        self._n_parallel = n_parallel

    async def __aenter__(self) -> AsyncClient:
        """Return the client."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def summarize(self, text: str, **options: Any) -> Summary:
        """Summarise one text.

        Args:
            text: The text.
            **options: As for `sumfit.Summarizer`, one limit.

        Returns:
            The summary; ``words`` and ``timings`` stay with the server.

        Raises:
            SumfitError: What the server says is wrong, as the class that it raised.
        """
        return _summary(await self._post("/v1/summarize", {"text": text, **options}))

    async def summarize_many(self, texts: Iterable[str], **options: Any) -> list[Summary]:
        """Summarise texts in one request.

        Args:
            texts: The texts, at most as many as the server takes.
            **options: As for `sumfit.Summarizer`.

        Returns:
            One summary per text; a text that failed has its ``error`` set.

        Raises:
            SumfitError: If the request as a whole failed.
        """
        reply = await self._post("/v1/summarize", {"texts": list(texts), **options})
        return [_summary(item) for item in reply["summaries"]]

    async def stream(
        self, texts: Iterable[str] | AsyncIterable[str], **options: Any
    ) -> AsyncIterator[Summary]:
        """Summarise texts as they come, several at once, in order.

        Args:
            texts: Any iterable; it is read at most ``n_parallel`` texts ahead.
            **options: As for `sumfit.Summarizer`, one limit.

        Yields:
            One summary per text; a text that failed has its ``error`` set.
        """
        pending: list[asyncio.Task[Summary]] = []
        try:
            async for text in _as_async(texts):
                pending.append(asyncio.ensure_future(self._one(text, options)))
                if len(pending) >= self._n_parallel:
                    yield await pending.pop(0)
            while pending:
                yield await pending.pop(0)
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def describe(self) -> dict[str, Any]:
        """Describe the model that the server uses.

        Returns:
            The reply of ``GET /v1/model``.
        """
        return await self._send("GET", "/v1/model", None)

    async def _one(self, text: str, options: Mapping[str, Any]) -> Summary:
        try:
            return await self.summarize(text, **options)
        except (OverloadedError, ServiceError):
            raise
        except SumfitError as error:
            return Summary(text="", length=0, unit="", limit=0, error=error)

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._send("POST", path, body)

    async def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        for attempt in range(1, self._n_tries + 1):
            try:
                response = await self._http.request(method, path, json=body)
            except httpx.TimeoutException as error:
                raise TimeLimitError(f"{self._http.base_url} did not answer in time") from error
            except httpx.HTTPError as error:
                raise ServiceError(f"{self._http.base_url} cannot be reached: {error}") from error
            if response.status_code not in (429, 503) or attempt == self._n_tries:
                break
            await asyncio.sleep(_retry_after_s(response))
        if response.is_success:
            reply: dict[str, Any] = response.json()
            return reply
        raise _error(response)


def _retry_after_s(response: httpx.Response) -> float:
    value = response.headers.get("retry-after", "1")
    return min(float(value), 60.0) if value.isdecimal() else 1.0


def _error(response: httpx.Response) -> SumfitError:
    try:
        detail = response.json()["error"]
        return _typed(str(detail["type"]), str(detail["message"]))
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"the server answered {response.status_code} without an explanation")


def _typed(name: str, message: str) -> SumfitError:
    kind = _ERRORS.get(name, ConfigError if name in _REQUEST_ERRORS else ServiceError)
    error = kind.__new__(kind)
    error.args = (message,)
    return error


_REQUEST_ERRORS = (
    "invalid_request",
    "unknown_field",
    "too_many_limits",
    "too_many_results",
    "too_many_texts",
)


def _summary(reply: Mapping[str, Any]) -> Summary:
    error = reply.get("error")
    selected = reply.get("source_selected")
    values: dict[str, Any] = {name: reply[name] for name in PLAIN_FIELDS}
    for name, default in (("log_prob", math.nan), ("score", math.nan), ("gap", math.inf)):
        values[name] = default if reply.get(name) is None else float(reply[name])
    return Summary(
        **values,
        choice_score=reply.get("choice_score"),
        confidence=reply.get("confidence"),
        source_selected=SourceSelection(**selected) if selected else None,
        checks=dict(reply.get("checks") or {}),
        unsupported=tuple(reply.get("unsupported") or ()),
        cleaned=tuple(reply.get("cleaned") or ()),
        added=tuple(reply.get("added") or ()),
        alternatives=tuple(_summary(other) for other in reply.get("alternatives") or ()),
        error=_typed(error["type"], error["message"]) if error else None,
    )


async def _as_async(texts: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[str]:
    if isinstance(texts, AsyncIterable):
        async for text in texts:
            yield text
    else:
        for text in texts:
            yield text
