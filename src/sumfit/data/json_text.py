"""JSON in which no object has a key twice.

Owns the check, which the standard parser leaves out: there the last value wins without a word. Does
not own what the values mean (`sumfit.data.readers`, `sumfit.serving`).
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["RepeatedKeyError", "parse_json", "parse_next", "unique_keys"]

_MAX_SHOWN = 80  # characters of a key in a message


class RepeatedKeyError(ValueError):
    """An object that has a key twice.

    Attributes:
        key: The key.
    """

    key: str

    def __init__(self, key: str) -> None:
        """Say which.

        Args:
            key: The key.
        """
        self.key = key
        shown = key if len(key) <= _MAX_SHOWN else key[: _MAX_SHOWN - 1] + "…"
        super().__init__(f"key {shown!r} twice in one object; keep one of them")


def parse_json(text: str | bytes) -> Any:
    """Parse JSON like `json.loads`.

    Args:
        text: The document; bytes in UTF-8.

    Returns:
        Its value.

    Raises:
        RepeatedKeyError: If an object in it, at any depth, has a key twice.
    """
    return _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8-sig"))


def parse_next(text: str, at: int, *, may_repeat: bool = False) -> tuple[Any, int]:
    """Parse one value inside a longer text.

    Args:
        text: The text.
        at: Where the value begins.
        may_repeat: Objects may have a key twice; the last value counts.

    Returns:
        The value, and the place behind it.

    Raises:
        RepeatedKeyError: If an object in it, at any depth, has a key twice.
    """
    decoder = _LENIENT if may_repeat else _DECODER
    return decoder.raw_decode(text, at)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values, for ``object_pairs_hook``.

    Args:
        pairs: Keys and values in their order.

    Returns:
        The object.

    Raises:
        RepeatedKeyError: If a key is there twice.
    """
    values = dict(pairs)
    if len(values) != len(pairs):
        seen = set[str]()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKeyError(key)
            seen.add(key)
    return values


# Made once: with an argument, json.loads makes a decoder at every call, which takes longer than
# most lines do. The hook runs once for each object, and a record is one.
_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)
_LENIENT = json.JSONDecoder()
