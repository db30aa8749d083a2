"""The worked example of docs/algorithms.md is what the code computes, and its citations exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "algorithms.md"


def test_every_line_of_the_worked_example_gives_what_is_printed():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 15
    assert failed == 0


def test_every_equation_that_code_cites_is_on_the_page_once():
    page = PAGE.read_text(encoding="utf-8")
    numbered = re.findall(r"  \((A\d+)\)$", page, flags=re.MULTILINE)
    assert sorted(numbered, key=lambda name: int(name[1:])) == [f"A{i}" for i in range(1, 21)]
    cited = set()
    package = ROOT / "src" / "sumfit"
    for path in sorted(
        path for name in ("decoding", "constraints") for path in (package / name).rglob("*.py")
    ):
        for found in re.findall(r"Eq\. (A\d+(?:(?:,|-| or| and)[ ]?A?\d+)*)", path.read_text()):
            cited |= {f"A{number}" for number in re.findall(r"\d+", found)}
    assert cited
    assert cited <= set(numbered)


def test_every_file_named_on_the_page_exists():
    page = PAGE.read_text(encoding="utf-8")
    package = ROOT / "src" / "sumfit"
    for name in set(re.findall(r"`([\w/]+\.py)`", page)):
        places = (package / "decoding", package, ROOT)
        assert any((place / name).is_file() for place in places), name
    for name in set(re.findall(r"\((figures/[\w.]+)\)", page)):
        assert (PAGE.parent / name).is_file(), name
