"""List what a summarizer would choose from, for a teacher to judge.

``python candidates.py MODEL TEXTS [TAUGHT] -o OUTPUT --n 50000``. Of the texts, only those that
TAUGHT (`pairs.py`) has a line for if it is given, two in three of other kinds than news, papers and
packages. Each line
of OUTPUT has ``i``, ``genre``, ``limit``, ``source`` and up to eight lines ``c``: the default
choice and its alternatives, and those of exact search.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from files import records, write_records

MOST = 8
FROM_EXACT = 3
COMMON = ("news", "paper", "package")


def chosen_texts(texts: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """Draw n texts, at most a third of them of common genres."""
    draw = random.Random(9)
    other = [row for row in texts if row["genre"] not in COMMON]
    common = [row for row in texts if row["genre"] in COMMON]
    draw.shuffle(other)
    draw.shuffle(common)
    kept = other[: 2 * n // 3]
    kept += common[: n - len(kept)]
    draw.shuffle(kept)
    return kept


def listed(model: str, rows: list[dict[str, Any]], minutes: float) -> list[dict[str, Any]]:
    """List the candidates of some texts, in a process of its own."""
    import sumfit

    fit = sumfit.Summarizer.from_pretrained(model)
    started, made = time.monotonic(), []
    for row in rows:
        if time.monotonic() - started > 60 * minutes:
            break
        lines: list[str] = []
        for rerank, most in (("auto", MOST - 2), (None, FROM_EXACT)):
            found = fit(
                row["source"],
                max_chars=row["limit"],
                rerank=rerank,
                n_best=6,
                clean=False,
                on_error="return",
            )
            if found.error is None:
                own = [found.text, *(other.text for other in found.alternatives)]
                lines += [line for line in own if line not in lines][:most]
        if len(lines) > 1:
            made.append({**row, "c": lines[:MOST]})
    return made


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("model", "texts"):
        parser.add_argument(name)
    parser.add_argument("taught", type=Path, nargs="?")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    texts = records(options.texts)
    if options.taught:
        known = {int(place) for place in json.loads(options.taught.read_text(encoding="utf-8"))}
        texts = [row for row in texts if row["i"] in known]
    rows = chosen_texts(texts, options.n)
    os.environ["OMP_NUM_THREADS"] = "1"
    n = options.processes
    parts = [rows[place::n] for place in range(n)]
    jobs = itertools.repeat(options.model), parts, itertools.repeat(options.minutes)
    with ProcessPoolExecutor(n) as pool:
        made = pool.map(listed, *jobs)
        write_records(options.output, itertools.chain.from_iterable(made))


if __name__ == "__main__":
    main()
