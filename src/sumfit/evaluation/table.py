"""Tables of results, written as text, Markdown or JSON.

Owns layout alone; what goes into a table is its maker's business.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from sumfit.errors import ConfigError

__all__ = ["Cell", "Table", "TableFormat", "render"]

Cell = str | int | float | None
TableFormat = Literal["text", "markdown", "json"]


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        title: What it shows.
        columns: Column names.
        rows: Cells of each row, one per column; ``None`` or ``nan`` for no value.
        notes: Lines under the table: signatures, rules, what was left out.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {self.title!r} has {len(row)} cells: {row}")

    def to_text(self) -> str:
        """Lay the table out in columns for a terminal.

        Returns:
            Lines, without a final newline.
        """
        cells = [self.columns, *(tuple(_shown(cell) for cell in row) for row in self.rows)]
        widths = [max(cell_len(row[i]) for row in cells) for i in range(len(self.columns))]
        numeric = [
            all(isinstance(row[i], int | float | None) for row in self.rows)
            for i in range(len(self.columns))
        ]
        lines = [
            "  ".join(
                _padded(cell, width, right=right)
                for cell, width, right in zip(row, widths, numeric, strict=True)
            ).rstrip()
            for row in cells
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([self.title, "", lines[0], rule, *lines[1:], *_under(self.notes)])

    def to_markdown(self) -> str:
        """Write the table in Markdown.

        Returns:
            Lines, without a final newline.
        """
        numeric = [
            all(isinstance(row[i], int | float | None) for row in self.rows)
            for i in range(len(self.columns))
        ]
        lines = [_markdown_row(self.columns)]
        lines.append("|" + "|".join("---:" if right else "---" for right in numeric) + "|")
        lines += [_markdown_row([_shown(cell) for cell in row]) for row in self.rows]
        notes = [line for note in self.notes for line in ("", note)]
        return "\n".join([f"**{self.title}**", "", *lines, *notes])

    def to_dict(self) -> dict[str, object]:
        """Give the table as plain data, for JSON.

        Returns:
            Title, rows as objects keyed by column, and notes; no NaN in it.
        """
        rows = [
            {key: _plain(cell) for key, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


def render(tables: Sequence[Table], format: TableFormat = "text") -> str:
    """Write several tables.

    Args:
        tables: The tables.
        format: ``"text"``, ``"markdown"`` or ``"json"``.

    Returns:
        The text, without a final newline.

    Raises:
        ConfigError: If there is no such format.
    """
    writers: dict[str, Callable[[], str]] = {
        "text": lambda: "\n\n".join(table.to_text() for table in tables),
        "markdown": lambda: "\n\n".join(table.to_markdown() for table in tables),
        "json": lambda: json.dumps(
            [table.to_dict() for table in tables], ensure_ascii=False, indent=1, allow_nan=False
        ),
    }
    if format not in writers:
        raise ConfigError(f"format must be one of {', '.join(writers)}, was {format!r}")
    return writers[format]()


def _is_missing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _shown(cell: Cell) -> str:
    if _is_missing(cell):
        return "-"
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def _plain(cell: Cell) -> Cell:
    if _is_missing(cell):
        return None
    return round(cell, 4) if isinstance(cell, float) else cell


def _padded(cell: str, width: int, *, right: bool) -> str:
    gap = " " * (width - cell_len(cell))
    return gap + cell if right else cell + gap


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _under(notes: Sequence[str]) -> list[str]:
    return ["", *notes] if notes else []
