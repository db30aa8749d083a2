"""Errors of the server in one shape, for every route and every cause.

Owns ``{"error": {"type", "message", "param", "request_id"}}``, the status of each cause, and the
texts for requests that do not fit the schema. Texts that a client sent never appear in it.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sumfit.errors import Keyword, SumfitError

__all__ = ["Problem", "error_type", "from_sumfit_error", "from_validation", "printable"]

_MAX_NAME = 80  # longest piece of a client's field name that is echoed
_ALTERNATIVE = re.compile(r"constrained-\w+|str|int|list\[.*\]")
_RULES = {
    "model_attributes_type": "the body must be one JSON object",
    "missing": "this field is needed",
    "string_unicode": "holds half of a surrogate pair, which is no character",
}
_STATUS_TYPES = {
    400: "bad_request",
    401: "unauthorized",
    403: "wrong_origin",
    404: "not_found",
    405: "method_not_allowed",
    408: "client_too_slow",
    413: "body_too_large",
    415: "unsupported_media_type",
    421: "wrong_host",
    422: "invalid_request",
    429: "overloaded",
    431: "headers_too_large",
    500: "internal_error",
    501: "not_implemented",
    503: "overloaded",
    504: "time_limit",
}


@dataclass(eq=False)
class Problem(Exception):
    """One thing that went wrong with a request.

    Attributes:
        status: HTTP status.
        message: What was asked, what is allowed, what to do.
        kind: Error type, snake case; the status's own if empty.
        param: Field or header at fault, ``None`` if there is none.
        retry_after_s: Seconds after which trying again makes sense, ``None`` for never.
    """

    status: int
    message: str
    kind: str = ""
    param: str | None = None
    retry_after_s: int | None = None

    @property
    def type(self) -> str:
        """Error type as the client sees it."""
        return self.kind or _STATUS_TYPES.get(self.status, "error")

    def headers(self) -> dict[str, str]:
        """Response headers that go with it."""
        headers = {"content-type": "application/json"}
        if self.retry_after_s is not None:
            headers["retry-after"] = str(self.retry_after_s)
        if self.status == 401:
            headers["www-authenticate"] = 'Bearer realm="sumfit"'
        return headers

    def as_dict(self, request_id: str) -> dict[str, Any]:
        """The reply as a JSON object.

        Args:
            request_id: Id of the request, as in the log and the ``x-request-id`` header.

        Returns:
            The object in the one shape of all errors.
        """
        return {
            "error": {
                "type": self.type,
                "message": self.message,
                "param": self.param,
                "request_id": request_id,
            }
        }

    def body(self, request_id: str) -> bytes:
        """The reply as JSON bytes, ASCII alone.

        Args:
            request_id: Id of the request.

        Returns:
            The encoded object.
        """
        return json.dumps(self.as_dict(request_id)).encode("ascii")


def error_type(kind: type[SumfitError]) -> str:
    """Name an exception class as clients see it.

    Args:
        kind: Class of an error of sumfit.

    Returns:
        The class name in snake case without ``Error``, such as ``infeasible_budget``.
    """
    name = kind.__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def from_sumfit_error(error: SumfitError, *, retry_after_s: int | None = None) -> Problem:
    """Turn an exception of the library into a reply.

    Args:
        error: The exception; its class decides the status.
        retry_after_s: Seconds after which trying again makes sense.

    Returns:
        The problem to answer with. What a failure of the server itself (status 500) says of
        paths and files stays in the log.
    """
    if error.http_status == 500:
        message = "the server could not use its model; the operator's log has the reason"
        return Problem(500, message, kind=error_type(type(error)))
    return Problem(
        error.http_status,
        printable(error.text(_as_field), limit=600),
        kind=error_type(type(error)),
        param=error.parameter,
        retry_after_s=retry_after_s,
    )


def _as_field(keyword: Keyword) -> str:
    """A parameter in a message, as it stands in a request: fields have the names of keywords."""
    name, after, value = keyword
    return f"{name}={json.dumps(value)}" if after == f"={value!r}" else str(keyword)


def from_validation(errors: Sequence[Mapping[str, Any]], known_fields: Sequence[str]) -> Problem:
    """Turn schema violations into one reply that names the first field at fault.

    Args:
        errors: Violations as pydantic lists them (``loc``, ``type``, ``msg``).
        known_fields: Names the schema knows, for a hint at a misspelt one.

    Returns:
        The problem to answer with; it says how many further fields are wrong.
    """
    first = errors[0]
    if first["type"] == "json_invalid":
        return Problem(400, "the body is not valid JSON; send one JSON object", "malformed_json")
    names = list(dict.fromkeys(_field_name(error["loc"]) for error in errors))
    param = names[0] or None
    if not param and first["type"] == "missing":
        return Problem(400, "the body is empty; send one JSON object", "malformed_json")
    if first["type"] == "extra_forbidden":
        name = str(first["loc"][-1])[:_MAX_NAME]  # what is longer is like no field
        close = difflib.get_close_matches(name, known_fields, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "GET /docs lists the fields"
        message, kind = f"unknown field '{param}'; {hint}", "unknown_field"
    else:
        kind = "invalid_request"
        text = _RULES.get(first["type"]) or str(first["msg"]).removeprefix("Value error, ")
        if any(part == "list[constrained-int]" for error in errors for part in error["loc"]):
            text = "must be a whole number from 0 to 1000000, or a list of them"
        text = printable(text, limit=400)
        message = f"{param}: {text}" if param else text
    others = len(names) - 1
    if others:
        message += f" (and {others} more {'field' if others == 1 else 'fields'})"
    return Problem(422, message, kind=kind, param=param)


def _field_name(place: Sequence[str | int]) -> str:
    """Path of a field in a body, without the labels that pydantic gives to alternatives."""
    parts = [part for part in place if part != "body"]
    kept = [part for part in parts if not (isinstance(part, str) and _ALTERNATIVE.fullmatch(part))]
    return ".".join(printable(str(part), limit=_MAX_NAME) for part in kept)


def printable(text: str, *, limit: int) -> str:
    """Make text safe to print, log and send: no control characters, no lone surrogates.

    Args:
        text: Anything.
        limit: Most characters kept.

    Returns:
        The text with each unprintable character as its escape.
    """
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in short
    )
