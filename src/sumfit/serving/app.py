"""The application: routes, page and guards around one summarizer.

Owns how the parts are put together and how errors become replies.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from sumfit._version import __version__
from sumfit.errors import SumfitError
from sumfit.serving.chat import chat_router
from sumfit.serving.chat_schemas import ChatRequest
from sumfit.serving.engine import BackendLike, SummarizerLike
from sumfit.serving.errors import Problem, from_sumfit_error, from_validation
from sumfit.serving.gate import Gate
from sumfit.serving.metrics import Metrics
from sumfit.serving.options import ServerOptions
from sumfit.serving.pages import add_pages
from sumfit.serving.routes import api_router
from sumfit.serving.schemas import GraphRequest, SummarizeRequest
from sumfit.serving.service import Service

__all__ = ["create_app", "openapi_document"]

logger = logging.getLogger("sumfit.serving")
_BODIES: dict[str, type[BaseModel]] = {
    "/v1/summarize": SummarizeRequest,
    "/v1/graph": GraphRequest,
    "/v1/chat/completions": ChatRequest,
}


def create_app(summarizer: SummarizerLike, options: ServerOptions | None = None) -> FastAPI:
    """Make the ASGI application.

    Args:
        summarizer: The model, loaded; give it one thread of its own, the server has several.
        options: Limits, keys and hosts; the defaults if ``None``.

    Returns:
        An application for any ASGI server; its lifespan events must be run.
    """
    options = options or ServerOptions()
    metrics = Metrics()
    service = Service(summarizer, options, metrics)
    app = FastAPI(
        title="sumfit",
        version=__version__,
        description="Summaries that fit: a hard length limit in, a fluent summary out.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # behind a proxy the target would be another scheme or host
        lifespan=_lifespan(service),
        middleware=_middleware(options, metrics),
    )
    app.state.service = service
    app.include_router(api_router(service))
    app.include_router(chat_router(service))
    add_pages(app)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(SumfitError, _on_sumfit)
    app.add_exception_handler(Problem, _on_problem)
    return app


def openapi_document() -> dict[str, Any]:
    """Describe the API without loading a model.

    Returns:
        The OpenAPI document.
    """
    return create_app(_NoModel()).openapi()


class _NoModel:
    """Stands in, with its backend, where only the shape of the API is wanted."""

    batch_size = 1

    @property
    def backend(self) -> BackendLike:
        return self

    def __call__(self, texts: Any, /, **options: Any) -> Any:
        raise SumfitError("no model is loaded")

    def inspect(self, text: str, /, **options: Any) -> Any:
        raise SumfitError("no model is loaded")

    def describe(self) -> dict[str, Any]:
        return {}

    def count_tokens(self, text: str, /) -> int:
        return 0


def _middleware(options: ServerOptions, metrics: Metrics) -> list[Middleware]:
    layers = [Middleware(Gate, options=options, metrics=metrics)]
    if options.cors_origins:
        # Around the gate: a preflight request carries no key, and a page must read refusals too.
        layers.insert(
            0,
            Middleware(
                _Cors,
                allow_origins=list(options.cors_origins),
                allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type", "x-api-key", "x-request-id"],
                expose_headers=["retry-after", "x-request-id"],
            ),
        )
    return layers


class _Cors(CORSMiddleware):
    """Starlette's, whose refusals have the shape of all errors."""

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        problem = Problem(
            403,
            "a page of this origin may not send such a request; the server's operator can allow "
            "origins with --cors-origin",
            param="origin",
        )
        return Response(problem.body(uuid.uuid4().hex), problem.status, problem.headers())


def _lifespan(service: Service) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(_warm_up(service))
        yield
        await service.stop()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    return lifespan


async def _warm_up(service: Service) -> None:
    try:
        await service.warm_up()
        logger.info("ready")
    except Exception as error:  # the server stays up and says that it is not ready
        logger.error("warm-up failed", extra={"fields": {"reason": repr(error)}})


def _answer(request: Request, problem: Problem) -> Response:
    request_id = request.scope["state"]["request_id"]
    return Response(problem.body(request_id), problem.status, problem.headers())


async def _on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    body = _BODIES.get(request.url.path)
    known = list(body.model_fields) if body else []
    return _answer(request, from_validation(error.errors(), known))


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {
        400: "the body could not be read as JSON; send one JSON object",
        404: "there is nothing at this address; GET /docs lists what there is",
        405: "this address does not take this method; GET /docs lists what it takes",
    }
    problem = Problem(error.status_code, texts.get(error.status_code, "the request failed"))
    response = _answer(request, problem)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


async def _on_sumfit(request: Request, error: Exception) -> Response:
    assert isinstance(error, SumfitError)
    return _answer(request, from_sumfit_error(error))


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _answer(request, error)
