"""Summaries as lines of text and as JSON records.

Owns what is written for one summary. Does not own reading or order.
"""

from __future__ import annotations

import base64
import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary

__all__ = [
    "RECORD_FIELDS",
    "as_text",
    "error_record",
    "json_line",
    "record_of",
    "without_nan",
]

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
    "added",
    "method",
    "rank",
    "chosen_by",
    "choice_score",
    "confidence",
    "unfinished",
    "bonus",
    "unit_bonus",
)

# No text can hold one of these: they are drawn when the program starts.
_NAN, _INFINITE, _MINUS_INFINITE = (uuid.uuid4().hex for _ in range(3))
_LITERALS = {_NAN: "NaN", _INFINITE: "1e999", _MINUS_INFINITE: "-1e999"}

RECORD_FIELDS = frozenset(
    (
        *_FIELDS,
        "faithful",
        "checks",
        "unsupported",
        "source_selected",
        "alternatives",
        "line",
        "error",
    )
)
"""All fields that a record can have."""


def record_of(summary: Summary) -> dict[str, Any]:
    """A summary in JSON types.

    Args:
        summary: With or without a text.

    Returns:
        Its fields; numbers that JSON lacks are ``None``; what was judged and ``alternatives`` only
        where there are any; of one without a text the limit, if it got that far, and the error.
    """
    if summary.error is not None:
        asked = {"unit": summary.unit, "limit": summary.limit} if summary.unit else {}
        return {**asked, **error_record(summary.error)}
    record = {name: _plain(getattr(summary, name)) for name in _FIELDS}
    if summary.faithful is not None:
        record |= {
            "faithful": summary.faithful,
            "checks": dict(summary.checks),
            "unsupported": list(summary.unsupported),
        }
    if summary.source_selected is not None:
        record["source_selected"] = asdict(summary.source_selected)
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


def json_line(record: Any) -> str:
    r"""A record as one line of JSON, readable in any script.

    Args:
        record: A value of JSON types. Numbers that JSON lacks are kept as they were read: infinity
            is written ``1e999``, which every reader of JSON reads so, and what is no number
            ``NaN``. What is no JSON type, as a date of Parquet, becomes a string as `as_text`
            makes it.

    Returns:
        The line, without its end; line separators other than ``\n`` are escaped.
    """
    try:
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, default=as_text)
    except ValueError:  # rare: a second look at every number would cost more than the line
        line = json.dumps(_marked(record), ensure_ascii=False, default=as_text)
        for mark, literal in _LITERALS.items():
            line = line.replace(f'"{mark}"', literal)
    for character in ("\x7f", "\x85", "\u2028", "\u2029"):
        line = line.replace(character, f"\\u{ord(character):04x}")
    return line.encode("utf-8", "backslashreplace").decode("utf-8")


def as_text(value: object) -> str:
    """A value that JSON and CSV have no type for, as a string.

    Args:
        value: For example a date, or the bytes of a binary column of Parquet.

    Returns:
        Base64 of bytes, which loses none; all else as Python spells it.
    """
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


def without_nan(value: Any) -> Any:
    """A value of a table as JSON has it: what is no number there is a missing one.

    Args:
        value: A value, lists and objects included.

    Returns:
        The value, ``None`` in place of each that is no number.
    """
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: without_nan(item) for key, item in value.items()}
    return [without_nan(item) for item in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    """A number of a summary; ``None`` for one that JSON lacks."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _marked(value: Any) -> Any:
    """A value with strings in place of the numbers that JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return _NAN if math.isnan(value) else _INFINITE if value > 0 else _MINUS_INFINITE
    if isinstance(value, Mapping):
        return {key: _marked(item) for key, item in value.items()}
    return [_marked(item) for item in value] if isinstance(value, list | tuple) else value
