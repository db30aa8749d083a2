"""Bodies of requests: JSON that means one thing, and that costs no more than its size.

Owns parsing them before a route sees them: no field twice, a bound on depth, on the number of
values and on the size of numbers, nothing that JSON does not have. Does not own their schemas
(`sumfit.serving.schemas`).
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from sumfit.data.json_text import RepeatedKeyError, unique_keys
from sumfit.serving.errors import Problem, printable

__all__ = ["checked_route", "parse_body"]

_MAX_DEPTH = 16
_MAX_NUMBER = 32  # characters; no option has more than seven
_VALUES_PER_TEXT = 8  # a text and its limits, each with a comma
_FEW_VALUES = 20_000  # so many are always read
# The end is optional, so that a string that does not end is read once and not from each quote.
_STRING = re.compile(rb'"[^"]*"?')
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))


def checked_route(max_texts: int) -> type[APIRoute]:
    """Make a class of routes that parse their body with `parse_body`.

    Args:
        max_texts: Most texts that a request may have.

    Returns:
        A class for ``APIRouter(route_class=...)``.
    """
    max_values = _FEW_VALUES + _VALUES_PER_TEXT * max_texts

    class CheckedRequest(Request):
        async def json(self) -> Any:
            if not hasattr(self, "_value"):
                self._value = parse_body(await self.body(), max_values)
            return self._value

    class CheckedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def checked(request: Request) -> Response:
                request = CheckedRequest(request.scope, request.receive)
                # What is no JSON at all is reported by the handler, which reads the body again.
                with contextlib.suppress(ValueError):
                    await request.json()
                return await handle(request)

            return checked

    return CheckedRoute


def parse_body(body: bytes, max_values: int) -> Any:
    """Parse a body, in time and memory that grow with its length alone.

    Args:
        body: JSON in UTF-8.
        max_values: Most values in it, at all depths together.

    Returns:
        Its value.

    Raises:
        Problem: If it is nested too deep, has too many values, a field twice in one object, a
            number that is too large, or NaN or Infinity, which JSON does not have.
        ValueError: If it is no JSON.
    """
    _check_structure(body, max_values)
    try:
        return _DECODER.decode(body.decode("utf-8-sig"))
    except RepeatedKeyError as error:
        name = printable(error.key, limit=80)
        raise Problem(
            422,
            f"the field '{name}' is there twice in one object; send it once",
            kind="repeated_field",
            param=name,
        ) from None


def _check_structure(body: bytes, max_values: int) -> None:
    """Look at brackets and commas alone, before anything is built from them."""
    # Without escapes, a string ends at the next quotation mark.
    plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    _check_count(plain.count(b'"') // 4, max_values)  # a string is a value, or the key of one
    outside = _STRING.sub(b"", plain)
    _check_count(outside.count(b",") + outside.count(b"[") + outside.count(b"{"), max_values)
    depth = 0
    for bracket in outside.translate(None, _NO_BRACKET):
        depth += 1 if bracket in b"[{" else -1
        if depth > _MAX_DEPTH:
            raise Problem(
                422,
                f"the body is nested more than {_MAX_DEPTH} deep; no field needs that",
                kind="nested_too_deep",
            )


def _check_count(n_values: int, max_values: int) -> None:
    if n_values > max_values:
        raise Problem(
            422,
            f"the body has more than {max_values} values; send several requests",
            kind="too_many_values",
        )


def _whole(digits: str) -> int:
    _check_number(digits)
    return int(digits)


def _real(digits: str) -> float:
    _check_number(digits)
    value = float(digits)
    if math.isinf(value):
        raise _number_problem(digits)
    return value


def _check_number(digits: str) -> None:
    if len(digits) > _MAX_NUMBER:
        raise _number_problem(digits)


def _number_problem(digits: str) -> Problem:
    return Problem(
        422,
        f"the number {printable(digits, limit=20)} is too large, or has more than {_MAX_NUMBER} "
        "characters",
        kind="number_out_of_range",
    )


def _no_json(name: str) -> Any:
    raise Problem(
        400,
        f"{name} is no JSON; leave the field out, or send a number",
        kind="malformed_json",
    )


_DECODER = json.JSONDecoder(
    object_pairs_hook=unique_keys, parse_int=_whole, parse_float=_real, parse_constant=_no_json
)
