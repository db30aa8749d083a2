"""What two models, or one model in two precisions, score on the same texts.

    sumfit export default -o MODEL32 --precision fp32
    python benchmarks/parity.py --data DIR --other MODEL32 [--model DIR] [--first N]

On every set, at 60 characters (Gigaword form: exactly a quarter of the source's words): R-Sum of
constrained exact search with both models, their paired difference with its 95 % interval, and the
share of texts that get the same summary. A row for all sets together closes the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sumfit.errors import SumfitError
from sumfit.evaluation.rouge import compare_rouge, rouge
from sumfit.evaluation.table import Cell, Table, render
from sumfit.length import resolve_budget
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, find_set

SETS = ("newsapi/valid", "rss_news/valid", "commits/valid", "arxiv/valid", "gigaword/valid")
COLUMNS = ("set", "n", "R-Sum", "other", "difference", "low", "high", "same summary %")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    args = _arguments(argv)
    try:
        parts = [
            EvaluationSet.read(find_set(args.data, name), name=name, first=args.first)
            for name in args.sets
        ]
        texts = []
        for model in (args.model, args.other):
            with ModelRunner(model, n_processes=args.processes) as runner:
                texts.append([summaries(runner, part) for part in parts])
    except SumfitError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    rows = [
        row(part.name, list(part.references), own, other)
        for part, own, other in zip(parts, *texts, strict=True)
    ]
    references = [one for part in parts for one in part.references]
    own, other = ([text for part in of_model for text in part] for of_model in texts)
    rows.append(row("all", references, own, other))
    print(render([Table("Parity", COLUMNS, tuple(rows), ())], "markdown"))
    return 0


def summaries(runner: ModelRunner, part: EvaluationSet) -> list[str]:
    """Summarise a set, texts without an output of exactly the limit by the best shorter one."""
    keywords: dict[str, Any] = {"keep_short": False, "on_infeasible": "cut"}
    if not part.name.startswith("gigaword"):
        return [item.text for item in runner.run(part.sources, max_chars=60, **keywords)]
    limits = [
        resolve_budget(ratio=0.25, ratio_rule="paper-dat", source=source).limit
        for source in part.sources
    ]
    keywords |= {"profile": "gigaword", "bonus": 0.0}
    items = runner.run_exactly(part.sources, limits, **keywords)
    return [item.text for item in items]


def row(
    name: str, references: list[Any], own: Sequence[str], other: Sequence[str]
) -> tuple[Cell, ...]:
    """Compare two lists of summaries."""
    scored = [rouge(list(texts), references) for texts in (own, other)]
    paired = compare_rouge(scored[0], scored[1])["R-Sum"]
    same = 100 * sum(a == b for a, b in zip(own, other, strict=True)) / len(own)
    totals = [result.scores["R-Sum"].value for result in scored]
    return (name, len(own), *totals, paired.delta, paired.low, paired.high, same)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the sets")
    parser.add_argument("--model", type=Path, help="model directory; the default model if left out")
    parser.add_argument("--other", type=Path, required=True, help="the one to compare with")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--first", type=int, help="so many items of each set, spread evenly")
    parser.add_argument("--processes", type=int, help="processes; one per processor")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
