"""``sumfit serve``: summaries over HTTP, with a web page."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from sumfit.cli.logs import level_of, log_to_stderr
from sumfit.cli.options import ModelFlags, with_flags
from sumfit.serving.options import ServerOptions, read_api_keys

__all__ = ["serve"]

_DEFAULT = ServerOptions()
_LIMITS = "Limits"
_ACCESS = "Access"


def _limit(help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(help=help, rich_help_panel=_LIMITS)
    return info


def _access(help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(help=help, rich_help_panel=_ACCESS)
    return info


@dataclass(frozen=True)
class ServerFlags:
    """Where the server listens, what it accepts, and from whom."""

    host: Annotated[str, typer.Option(help="Address to listen on.")] = _DEFAULT.host
    port: Annotated[int, typer.Option(help="Port; 0 for any free one.")] = _DEFAULT.port
    workers: Annotated[int, _limit("Threads that summarise; 0 for one per core.")] = (
        _DEFAULT.workers
    )
    queue_size: Annotated[int, _limit("Texts that may wait.")] = _DEFAULT.queue_size
    max_batch: Annotated[int, _limit("Texts that a thread takes at once.")] = _DEFAULT.max_batch
    client_share: Annotated[
        float, _limit("Part of queue, connections and memory that one client address may have.")
    ] = _DEFAULT.client_share
    time_limit: Annotated[float, _limit("Seconds a request may take.")] = _DEFAULT.time_limit_s
    search_time_limit: Annotated[
        float, _limit("Seconds for one summary's search; then the best so far.")
    ] = _DEFAULT.search_time_limit_s
    max_body_bytes: Annotated[int, _limit("Largest request.")] = _DEFAULT.max_body_bytes
    max_held_bytes: Annotated[
        int, _limit("All requests together; 0 for six times the largest.")
    ] = _DEFAULT.max_held_bytes
    max_connections: Annotated[int, _limit("Open connections.")] = _DEFAULT.max_connections
    max_texts: Annotated[int, _limit("Most texts in a request.")] = _DEFAULT.max_texts
    api_keys_file: Annotated[
        str | None,
        _access("File with one accepted key a line; SUMFIT_API_KEYS works as well."),
    ] = None
    cors_origin: Annotated[list[str] | None, _access("Web origin that may call; repeatable.")] = (
        None
    )
    allowed_host: Annotated[list[str] | None, _access("Host name to answer to, * for any.")] = None

    trusted_proxy: Annotated[
        list[str] | None,
        _access("Address or network of a proxy that says who asks; repeatable."),
    ] = None

    def options(self) -> ServerOptions:
        """The same for the library.

        Returns:
            Options of the server, keys read from their file.
        """
        return ServerOptions(
            host=self.host,
            port=self.port,
            workers=self.workers,
            max_batch=self.max_batch,
            queue_size=self.queue_size,
            client_share=self.client_share,
            time_limit_s=self.time_limit,
            search_time_limit_s=self.search_time_limit,
            max_body_bytes=self.max_body_bytes,
            max_held_bytes=self.max_held_bytes,
            max_connections=self.max_connections,
            max_texts=self.max_texts,
            api_keys=read_api_keys(self.api_keys_file),
            cors_origins=tuple(self.cors_origin or ()),
            allowed_hosts=tuple(self.allowed_host or ()),
            trusted_proxies=tuple(self.trusted_proxy or ()),
        )


@with_flags(server=ServerFlags, model=ModelFlags)
def serve(
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    *,
    server: ServerFlags,
    model: ModelFlags,
) -> None:
    """Serve summaries over HTTP until told to stop.

    sumfit serve

    sumfit serve --port 9000 --queue-size 2000 --time-limit 10

    sumfit serve --host 0.0.0.0 --api-keys-file keys.txt --allowed-host sum.example.org

    The page is at /, the reference at /docs. The server listens on the loopback address and has
    no encryption: to offer it to others, put a reverse proxy in front and use API keys.
    """
    from sumfit.serving.logs import JsonFormatter  # the help needs no web server
    from sumfit.serving.server import listen
    from sumfit.serving.server import serve as run_server

    options = server.options()
    if not options.is_loopback and not options.api_keys:
        print(f"warning: anyone who reaches {options.host} can use this server", file=sys.stderr)
    log_to_stderr(level_of(log_level), "uvicorn", formatter=JsonFormatter())
    listener, url = listen(options)
    summarizer = model.load(n_workers=1)
    print(f"serving on {url}", file=sys.stderr)
    run_server(summarizer, options, listener)
