"""Bodies of requests: JSON objects that have no field twice.

Owns parsing them before a route sees them. Does not own their schemas (`sumfit.serving.schemas`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from sumfit.data.json_text import RepeatedKeyError, parse_json
from sumfit.serving.errors import Problem, printable

__all__ = ["CheckedRoute"]


class _CheckedRequest(Request):
    """A request whose body is parsed once, by the strict parser."""

    async def json(self) -> Any:
        """Return the value of the body; raises what `json.loads` raises, and for repeated keys."""
        if not hasattr(self, "_value"):
            self._value = parse_json(await self.body())
        return self._value


class CheckedRoute(APIRoute):
    """A route that refuses a body in which an object has a field twice."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler that reads and checks the body.

        Returns:
            The wrapped handler.
        """
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            request = _CheckedRequest(request.scope, request.receive)
            # What is no JSON at all is reported by the handler, which reads the body again.
            with contextlib.suppress(ValueError, RecursionError):
                try:
                    await request.json()
                except RepeatedKeyError as error:
                    name = printable(error.key, limit=80)
                    raise Problem(
                        422,
                        f"the field '{name}' is there twice in one object; send it once",
                        kind="repeated_field",
                        param=name,
                    ) from None
            return await handle(request)

        return checked
