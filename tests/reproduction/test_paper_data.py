"""Every documented layout of the paper's test sets, and what is wrong with a broken one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sumfit.errors import ConfigError, DataFormatError
from sumfit.reproduction.paper_data import read_test_set


def put(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def test_the_common_release_of_gigaword_and_duc(tmp_path: Path) -> None:
    put(tmp_path / "input.txt", "long one", "long two")
    put(tmp_path / "task1_ref0.txt", "a0", "b0")
    put(tmp_path / "task1_ref1.txt", "a1", "b1")
    part = read_test_set(tmp_path)
    assert part.sources == ("long one", "long two")
    assert part.references == (("a0", "a1"), ("b0", "b1"))
    assert read_test_set(tmp_path, first=1).sources == ("long one",)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("test.src.txt", "test.tgt.txt"),
        ("test.source", "test.target"),
        ("test.article", "test.title"),
        ("test.article.txt", "test.title.txt"),
    ],
)
def test_parallel_files_of_any_known_name(tmp_path: Path, source: str, target: str) -> None:
    put(tmp_path / source, "long one", "long two")
    put(tmp_path / target, "a", "b")
    part = read_test_set(tmp_path)
    assert part.references == (("a",), ("b",))
    assert part.name == tmp_path.name


def test_one_file_for_each_text(tmp_path: Path) -> None:
    put(tmp_path / "sources" / "APW19981016.txt", "long one", "goes on")
    put(tmp_path / "sources" / "NYT19981016.txt", "long two")
    put(tmp_path / "references" / "D1.P.10.T.A.APW19981016", "a first")
    put(tmp_path / "references" / "D1.P.10.T.B.APW19981016", "a second")
    put(tmp_path / "references" / "D1.P.10.T.A.NYT19981016", "b")
    part = read_test_set(tmp_path)
    assert part.sources == ("long one goes on", "long two")
    assert part.references == (("a first", "a second"), ("b",))


def test_a_file_of_pairs(tmp_path: Path) -> None:
    put(tmp_path / "duc.jsonl", '{"source": "long", "summaries": ["a", "b"]}')
    assert read_test_set(tmp_path / "duc.jsonl").references == (("a", "b"),)


def test_an_unknown_layout_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no known layout: input\.txt with task1_ref0\.txt"):
        read_test_set(tmp_path)
    with pytest.raises(ConfigError, match="does not exist"):
        read_test_set(tmp_path / "nowhere")
    put(tmp_path / "input.txt", "a")
    with pytest.raises(ConfigError, match=r"has input\.txt but no task1_ref0\.txt"):
        read_test_set(tmp_path)


def test_files_out_of_step_name_the_line(tmp_path: Path) -> None:
    put(tmp_path / "input.txt", "long one", "long two")
    put(tmp_path / "task1_ref0.txt", "a")
    with pytest.raises(DataFormatError, match=r"2 sources in .* but 1 references .*input\.txt:2"):
        read_test_set(tmp_path)


def test_texts_without_a_partner_are_named(tmp_path: Path) -> None:
    put(tmp_path / "sources" / "one.txt", "long")
    put(tmp_path / "references" / "two.A", "a")
    with pytest.raises(DataFormatError, match=r"two\.A belongs to no source"):
        read_test_set(tmp_path)
    (tmp_path / "references" / "two.A").rename(tmp_path / "references" / "one.A")
    put(tmp_path / "sources" / "other.txt", "long")
    with pytest.raises(DataFormatError, match=r"other has no reference"):
        read_test_set(tmp_path)


def test_another_encoding_or_an_empty_file_is_named(tmp_path: Path) -> None:
    put(tmp_path / "references" / "one.A", "a")
    put(tmp_path / "sources" / "one.txt", "")
    with pytest.raises(DataFormatError, match=r"one\.txt is empty"):
        read_test_set(tmp_path)
    (tmp_path / "sources" / "one.txt").write_bytes("caf\u00e9".encode("latin-1"))
    with pytest.raises(DataFormatError, match=r"one\.txt is not UTF-8 at byte 3"):
        read_test_set(tmp_path)
