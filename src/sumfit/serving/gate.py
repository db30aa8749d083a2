"""What every request passes before and after its route, as one ASGI layer.

Owns request ids, the checks of host and origin, API keys, the body limit and its time limit,
response headers, one log line and one metric per request, and the answer to an unexpected
exception. Does not own routes, nor which body gives way when memory is short (`held`).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sumfit.serving.clients import client_of
from sumfit.serving.errors import Problem, printable
from sumfit.serving.held import Held, HeldBytes
from sumfit.serving.metrics import Metrics
from sumfit.serving.options import ServerOptions

__all__ = ["MAX_HEADER_BYTES", "PAGE_POLICY", "SECURITY_HEADERS", "Gate"]

logger = logging.getLogger("sumfit.serving.access")

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
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
MAX_HEADER_BYTES = 32 * 1024
_DRAIN_FACTOR = 4  # an oversized body is read and dropped up to this multiple of the limit
_PIECE_BYTES = 64 * 1024  # of a reply; the next is sent when the client has taken it
_RETRY_S = 5  # after which slow bodies have been cut off, or large ones worked off
# A name or address and perhaps a port, with nothing before, between or after them.
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://" + _HOST.pattern)
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")  # change nothing and have no body


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
        limit = options.held_bytes
        self._held = HeldBytes(limit, options.client_part(limit))
        metrics.watch(
            "sumfit_held_bytes", "Bytes of bodies and replies.", lambda: self._held.n_bytes
        )
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
        client = client_of(scope["client"][0] if scope.get("client") else None)
        held = self._held.open(client)
        exchange = _Exchange(scope, send, partial(self._held.add_reply, held))
        scope["state"] = {
            **scope.get("state", {}),
            "request_id": exchange.request_id,
            "client": client,
        }
        try:
            _check_header_size(scope)
            self._check_host(scope["path"], exchange.headers)
            self._check_origin(scope["method"], exchange.headers)
            self._check_key(scope["path"], exchange.headers)
            _check_media_type(scope, exchange.headers)
            replay = _Replay(await self._read_body(scope, receive, exchange.headers, held), receive)
            await self._app(scope, replay, exchange.send)
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
            self._held.close(held)
            self._note(scope, exchange)

    def _check_host(self, path: str, headers: Headers) -> None:
        served = self._options.served_hosts
        if path in _PROBES:
            return
        host = headers.get("host", "")
        name = _host_name(host)
        if served is None and (name is not None or not host):
            return
        if served is None or name not in served:
            raise Problem(
                421,
                f"this server does not answer to the name {printable(host, limit=80)!r}; "
                "its operator can allow it with --allowed-host",
                param="host",
            )

    def _check_origin(self, method: str, headers: Headers) -> None:
        """Raise for requests from pages of other web sites; programs send no origin."""
        origin = headers.get("origin")
        if origin is None or method in _SAFE_METHODS:
            return
        allowed = self._options.cors_origins
        if "*" in allowed or origin in allowed:
            return
        # Browsers alone send this, of every page, and it holds behind a proxy too.
        if headers.get("sec-fetch-site") == "same-origin":
            return
        match = _ORIGIN.fullmatch(origin)
        host = headers.get("host", "")
        if match is not None and origin.lower().partition("://")[2] == host.lower():
            return
        raise Problem(
            403,
            f"a page of {printable(origin, limit=80)!r} may not use this server; its operator can "
            "allow it with --cors-origin",
            param="origin",
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

    async def _read_body(
        self, scope: Scope, receive: Receive, headers: Headers, held: Held
    ) -> bytes:
        if scope["method"] in _SAFE_METHODS:
            return b""
        try:
            return await asyncio.wait_for(
                self._read_up_to(receive, headers, held), self._options.read_time_limit_s
            )
        except asyncio.TimeoutError:
            if held.has_given_way:
                raise _no_room() from None
            raise Problem(
                408,
                f"the body did not arrive within {self._options.read_time_limit_s:g} s",
            ) from None

    async def _read_up_to(self, receive: Receive, headers: Headers, held: Held) -> bytes:
        limit = self._options.max_body_bytes
        declared = headers.get("content-length", "")
        too_large = Problem(
            413,
            f"the body may have at most {limit} bytes; send fewer texts, or shorter ones",
            param="content-length",
        )
        is_over = declared.isdigit() and int(declared) > limit
        if is_over and "100-continue" in headers.get("expect", "").lower():
            raise too_large
        n_bytes = 0
        has_more = True
        while has_more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem(400, "the client went away before its body was complete")
            chunk = message.get("body", b"")
            has_more = message.get("more_body", False)
            n_bytes += len(chunk)
            is_over = is_over or n_bytes > limit
            # Either way read on, so that the client is not cut off before our answer.
            if is_over:
                self._held.give_way(held)
                if not has_more or n_bytes > _DRAIN_FACTOR * limit:
                    raise too_large
            else:
                self._held.add_body(held, chunk)
        if held.has_given_way:
            raise _no_room()
        return self._held.take_body(held)  # at once: what is complete no longer gives way

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

    def __init__(self, scope: Scope, send: Send, add_reply: Callable[[int], None]) -> None:
        self.start = time.perf_counter()
        self.headers = Headers(scope=scope)
        given = self.headers.get("x-request-id", "")
        self.request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        self.status = 0
        self._path = scope["path"]
        self._send = send
        self._add_reply = add_reply

    async def send(self, message: Message) -> None:
        """Add the headers that every response has, and send its body in pieces."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.request_id
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        body = message.get("body", b"")
        if len(body) <= _PIECE_BYTES:
            await self._send(message)
            return
        self._add_reply(len(body))
        for start in range(0, len(body), _PIECE_BYTES):
            end = start + _PIECE_BYTES
            has_more = end < len(body) or message.get("more_body", False)
            await self._send({**message, "body": body[start:end], "more_body": has_more})

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
    if n_bytes > MAX_HEADER_BYTES:
        raise Problem(431, f"address and headers have {n_bytes} bytes, {MAX_HEADER_BYTES} at most")


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


def _host_name(host: str) -> str | None:
    """Name in a ``Host`` header, in lower case and without brackets; ``None`` if there is none."""
    match = _HOST.fullmatch(host)
    return match.group(1).strip("[]").lower() if match is not None else None


def _no_room() -> Problem:
    return Problem(
        503,
        "the server holds as many bytes of requests as it may, and this was among the largest; "
        f"try again in {_RETRY_S} s",
        kind="overloaded",
        retry_after_s=_RETRY_S,
    )


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
