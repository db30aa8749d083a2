"""What each method costs and gives, in figures that no reader is needed for."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import sumfit
from benchmarks.gallery.lines import Text
from sumfit import Summarizer, Summary, __version__
from sumfit.evaluation.baselines import lead
from sumfit.length import resolve_budget
from sumfit.text.endings import ends_completely

LEAD = "the first words that fit"
METHODS: dict[str, dict[str, Any]] = {
    "the default": {},
    "rerank=None": {"rerank": None},
    'rerank="mbr"': {"rerank": "mbr"},
    "faithful=True": {"faithful": True},
    'fill="prefer"': {"fill": "prefer"},
    'method="pathmap", rerank=None': {"method": "pathmap", "rerank": None},
}
_ROUNDS = 3


def measure_methods(
    fit: Summarizer, texts: Sequence[Text], *, methods: Sequence[str] = tuple(METHODS)
) -> dict[str, Any]:
    """Run methods over all texts, one at a time, the best of three rounds.

    Args:
        fit: The summarizer.
        texts: The texts.
        methods: Names of the methods.

    Returns:
        JSON types: model, version, and the figures by method.
    """
    sumfit.warm_up(fit)
    usual = {one.name: fit(one.text, **one.limit).text for one in texts}
    figures = {}
    for name in methods:
        options = METHODS[name]
        runs: list[tuple[float, Summary]] = [
            _timed(lambda one=one, options=options: fit(one.text, **one.limit, **options))
            for one in texts
        ]
        same = [made.text == usual[one.name] for one, (_, made) in zip(texts, runs, strict=True)]
        figures[name] = {
            "ms": round(1000 * statistics.median(seconds for seconds, _ in runs), 1),
            "used": _percent([made.length / made.limit for _, made in runs]),
            "complete": _percent([made.complete for _, made in runs]),
            "undoubted": _percent([bool(made.faithful) for _, made in runs]),
            "proved": _percent([made.optimal for _, made in runs]),
            "same": _percent(same),
        }
    figures[LEAD] = _lead(texts)
    about = {"model": fit.config.name, "version": __version__, "texts": len(texts)}
    return {**about, "methods": figures}


def _lead(texts: Sequence[Text]) -> dict[str, Any]:
    used, complete, seconds = [], [], []
    for one in texts:
        request = resolve_budget(source=one.text, **one.limit)
        limit, unit = request.limit, request.unit_name
        took, made = _timed(
            lambda text=one.text, limit=limit, unit=unit: lead(text, limit=limit, unit=unit)
        )
        used.append(request.measure(made.text) / limit)
        complete.append(ends_completely(made.text))
        seconds.append(took)
    return {
        "ms": round(1000 * statistics.median(seconds), 1),
        "used": _percent(used),
        "complete": _percent(complete),
        "undoubted": None,
        "proved": None,
        "same": None,
    }


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    best, value = float("inf"), None
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        value = call()
        best = min(best, time.perf_counter() - started)
    return best, value


def _percent(shares: Sequence[float]) -> int:
    return round(100 * statistics.mean(shares))
