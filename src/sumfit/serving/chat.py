"""OpenAI's chat completions, so that existing clients get summaries that fit.

Owns the mapping: the last user message is the text, extra fields or a preset behind the model's
name are the limit, choices are candidates.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from sumfit.hypothesis import Summary
from sumfit.serving.bodies import checked_route
from sumfit.serving.chat_schemas import ChatReply, ChatRequest
from sumfit.serving.engine import reply_of, text_works
from sumfit.serving.errors import Problem, printable
from sumfit.serving.routes import (
    ERROR_REPLIES,
    json_response,
    note,
    options_of,
    summary_or_problem,
)
from sumfit.serving.schemas import LENGTH_FIELDS, ErrorReply, Options
from sumfit.serving.service import Service

__all__ = ["chat_router"]

_OWN_NAME = "sumfit"
_CHAT_ONLY = frozenset(ChatRequest.model_fields) - frozenset(Options.model_fields)


def chat_router(service: Service) -> APIRouter:
    """Make the routes that speak OpenAI's protocol.

    Args:
        service: What runs them.

    Returns:
        A router to include in the application.
    """
    checked = checked_route(service.options.max_texts)
    router = APIRouter(responses=ERROR_REPLIES, route_class=checked)

    @router.post(
        "/v1/chat/completions",
        response_model=ChatReply,
        responses={404: {"model": ErrorReply, "description": "No such model is served."}},
        summary="OpenAI-compatible",
        description=ChatRequest.__doc__ or "",
    )
    async def chat(request: Request, body: ChatRequest) -> Response:
        options = _chat_options(body, service)
        text = _source_of(body)
        note(request, n_texts=1)
        (result,) = await service.run(request, text_works([text], options))
        summary = summary_or_problem(result, service)
        reply = _reply(body, summary, text, service.summarizer.count_tokens)
        _check_stops(body, reply)
        if body.stream:
            has_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
            events = _events(reply, has_usage=has_usage)
            return StreamingResponse(events, media_type="text/event-stream")
        return json_response(reply)

    @router.get("/v1/models", summary="Models, in OpenAI's shape")
    async def models() -> Response:
        presets = service.summarizer.describe()["presets"]
        names = [_OWN_NAME, *(f"{_OWN_NAME}:{preset}" for preset in presets)]
        return json_response(
            {
                "object": "list",
                "data": [
                    {
                        "id": name,
                        "object": "model",
                        "created": service.started_at,
                        "owned_by": _OWN_NAME,
                    }
                    for name in names
                ],
            }
        )

    return router


def _chat_options(body: ChatRequest, service: Service) -> dict[str, Any]:
    options = {
        name: value for name, value in options_of(body, service).items() if name not in _CHAT_ONLY
    }
    for name in LENGTH_FIELDS:
        if isinstance(options.get(name), list):
            raise Problem(422, f"{name} must be one limit here, was a list", param=name)
    base, _, preset = body.model.partition(":")
    if base != _OWN_NAME:
        raise Problem(
            404,
            f"model {printable(body.model, limit=80)!r} is not served; use '{_OWN_NAME}' with a "
            f"limit such as \"max_chars\": 60, or '{_OWN_NAME}:PRESET'",
            kind="model_not_found",
            param="model",
        )
    if preset:
        options["preset"] = _once(options.get("preset"), preset, "preset", "model")
    if body.max_completion_tokens is not None:
        options["max_tokens"] = _once(
            options.get("max_tokens"),
            body.max_completion_tokens,
            "max_tokens",
            "max_completion_tokens",
        )
    if body.n is not None:
        options["n_best"] = _once(options.get("n_best"), body.n, "n_best", "n")
        if body.n > service.options.max_n_best:
            raise Problem(
                422,
                f"n is {body.n} and this server gives {service.options.max_n_best} at most",
                param="n",
            )
    return options


def _once(given: Any, value: Any, name: str, other: str) -> Any:
    if given is not None and given != value:
        raise Problem(
            422, f"{name} and {other} say different things; give one of them", param=other
        )
    return value


def _source_of(body: ChatRequest) -> str:
    for message in reversed(body.messages):
        if message.role == "user":
            if isinstance(message.content, str):
                return message.content
            return "\n".join(part.text for part in message.content or [])
    raise Problem(
        422,
        "messages has no message of role 'user'; its text is what is summarised",
        param="messages",
    )


def _reply(
    body: ChatRequest, summary: Summary, source: str, count_tokens: Callable[[str], int]
) -> dict[str, Any]:
    every = [summary, *summary.alternatives]
    texts = [one.text for one in every]
    n_source_tokens = count_tokens(source)
    n_tokens = sum(count_tokens(one.text) if one.added else len(one.words) for one in every)
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.model,
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
            for index, text in enumerate(texts)
        ],
        "usage": {
            "prompt_tokens": n_source_tokens,
            "completion_tokens": n_tokens,
            "total_tokens": n_source_tokens + n_tokens,
        },
        "sumfit": reply_of(summary),
    }


def _check_stops(body: ChatRequest, reply: dict[str, Any]) -> None:
    """Raise if a stop sequence of a request would cut a summary short."""
    stops = [body.stop] if isinstance(body.stop, str) else body.stop or []
    for stop in filter(None, stops):
        if any(stop in choice["message"]["content"] for choice in reply["choices"]):
            raise Problem(
                422,
                f"the summary holds the stop sequence {printable(stop, limit=80)!r}, and none is "
                "cut short; leave it out, or give banned words, which are kept out of it",
                param="stop",
            )


def _events(reply: dict[str, Any], *, has_usage: bool) -> Iterator[bytes]:
    """Server-sent events: the whole summary at once, since it is only known whole."""
    head = {
        "id": reply["id"],
        "object": "chat.completion.chunk",
        "created": reply["created"],
        "model": reply["model"],
        **({"usage": None} if has_usage else {}),
    }
    for choice in reply["choices"]:
        delta = {"index": choice["index"], "delta": choice["message"], "finish_reason": None}
        yield _event({**head, "choices": [delta]})
    ends = [
        {"index": choice["index"], "delta": {}, "finish_reason": "stop"}
        for choice in reply["choices"]
    ]
    yield _event({**head, "choices": ends, "sumfit": reply["sumfit"]})
    if has_usage:
        yield _event({**head, "choices": [], "usage": reply["usage"]})
    yield b"data: [DONE]\n\n"


def _event(content: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(content, allow_nan=False)}\n\n".encode("ascii")
