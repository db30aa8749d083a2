"""The filter of training pairs: what it keeps, what it leaves out, and the case it puts right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.data.filtering import FilterOptions, PairFilter, filter_files, sentence_case
from sumfit.data.readers import Columns
from sumfit.errors import ConfigError

SOURCE = (
    "The port of Halvik said on Monday that it will not close its two old docks, though 40 "
    "workers may lose their jobs. Mayor Ines Ruud denied a sale to Norrland Steel."
)


@pytest.mark.parametrize(
    "summary",
    [
        "Port of Halvik will not close its two old docks",
        "40 Halvik dock workers may lose jobs",
        "Mayor denies sale to Norrland Steel",
    ],
)
def test_a_summary_that_follows_from_its_text_is_kept(summary: str) -> None:
    judge = PairFilter()
    assert judge.keep(SOURCE, summary) == summary
    assert judge.report.kept == 1


@pytest.mark.parametrize(
    ("summary", "reason"),
    [
        ("Port of Halvik will not close 3 docks", "a number that the text lacks"),
        ("Port of Bergen will not close old docks", "a name that the text lacks"),
        ("Port of Halvik will close its two old docks", "a negation lost or added"),
        ("Port of Halvik keeps docks after the", "an end that needs another word"),
        ('Port of Halvik will not close "old docks', "a quotation mark or bracket without its"),
        ("The text says the port stays open", "speaks of the text itself"),
        ("Docks, jobs, mayor, sale, steel", "a list, a gap or an outlet's mark"),
        ("Halvik docks docks stay open", "a word twice in a row"),
        ("Docks", "length"),
        ("Shipyard veterans rejoice amid delightful sunshine", "new content words"),
        (SOURCE, "a copy of its text"),
    ],
)
def test_what_breaks_a_rule_is_left_out_and_counted(summary: str, reason: str) -> None:
    judge = PairFilter()
    assert judge.keep(SOURCE, summary) is None
    (found,) = judge.report.dropped
    assert found.startswith(reason)
    assert any(reason in line for line in judge.report.lines())


def test_a_headline_in_title_case_takes_the_case_of_its_text() -> None:
    headline = "Port Of Halvik Will Not Close Its Two Old Docks"
    judge = PairFilter()
    assert judge.keep(SOURCE, headline) == "Port of Halvik will not close its two old docks"
    assert judge.report.recased == 1


@given(st.text(max_size=80), st.text(max_size=200))
def test_sentence_case_changes_letters_case_alone(text: str, source: str) -> None:
    assert sentence_case(text, source).lower().casefold() == text.lower().casefold()


def test_files_are_filtered_to_json_lines_and_bad_records_are_counted(tmp_path: Path) -> None:
    good = {"source": SOURCE, "summary": "Mayor denies sale to Norrland Steel"}
    bad = {"source": SOURCE, "summary": "Oslo denies sale to Norrland Steel"}
    rows = [json.dumps(good), "{broken", json.dumps(bad)]
    (tmp_path / "in.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    judge = PairFilter()
    filter_files([tmp_path / "in.jsonl"], tmp_path / "out.jsonl", judge, columns=Columns())
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [good]
    assert judge.report.dropped["record does not parse"] == 1


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ConfigError, match="new_words must be 0 or more, was -1"):
        FilterOptions(new_words=-1)
