"""The gallery and the table of methods are what their files say; one command makes both again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.gallery.lines import FOLDER, Text, read_marks, read_texts, summarise
from benchmarks.gallery.methods import LEAD, METHODS, measure_methods
from benchmarks.gallery.pages import END, START, gallery_page, methods_table, with_table
from sumfit import Summarizer, measure

DOCS = Path(__file__).parents[1] / "docs"
LINES = json.loads((FOLDER / "lines.json").read_text(encoding="utf-8"))
FIGURES = json.loads((FOLDER / "methods.json").read_text(encoding="utf-8"))
AGAIN = "run: python -m benchmarks.gallery --render"


def test_the_pages_are_made_of_the_files() -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert page == gallery_page(read_texts(), LINES, read_marks()), AGAIN
    choosing = (DOCS / "choosing.md").read_text(encoding="utf-8")
    assert choosing == with_table(choosing, methods_table(FIGURES)), AGAIN
    assert choosing.count(START) == choosing.count(END) == 1


def test_every_text_has_a_line_within_its_limit() -> None:
    texts = read_texts()
    assert len({one.name for one in texts}) == len(texts) >= 30
    assert LINES["lines"].keys() == {one.name for one in texts}
    for one in texts:
        line = LINES["lines"][one.name]
        assert 0 < measure(line["text"], line["unit"]) == line["length"] <= line["limit"], one.name
    kinds = [one.kind for one in texts]
    assert kinds == sorted(kinds, key=kinds.index)  # those of a kind beside each other


def test_marks_belong_to_texts_and_say_why_a_line_is_bad() -> None:
    marks = read_marks()
    assert {name for name, _ in marks} <= {one.name for one in read_texts()}
    assert all(mark.is_good or mark.why for mark in marks.values())
    n_lines = len((FOLDER / "marks.jsonl").read_text(encoding="utf-8").splitlines())
    assert n_lines == len(marks)


def test_a_line_that_nobody_read_is_shown_as_such() -> None:
    made = {"model": "m", "version": "1", "lines": {"a": {**LINE, "text": "New *line*"}}}
    page = gallery_page([Text("a", "news", {}, "A <b>text</b>\n\nof\ntwo.")], made, {})
    assert "**0 of 0** can be used as\nthey are; 1 have not been read yet." in page
    assert "> A \\<b\\>text\\</b\\>\n>\n> of\n>\n> two." in page
    assert "**New \\*line\\*** (8 of 9 characters) not read yet." in page


LINE = {"text": "a", "length": 8, "unit": "chars", "limit": 9, "doubts": []}


@pytest.mark.parametrize("doubts", [[], ["no such number: 3"]])
def test_doubts_of_the_rules_are_shown(doubts: list[str]) -> None:
    made = {"model": "m", "version": "1", "lines": {"a": {**LINE, "doubts": doubts}}}
    page = gallery_page([Text("a", "news", {}, "t")], made, {})
    assert page.endswith(f"not read yet.{' *rules: no such number: 3*' if doubts else ''}\n")


def test_the_command_runs_with_any_model(fit: Summarizer, texts: tuple[str, ...]) -> None:
    some = [Text(str(place), "news", {"max_chars": 40}, text) for place, text in enumerate(texts)]
    made = summarise(fit, some)
    assert [line["text"] for line in made["lines"].values()] == [
        one.text for one in fit(list(texts), max_chars=40)
    ]
    figures = measure_methods(fit, some[:2], methods=["the default", "rerank=None"])
    assert list(figures["methods"]) == ["the default", "rerank=None", LEAD]
    assert figures["methods"]["the default"]["same"] == 100
    table = methods_table(figures)
    assert table.count("\n| ") == 4
    assert set(METHODS) | {LEAD} == set(FIGURES["methods"])
