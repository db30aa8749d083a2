"""What every request passes before and after its route, as one ASGI layer.

Owns request ids, the host check, API keys, the body limit and its time limit, response headers,
one log line and one metric per request, and the answer to an unexpected exception. Does not own
routes.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import time
import uuid
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sumfit.serving.errors import Problem, printable
from sumfit.serving.metrics import Metrics
from sumfit.serving.options import ServerOptions

__all__ = ["PAGE_POLICY", "Gate"]

logger = logging.getLogger("sumfit.serving.access")

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
}
_PROBES = ("/healthz", "/readyz")  # tell nothing, and are asked for by address
_OPEN_ROUTES = ("/", *_PROBES, "/docs")  # need no API key; page assets neither
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MAX_HEADER_BYTES = 32 * 1024
_DRAIN_FACTOR = 4  # an oversized body is read and dropped up to this multiple of the limit


class Gate:
    """The outermost layer around the application."""

    def __init__(self, app: ASGIApp, *, options: ServerOptions, metrics: Metrics) -> None:
        """Wrap an application.

        Args:
            app: The application inside.
            options: Limits, keys and hosts.
            metrics: Where requests are counted.
        """
        self._app = app
        self._options = options
        self._metrics = metrics
        self._key_digests = [hashlib.sha256(key.encode()).digest() for key in options.api_keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event; see the ASGI specification.

        Args:
            scope: What is asked.
            receive: Source of the body.
            send: Sink of the response.
        """
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, send)
        scope["state"] = {**scope.get("state", {}), "request_id": exchange.request_id}
        try:
            _check_header_size(scope)
            self._check_host(scope["path"], exchange.headers)
            self._check_key(scope["path"], exchange.headers)
            _check_media_type(scope, exchange.headers)
            body = await self._read_body(scope, receive, exchange.headers)
            await self._app(scope, _Replay(body, receive), exchange.send)
        except Problem as problem:
            await exchange.answer(problem)
        except asyncio.CancelledError:
            exchange.status = exchange.status or 499
            raise
        except Exception as error:
            _log_crash(exchange.request_id, error)
            await exchange.answer(
                Problem(500, "the server failed; quote the request id to its operator")
            )
        finally:
            self._note(scope, exchange)

    def _check_host(self, path: str, headers: Headers) -> None:
        served = self._options.served_hosts
        if served is None or path in _PROBES:
            return
        host = headers.get("host", "")
        name = host[: host.find("]") + 1] if host.startswith("[") else host.split(":")[0]
        if name.strip("[]").lower() not in served:
            raise Problem(
                421,
                f"this server does not answer to the name {printable(name, limit=80)!r}; "
                "its operator can allow it with --allowed-host",
                param="host",
            )

    def _check_key(self, path: str, headers: Headers) -> None:
        if not self._key_digests or path in _OPEN_ROUTES or path.startswith("/page/"):
            return
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        digest = hashlib.sha256(given.encode("utf-8", "surrogateescape")).digest()
        # Every key is compared, each in constant time, so the time tells nothing.
        matches = [hmac.compare_digest(digest, known) for known in self._key_digests]
        if not any(matches):
            wanted = "this API key is not known" if given else "an API key is needed"
            raise Problem(
                401,
                f"{wanted}; send the header 'Authorization: Bearer KEY' or 'X-API-Key: KEY'",
                param="authorization",
            )

    async def _read_body(self, scope: Scope, receive: Receive, headers: Headers) -> bytes:
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return b""
        limit = self._options.max_body_bytes
        try:
            return await asyncio.wait_for(
                _read_up_to(receive, limit, headers), self._options.read_time_limit_s
            )
        except asyncio.TimeoutError:
            raise Problem(
                408,
                f"the body did not arrive within {self._options.read_time_limit_s:g} s",
            ) from None

    def _note(self, scope: Scope, exchange: _Exchange) -> None:
        route = getattr(scope.get("route"), "path", None) or "other"
        seconds = time.perf_counter() - exchange.start
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(method, route, str(exchange.status)).inc()
        self._metrics.latency.labels(route).observe(seconds)
        logger.info(
            "request",
            extra={
                "fields": {
                    "request_id": exchange.request_id,
                    "method": method,
                    "route": route,
                    "path": printable(scope["path"], limit=200),
                    "status": exchange.status,
                    "duration_ms": round(1000 * seconds, 2),
                    **scope["state"].get("log", {}),
                }
            },
        )


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Exchange:
    """One request and what was answered to it."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.start = time.perf_counter()
        self.headers = Headers(scope=scope)
        given = self.headers.get("x-request-id", "")
        self.request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        self.status = 0
        self._path = scope["path"]
        self._send = send

    async def send(self, message: Message) -> None:
        """Add the headers that every response has."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.request_id
            for name, value in _SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await self._send(message)

    async def answer(self, problem: Problem) -> None:
        """Answer with an error, unless an answer has begun."""
        if self.status:
            return
        body = problem.body(self.request_id)
        headers = {**problem.headers(), "content-length": str(len(body))}
        if problem.status in (408, 413):
            headers["connection"] = "close"
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": problem.status, "headers": raw})
        await self.send({"type": "http.response.body", "body": body})


class _Replay:
    """Hands a body that was read already to the application, then passes events through."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """Return the next event."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()


def _check_header_size(scope: Scope) -> None:
    n_bytes = len(scope["raw_path"]) + len(scope["query_string"])
    n_bytes += sum(len(name) + len(value) for name, value in scope["headers"])
    if n_bytes > _MAX_HEADER_BYTES:
        raise Problem(431, f"address and headers have {n_bytes} bytes, {_MAX_HEADER_BYTES} at most")


def _check_media_type(scope: Scope, headers: Headers) -> None:
    # JSON alone: a web page of another origin can send a form, but not this without asking first.
    if scope["method"] != "POST":
        return
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Problem(
            415,
            f"the body must be application/json, was {printable(media_type, limit=80) or 'unset'}; "
            "set the content-type header",
            param="content-type",
        )
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise Problem(
            415,
            f"the body must be sent as it is, was encoded as {printable(encoding, limit=80)!r}; "
            "leave the compression out",
            param="content-encoding",
        )


async def _read_up_to(receive: Receive, limit: int, headers: Headers) -> bytes:
    declared = headers.get("content-length", "")
    too_large = Problem(
        413,
        f"the body may have at most {limit} bytes; send fewer texts, or shorter ones",
        param="content-length",
    )
    is_over = declared.isdigit() and int(declared) > limit
    if is_over and "100-continue" in headers.get("expect", "").lower():
        raise too_large
    chunks: list[bytes] = []
    n_bytes = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "the client went away before its body was complete")
        chunk = message.get("body", b"")
        n_bytes += len(chunk)
        is_over = is_over or n_bytes > limit
        if is_over:
            chunks.clear()  # read on, so that the client is not cut off before our answer
        else:
            chunks.append(chunk)
        if is_over and (not message.get("more_body") or n_bytes > _DRAIN_FACTOR * limit):
            raise too_large
        if not message.get("more_body"):
            return b"".join(chunks)


def _log_crash(request_id: str, error: Exception) -> None:
    """Log where an exception came from, without its message: that may hold a client's text."""
    frames: list[str] = []
    trace: Any = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    logging.getLogger("sumfit.serving").error(
        "crash",
        extra={
            "fields": {
                "request_id": request_id,
                "exception": type(error).__name__,
                "trace": frames[-12:],
            }
        },
    )
