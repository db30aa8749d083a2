"""Make the training pairs of `recipes/dat-default-taught.toml` from what editors and teacher wrote.

``python pairs.py TEXTS LINES LINES_VALID MARKED WRITTEN... -o DATA``. Of the teacher's lines for a
text the best one that its text supports is taken (`sumfit.data.filtering`, two new words allowed),
and of each genre the better part. Editors' lines go in unless they hold a name or number that the
text lacks. DATA gets ``taught_STYLE``, ``edited_STYLE``, ``accepted_STYLE`` (candidates marked as
fit) and ``taught.json``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from files import records, style_of, write_records

from sumfit.data.filtering import FilterOptions, PairFilter
from sumfit.truth import support

BETTER_PART = 0.78


def supported(source: str, lines: list[Any]) -> Any:
    """Return the first line that its text supports, ``None`` if there is none."""
    judge = PairFilter(FilterOptions(new_words=2))
    for text, fit, logp in lines:
        if judge.keep(source, text) == text.rstrip(" ."):
            return text.rstrip(" ."), fit + logp
    return None


def is_known(source: str, line: str) -> bool:
    """Tell whether a text has every name and number of a line."""
    checks = support(source, line).checks
    return checks.get("numbers", True) and checks.get("names", True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("texts")
    for name in ("lines", "lines_valid", "marked"):
        parser.add_argument(name)
    parser.add_argument("written", nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    texts = {row["i"]: row for row in records(options.texts)}
    written = [row for path in options.written for row in records(path)]
    lines, valid, marked = map(records, (options.lines, options.lines_valid, options.marked))
    with ProcessPoolExecutor() as pool:
        sources = [texts[row["i"]]["source"] for row in written]
        best = list(pool.map(supported, sources, [row["c"] for row in written], chunksize=200))
        pairs = [row["source"] for row in lines], [row["line"] for row in lines]
        known = list(pool.map(is_known, *pairs, chunksize=200))
    made: dict[str, list[tuple[str, str]]] = defaultdict(list)
    genres: dict[str, list[tuple[float, int, str]]] = defaultdict(list)
    for row, found in zip(written, best, strict=True):
        if found:
            genres[texts[row["i"]]["genre"]].append((found[1], row["i"], found[0]))
    taught, edited = {}, {row["source"] for row in lines}
    for genre, rows in genres.items():
        for _, place, line in sorted(rows, reverse=True)[: int(BETTER_PART * len(rows))]:
            taught[place] = line
            if texts[place]["source"] not in edited:
                made[f"taught_{style_of(genre)}"].append((texts[place]["source"], line))
    for row, is_kept in zip(lines, known, strict=True):
        if is_kept:
            made[f"edited_{style_of(row['genre'])}"].append((row["source"], row["line"]))
    for row in valid:
        made[f"edited_{style_of(row['genre'])}.valid"].append((row["source"], row["line"]))
    for row in marked:
        fit = [line for line, mark in zip(row["c"], row["m"], strict=True) if mark == 2]
        made[f"accepted_{style_of(row['genre'])}"] += [(row["source"], line) for line in fit]
    options.output.mkdir(parents=True, exist_ok=True)
    for name, kept in sorted(made.items()):
        random.Random(3).shuffle(kept)
        rows = ({"source": source, "summary": line} for source, line in kept)
        write_records(options.output / f"{name}.jsonl", rows)
        sys.stdout.write(f"{len(kept):>9,}  {name}\n")
    (options.output / "taught.json").write_text(json.dumps(taught), encoding="utf-8")


if __name__ == "__main__":
    main()
