"""Summaries as lines of text and as JSON records.

Owns what is written for one summary. Does not own reading or order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary

__all__ = ["RECORD_FIELDS", "error_record", "json_line", "record_of"]

_FIELDS = (
    "text",
    "length",
    "unit",
    "limit",
    "min_length",
    "log_prob",
    "score",
    "optimal",
    "gap",
    "complete",
    "source_truncated",
    "language",
    "cleaned",
    "origin",
    "method",
    "rank",
    "bonus",
    "unit_bonus",
)

RECORD_FIELDS = frozenset((*_FIELDS, "faithful", "alternatives", "line", "error"))
"""All fields that a record can have."""


def record_of(summary: Summary) -> dict[str, Any]:
    """A summary in JSON types.

    Args:
        summary: With or without a text.

    Returns:
        Its fields; numbers that JSON lacks are ``None``; ``faithful`` and ``alternatives`` only
        where there are any; of one without a text the limit, if it got that far, and the error.
    """
    if summary.error is not None:
        asked = {"unit": summary.unit, "limit": summary.limit} if summary.unit else {}
        return {**asked, **error_record(summary.error)}
    record = {name: _plain(getattr(summary, name)) for name in _FIELDS}
    if summary.faithful is not None:
        record["faithful"] = summary.faithful
    if summary.alternatives:
        record["alternatives"] = [record_of(other) for other in summary.alternatives]
    return record


def error_record(error: SumfitError) -> dict[str, Any]:
    """An error in JSON types.

    Args:
        error: Why there is no summary.

    Returns:
        ``{"error": {"type", "message"}}``.
    """
    return {"error": {"type": type(error).__name__, "message": str(error)}}


def json_line(record: Mapping[str, Any]) -> str:
    r"""A record as one line of JSON, readable in any script.

    Args:
        record: JSON types; numbers that JSON lacks become ``null``, and what is no JSON type,
            as a date of Parquet, a string.

    Returns:
        The line, without its end; line separators other than ``\n`` are escaped.
    """
    line = json.dumps(_plain(record), ensure_ascii=False, allow_nan=False, default=str)
    for character in ("\x7f", "\x85", "\u2028", "\u2029"):
        line = line.replace(character, f"\\u{ord(character):04x}")
    return line.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
