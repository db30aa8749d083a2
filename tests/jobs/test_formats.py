"""What an input is, told from its name or its first lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sumfit.errors import ConfigError
from sumfit.jobs.formats import input_format, peek

FIELDS = ("text", "source")


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (b'[{"text": "a"}]', "json"),
        (b"[]\n", "json"),
        (b'\n[\n  {\n "text": "a"}]', "json"),
        (b'\xef\xbb\xbf[{"text": "a"}]', "json"),
        (b'{"text": "a"}\n{"text": "b"}\n', "jsonl"),
        (b"id,text\n1,a\n", "csv"),
        (b'"id","text"\r\n', "csv"),
        (b"id\ttext\n", "tsv"),
        (b"<!DOCTYPE html>\n<html>", "whole"),
        (b"\n\n<html lang='en'>", "whole"),
        (b"[Reuters] The bank closed.\n", "lines"),
        (b"[\n", "lines"),
        (b"{not json}\n", "lines"),
        (b'{"text": "a",\n', "lines"),
        (b"text\n", "lines"),
        (b"The text, source of it all, was lost.\n", "lines"),
        (b"I read a text, source\n", "csv"),  # as near as prose comes to a header
        (b"<p>A paragraph.</p>\n", "lines"),
        (b"<3 is a heart\n", "lines"),
        (b"", "lines"),
    ],
)
def test_a_stream_is_known_by_its_first_lines(head: bytes, format: str) -> None:
    lines = head.splitlines(keepends=True)
    found = peek(lines, fields=FIELDS)
    assert found.format == format
    assert list(found.lines) == lines


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n")), max_size=8))
@example(["[", "", "", "", '{"text": 1}'])
def test_no_line_is_lost_whatever_comes(texts: list[str]) -> None:
    lines = [f"{text}\n".encode() for text in texts]
    assert list(peek(iter(lines), fields=FIELDS).lines) == lines


WORDS = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=12)


@given(st.lists(WORDS.filter(lambda word: word[0].isalnum()), min_size=1, max_size=20))
def test_prose_is_lines(words: list[str]) -> None:
    line = " ".join(words)
    if not {"text", "source"} & set(words):
        assert peek([line.encode()], fields=FIELDS).format == "lines"


@given(st.dictionaries(st.text(), st.integers() | st.text(), min_size=1))
def test_a_line_of_json_is_jsonl(record: dict[str, object]) -> None:
    assert peek([json.dumps(record).encode()], fields=()).format == "jsonl"


def test_a_stream_is_answered_as_it_comes() -> None:
    def lines() -> Iterator[bytes]:
        yield b"A first text.\n"
        raise AssertionError("more was read than the guess needs")

    assert next(peek(lines(), fields=FIELDS).lines) == b"A first text.\n"


def test_pages_and_mails_are_one_text_each() -> None:
    for name in ("a.html", "A.HTM", "notes.md", "m.eml", "page.html.gz"):
        assert input_format(name) == "whole"
    assert input_format("news.jsonl.xz") == "jsonl"
    with pytest.raises(ConfigError, match=r"cannot tell the format of a\.docx from its name"):
        input_format("a.docx")
