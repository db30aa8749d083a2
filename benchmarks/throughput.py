"""What a user on a small machine gets: summaries a second, cold start, memory, and where time goes.

    python benchmarks/throughput.py [--texts FILE] [--n 1000] [--max-chars 60] [--workers 2]
                                    [--model DIR] [--json FILE] [--shares]

FILE holds texts as lines or JSONL with the field ``source`` or ``text`` (also .gz, .xz); without
one, the news examples of this repository are repeated. Timed is everything between the string and
the `Summary`: normalisation, tokenizer, network, constrained exact search, measuring. Not timed is
loading, except under "cold start", which is the wall time of a fresh ``python -m sumfit`` process
whose compiled loops are in the cache, best of three; "peak memory" is that process's. On a machine
that does other work as well, ``cpu_ms_per_summary`` is the number to trust: an idle one gives
processors / that.

``--shares`` prints something else: where the time of a summary goes, as shares, and how many times
as long it takes as without the scorer (``rerank=None``) and as the best single path
(``method="pathmap"``). The three take turns on every text, so other work on the machine slows
them alike.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sumfit
from sumfit.data.readers import read_rows
from sumfit.evaluation.table import Table, render
from sumfit.pipeline.results import ResultMaker

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "texts"


def load_texts(path: str | None, n: int) -> list[str]:
    """Read the texts, or repeat the examples.

    Args:
        path: A file, or ``None``.
        n: How many.

    Returns:
        At most ``n`` texts.
    """
    if path is None:
        news = [file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("*-news-*"))]
        return list(itertools.islice(itertools.cycle(news), n))
    rows = itertools.islice(read_rows(path), n)
    return [str(row.fields.get("source", row.fields.get("text", ""))) for row in rows]


def batched(fit: sumfit.Summarizer, texts: Sequence[str], limit: int) -> dict[str, float]:
    """Time many texts, and the stages of each.

    Args:
        fit: The summarizer.
        texts: The texts.
        limit: Characters.

    Returns:
        Rates and milliseconds.
    """
    fit(list(texts[: 4 * fit.n_workers]), max_chars=limit)
    started, busy = time.perf_counter(), time.process_time()
    summaries = fit(list(texts), max_chars=limit)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    good = [one for one in summaries if one.error is None and one.origin == "model"]
    result = {
        "summaries_per_s": len(texts) / seconds,
        "cpu_ms_per_summary": 1000 * busy / len(texts),
        "optimal_share": statistics.mean(one.optimal for one in good),
        "error_share": 1 - statistics.mean(one.error is None for one in summaries),
    }
    for stage in ("encode", "forward", "decode", "rerank"):
        times = sorted(1000 * one.timings[stage] for one in good)
        result[f"{stage}_ms_median"] = statistics.median(times)
        result[f"{stage}_ms_p99"] = times[int(0.99 * (len(times) - 1))]
    return result


def one_by_one(fit: sumfit.Summarizer, texts: Sequence[str], limit: int) -> dict[str, float]:
    """Time single calls, one after the other.

    Args:
        fit: The summarizer.
        texts: The texts.
        limit: Characters.

    Returns:
        Milliseconds a call.
    """
    times = []
    for text in texts[:200]:
        started = time.perf_counter()
        fit(text, max_chars=limit, on_error="return")
        times.append(1000 * (time.perf_counter() - started))
    times.sort()
    return {
        "call_ms_median": statistics.median(times),
        "call_ms_p99": times[int(0.99 * (len(times) - 1))],
    }


STAGES = {
    "reading": "encode",
    "network": "forward",
    "search": "decode",
    "scorer": "rerank",
}
SYSTEMS: dict[str, dict[str, Any]] = {
    "default": {},
    "rerank=None": {"rerank": None},
    'method="pathmap"': {"method": "pathmap", "rerank": None, "constraints": False},
}


PARTS = (*STAGES, "checks", "rest")


class Checks:
    """Adds up the seconds of checks: rules of truth, and results measured again and made."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self._whole, self._in_choice, self._depth = 0.0, 0.0, 0

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """While this lasts, the checks of calls with one text are timed.

        Yields:
            Nothing.
        """
        judge, make = ResultMaker.judge, ResultMaker.from_model
        ResultMaker.judge = self._timed(judge, in_choice=True)  # type: ignore[method-assign]
        ResultMaker.from_model = self._timed(make, in_choice=False)  # type: ignore[method-assign]
        try:
            yield
        finally:
            ResultMaker.judge, ResultMaker.from_model = judge, make  # type: ignore[method-assign]

    def taken(self) -> tuple[float, float]:
        """Say how long they took since this was last asked.

        Returns:
            Seconds, and those among them that passed within the choice of a candidate.
        """
        taken = self._whole, self._in_choice
        self._whole, self._in_choice = 0.0, 0.0
        return taken

    def _timed(self, call: Callable[..., Any], *, in_choice: bool) -> Callable[..., Any]:
        def timed(*args: Any, **keywords: Any) -> Any:
            self._depth += 1
            started = time.perf_counter()
            try:
                return call(*args, **keywords)
            finally:
                self._depth -= 1
                if not self._depth:  # else the call around this one counts it
                    seconds = time.perf_counter() - started
                    self._whole += seconds
                    self._in_choice += seconds * in_choice

        return timed


def parts_of(one: sumfit.Summary, whole_s: float, checks_s: tuple[float, float]) -> list[float]:
    """Seconds of each of `PARTS` of one call.

    Args:
        one: Its summary.
        whole_s: Of the call.
        checks_s: As `Checks.taken` says.

    Returns:
        Seconds; ``scorer`` is the choice without checks, ``rest`` what no stage and no check takes.
    """
    seconds = {part: one.timings[stage] for part, stage in STAGES.items()}
    seconds["scorer"] -= checks_s[1]
    rest = whole_s - checks_s[0] - sum(seconds.values())
    return [*seconds.values(), checks_s[0], rest]


def shares(fit: sumfit.Summarizer, texts: Sequence[str], limit: int) -> Table:
    """Say where the time of a summary goes, and what scorer and exact search cost.

    Args:
        fit: The summarizer.
        texts: The texts; those that some system has no summary of are left out, and counted.
        limit: Characters.

    Returns:
        A row a system: the share of each part, in percent, and the time of the default as a
        multiple of it. ``checks`` are the rules of truth, in the choice and on the result, and
        measuring its string again. ``rest`` is what no stage counts.

    Raises:
        SystemExit: If no text has a summary of the model by every system.
    """
    spent: dict[str, list[list[float]]] = {name: [] for name in SYSTEMS}
    for options in SYSTEMS.values():  # compile and warm up
        fit(texts[0], max_chars=limit, on_error="return", **options)
    turns, checks = itertools.permutations(SYSTEMS), Checks()
    for text, order in zip(texts, itertools.cycle(turns)):
        rows = {}
        for name in order:
            with checks.noted():
                started = time.perf_counter()
                one = fit(text, max_chars=limit, on_error="return", **SYSTEMS[name])
                whole = time.perf_counter() - started
            taken = checks.taken()
            if one.error is None and one.origin == "model":
                rows[name] = [*parts_of(one, whole, taken), whole]
        if len(rows) == len(SYSTEMS):
            for name, row in rows.items():
                spent[name].append(row)
    n = len(spent["default"])
    if not n:
        raise SystemExit("no text has a summary by the model; give longer texts or a smaller limit")
    sums = {
        name: [sum(column) for column in zip(*rows, strict=True)] for name, rows in spent.items()
    }
    shown = []
    for name, total in sums.items():
        paired = zip(spent["default"], spent[name], strict=True)
        typical = statistics.median(ours[-1] / theirs[-1] for ours, theirs in paired)
        parts = [100 * part / total[-1] for part in total[:-1]]
        shown.append((name, *parts, sums["default"][-1] / total[-1], typical))
    columns = ("system", *(f"{part} %" for part in PARTS))
    columns = (*columns, "default takes times", "median of texts")
    note = f"{n} of {len(texts)} texts, at most {limit} characters; systems take turns on each text"
    return Table("Where the time of a summary goes", columns, tuple(shown), (note,))


def cold(text: str, model: str | None) -> dict[str, float]:
    """Time a fresh process for one text, and its memory.

    Args:
        text: The text.
        model: Model directory.

    Returns:
        Seconds and MiB.
    """
    command = [sys.executable, "-m", "sumfit", text, "--max-chars", "63"]
    if model:
        command += ["--model", model]
    times = []
    for _ in range(4):  # the first may still compile
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"cold_start_s": min(times[1:]), "peak_memory_mib": peak / 1024}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--texts", default=None)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--max-chars", type=int, default=60)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--json", default=None)
    parser.add_argument("--shares", action="store_true", help="where the time of a summary goes")
    options = parser.parse_args()
    texts = load_texts(options.texts, options.n)
    if options.shares:
        fit = sumfit.Summarizer.from_pretrained(options.model, n_workers=options.workers)
        table = shares(fit, texts, options.max_chars)
        print(render([table]))
        if options.json:
            Path(options.json).write_text(render([table], "json") + "\n", encoding="utf-8")
        return
    result: dict[str, Any] = cold(texts[0], options.model)
    fit = sumfit.Summarizer.from_pretrained(options.model, n_workers=options.workers)
    result |= one_by_one(fit, texts, options.max_chars)
    result |= batched(fit, texts, options.max_chars)
    facts = {
        "model": fit.config.name,
        "backend": fit.backend.name,
        "n_texts": len(texts),
        "workers": fit.n_workers,
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
        "machine": f"{platform.machine()} {platform.system()}, Python {platform.python_version()}",
    }
    for name, value in {**facts, **result}.items():
        print(f"{name:<20} {value if isinstance(value, (str, int)) else round(value, 3)}")
    if options.json:
        text = json.dumps({**facts, **result}, indent=2) + "\n"
        Path(options.json).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
