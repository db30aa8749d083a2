"""Between the HTTP layer and the summarizer: works in, replies out.

Owns how requests become calls of a summarizer, which of them may share a call, and how summaries
become JSON. Does not own queueing (`batching`) nor the wire format (`schemas`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary
from sumfit.serving.batching import Batch, Work
from sumfit.serving.errors import error_type, from_sumfit_error
from sumfit.serving.fields import PLAIN_FIELDS
from sumfit.serving.schemas import LENGTH_FIELDS

__all__ = [
    "BackendLike",
    "SummarizerLike",
    "graph_work",
    "limits_works",
    "reply_of",
    "run_works",
    "text_works",
]

_MOST_LIMITS = 32  # of one text in one call, and so most that nobody else can have a turn
_MOST_CALL_S = 16.0  # of the searches for them together
_LEAST_S = 0.01  # of a search whose time is up; its result is thrown away


class BackendLike(Protocol):
    """What the server needs of a summarizer's backend."""

    @property
    def batch_size(self) -> int:
        """Texts that it reads at once."""


class SummarizerLike(Protocol):
    """What the server needs of `sumfit.Summarizer`."""

    @property
    def backend(self) -> BackendLike:
        """What runs the network."""

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
        works.append(Work(key=key, payload=(text, own, rest), n_chars=len(text)))
    return works


def limits_works(text: str, options: Mapping[str, Any]) -> list[Work]:
    """Make the works of one text at several limits; each is one forward pass.

    Args:
        text: The text.
        options: Keyword arguments for the summarizer, one of which is a list of limits.

    Returns:
        Works whose results are lists of summaries, to be put one after the other. There are
        several where there are many limits, so that others have their turn in between, and what
        is left can be dropped.
    """
    lists = {name: value for name, value in options.items() if _is_limits(value)}
    sizes = {len(value) for value in lists.values()}
    # The library says what is wrong with lists of several sizes.
    (n_limits,) = sizes if len(sizes) == 1 else (1,)
    works = []
    for start in range(0, n_limits, _MOST_LIMITS):
        part = {name: value[start : start + _MOST_LIMITS] for name, value in lists.items()}
        own = {**options, **part} if len(sizes) == 1 else dict(options)
        payload: tuple[str, dict[str, Any], dict[str, Any]] = (text, {}, own)
        works.append(Work(key=("limits", object()), payload=payload, n_chars=len(text)))
    return works


def graph_work(text: str, options: Mapping[str, Any]) -> Work:
    """Make the work of drawing one text's graph.

    Args:
        text: The text.
        options: Keyword arguments for the summarizer.

    Returns:
        A work whose result is what ``Summarizer.inspect`` returns.
    """
    return Work(key=("graph", object()), payload=(text, {}, dict(options)), n_chars=len(text))


def run_works(summarizer: SummarizerLike, batch: Batch) -> list[Any]:
    """Call the summarizer once for works that share a key.

    Args:
        summarizer: The model.
        batch: Works of equal keys; the time that is left for it bounds the searches.

    Returns:
        One result per work; an error of the library is a result as well, so that one request's
        mistake does not reach another's.
    """
    return _run(summarizer, batch.works, batch)


def _run(summarizer: SummarizerLike, works: Sequence[Work], batch: Batch) -> list[Any]:
    kind = works[0].key[0]  # type: ignore[index]
    text, _, rest = works[0].payload
    try:
        if kind == "graph":
            return [summarizer.inspect(text, **_in_time(rest, 1, batch))]
        if kind == "limits":
            n_limits = _n_limits(rest)
            rest = _in_time(rest, n_limits, batch, most_s=_MOST_CALL_S / n_limits)
            return [list(summarizer(text, on_error="return", **rest))]
        return _run_texts(summarizer, works, _in_time(rest, len(works), batch))
    except SumfitError as error:
        if len(works) == 1:
            return [error]
        return [_run(summarizer, [work], batch)[0] for work in works]


def _run_texts(
    summarizer: SummarizerLike, works: Sequence[Work], rest: Mapping[str, Any]
) -> list[Any]:
    texts = [work.payload[0] for work in works]
    names = works[0].payload[1]
    lengths = {name: [work.payload[1][name] for work in works] for name in names}
    return list(summarizer(texts, on_error="return", **lengths, **rest))


def _in_time(
    rest: Mapping[str, Any], n_searches: int, batch: Batch, *, most_s: float = math.inf
) -> dict[str, Any]:
    """Share the time that is left among the searches, which end when all requests have ended."""
    share_s = max(_LEAST_S, batch.seconds_left / n_searches)
    limit_s = min(rest.get("time_limit_s", math.inf), share_s, most_s)
    return {**rest, "time_limit_s": limit_s, "is_cancelled": lambda: not batch.is_wanted}


def _n_limits(rest: Mapping[str, Any]) -> int:
    return max((len(value) for value in rest.values() if _is_limits(value)), default=1)


def _is_limits(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], int)


def reply_of(summary: Summary) -> dict[str, Any]:
    """Turn a summary into JSON types.

    Args:
        summary: A result, with or without a text.

    Returns:
        The fields of `SummaryReply`; ``log_prob`` and ``score`` are ``None`` where the text is
        not the model's, ``gap`` where no bound is known.

    Raises:
        ValueError: If the model's own text has no probability, which is a fault of the server.
    """
    reply: dict[str, Any] = {name: getattr(summary, name) for name in PLAIN_FIELDS}
    if summary.source_selected is not None:
        reply["source_selected"] = asdict(summary.source_selected)
    reply |= {"cleaned": list(summary.cleaned), "added": list(summary.added)}
    is_scored = summary.error is None and summary.origin == "model"
    for name in ("log_prob", "score"):
        value = float(getattr(summary, name))
        if is_scored and not math.isfinite(value):
            raise ValueError(f"{name} of a summary of the model is {value}")
        reply[name] = value if math.isfinite(value) else None
    if summary.faithful is not None:
        reply |= {"checks": dict(summary.checks), "unsupported": list(summary.unsupported)}
    score = summary.choice_score
    reply["choice_score"] = score if score is not None and math.isfinite(score) else None
    reply["confidence"] = summary.confidence
    reply["gap"] = None if summary.gap == math.inf else float(summary.gap)
    if summary.alternatives:
        reply["alternatives"] = [reply_of(other) for other in summary.alternatives]
    if summary.error is not None:
        problem = from_sumfit_error(summary.error)
        reply["error"] = {"type": error_type(type(summary.error)), "message": problem.message}
    return reply
