"""A worker process of a file job: reads chunks from standard input, answers on standard output.

Run as ``python -m sumfit.jobs.worker`` by `sumfit.jobs.pool` alone. One JSON object a
line in both directions; it ends when its input ends, so it never outlives its parent.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sumfit.compilation import announce_compilation
from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary
from sumfit.jobs.spec import failed_result
from sumfit.pipeline import Summarizer

__all__ = ["summarize_chunk"]


def summarize_chunk(
    summarizer: Summarizer, records: Sequence[Mapping[str, Any]], options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Summarise the texts of one chunk.

    Args:
        summarizer: The model.
        records: As `sumfit.jobs.spec.Chunk` has them.
        options: Keyword arguments for the summarizer.

    Returns:
        One result per record, JSON types alone.
    """
    usable = [record for record in records if record["error"] is None]
    keywords = dict(options)
    if any(record["limit"] is not None for record in usable):
        keywords["max_length"] = [record["limit"] for record in usable]
    texts = [record["text"] for record in usable]
    summaries = iter(summarizer(texts, on_error="return", **keywords) if texts else ())
    return [
        {"line": record["line"], **(record["error"] or _result(next(summaries)))}
        for record in records
    ]


def _result(summary: Summary) -> dict[str, Any]:
    if summary.error is not None:
        return failed_result(summary.error)
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
        "added": list(summary.added),
        "chosen_by": summary.chosen_by,
        "choice_score": None if summary.choice_score is None else _finite(summary.choice_score),
        "confidence": summary.confidence,
        "unfinished": summary.unfinished,
        "source_truncated": summary.source_truncated,
        "source_selected": _selection(summary),
        "language": summary.language,
        "cleaned": list(summary.cleaned),
        "alternatives": [other.text for other in summary.alternatives],
        "error_type": None,
        "error": None,
    }


def _selection(summary: Summary) -> dict[str, int] | None:
    return asdict(summary.source_selected) if summary.source_selected else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def main() -> None:
    """Answer chunks until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever a library prints goes to standard error, not between answers
    settings = json.loads(sys.stdin.readline())
    try:
        announce_compilation()
        summarizer = Summarizer.from_pretrained(settings["model"], n_workers=1)
        _answer(answers, {"ready": True})
        for line in sys.stdin:
            chunk = json.loads(line)
            results = summarize_chunk(summarizer, chunk["records"], settings["options"])
            _answer(answers, {"index": chunk["index"], "results": results})
    except SumfitError as error:
        _answer(answers, {"failed": error.parts, "exit_code": error.exit_code})
    except (BrokenPipeError, KeyboardInterrupt):
        return  # the parent is gone or stopping


def _answer(stream: Any, content: Mapping[str, Any]) -> None:
    stream.write(json.dumps(content) + "\n")
    stream.flush()


if __name__ == "__main__":
    main()
