"""A worker process of a file job: reads chunks from standard input, answers on standard output.

Run as ``python -m sumfit.cli.jobs.worker`` by `sumfit.cli.jobs.pool` alone. One JSON object a
line in both directions; it ends when its input ends, so it never outlives its parent.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary
from sumfit.pipeline import Summarizer

__all__ = ["summarize_chunk"]


def summarize_chunk(
    summarizer: Summarizer,
    texts: Sequence[str | None],
    limits: Sequence[int | None] | None,
    options: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Summarise the texts of one chunk.

    Args:
        summarizer: The model.
        texts: The texts; ``None`` gives an error in its place.
        limits: One limit per text, ``None`` where the record's is no whole number.
        options: Keyword arguments for the summarizer.

    Returns:
        One result per text, JSON types alone.
    """
    results: list[dict[str, Any]] = [{"text": None, "error": "the record has no text"}] * len(texts)
    usable = [index for index, text in enumerate(texts) if text is not None]
    keywords = dict(options)
    if limits is not None:
        for index in usable:
            if limits[index] is None:
                results[index] = {"text": None, "error": "the record's limit is no whole number"}
        usable = [index for index in usable if limits[index] is not None]
        keywords["max_length"] = [limits[index] for index in usable]
    if usable:
        summaries = summarizer([texts[index] for index in usable], on_error="return", **keywords)
        for index, summary in zip(usable, summaries, strict=True):
            results[index] = _result(summary)
    return results


def _result(summary: Summary) -> dict[str, Any]:
    if summary.error is not None:
        return {"text": None, "error": str(summary.error)}
    return {
        "text": summary.text,
        "length": summary.length,
        "unit": summary.unit,
        "limit": summary.limit,
        "log_prob": _finite(summary.log_prob),
        "optimal": summary.optimal,
        "gap": _finite(summary.gap),
        "complete": summary.complete,
        "origin": summary.origin,
        "source_truncated": summary.source_truncated,
        "alternatives": [other.text for other in summary.alternatives],
        "error": None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def main() -> None:
    """Answer chunks until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever a library prints goes to standard error, not between answers
    settings = json.loads(sys.stdin.readline())
    try:
        summarizer = Summarizer.from_pretrained(settings["model"], n_workers=1)
        _answer(answers, {"ready": True})
        for line in sys.stdin:
            chunk = json.loads(line)
            results = summarize_chunk(
                summarizer, chunk["texts"], chunk["limits"], settings["options"]
            )
            _answer(answers, {"index": chunk["index"], "results": results})
    except SumfitError as error:
        _answer(answers, {"failed": str(error), "exit_code": error.exit_code})
    except (BrokenPipeError, KeyboardInterrupt):
        return  # the parent is gone or stopping


def _answer(stream: Any, content: Mapping[str, Any]) -> None:
    stream.write(json.dumps(content) + "\n")
    stream.flush()


if __name__ == "__main__":
    main()
