"""A learning curve: ROUGE of a DAT and of AT by the number of pairs, and a line through it.

    python benchmarks/training/learning_curve.py --data gigaword/valid.jsonl.xz --keep FOLDER
        --dat 201462=runs/dat-25/model 402925=runs/dat-50/model 805850=runs/dat-100/model
        --at 201462=runs/at-25/best 402925=runs/at-50/best [--to 3000000] [--first N]

Models are given as PAIRS=DIR: exported DATs, and checkpoints of AT, trained with
``data.max_pairs=PAIRS`` and one seed. Each summarises the texts at the paper's length. Summaries
are kept in FOLDER, one file for each row and number of pairs, and read from there the next time.

Prints scores, gains from more pairs, each row minus AT at equal pairs, and a least-squares line
of R-Sum in the logarithm of the pairs with its value at ``--to``. All intervals are of the
bootstrap over texts, paired. They do not hold what another seed or another form of the curve would
change; how far two straight lines are apart shows a little of that.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.errors import ConfigError, SumfitError
from sumfit.evaluation.rouge import METRICS, rouge
from sumfit.evaluation.significance import Interval, bootstrap_interval
from sumfit.evaluation.table import Table, render
from sumfit.reproduction import paper
from sumfit.reproduction.baselines import load_baselines
from sumfit.reproduction.paper_data import read_test_set
from sumfit.reproduction.rows import CONSTRAINED, EXACT, MBR, Reproduction
from sumfit.reproduction.runs import EvaluationSet, ModelRunner

FloatArray = npt.NDArray[np.float64]

DAT_ROWS: Mapping[str, str] = {
    "pathmap": paper.PATHMAP,
    "exact": EXACT,
    "constrained": CONSTRAINED,
    "mbr": MBR,
}
AT_ROWS: Mapping[str, str] = {"at": paper.AT}
NAMES: Mapping[str, str] = {**DAT_ROWS, **AT_ROWS}
SUM = METRICS.index("R-Sum")

Curve = dict[int, FloatArray]
"""R-Sum of each text, ``(n,)``, by the number of pairs."""


def parse_points(specs: Sequence[str]) -> dict[int, Path]:
    """Read ``PAIRS=DIR`` arguments.

    Args:
        specs: The arguments.

    Returns:
        Directories by number of pairs, fewest pairs first.

    Raises:
        ConfigError: If one is not of that form, or two are of one number.
    """
    points: dict[int, Path] = {}
    for spec in specs:
        pairs, found, path = spec.partition("=")
        if not found or not path or not pairs.isascii() or not pairs.isdigit() or int(pairs) < 1:
            raise ConfigError(f"a point must be PAIRS=DIR with a number of pairs, was {spec!r}")
        if int(pairs) in points:
            raise ConfigError(f"two points of {pairs} pairs; give one model for each number")
        points[int(pairs)] = Path(path)
    return dict(sorted(points.items()))


def line_weights(pairs: Sequence[int], to: float) -> tuple[FloatArray, FloatArray]:
    """Weights of the points in a least-squares line in the logarithm of the pairs.

    Args:
        pairs: Numbers of pairs, at least two different ones.
        to: Number of pairs to go on to.

    Returns:
        ``(points,)`` weights whose sum over scores is the gain of a doubling, and those whose sum
        is the line's value at ``to``.
    """
    places = np.log2(np.asarray(pairs, dtype=np.float64))
    from_centre = places - places.mean()
    slope = from_centre / (from_centre @ from_centre)
    return slope, 1 / len(pairs) + slope * (np.log2(to) - places.mean())


def along(curve: Curve, weights: FloatArray) -> Interval:
    """Mean of a weighted sum of a curve's points, with the interval over texts.

    Args:
        curve: Scores, in the order of the weights.
        weights: ``(points,)`` one for each point.

    Returns:
        Mean and interval.
    """
    return bootstrap_interval(weights @ np.stack(list(curve.values())))[0]


def shown(found: Interval, *, sign: bool = False) -> str:
    """Write an interval as the documentation does."""
    return f"{found.value:{'+' if sign else ''}.2f} ({found.low:.2f} to {found.high:.2f})"


def gains(curves: Mapping[str, Curve]) -> Table:
    """What each row gains from one number of pairs to the next, and over all.

    Args:
        curves: By row.

    Returns:
        The table.
    """
    numbers = sorted({number for curve in curves.values() for number in curve})
    steps = list(itertools.pairwise(numbers))
    steps += [(numbers[0], numbers[-1])] if len(numbers) > 2 else []
    rows = [
        (
            NAMES[key],
            *(
                shown(bootstrap_interval(curve[more] - curve[fewer])[0], sign=True)
                if fewer in curve and more in curve
                else None
                for fewer, more in steps
            ),
        )
        for key, curve in curves.items()
    ]
    columns = ("system", *(f"{fewer:,} to {more:,}" for fewer, more in steps))
    return Table("R-Sum gained by more pairs", columns, tuple(rows))


def against_at(curves: Mapping[str, Curve]) -> Table:
    """Each row of the DAT minus AT, where both have learned from as many pairs.

    Args:
        curves: By row.

    Returns:
        The table.
    """
    at = curves["at"]
    rows = [
        (
            NAMES[key],
            *(
                shown(bootstrap_interval(curve[number] - at[number])[0], sign=True)
                if number in curve
                else None
                for number in at
            ),
        )
        for key, curve in curves.items()
        if key != "at"
    ]
    return Table(
        "R-Sum minus AT's", ("system", *(f"{number:,} pairs" for number in at)), tuple(rows)
    )


def lines(curves: Mapping[str, Curve], to: int) -> Table:
    """The line through each row's points, and the one through its last two alone.

    Args:
        curves: By row; those of one point are left out.
        to: Number of pairs to go on to.

    Returns:
        The table.
    """
    rows = []
    for key, curve in curves.items():
        if len(curve) < 2:
            continue
        last = dict(list(curve.items())[-2:])
        slope, value = line_weights(list(curve), to)
        doublings = float(np.log2(to / list(curve)[-1]))
        cells = [shown(along(curve, weights), sign=True) for weights in (slope, slope * doublings)]
        cells.append(shown(along(curve, value)))
        cells.append(shown(along(last, line_weights(list(last), to)[1])))
        rows.append((NAMES[key], len(curve), *cells))
    gained = f"gain from the last point to {to:,}"
    columns = ("system", "points", "a doubling", gained, f"at {to:,}", "by the last two points")
    return Table("A line in the logarithm of the pairs", columns, tuple(rows))


def made(options: argparse.Namespace, part: EvaluationSet) -> dict[tuple[str, int], dict[str, Any]]:
    """Summaries of every row and number of pairs: kept ones, or made now and kept.

    Args:
        options: The command line.
        part: The texts.

    Returns:
        Texts and which were cut, by row and number of pairs.

    Raises:
        ConfigError: If a kept file is of another number of texts.
    """
    options.keep.mkdir(parents=True, exist_ok=True)
    found = {}
    for system, rows in (("dat", DAT_ROWS), ("at", AT_ROWS)):
        for pairs, path in parse_points(getattr(options, system)).items():
            files = {key: options.keep / f"{pairs}.{key}.json" for key in rows}
            missing = {file: rows[key] for key, file in files.items() if not file.is_file()}
            if missing:
                summarise(system, path, missing, part, options)
            for key, file in files.items():
                row = json.loads(file.read_text(encoding="utf-8"))
                if len(row["texts"]) != len(part):
                    raise ConfigError(
                        f"{file} has {len(row['texts'])} summaries but the test set has "
                        f"{len(part)} items; give another --keep"
                    )
                found[key, pairs] = row
    return found


def summarise(
    system: str,
    path: Path,
    rows: Mapping[Path, str],
    part: EvaluationSet,
    options: argparse.Namespace,
) -> None:
    """Let one model summarise the texts, and keep what it writes.

    Args:
        system: ``dat`` or ``at``.
        path: Its directory.
        rows: Row names by the file to write.
        part: The texts.
        options: The command line.
    """
    is_at = system == "at"
    baselines = load_baselines([f"at={path}"], device=options.device) if is_at else {}
    with ModelRunner(None if is_at else path, n_processes=options.processes) as runner:
        reproduction = Reproduction(runner=runner, part=part, baselines=baselines)
        for file, name in rows.items():
            row = reproduction.row(name, options.ratio)
            assert row is not None  # the DAT has these rows, and AT was loaded
            kept = {"texts": row.texts, "truncated": row.truncated, "shorter": row.n_shorter}
            file.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")


def tables(
    rows: Mapping[tuple[str, int], Mapping[str, Any]], part: EvaluationSet, to: int
) -> list[Table]:
    """Make all tables.

    Args:
        rows: Texts and which were cut, by row and number of pairs.
        part: The texts and their references.
        to: Number of pairs to go on to.

    Returns:
        Scores; gains, differences from AT and lines where there are points for them.
    """
    curves: dict[str, Curve] = {}
    scores, note = [], ""
    for (key, pairs), row in sorted(rows.items(), key=lambda item: item[0][1]):
        result = rouge(row["texts"], part.references)
        curves.setdefault(key, {})[pairs] = result.items[:, SUM]
        cut = 100 * float(np.mean(row["truncated"])) if key in AT_ROWS else None
        words = float(np.mean([len(text.split()) for text in row["texts"]]))
        means = result.items.mean(axis=0)
        r_sum = shown(bootstrap_interval(result.items[:, SUM])[0])
        scores.append((f"{pairs:,}", NAMES[key], cut, words, *map(float, means[:SUM]), r_sum))
        note = f"{len(part)} texts; {result.signature}"
    columns = ("pairs", "system", "% truncate", "length", *METRICS[:SUM], "R-Sum (95 %)")
    curves = {key: curves[key] for key in NAMES if key in curves}
    found = [Table("Learning curve", columns, tuple(scores), notes=(note,))]
    if any(len(curve) > 1 for curve in curves.values()):
        found += [gains(curves), lines(curves, to)]
    if "at" in curves and len(curves) > 1:
        found.append(against_at(curves))
    return found


def read_options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", required=True, help="test set: a directory or a file of pairs")
    parser.add_argument("--dat", nargs="+", default=[], help="exported models, PAIRS=DIR")
    parser.add_argument("--at", nargs="+", default=[], help="checkpoints of AT, PAIRS=DIR")
    parser.add_argument("--keep", type=Path, required=True, help="folder of the summaries")
    parser.add_argument("--to", type=int, default=3_000_000, help="pairs to go on to")
    parser.add_argument("--ratio", type=float, default=0.25)
    parser.add_argument("--first", type=int, default=None, help="so many items, spread evenly")
    parser.add_argument("--device", default=None, help="torch device of AT")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="markdown")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = read_options(argv)
    try:
        if not options.dat and not options.at:
            raise ConfigError("give models with --dat PAIRS=DIR or --at PAIRS=DIR")
        part = read_test_set(Path(options.data), first=options.first)
        found = tables(made(options, part), part, options.to)
    except SumfitError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(render(found, options.format))
    return 0


if __name__ == "__main__":
    sys.exit(main())
