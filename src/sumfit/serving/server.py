"""Running the application in this process with uvicorn.

Owns how uvicorn is set up, starting and stopping. Does not own what a connection may do
(`protocol`).
"""

from __future__ import annotations

import socket

import uvicorn

from sumfit.errors import ServiceError
from sumfit.serving.app import create_app
from sumfit.serving.engine import SummarizerLike
from sumfit.serving.gate import MAX_HEADER_BYTES
from sumfit.serving.options import ServerOptions
from sumfit.serving.protocol import Guards, guarded_protocol

__all__ = ["listen", "make_server", "serve"]

_KEEP_ALIVE_S = 15
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
    app = create_app(summarizer, options)
    guards = Guards(
        read_time_limit_s=options.read_time_limit_s,
        write_time_limit_s=options.write_time_limit_s,
        max_connections=options.max_connections,
        max_client_connections=options.client_part(options.max_connections),
        proxies=options.trusted_proxies,
        metrics=app.state.service.metrics,
    )
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        http=guarded_protocol(guards),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=bool(options.trusted_proxies),
        forwarded_allow_ips=list(options.trusted_proxies),
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=int(options.shutdown_time_limit_s) + 1,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    return uvicorn.Server(config)
