"""``sumfit serve``: summaries over HTTP, with a web page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sumfit.cli.options import ModelFlags, with_flags
from sumfit.serving.logs import set_up_logging
from sumfit.serving.options import ServerOptions, read_api_keys
from sumfit.serving.server import serve as run_server

__all__ = ["serve"]

_DEFAULT = ServerOptions()
_LIMITS = "Limits"
_ACCESS = "Access"


def _limit(help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(help=help, rich_help_panel=_LIMITS)
    return info


@with_flags(model=ModelFlags)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = _DEFAULT.host,
    port: Annotated[int, typer.Option(help="Port; 0 for any free one.")] = _DEFAULT.port,
    workers: Annotated[
        int, _limit("Threads that summarise; 0 for one per core.")
    ] = _DEFAULT.workers,
    queue_size: Annotated[int, _limit("Texts that may wait.")] = _DEFAULT.queue_size,
    max_batch: Annotated[int, _limit("Texts that a thread takes at once.")] = _DEFAULT.max_batch,
    time_limit: Annotated[float, _limit("Seconds a request may take.")] = _DEFAULT.time_limit_s,
    search_time_limit: Annotated[
        float, _limit("Seconds for one summary's search; then the best so far.")
    ] = _DEFAULT.search_time_limit_s,
    max_body_bytes: Annotated[int, _limit("Largest request.")] = _DEFAULT.max_body_bytes,
    max_texts: Annotated[int, _limit("Most texts in a request.")] = _DEFAULT.max_texts,
    api_keys_file: Annotated[
        str | None,
        typer.Option(
            help="File with one accepted key a line; SUMFIT_API_KEYS works as well.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option(help="Web origin that may call; repeatable.", rich_help_panel=_ACCESS),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="Host name to answer to, * for any.", rich_help_panel=_ACCESS),
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    *,
    model: ModelFlags,
) -> None:
    """Serve summaries over HTTP until told to stop.

    sumfit serve

    sumfit serve --port 9000 --queue-size 2000 --time-limit 10

    sumfit serve --host 0.0.0.0 --api-keys-file keys.txt --allowed-host sum.example.org

    The page is at /, the reference at /docs. The server listens on the loopback address and has
    no encryption: to offer it to others, put a reverse proxy in front and use API keys.
    """
    options = ServerOptions(
        host=host,
        port=port,
        workers=workers,
        max_batch=max_batch,
        queue_size=queue_size,
        time_limit_s=time_limit,
        search_time_limit_s=search_time_limit,
        max_body_bytes=max_body_bytes,
        max_texts=max_texts,
        api_keys=read_api_keys(api_keys_file),
        cors_origins=tuple(cors_origin or ()),
        allowed_hosts=tuple(allowed_host or ()),
    )
    if not options.is_loopback and not options.api_keys:
        print(f"warning: anyone who reaches {host} can use this server", file=sys.stderr)
    set_up_logging(log_level)
    summarizer = model.load(n_workers=1)
    print(f"serving on http://{host}:{port}", file=sys.stderr)
    run_server(summarizer, options)
