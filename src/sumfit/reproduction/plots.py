"""Charts of the paper's tables: quality against length, speed against quality.

Owns which columns become which axis. Drawing is `sumfit.reproduction.chart`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sumfit.evaluation.table import Table
from sumfit.reproduction.chart import Point, chart

__all__ = ["write_plots"]


def write_plots(directory: Path, tables: Mapping[str, Sequence[Table]]) -> list[Path]:
    """Draw what the tables at hand allow.

    Args:
        directory: Where to write; made if it is not there.
        tables: Tables by name.

    Returns:
        The files written: ``quality-by-length.svg`` from Table 1, ``speed-by-quality.svg`` from
        Tables 1 and 6 together.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    if "table1" in tables:
        ours, theirs = (
            _by_length(tables["table1"], "R-Sum"),
            _by_length(tables["table1"], "paper R-Sum"),
        )
        published = {f"{name}, paper": points for name, points in theirs.items()}
        picture = chart(
            "R-Sum against length",
            {**ours, **published},
            x_label="length, % of the source",
            y_label="R-Sum",
            dashed={f"{name}, paper": name for name in theirs},
        )
        written.append(_write(directory / "quality-by-length.svg", picture))
    if "table1" in tables and "table6" in tables:
        quality = _column(tables["table1"][1], "R-Sum")
        speed = _column(tables["table6"][0], "sentences/s")
        points = {name: [(speed[name], quality[name])] for name in quality if name in speed}
        if points:
            picture = chart(
                "Quality against speed, 25 %",
                points,
                x_label="sentences/s, one text at a time",
                y_label="R-Sum",
            )
            written.append(_write(directory / "speed-by-quality.svg", picture))
    return written


def _by_length(tables: Sequence[Table], column: str) -> dict[str, list[Point]]:
    series: dict[str, list[Point]] = {}
    for table in tables:
        percent = float(table.title.split()[-2])
        for name, value in _column(table, column).items():
            series.setdefault(name, []).append((percent, value))
    return series


def _column(table: Table, column: str) -> dict[str, float]:
    index = table.columns.index(column)
    cells = [(str(row[0]), row[index]) for row in table.rows]
    return {name: float(cell) for name, cell in cells if isinstance(cell, int | float)}


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
