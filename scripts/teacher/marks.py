"""Make marked candidates, for `recipes/dat-default-marks*.toml`, from editors and teacher.

``python marks.py MARKED PAIRS JUDGED... -o DATA``, with PAIRS of `pairs.py`. A teacher's verdict
becomes one of seven grades from 0 to 1; texts whose candidates all have one grade teach nothing and
are left out. The pair of a text is the line that the teacher wrote, or else the best of its
candidates by an editor or the teacher. DATA gets ``marked.jsonl``, ``edited_STYLE.jsonl``, their
validation pairs, and ``gigaword.jsonl``, pairs of that form, each a list of its summary alone.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from files import records, style_of, write_records

GRADES = 6
LOGP_WEIGHT = 0.5
"""Of a line's mean log-probability, beside 1 of the logit that it is fit."""

LEAST_BEST = 0.12
"""A text of which no candidate is as likely fit as this is beyond the model."""

SPREAD = 4.0
"""Logits between the median candidate and the best twentieth, once scores are chances."""


def by_editors(row: dict[str, Any]) -> dict[str, Any]:
    """Turn an editor's marks into a marked text."""
    lines, marks = row["c"], row["m"]
    aim = 0.8 * row["limit"]
    best = max(range(len(lines)), key=lambda k: (marks[k], -abs(len(lines[k]) - aim)))
    fit = [mark / 2 for mark in marks]
    return {"source": row["source"], "summary": lines[best], "candidates": lines, "fit": fit}


def score_of(row: dict[str, Any]) -> list[float]:
    """Weigh what a teacher says of each candidate."""
    return [fit + LOGP_WEIGHT * logp for fit, logp in zip(row["s"], row["logp"], strict=True)]


def calibrated(scores: list[float], share_fit: float) -> tuple[float, float]:
    """Find what makes scores chances: a teacher that saw its marks often is too sure of itself.

    Args:
        scores: Of all candidates.
        share_fit: Of candidates that editors found fit.

    Returns:
        The score of an even chance, such that as many are above it, and the scale of a logit.
    """
    ranked = sorted(scores)
    even, middle, high = (
        ranked[int(part * (len(ranked) - 1))] for part in (1 - share_fit, 0.5, 0.95)
    )
    return even, max((high - middle) / SPREAD, 1e-6)


def by_teacher(row: dict[str, Any], line: str | None, even: float, scale: float) -> dict[str, Any]:
    """Turn a teacher's verdicts into a marked text; without candidates if none is good enough."""
    chances = [1 / (1 + math.exp((even - score) / scale)) for score in score_of(row)]
    best = max(range(len(chances)), key=chances.__getitem__)
    lines = row["c"] if chances[best] >= LEAST_BEST else []
    fit = [round(round(chance * GRADES) / GRADES, 3) for chance in chances[: len(lines)]]
    summary = row["c"][best] if line is None else line
    return {"source": row["source"], "summary": summary, "candidates": lines, "fit": fit}


def kept_as_it_is(pair: dict[str, Any]) -> dict[str, Any]:
    """Make a list of the summary alone of a pair of Gigaword form."""
    return {**pair, "candidates": [pair["summary"]], "fit": [1], "profile": "gigaword"}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("marked", "pairs"):
        parser.add_argument(name)
    parser.add_argument("judged", nargs="*")
    parser.add_argument("--gigaword", nargs="*", default=[], help="pairs to keep that form with")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    taught = json.loads((Path(options.pairs) / "taught.json").read_text(encoding="utf-8"))
    marked = records(options.marked)
    texts = [(row["genre"], by_editors(row)) for row in marked]
    judged = [row for path in options.judged for row in records(path)]
    if judged:
        marks = [mark for row in marked for mark in row["m"]]
        scores = [score for row in judged for score in score_of(row)]
        fair = calibrated(scores, marks.count(2) / len(marks))
        texts += [(r["genre"], by_teacher(r, taught.get(str(r["i"])), *fair)) for r in judged]
    texts = [(genre, text) for genre, text in texts if len(set(text["fit"])) > 1]
    pairs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for genre, text in texts:
        pair = {"source": text["source"], "summary": text["summary"]}
        pairs[f"edited_{style_of(genre)}"].append(pair)
    options.output.mkdir(parents=True, exist_ok=True)
    pairs["marked"] = [text for _, text in texts]
    pairs["gigaword"] = [pair for path in options.gigaword for pair in records(path)]
    pairs["marked"] += [kept_as_it_is(pair) for pair in pairs["gigaword"]]
    for name, kept in sorted(pairs.items()):
        write_records(options.output / f"{name}.jsonl", kept)
        sys.stdout.write(f"{len(kept):>9,}  {name}\n")
    for valid in Path(options.pairs).glob("edited_*.valid.jsonl"):
        shutil.copy(valid, options.output)


if __name__ == "__main__":
    main()
