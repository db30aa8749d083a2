"""Between the HTTP layer and the summarizer: works in, replies out.

Owns how requests become calls of a summarizer, which of them may share a call, and how summaries
become JSON. Does not own queueing (`batching`) nor the wire format (`schemas`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary
from sumfit.serving.batching import Work
from sumfit.serving.errors import error_type, from_sumfit_error
from sumfit.serving.fields import PLAIN_FIELDS
from sumfit.serving.schemas import LENGTH_FIELDS

__all__ = ["SummarizerLike", "graph_work", "limits_work", "reply_of", "run_works", "text_works"]


class SummarizerLike(Protocol):
    """What the server needs of `sumfit.Summarizer`."""

    def __call__(self, texts: Any, /, **options: Any) -> Any:
        """Summarise a list of texts, or one text at several limits."""

    def inspect(self, text: str, /, **options: Any) -> Any:
        """Summarise one text and return its graph as well."""

    def describe(self) -> Mapping[str, Any]:
        """Name, units, presets, methods and defaults of the model, in JSON types alone."""

    def count_tokens(self, text: str, /) -> int:
        """Count the vocabulary pieces of a text."""


def text_works(texts: Sequence[str], options: Mapping[str, Any]) -> list[Work]:
    """Make one work per text; works whose options differ in the limit alone share batches.

    Args:
        texts: The texts of one request.
        options: Keyword arguments for the summarizer; a length option may be a list with one
            value per text.

    Returns:
        As many works as texts.
    """
    lengths = {name: options[name] for name in LENGTH_FIELDS if name in options}
    rest = {name: value for name, value in options.items() if name not in lengths}
    key = ("texts", tuple(lengths), json.dumps(rest, sort_keys=True))
    works = []
    for index, text in enumerate(texts):
        own = {
            name: value[index] if isinstance(value, list) else value
            for name, value in lengths.items()
        }
        works.append(Work(key=key, payload=(text, own, rest)))
    return works


def limits_work(text: str, options: Mapping[str, Any]) -> Work:
    """Make the work of one text at several limits, which is one forward pass.

    Args:
        text: The text.
        options: Keyword arguments for the summarizer, one of which is a list of limits.

    Returns:
        A work whose result is a list of summaries.
    """
    return Work(key=("limits", object()), payload=(text, {}, dict(options)))


def graph_work(text: str, options: Mapping[str, Any]) -> Work:
    """Make the work of drawing one text's graph.

    Args:
        text: The text.
        options: Keyword arguments for the summarizer.

    Returns:
        A work whose result is what ``Summarizer.inspect`` returns.
    """
    return Work(key=("graph", object()), payload=(text, {}, dict(options)))


def run_works(summarizer: SummarizerLike, works: Sequence[Work]) -> list[Any]:
    """Call the summarizer once for works that share a key.

    Args:
        summarizer: The model.
        works: Works of equal keys.

    Returns:
        One result per work; an error of the library is a result as well, so that one request's
        mistake does not reach another's.
    """
    kind = works[0].key[0]  # type: ignore[index]
    text, _, rest = works[0].payload
    try:
        if kind == "graph":
            return [summarizer.inspect(text, **rest)]
        if kind == "limits":
            return [list(summarizer(text, on_error="return", **rest))]
        return _run_texts(summarizer, works)
    except SumfitError as error:
        if len(works) == 1:
            return [error]
        return [run_works(summarizer, [work])[0] for work in works]


def _run_texts(summarizer: SummarizerLike, works: Sequence[Work]) -> list[Any]:
    texts = [work.payload[0] for work in works]
    rest = works[0].payload[2]
    names = works[0].payload[1]
    lengths = {name: [work.payload[1][name] for work in works] for name in names}
    return list(summarizer(texts, on_error="return", **lengths, **rest))


def reply_of(summary: Summary) -> dict[str, Any]:
    """Turn a summary into JSON types; numbers that JSON lacks become null.

    Args:
        summary: A result, with or without a text.

    Returns:
        The fields of `SummaryReply`.
    """
    reply: dict[str, Any] = {name: getattr(summary, name) for name in PLAIN_FIELDS}
    for name in ("log_prob", "score", "gap"):
        value = float(getattr(summary, name))
        reply[name] = value if math.isfinite(value) else None
    if summary.alternatives:
        reply["alternatives"] = [reply_of(other) for other in summary.alternatives]
    if summary.error is not None:
        problem = from_sumfit_error(summary.error)
        reply["error"] = {"type": error_type(type(summary.error)), "message": problem.message}
    return reply
