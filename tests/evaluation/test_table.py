"""Tables as text, Markdown and JSON."""

from __future__ import annotations

import json
import math

import pytest

from sumfit.errors import ConfigError
from sumfit.evaluation.table import Table, render

TABLE = Table(
    "Scores",
    ("system", "R-1", "n"),
    (("lead | cut", 12.345, 3), ("東京", math.nan, None)),
    ("signature: x",),
)


def test_text_columns_line_up_by_display_width() -> None:
    assert TABLE.to_text().split("\n") == [
        "Scores",
        "",
        "system        R-1  n",
        "----------  -----  -",
        "lead | cut  12.35  3",
        "東京            -  -",
        "",
        "signature: x",
    ]


def test_markdown_escapes_bars_and_aligns_numbers() -> None:
    assert TABLE.to_markdown().split("\n") == [
        "**Scores**",
        "",
        "| system | R-1 | n |",
        "|---|---:|---:|",
        "| lead \\| cut | 12.35 | 3 |",
        "| 東京 | - | - |",
        "",
        "signature: x",
    ]


def test_json_has_no_nan_and_keeps_precision() -> None:
    (table,) = json.loads(render([TABLE], "json"))
    assert table["rows"] == [
        {"system": "lead | cut", "R-1": 12.345, "n": 3},
        {"system": "東京", "R-1": None, "n": None},
    ]


def test_tables_are_parted_by_a_blank_line() -> None:
    assert render([TABLE, TABLE]).count("\n\nScores\n") == 1


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(ConfigError, match="format must be one of text, markdown, json, was 'xml'"):
        render([TABLE], "xml")  # type: ignore[arg-type]


def test_a_row_must_fill_every_column() -> None:
    with pytest.raises(ValueError, match="has 1 cells"):
        Table("t", ("a", "b"), (("x",),))
