"""Summaries and references from files, with every mismatch named."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from sumfit.errors import ConfigError, DataFormatError
from sumfit.evaluation.files import (
    check_paired,
    read_references,
    read_sources,
    read_summaries,
)


def write(path: Path, *records: object) -> Path:
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_lines_keep_empty_summaries_and_odd_separators(tmp_path: Path) -> None:
    path = write(tmp_path / "out.txt", "one", "", "two\u2028still two")
    items = read_summaries(path)
    assert [item.text for item in items] == ["one", "", "two\u2028still two"]
    assert items[2].place == f"{path}:3"


def test_records_bring_limit_and_unit(tmp_path: Path) -> None:
    path = write(
        tmp_path / "out.jsonl",
        {"text": "a", "limit": 8, "unit": "words"},
        {"text": None, "error": "no output fits", "limit": 1},
    )
    first, second = read_summaries(path)
    assert (first.text, first.limit, first.unit) == ("a", 8, "words")
    assert (second.text, second.limit, second.unit) == ("", 1, None)


def test_what_a_file_job_could_not_summarise_is_an_empty_summary(tmp_path: Path) -> None:
    failed = {"text": "the source", "summary": None, "summary_error": "nothing fits"}
    path = write(tmp_path / "out.jsonl", failed, {"text": "the source", "summary": "a"})
    assert [item.text for item in read_summaries(path)] == ["", "a"]
    titled = {"text": "the source", "title": None, "title_error": "nothing fits"}
    path = write(tmp_path / "titled.jsonl", titled)
    assert read_summaries(path, field="title")[0].text == ""


def test_a_stream_reads_as_lines() -> None:
    assert [i.text for i in read_summaries(io.BytesIO(b"a\nb\n"), format="lines")] == ["a", "b"]


def test_the_named_field_wins(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", {"summary": "a", "mine": "b"})
    assert read_summaries(path, field="mine")[0].text == "b"


def test_references_may_be_lists_and_bring_sources(tmp_path: Path) -> None:
    path = write(
        tmp_path / "ref.jsonl",
        {"source": "long", "summaries": ["a", "b"]},
        {"source": "longer", "summary": "c"},
    )
    first, second = read_references([path])
    assert (first.texts, first.source) == (("a", "b"), "long")
    assert (second.texts, second.source) == (("c",), "longer")


def test_several_files_give_alternatives(tmp_path: Path) -> None:
    one = write(tmp_path / "ref0.txt", "a", "b")
    two = write(tmp_path / "ref1.txt", "x", "y")
    assert [item.texts for item in read_references([one, two])] == [("a", "x"), ("b", "y")]


@pytest.mark.parametrize("record", [{"summary": " "}, {"summaries": []}, {"summaries": ["a", ""]}])
def test_an_empty_reference_is_named_by_line(tmp_path: Path, record: object) -> None:
    path = write(tmp_path / "ref.jsonl", {"summary": "fine"}, record)
    with pytest.raises(DataFormatError, match=rf"{path}:2: an empty reference"):
        read_references([path])


def test_a_missing_field_is_named_with_those_there_are(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", {"headline": "a"})
    with pytest.raises(DataFormatError, match=r"out\.jsonl:1: no text in field one of summary, "):
        read_summaries(path)
    with pytest.raises(DataFormatError, match="no text in field 'title'; fields are headline"):
        read_references([path], field="title")
    with pytest.raises(DataFormatError, match="no text in field 'doc'; fields are headline"):
        read_references([path], field="headline", source_field="doc")


def test_another_encoding_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "ref.txt"
    path.write_bytes("fine\nCaf\u00e9\n".encode("latin-1"))
    with pytest.raises(DataFormatError, match=r"ref\.txt:2: not UTF-8"):
        read_references([path])


def test_counts_that_differ_name_both_and_the_first_item_left_over(tmp_path: Path) -> None:
    out = read_summaries(write(tmp_path / "out.txt", "a", "b", "c"))
    ref = read_references([write(tmp_path / "ref.txt", "a", "b")])
    with pytest.raises(
        DataFormatError,
        match=r"there are 3 summaries but 2 references; the first .* is .*out\.txt:3",
    ):
        check_paired(out, ref, names=("summaries", "references"))
    with pytest.raises(DataFormatError, match=r"is .*ref\.txt:2"):
        check_paired(out[:1], ref, names=("summaries", "references"))


def test_reference_files_of_different_length_are_named(tmp_path: Path) -> None:
    one = write(tmp_path / "ref0.txt", "a", "b")
    two = write(tmp_path / "ref1.txt", "x")
    with pytest.raises(DataFormatError, match=r"2 references in .*ref0.txt but 1 references in"):
        read_references([one, two])


def test_sources_come_from_lines_or_fields(tmp_path: Path) -> None:
    lines = write(tmp_path / "src.txt", "one", "two")
    records = write(tmp_path / "src.jsonl", {"document": "one"}, {"source": "two"})
    assert read_sources(lines) == read_sources(records) == ["one", "two"]
    with pytest.raises(DataFormatError, match=r"src\.jsonl:1: no text in field 'body'"):
        read_sources(records, field="body")


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_another_delimiter_is_told_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mark: str
) -> None:
    rows = [["id", "source", "summary"], ["1,5", "A text, long", "Short"], ["2,5", "Two", "More"]]
    path = write(tmp_path / "a.csv", *(mark.join(row) for row in rows))
    assert read_sources(path) == ["A text, long", "Two"]
    assert [item.text for item in read_summaries(path)] == ["Short", "More"]
    assert [item.texts for item in read_references([path])] == [("Short",), ("More",)]
    assert [item.text for item in read_summaries(path, field="id")] == ["1,5", "2,5"]
    shown = "a tab" if mark == "\t" else f"'{mark}'"
    note = f"note: {path} is read as CSV with {shown} between fields"
    assert caplog.messages == 4 * [note]


def test_a_table_that_two_delimiters_fit_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id;summary|x", "1;words|2")
    with pytest.raises(DataFormatError, match="no text in field"):
        read_summaries(write(tmp_path / "b.csv", "id,words", "1,one"))
    with pytest.raises(ConfigError, match="its header is one column"):
        read_summaries(path)
