"""Finished summaries: from verified strings, from a short source, from a cut, from an error.

Owns how `sumfit.Summary` is filled, and the last-resort cut. Does not own the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sumfit.errors import InfeasibleBudgetError, SumfitError
from sumfit.hypothesis import Summary
from sumfit.length import LengthRequest
from sumfit.pipeline.options import Options
from sumfit.pipeline.search import Candidate
from sumfit.pipeline.source import Source
from sumfit.text import Tokenizer
from sumfit.text.endings import ends_completely

__all__ = ["cut_summary", "failed_summary", "model_summary", "source_summary"]

_ELLIPSIS = "…"


def model_summary(
    candidates: list[Candidate],
    *,
    request: LengthRequest,
    source: Source,
    options: Options,
    bonus: float,
    tokenizer: Tokenizer,
    timings: Mapping[str, float],
) -> Summary:
    """The first candidate as a summary, the others as its alternatives.

    Args:
        candidates: Verified candidates, the one to return first.
        request: The length request.
        source: The source.
        options: The caller's options.
        bonus: Score per token that the search added.
        tokenizer: For lengths in tokens.
        timings: Seconds by stage.

    Returns:
        The summary.
    """
    made = [
        Summary(
            text=request.compose(candidate.text),
            length=request.measure(candidate.text, tokenizer=tokenizer),
            log_prob=candidate.hypothesis.log_prob,
            score=candidate.hypothesis.score,
            optimal=candidate.hypothesis.optimal,
            gap=candidate.hypothesis.gap,
            complete=ends_completely(candidate.text),
            rank=candidate.rank,
            bonus=bonus,
            words=candidate.hypothesis.words,
            alternatives=(),
            timings=timings,
            **_common(request, source, options),
        )
        for candidate in candidates[: options.n_best]
    ]
    return with_alternatives(made[0], tuple(made[1:]))


def with_alternatives(summary: Summary, others: tuple[Summary, ...]) -> Summary:
    """A copy of a summary that carries other candidates.

    Args:
        summary: The summary.
        others: The candidates after it.

    Returns:
        The copy, or the summary itself if there are none.
    """
    if not others:
        return summary
    values = {name: getattr(summary, name) for name in Summary.__dataclass_fields__}
    return Summary(**(values | {"alternatives": others}))


def source_summary(
    *, request: LengthRequest, source: Source, options: Options, tokenizer: Tokenizer
) -> Summary:
    """The source itself, which fits as it is.

    Args:
        request: The length request.
        source: The source.
        options: The caller's options.
        tokenizer: For lengths in tokens.

    Returns:
        A summary of origin ``"source"``.
    """
    return _copied(source.text, "source", request, source, options, tokenizer)


def cut_summary(
    *, request: LengthRequest, source: Source, options: Options, tokenizer: Tokenizer
) -> Summary:
    """The source's first words that fit, with an ellipsis: a last resort that shows it is one.

    Args:
        request: The length request.
        source: The source.
        options: The caller's options.
        tokenizer: For lengths in tokens.

    Returns:
        A summary of origin ``"cut"``.

    Raises:
        InfeasibleBudgetError: If not even the first word with an ellipsis fits, or no cut is
            long enough.
    """
    words = source.read.split(" ")
    low, high = 0, len(words)
    while low < high:  # the longest head that fits; lengths grow with every word
        middle = (low + high + 1) // 2
        length = request.measure(_head(words, middle), tokenizer=tokenizer)
        if length + request.reserve <= request.limit:
            low = middle
        else:
            high = middle - 1
    text = _head(words, low)
    if low == 0 or not request.accepts(text, tokenizer=tokenizer):
        first = _head(words, 1)
        raise InfeasibleBudgetError(
            f"not even a cut of the source measures {request.limit} {request.unit_name} "
            f"(its first word with an ellipsis measures "
            f"{request.measure(first, tokenizer=tokenizer)}); change the limit"
        )
    return _copied(text, "cut", request, source, options, tokenizer)


def failed_summary(
    error: SumfitError, *, options: Options, request: LengthRequest | None = None
) -> Summary:
    """A summary without text that says why.

    Args:
        error: The reason.
        options: The caller's options.
        request: The length request, if it got that far.

    Returns:
        A summary whose ``error`` is set.
    """
    return Summary(
        text="",
        length=0,
        unit=request.unit_name if request else "",
        limit=request.limit if request else 0,
        min_length=request.min_length if request else 0,
        method=options.method,
        error=error,
    )


def _head(words: list[str], n_words: int) -> str:
    return " ".join(words[:n_words]).rstrip(",;:-–—(") + _ELLIPSIS


def _copied(
    text: str,
    origin: str,
    request: LengthRequest,
    source: Source,
    options: Options,
    tokenizer: Tokenizer,
) -> Summary:
    return Summary(
        text=request.compose(text),
        length=request.measure(text, tokenizer=tokenizer),
        complete=ends_completely(text),
        origin=origin,
        **_common(request, source, options),
    )


def _common(request: LengthRequest, source: Source, options: Options) -> dict[str, Any]:
    return {
        "unit": request.unit_name,
        "limit": request.limit,
        "min_length": request.min_length,
        "source_truncated": source.is_truncated,
        "method": options.method,
    }
