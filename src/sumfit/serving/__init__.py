"""sumfit over HTTP: server, web page and client; needs ``sumfit[serve]``.

Owns everything between a socket and a `sumfit.Summarizer`. Names are imported when they are first
asked for, so that ``sumfit.serving`` itself needs no web framework.
"""

from __future__ import annotations

import importlib
from typing import Any

from sumfit.errors import MissingExtraError

__all__ = ["AsyncClient", "ServerOptions", "SummaryTransformer", "create_app", "serve"]

_HOMES = {
    "AsyncClient": "client",
    "ServerOptions": "options",
    "SummaryTransformer": "sklearn_style",
    "create_app": "app",
    "serve": "server",
}
_EXTRA_MODULES = {
    "fastapi",
    "h11",
    "httpx",
    "prometheus_client",
    "pydantic",
    "starlette",
    "uvicorn",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in _EXTRA_MODULES:
            raise MissingExtraError(package, "serve") from error
        raise
