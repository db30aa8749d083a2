"""What a user on a small machine gets: summaries a second, cold start, memory, and where time goes.

    python benchmarks/throughput.py [--texts FILE] [--n 1000] [--max-chars 60] [--workers 2]
                                    [--model DIR] [--json FILE]

FILE holds texts as lines or JSONL with the field ``source`` or ``text`` (also .gz, .xz); without
one, the news examples of this repository are repeated. Timed is everything between the string and
the `Summary`: normalisation, tokenizer, network, constrained exact search, measuring. Not timed is
loading, except under "cold start", which is the wall time of a fresh ``python -m sumfit`` process
whose compiled loops are in the cache, best of three; "peak memory" is that process's. On a machine
that does other work as well, ``cpu_ms_per_summary`` is the number to trust: an idle one gives
processors / that.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sumfit
from sumfit.data.readers import read_rows

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
    options = parser.parse_args()
    texts = load_texts(options.texts, options.n)
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
