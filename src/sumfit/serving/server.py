"""Running the application in this process with uvicorn.

Owns the connection guards that only a protocol can have, and starting and stopping.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from sumfit.errors import ServiceError
from sumfit.serving.app import create_app
from sumfit.serving.engine import SummarizerLike
from sumfit.serving.options import ServerOptions

__all__ = ["listen", "make_server", "serve"]

_KEEP_ALIVE_S = 15
_MAX_HEADER_BYTES = 32 * 1024
_BACKLOG = 512


def serve(summarizer: SummarizerLike, options: ServerOptions, listener: socket.socket) -> None:
    """Serve until the process is told to stop (SIGTERM or SIGINT), then finish what was accepted.

    Args:
        summarizer: The model, loaded.
        options: What to accept.
        listener: Where to listen, from `listen`; closed at the end.
    """
    with listener:
        make_server(summarizer, options).run(sockets=[listener])


def listen(options: ServerOptions) -> tuple[socket.socket, str]:
    """Take the address, before the time that loading a model takes.

    Args:
        options: Where to listen.

    Returns:
        The socket, which refuses connections until `serve`, and its URL, with the port that port 0
        was given.

    Raises:
        ServiceError: If the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
    except OSError as error:
        listener.close()
        raise ServiceError(
            f"cannot listen on {options.host}:{options.port}: {error.strerror or error}; "
            "choose another --port, or stop what listens there"
        ) from error
    host = f"[{options.host}]" if family == socket.AF_INET6 else options.host
    return listener, f"http://{host}:{listener.getsockname()[1]}"


def make_server(summarizer: SummarizerLike, options: ServerOptions) -> uvicorn.Server:
    """Prepare a server without starting it.

    Args:
        summarizer: The model, loaded.
        options: Where to listen and what to accept.

    Returns:
        The server; ``run()`` or ``await serve()`` starts it.
    """
    config = uvicorn.Config(
        create_app(summarizer, options),
        host=options.host,
        port=options.port,
        http=_guarded(options.read_time_limit_s),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=int(options.shutdown_time_limit_s) + 1,
        h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
    )
    return uvicorn.Server(config)


def _guarded(header_time_limit_s: float) -> type[asyncio.Protocol]:
    """Make a protocol that drops clients which do not finish their headers in time."""

    class GuardedProtocol(H11Protocol):
        """HTTP/1.1 with a time limit for headers, which uvicorn itself does not have."""

        _header_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _watch_headers(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self._stop_timer()
            elif self._header_timer is None:
                self._header_timer = self.loop.call_later(header_time_limit_s, self._give_up)

        def _give_up(self) -> None:
            self._header_timer = None
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self.transport.close()

        def _stop_timer(self) -> None:
            if self._header_timer is not None:
                self._header_timer.cancel()
                self._header_timer = None

    return GuardedProtocol
