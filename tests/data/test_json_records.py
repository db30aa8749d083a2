"""Arrays of objects: each element once, in order, and what is bad in its place."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit.data import json_records
from sumfit.data.readers import Row, read_rows
from sumfit.errors import DataFormatError


def read(content: bytes) -> list[Row]:
    return list(read_rows(io.BytesIO(content), format="json", on_bad="keep"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=4), max_size=12),
    indent=st.sampled_from([None, 0, 3]),
    is_ascii=st.booleans(),
    piece=st.integers(1, 40),
)
def test_every_element_comes_back(
    rows: list[dict[str, Any]], indent: int | None, is_ascii: bool, piece: int
) -> None:
    rows = [row for row in rows if json.dumps(row).isprintable()]
    content = json.dumps(rows, indent=indent, ensure_ascii=is_ascii)
    before = json_records._FIRST_READ
    json_records._FIRST_READ = piece  # so that elements are cut anywhere
    try:
        found = read(content.encode("utf-8", "surrogatepass"))
    finally:
        json_records._FIRST_READ = before
    if content.isascii():
        assert [row.fields for row in found] == rows
    assert [row.line for row in found] == list(range(1, len(rows) + 1))


def test_bad_elements_cost_no_others() -> None:
    content = (
        b'\xef\xbb\xbf [{"a": 1}, 3, {"b": 1,\n "b": 2}, {"c": "caf\xe9"},\n\n{"d": [{}]} ]\n '
    )
    found = read(content)
    assert [row.fields for row in found] == [{"a": 1}, {}, {}, {}, {"d": [{}]}]
    errors = [str(row.error) for row in found]
    assert errors[1].endswith("object 2: must be a JSON object, was int")
    assert errors[2].endswith("object 3: key 'b' twice in one object; keep one of them")
    assert "object 4: " in errors[3]
    assert "not UTF-8 at byte" in errors[3]


@pytest.mark.parametrize(
    ("content", "n_good", "reason"),
    [
        (b'[{"a": 1}, {"b": 2', 1, "object 2: not JSON: Expecting ',' delimiter"),
        (b'[{"a": 1}, {"b": tru}, {"c": 1}]', 1, "object 2: not JSON: Expecting value"),
        (b'[{"a": 1} {"b": 2}]', 1, "object 2: not JSON: Expecting ',' or ']'"),
        (b'[{"a": 1},]', 1, "object 2: not JSON: Expecting value"),
        (b'[{"a": 1}', 1, "object 2: not JSON: Expecting ',' or ']'"),
        (b'[{"a": 1}] [{"b": 2}]', 1, "there is more behind the end of the array"),
        (b'[{"a": 1}, {"b": ' + b"[" * 100_000, 1, "object 2: not JSON: nested too deeply"),
        (b'[{"a": 1}, {"b": ' + b"9" * 5000 + b"}]", 1, "object 2: not JSON: Exceeds the limit"),
    ],
)
def test_what_is_not_json_ends_the_file_there(content: bytes, n_good: int, reason: str) -> None:
    found = read(content)
    assert [row.error is None for row in found] == [True] * n_good + [False]
    assert reason in str(found[-1].error)


@pytest.mark.parametrize("content", [b"[", b"[{", b"[tru]", b"[,]"])
def test_an_array_that_begins_badly_is_an_error(content: bytes) -> None:
    with pytest.raises(DataFormatError, match="object 1: not JSON"):
        read(content)


def test_a_file_of_lines_with_that_suffix_is_read_as_lines() -> None:
    assert [row.fields for row in read(b'\n{"a": 1}\n{"a": 2}\n')] == [{"a": 1}, {"a": 2}]
    assert read(b"") == read(b" \n ") == []


@pytest.mark.parametrize(
    "piece", [b'{"text": "words and words", "n": 1.5}, ', b"{}, ", b'{"a": {"b": [[[]]]}},\n']
)
def test_reading_takes_time_in_proportion_to_the_size(piece: bytes) -> None:
    def seconds(size: int) -> float:
        content = b"[" + piece * (size // len(piece)) + b"{}]"
        times = []
        for _ in range(3):
            begin = time.process_time()
            for _row in read_rows(io.BytesIO(content), format="json", on_bad="keep"):
                pass
            times.append(time.process_time() - begin)
        return min(times)

    assert seconds(2_000_000) < 3 * seconds(1_000_000) + 0.05
