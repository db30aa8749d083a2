"""Routes of the API: summaries, the model, graphs, health and metrics.

Owns the meaning of each route; what they share is in `service`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary
from sumfit.serving.bodies import checked_route
from sumfit.serving.engine import graph_work, limits_works, reply_of, text_works
from sumfit.serving.errors import Problem, from_sumfit_error
from sumfit.serving.graph import graph_reply
from sumfit.serving.metrics import CONTENT_TYPE
from sumfit.serving.schemas import (
    LENGTH_FIELDS,
    ErrorReply,
    GraphReply,
    GraphRequest,
    ModelReply,
    Options,
    SummarizeReply,
    SummarizeRequest,
    SummaryReply,
)
from sumfit.serving.service import Service

__all__ = [
    "ERROR_REPLIES",
    "api_router",
    "json_response",
    "note",
    "options_of",
    "summary_or_problem",
]

_CAUSES = {
    400: "The request is no valid HTTP, or its body no JSON.",
    401: "An API key is needed, or not known.",
    408: "The body came too slowly.",
    413: "The body is too large, or holds too many texts.",
    415: "The body is not declared as JSON, or is compressed.",
    403: "A web page of another origin asks.",
    421: "The host name is not served here.",
    422: "A field is unknown, wrong, there twice, nested too deep, or in conflict; or no summary "
    "fits.",
    429: "The queue is full; see Retry-After.",
    431: "Address and headers are too large.",
    500: "The server failed.",
    501: "A Transfer-Encoding other than chunked.",
    503: "The server is starting, stopping or short of memory, connections or workers; see "
    "Retry-After.",
    504: "The request's time ran out.",
}
ERROR_REPLIES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": text} for status, text in _CAUSES.items()
}

_ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorReply"}}}
_ERRORS_BESIDE_TEXT: dict[int | str, dict[str, Any]] = {
    status: {"content": _ERROR_CONTENT, "description": text} for status, text in _CAUSES.items()
}


def api_router(service: Service) -> APIRouter:
    """Make the routes of the API.

    Args:
        service: What runs them.

    Returns:
        A router to include in the application.
    """
    checked = checked_route(service.options.max_texts)
    router = APIRouter(responses=ERROR_REPLIES, route_class=checked)
    _add_summarize(router, service)
    _add_graph(router, service)
    _add_model(router, service)
    _add_probes(router, service)
    return router


def _add_summarize(router: APIRouter, service: Service) -> None:
    @router.post(
        "/v1/summarize",
        response_model=SummaryReply | SummarizeReply,
        summary="Summaries that fit",
        description="With `text`, one summary (or, with several limits, one per limit); with "
        "`texts`, one per text in order, where a text that fails has an `error` and the others "
        "come through.",
    )
    async def summarize(request: Request, body: SummarizeRequest) -> Response:
        options = options_of(body, service)
        n_texts = len(body.texts) if body.texts is not None else 1
        note(request, n_texts=n_texts)
        if body.texts is not None:
            return await _many(service, request, body.texts, options)
        assert body.text is not None
        if body.limits is not None or any(isinstance(options.get(n), list) for n in LENGTH_FIELDS):
            return await _limits(service, request, body.text, options)
        (result,) = await service.run(request, text_works([body.text], options))
        return json_response(reply_of(summary_or_problem(result, service)))


async def _many(
    service: Service, request: Request, texts: list[str], options: dict[str, Any]
) -> Response:
    if len(texts) > service.options.max_texts:
        raise Problem(
            413,
            f"texts has {len(texts)} entries and a request may have {service.options.max_texts}; "
            "send several requests",
            kind="too_many_texts",
            param="texts",
        )
    _check_n_results(len(texts), options, service)
    results = await service.run(request, text_works(texts, options))
    for result in results:
        if isinstance(result, SumfitError):  # the options themselves are wrong, for all texts
            raise from_sumfit_error(result)
    return _list_response(service, results)


async def _limits(
    service: Service, request: Request, text: str, options: dict[str, Any]
) -> Response:
    lists = [value for value in options.values() if isinstance(value, list) and value]
    n_limits = max((len(value) for value in lists if isinstance(value[0], int)), default=0)
    if n_limits > service.options.max_limits:
        raise Problem(
            422,
            f"{n_limits} limits for one text, and a request may have "
            f"{service.options.max_limits}; send several requests",
            kind="too_many_limits",
            param="limits",
        )
    _check_n_results(max(1, n_limits), options, service)
    summaries: list[Summary] = []
    for result in await service.run(request, limits_works(text, options)):
        if isinstance(result, SumfitError):
            raise from_sumfit_error(result)
        summaries += result
    return _list_response(service, summaries)


def _check_n_results(n_summaries: int, options: Mapping[str, Any], service: Service) -> None:
    """Bound the reply, which is made whole before it is sent."""
    n_best = options.get("n_best", 1)
    most = service.options.max_results
    if n_summaries * n_best > most:
        raise Problem(
            413,
            f"{n_summaries} summaries with n_best={n_best} are {n_summaries * n_best} candidates, "
            f"and a reply may have {most}; send several requests",
            kind="too_many_results",
            param="n_best",
        )


def _add_graph(router: APIRouter, service: Service) -> None:
    @router.post(
        "/v1/graph",
        response_model=GraphReply,
        summary="The graph behind a summary",
        description="Vertices with their most probable words, links, and the path of the "
        "summary that `/v1/summarize` returns for the same options. A text that already fits is "
        "summarised all the same, as with `keep_short` false, so its path is that of another text.",
    )
    async def graph(request: Request, body: GraphRequest) -> Response:
        options = options_of(body, service)
        options.pop("words_per_vertex", None)
        options.pop("min_link_prob", None)
        note(request, n_texts=1)
        (result,) = await service.run(request, [graph_work(body.text, options)])
        if isinstance(result, SumfitError):
            raise from_sumfit_error(result)
        return json_response(
            graph_reply(
                result,
                words_per_vertex=body.words_per_vertex,
                min_link_prob=body.min_link_prob,
            )
        )


def _add_model(router: APIRouter, service: Service) -> None:
    @router.get("/v1/model", response_model=ModelReply, summary="The model and its options")
    async def model() -> Response:
        limits = {
            "max_texts": service.options.max_texts,
            "max_limits": service.options.max_limits,
            "max_results": service.options.max_results,
            "max_n_best": service.options.max_n_best,
            "max_body_bytes": service.options.max_body_bytes,
            "time_limit_s": service.options.time_limit_s,
        }
        return json_response({**service.summarizer.describe(), "limits": limits})


def _add_probes(router: APIRouter, service: Service) -> None:
    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz", summary="Whether the process is alive")
    async def healthz() -> Response:
        return json_response({"status": "ok"})

    @router.head("/readyz", include_in_schema=False)
    @router.get("/readyz", summary="Whether a request would be served now")
    async def readyz() -> Response:
        service.check_ready()
        if not service.batcher.is_accepting:
            wait_s = service.batcher.retry_after_s()
            raise Problem(503, "the queue is full", kind="overloaded", retry_after_s=wait_s)
        return json_response({"status": "ready"})

    @router.head("/metrics", include_in_schema=False)
    @router.get(
        "/metrics",
        summary="Counters in Prometheus' text format",
        response_class=PlainTextResponse,
        responses=_ERRORS_BESIDE_TEXT,
    )
    async def metrics() -> Response:
        return Response(service.metrics.render(), media_type=CONTENT_TYPE)


def options_of(body: Options, service: Service) -> dict[str, Any]:
    """Collect the options that a request sets, for the summarizer.

    Args:
        body: A request.
        service: Whose limits hold.

    Returns:
        Keyword arguments with the server's time limit for a search; what the request leaves out
        or sets to null is left out.

    Raises:
        Problem: If it asks for more candidates than the server gives.
    """
    if body.n_best is not None and body.n_best > service.options.max_n_best:
        raise Problem(
            422,
            f"n_best is {body.n_best} and this server gives {service.options.max_n_best} at most",
            param="n_best",
        )
    given: dict[str, Any] = body.model_dump(
        exclude_unset=True, exclude_none=True, exclude={"text", "texts"}
    )
    return {**given, "time_limit_s": service.options.search_time_limit_s}


def summary_or_problem(result: Summary | SumfitError, service: Service) -> Summary:
    """Return a summary, or raise the reason why there is none.

    Args:
        result: What the queue returned for one text.
        service: Whose counters to update.

    Returns:
        A summary with a text.

    Raises:
        Problem: If there is none.
    """
    error = result if isinstance(result, SumfitError) else result.error
    service.metrics.texts.labels("ok" if error is None else "error").inc()
    if error is not None:
        raise from_sumfit_error(error)
    assert isinstance(result, Summary)
    return result


def note(request: Request, **fields: object) -> None:
    """Add fields to the log line of a request.

    Args:
        request: The request.
        **fields: JSON values; never a text.
    """
    request.scope["state"].setdefault("log", {}).update(fields)


def json_response(content: Mapping[str, Any]) -> Response:
    """Encode a reply.

    Args:
        content: JSON types.

    Returns:
        A response in UTF-8.
    """
    body = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(body.encode("utf-8", "replace"), media_type="application/json")


def _list_response(service: Service, summaries: list[Summary]) -> Response:
    n_errors = sum(summary.error is not None for summary in summaries)
    service.metrics.texts.labels("error").inc(n_errors)
    service.metrics.texts.labels("ok").inc(len(summaries) - n_errors)
    replies = [reply_of(summary) for summary in summaries]
    return json_response({"summaries": replies, "n_errors": n_errors})
