"""The share of short texts whose summary says nothing that the text does not, by kind.

302 texts written for this: negations, denials, rumours, comparisons, reported speech, numbers,
roles, and texts that leave a well-known name out. Each has a limit and patterns that a true summary
must or must not match (``cases.jsonl``).

    python benchmarks/truth/run.py [--model DIR] [--option faithful=true] [--show]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from cases import read_cases

import sumfit

_Z = 1.96  # of a 95 % interval


def interval(right: int, n: int) -> tuple[float, float]:
    """Wilson's interval of a share.

    Args:
        right: Successes.
        n: Trials, at least one.

    Returns:
        Lower and upper end, 0..1.
    """
    share = right / n
    centre = share + _Z**2 / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    return (centre - spread) / scale, (centre + spread) / scale


def table(verdicts: Iterable[tuple[str, bool]]) -> list[str]:
    """Lines of shares by group.

    Args:
        verdicts: Group and verdict of each case.

    Returns:
        One line a group.
    """
    groups: dict[str, list[bool]] = defaultdict(list)
    for group, is_right in verdicts:
        groups[group].append(is_right)
    lines = []
    for group, answers in groups.items():
        low, high = interval(sum(answers), len(answers))
        share = sum(answers) / len(answers)
        lines.append(
            f"{group:<12} {share:6.1%}  ({low:.1%} to {high:.1%}, {sum(answers)} of {len(answers)})"
        )
    return lines


def main() -> None:
    """Summarise the texts and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, help="model directory; the embedded one if left out")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=JSON", help="option of the call"
    )
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    arguments = parser.parse_args()
    options = dict(option.split("=", 1) for option in arguments.option)
    options = {name: json.loads(value) for name, value in options.items()}
    model = arguments.model
    fit = sumfit.Summarizer.from_pretrained(model) if model else sumfit.Summarizer.from_pretrained()
    kinds, genres, fills, claimed = [], [], [], []
    for case in read_cases():
        summary = fit(case.text, max_chars=case.limit, **options)
        faults = case.faults(summary.text)
        kinds.append((case.kind, not faults))
        genres.append((case.genre, not faults))
        fills.append(len(summary.text) / case.limit)
        claimed.append((bool(summary.faithful), not faults))
        if faults and arguments.show:
            print(f"{case.id}: {summary.text}\n    {'; '.join(faults)}\n    {case.text}")
    print("\n".join([*table(kinds), "", *table(genres), ""]))
    print("\n".join(table(("all", is_right) for _, is_right in kinds)))
    print(f"median share of the limit used {statistics.median(fills):.0%}")
    for verdict, name in ((True, "faithful"), (False, "not")):
        rows = [is_right for claim, is_right in claimed if claim is verdict]
        if rows:
            print(f"summary.faithful says {name}: {len(rows)}, right {sum(rows) / len(rows):.1%}")


if __name__ == "__main__":
    main()
