"""The tables and the code of docs/length-units.md say what the code does."""

import re
from pathlib import Path

from sumfit.length import PRESETS, UNITS, measure

PAGE = (Path(__file__).parents[2] / "docs" / "length-units.md").read_text(encoding="utf-8")


def table(header: str) -> list[list[str]]:
    lines = iter(PAGE[PAGE.index(f"| {header} |") :].splitlines())
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return [rows[0], *rows[2:]]


def test_strings_measure_as_the_page_says() -> None:
    head, *rows = table("text")
    assert len(rows) > 10
    for text, *lengths in rows:
        assert [measure(text.strip("`"), unit) for unit in head[1:]] == [int(n) for n in lengths]


def test_the_page_lists_every_unit() -> None:
    _, *rows = table("unit")
    *rows, last = rows
    assert last[0] == "a function or `Unit`"
    assert [name.strip("`") for name, _, _ in rows] == list(UNITS)
    for (_, counts, keyword), unit in zip(rows, UNITS.values(), strict=True):
        assert counts.startswith(unit.description)
        own = f"`max_{unit}`" if unit.has_keywords else f'`max_length`, `unit="{unit}"`'
        assert keyword == own


def test_the_page_lists_every_preset_with_its_source() -> None:
    _, *rows = table("name")
    assert rows == [
        [f"`{p.name}`", f"{p.limit} {p.unit}", p.description, p.source] for p in PRESETS.values()
    ]


def test_the_code_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, "length-units.md", "exec"), {})
