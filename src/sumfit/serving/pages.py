"""The web page, its files, and the reference of the API, all from inside the package.

Owns what a browser gets. Nothing is loaded from anywhere else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.resources import files

from fastapi import APIRouter, FastAPI, Request, Response

from sumfit.serving.errors import Problem
from sumfit.serving.reference import to_html

__all__ = ["add_pages"]

_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def add_pages(app: FastAPI) -> None:
    """Add ``/``, ``/page/NAME`` and ``/docs`` to an application.

    Args:
        app: An application that has its API routes.
    """
    assets = _load()
    router = APIRouter(include_in_schema=False)

    @router.api_route("/", methods=["GET", "HEAD"])
    async def index(request: Request) -> Response:
        return _answer(request, assets["index.html"], "html")

    @router.api_route("/page/{name}", methods=["GET", "HEAD"])
    async def asset(request: Request, name: str) -> Response:
        if name not in assets or name == "index.html":
            raise Problem(404, "there is no such file", param="path")
        return _answer(request, assets[name], name.rpartition(".")[2])

    app.include_router(router)
    app.include_router(_reference(lambda: to_html(app.openapi())))


def _reference(render: Callable[[], str]) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.api_route("/docs", methods=["GET", "HEAD"])
    async def reference(request: Request) -> Response:
        return _answer(request, render().encode(), "html")

    return router


def _load() -> dict[str, bytes]:
    folder = files("sumfit.serving") / "page"
    return {
        entry.name: entry.read_bytes()
        for entry in folder.iterdir()
        if entry.name.rpartition(".")[2] in _MEDIA_TYPES
    }


def _answer(request: Request, content: bytes, kind: str) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_MEDIA_TYPES[kind], headers=headers)
