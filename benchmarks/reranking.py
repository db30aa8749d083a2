"""What rerankers win over the search's first candidate, and what they cost.

    python benchmarks/reranking.py --data DIR [--reranker NAME=DIR ...] [--model DIR] [--first N]

On ``gigaword/valid`` (exactly a quarter of the source's words, the paper's rule), ``newsapi/test``
(60 characters), ``commits/test`` (50) and ``arxiv/test`` (80): R-Sum of constrained exact search,
of minimum Bayes risk and of each reranker with its paired 95 % interval, also against minimum
Bayes risk, of the best of 20 candidates, and the share of what that oracle would win. Then the
processor time of a text, one at a time, beside that without a reranker. ``--reranker neural`` is
the model's own. A reranker that was not trained on a set's text form is left out there.

Writes ``reranking.md`` and ``reranking.json`` into ``--out`` and prints the Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sumfit.errors import ConfigError, SumfitError
from sumfit.evaluation.rouge import RougeResult, compare_rouge, rouge, rouge_items
from sumfit.evaluation.table import Cell, Table, render
from sumfit.length import resolve_budget
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, RunItem, find_set

SETS: Mapping[str, Mapping[str, Any]] = {
    "gigaword/valid": {"profile": "gigaword", "bonus": 0.0},
    "newsapi/test": {"max_chars": 60},
    "commits/test": {"max_chars": 50},
    "arxiv/test": {"max_chars": 80},
}
ORACLE = 20
COLUMNS = (
    *("system", "R-Sum", "gain", "low", "high", "p", "over MBR (95 %)"),
    *("share of oracle %", "ms", "times plain"),
)
FIRST, MBR = "first candidate", "MBR"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    args = _arguments(argv)
    systems: dict[str, dict[str, Any]] = {FIRST: {}, MBR: {"rerank": "mbr"}}
    for spec in args.reranker:
        name, _, path = spec.rpartition("=")
        systems[name or Path(path).name] = {"rerank": path}
    tables = []
    try:
        with ModelRunner(args.model, n_processes=args.processes) as runner:
            for name in args.sets:
                part = EvaluationSet.read(find_set(args.data, name), name=name, first=args.first)
                tables.append(set_table(runner, part, systems, n_timed=args.timed))
                print(tables[-1].to_text(), file=sys.stderr, flush=True)
    except SumfitError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    text = render(tables, "markdown") + "\n"
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "reranking.md").write_text(text, encoding="utf-8")
    record = {"tables": [table.to_dict() for table in tables]}
    (args.out / "reranking.json").write_text(
        json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    print(text, end="")
    return 0


def set_table(
    runner: ModelRunner,
    part: EvaluationSet,
    systems: Mapping[str, Mapping[str, Any]],
    *,
    n_timed: int,
) -> Table:
    """Score all systems on one set.

    Args:
        runner: The model.
        part: The set.
        systems: Options by name, `FIRST` and `MBR` among them.
        n_timed: Texts that each system is timed on.

    Returns:
        One row for each system, and one for the oracle.
    """
    keywords: dict[str, Any] = {"keep_short": False, "on_infeasible": "cut", **SETS[part.name]}
    limits = None
    if part.name.startswith("gigaword"):
        limits = [
            resolve_budget(ratio=0.25, ratio_rule="paper-dat", source=source).limit
            for source in part.sources
        ]
    listed = run(runner, part, limits, {**keywords, "n_best": ORACLE})
    best = oracle(listed, part)
    results: dict[str, RougeResult] = {}
    times: dict[str, float] = {}
    for name, options in systems.items():
        try:
            items = run(runner, part, limits, {**keywords, **options})
        except ConfigError as error:
            print(f"{name} left out on {part.name}: {error}", file=sys.stderr)
            continue
        results[name] = rouge([item.text for item in items], part.references)
        times[name] = seconds_per_text(runner, part, limits, {**keywords, **options}, n_timed)
    base = results[FIRST].scores["R-Sum"].value
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        cells = gains(result, results, best - base) if name != FIRST else (None,) * 6
        total = result.scores["R-Sum"].value
        rows.append((name, total, *cells, 1000 * times[name], times[name] / times[FIRST]))
    rows.append((f"best of {ORACLE}", best, best - base, *(None,) * 4, 100.0, None, None))
    notes = (
        f"`{results[FIRST].signature}`",
        f"n: {len(part)}; ms: processor time of one text, mean of {n_timed}, one at a time",
    )
    return Table(f"{part.name}", COLUMNS, tuple(rows), notes)


def gains(
    result: RougeResult, results: Mapping[str, RougeResult], of_oracle: float
) -> tuple[Cell, ...]:
    """What a system wins: cells from ``gain`` to ``share of oracle %``."""
    paired = compare_rouge(result, results[FIRST])["R-Sum"]
    over = None
    if result is not results[MBR]:
        more = compare_rouge(result, results[MBR])["R-Sum"]
        over = f"{more.delta:+.2f} ({more.low:+.2f} to {more.high:+.2f})"
    share = 100 * paired.delta / of_oracle
    return paired.delta, paired.low, paired.high, paired.p_value, over, share


def run(
    runner: ModelRunner,
    part: EvaluationSet,
    limits: Sequence[int] | None,
    keywords: Mapping[str, Any],
) -> list[RunItem]:
    """Summarise a set; texts without an output of exactly the limit get the best shorter one."""
    if limits is None:
        return runner.run(part.sources, **keywords)
    return runner.run_exactly(part.sources, limits, **keywords)


def oracle(items: Sequence[RunItem], part: EvaluationSet) -> float:
    """R-Sum of the best candidate of each text."""
    texts, references, owners = [], [], []
    for place, item in enumerate(items):
        for text in {candidate.text for candidate in item.candidates} or {item.text}:
            texts.append(text)
            references.append(part.references[place])
            owners.append(place)
    scores = np.asarray(rouge_items(texts, references))[:, 3]
    best = np.full(len(items), -np.inf)
    np.maximum.at(best, owners, scores)
    return float(best.mean())


def seconds_per_text(
    runner: ModelRunner,
    part: EvaluationSet,
    limits: Sequence[int] | None,
    keywords: Mapping[str, Any],
    n_texts: int,
) -> float:
    """Processor time of one text, texts one at a time, after a warm-up."""
    fit, spent = runner.summarizer, 0.0
    for place in range(min(n_texts + 3, len(part))):
        limit = {} if limits is None else {"exact_words": limits[place]}
        started = time.process_time()
        fit([part.sources[place]], **{**keywords, **limit})
        spent += time.process_time() - started if place >= 3 else 0.0
    return spent / max(1, min(n_texts, len(part) - 3))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the sets")
    parser.add_argument("--model", type=Path, help="model directory; the default model if left out")
    parser.add_argument("--reranker", action="append", default=[], help="NAME=DIR or neural")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--first", type=int, help="so many items of each set, spread evenly")
    parser.add_argument("--timed", type=int, default=50, help="texts that are timed")
    parser.add_argument("--processes", type=int, help="processes; one per processor")
    parser.add_argument("--out", type=Path, default=Path("results"), help="directory to write to")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
