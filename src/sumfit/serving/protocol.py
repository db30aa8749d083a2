"""HTTP/1.1 connections: what is refused or cut off before the application sees a request.

Owns the number of connections, their time limits, framing that a proxy in front may read in
another way, and the answer to what is no HTTP. Everything else is uvicorn's and h11's.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sumfit.serving.clients import client_of
from sumfit.serving.errors import Problem
from sumfit.serving.gate import MAX_HEADER_BYTES, SECURITY_HEADERS
from sumfit.serving.metrics import Metrics

__all__ = ["Guards", "guarded_protocol"]

logger = logging.getLogger("sumfit.serving.access")

_FEW_CHUNKS = 1024  # so many chunks of any size are read
_MIN_MEAN_CHUNK = 64  # bytes; beyond them the mean must not be smaller
_RETRY_AFTER_S = 5
_NOT_HTTP = {
    400: "this is not a valid HTTP/1.1 request",
    431: f"the request line and headers have more than {MAX_HEADER_BYTES} bytes",
    501: "Transfer-Encoding can be chunked alone; send the body with a Content-Length",
}


@dataclass(eq=False)
class Guards:
    """What all connections of a server share.

    Attributes:
        read_time_limit_s: Longest to wait for the headers of a request, and for the rest of a
            body that was answered before its end.
        write_time_limit_s: Longest that the client may leave unread what was sent.
        max_connections: Most connections at a time.
        max_client_connections: Most connections of one client.
        proxies: Addresses or networks that speak for many clients, so that only the first limit
            holds.
        metrics: Where refusals are counted.
        n_open: Connections of each client.
    """

    read_time_limit_s: float
    write_time_limit_s: float
    max_connections: int
    max_client_connections: int
    proxies: Sequence[str]
    metrics: Metrics
    n_open: Counter[str] = field(default_factory=Counter)

    def most_of(self, address: str) -> int:
        """Tell how many connections may come from where an address is.

        Args:
            address: Address of the other end.

        Returns:
            The limit of its client.
        """
        with contextlib.suppress(ValueError):  # no IP address
            parsed = ipaddress.ip_address(address)
            if any(parsed in ipaddress.ip_network(proxy) for proxy in self.proxies):
                return self.max_connections
        return self.max_client_connections


def guarded_protocol(guards: Guards) -> type[asyncio.Protocol]:
    """Make the protocol class of one server.

    Args:
        guards: Its limits.

    Returns:
        A class for ``uvicorn.Config(http=...)``.
    """

    class Protocol(_GuardedProtocol):
        def __init__(self, *args: Any, **keywords: Any) -> None:
            super().__init__(guards, *args, **keywords)

    return Protocol


class _FramingError(h11.RemoteProtocolError):
    """A request that is refused for its framing; the message is for the client."""


class _Connection(h11.Connection):
    """h11's state machine, without framing that two readers may understand differently."""

    failure: h11.RemoteProtocolError | None = None
    _n_chunks = 0
    _n_bytes = 0

    def next_event(self) -> Any:
        """Return the next event of the client.

        Returns:
            What h11 returns.

        Raises:
            h11.RemoteProtocolError: If it is not valid, or ambiguous; `failure` keeps it.
        """
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                self._n_chunks = self._n_bytes = 0
                _check_framing(event)
            elif isinstance(event, h11.Data):
                self._check_chunks(event)
        except h11.RemoteProtocolError as error:
            self.failure = error
            raise
        return event

    def _check_chunks(self, event: h11.Data) -> None:
        # Each chunk costs as much time as some kilobytes: a body of single bytes would take the
        # event loop for minutes.
        self._n_chunks += event.chunk_start
        self._n_bytes += len(event.data)
        if self._n_chunks > max(_FEW_CHUNKS, self._n_bytes / _MIN_MEAN_CHUNK):
            raise _FramingError(
                f"the body came in {self._n_chunks} chunks of less than {_MIN_MEAN_CHUNK} bytes "
                "on average; send larger ones, or a Content-Length"
            )


def _check_framing(request: h11.Request) -> None:
    names = [name for name, _ in request.headers]
    if b"transfer-encoding" not in names:
        return
    if b"content-length" in names:
        raise _FramingError(
            "the request has both Content-Length and Transfer-Encoding; send one of them"
        )
    if request.http_version == b"1.0":
        raise _FramingError("HTTP/1.0 has no Transfer-Encoding; send a Content-Length")


class _GuardedProtocol(H11Protocol):
    """HTTP/1.1 with the limits that uvicorn itself does not have."""

    def __init__(self, guards: Guards, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._checked = _Connection(h11.SERVER, MAX_HEADER_BYTES)
        self.conn = self._checked
        self._guards = guards
        self._peer = ""
        self._is_surplus = False
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # Unread bytes are noticed from the first, also those that are left when it is closed.
        transport.set_write_buffer_limits(high=0)
        guards = self._guards
        address = self.client[0] if self.client else ""
        self._peer = client_of(address)
        guards.n_open[self._peer] += 1
        self._is_surplus = len(self.connections) > guards.max_connections or (
            guards.n_open[self._peer] > guards.most_of(address)
        )
        self._watch_reading()

    def data_received(self, data: bytes) -> None:
        if self._is_surplus:
            # Only now, so that there is somebody who reads it.
            self._answer(
                Problem(
                    503,
                    "too many connections are open; try again later",
                    kind="overloaded",
                    retry_after_s=_RETRY_AFTER_S,
                )
            )
            return
        super().data_received(data)
        self._watch_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._read_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        n_open = self._guards.n_open
        n_open[self._peer] -= 1
        if not n_open[self._peer]:
            del n_open[self._peer]
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            limit_s = self._guards.write_time_limit_s
            self._write_timer = self.loop.call_later(limit_s, self._cut_off, "slow_reader")

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer to what is no HTTP, in the one shape of all errors.

        Args:
            msg: What uvicorn would say; h11's own reason may hold what the client sent.
        """
        failure = self._checked.failure
        status = failure.error_status_hint if failure is not None else 400
        text = str(failure) if isinstance(failure, _FramingError) else _NOT_HTTP.get(status, msg)
        self._answer(Problem(status, text, kind="invalid_http" if status == 400 else ""))

    def _answer(self, problem: Problem) -> None:
        """Answer without the application and close the connection."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # what it still says is not sent
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()  # in the middle of another answer
            return
        request_id = uuid.uuid4().hex
        body = problem.body(request_id)
        headers = {
            **SECURITY_HEADERS,
            **problem.headers(),
            "x-request-id": request_id,
            "cache-control": "no-store",
            "content-length": str(len(body)),
            "connection": "close",
        }
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        raw += self.server_state.default_headers
        for event in (
            h11.Response(status_code=problem.status, headers=raw),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._guards.metrics.requests.labels("other", "other", str(problem.status)).inc()
        fields = {"request_id": request_id, "status": problem.status, "type": problem.type}
        logger.info("refused", extra={"fields": fields})

    def _watch_reading(self) -> None:
        """Keep a timer while the client owes headers, or the end of a body already answered."""
        theirs, ours = self.conn.their_state, self.conn.our_state
        owes = theirs is h11.IDLE or (theirs is h11.SEND_BODY and ours is h11.DONE)
        if not owes:
            if self._read_timer is not None:
                self._read_timer.cancel()
                self._read_timer = None
        elif self._read_timer is None:
            limit_s = self._guards.read_time_limit_s
            self._read_timer = self.loop.call_later(limit_s, self._cut_off, "slow_sender")

    def _cut_off(self, reason: str) -> None:
        self._read_timer = None
        self._guards.metrics.cut_off.labels(reason).inc()
        self.transport.abort()
