"""Fuzzing the readers of data: a bad record has an error in its place, and nothing else happens."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from sumfit.data.json_text import parse_json
from sumfit.data.readers import Row, read_rows, table_columns
from sumfit.errors import ConfigError, DataFormatError
from sumfit.jobs.items import read_items
from sumfit.jobs.records import json_line
from tests.fuzz.fuzzing import allowing, damaged, fuzz

ROWS = [
    {"id": 1, "text": "Engineers closed the old bridge, after a check.", "tags": ["a", "b"]},
    {"id": 2.5, "text": "caf\u00e9 \u65e5 \U0001f468\u200d", "meta": {"x": None, "y": [True]}},
    {"id": -3, "text": "line\nfeed, \u2028 and \"quotes\" and \\ and ;", "n": 1e300},
]  # fmt: skip
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
JSONL = [
    LINES,
    LINES.replace(b"\n", b"\r\n"),
    b'\xef\xbb\xbf{"text": "a"}\n\n \n{"text": "b"}',
    b'{"text": "a", "n": NaN, "m": [1e999, -Infinity]}\n',
]
ARRAYS = [
    json.dumps(ROWS).encode(),
    json.dumps(ROWS, indent=1, ensure_ascii=False).encode(),
    b"[]",
    b" [ {} , {} ] ",
    *JSONL,
]
TABLES = [
    b'id,text\n1,"words, more words"\n2,"two\nlines"\n\n3,"a ""quoted"" word"\n',
    b"text\nno quotes\n",
    b"id;text\r\n1;a, b\r\n",
    b"id\ttext\n1\ttwo words\n",
    b'\xef\xbb\xbf"text","n"\n"a","1"\n',
]


def read(data: bytes, format: Any, delimiter: str | None = None) -> None:
    """Reading keeps bad records, raises for them, or counts them, alike."""
    rows: list[Row] | None = None
    with allowing(DataFormatError, ConfigError):
        rows = list(read_rows(io.BytesIO(data), format=format, on_bad="keep", delimiter=delimiter))
    if rows is None:
        with pytest.raises((DataFormatError, ConfigError)):
            list(read_rows(io.BytesIO(data), format=format, delimiter=delimiter))
        return
    assert [row.line for row in rows] == sorted(row.line for row in rows)
    bad = [row for row in rows if row.error is not None]
    assert all(not row.fields and isinstance(row.error, DataFormatError) for row in bad)
    if bad:
        with pytest.raises(DataFormatError):
            list(read_rows(io.BytesIO(data), format=format, delimiter=delimiter))
    for row in rows:
        line = json_line(row.fields)
        assert "\n" not in line
        if format in ("jsonl", "json"):
            assert same(parse_json(line), row.fields)


def same(left: Any, right: Any) -> bool:
    """Equality in which what is no number equals itself, and a lone surrogate what it became."""
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(map(same, left.values(), right.values()))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right) or (isinstance(right, str) and not right.isascii())


def test_jsonl() -> None:
    fuzz(damaged(JSONL), lambda data: read(data, "jsonl"))


def test_json_arrays() -> None:
    fuzz(damaged(ARRAYS), lambda data: read(data, "json"))


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_csv(format: Any) -> None:
    fuzz(damaged(TABLES), lambda data: read(data, format))


def test_csv_with_any_delimiter() -> None:
    marks = st.sampled_from([";", "|", "\t", " ", "a", "\u00e9", "\x00"])
    inputs = st.tuples(damaged(TABLES), marks)
    fuzz(inputs, lambda both: read(both[0], "csv", both[1]))


def test_lines() -> None:
    fuzz(damaged([LINES, b"\xef\xbb\xbfa\r\nb\n\n", b"a\x85b\x0cc\xe2\x80\xa8d\n"]), lines)


def lines(data: bytes) -> None:
    rows = list(read_rows(io.BytesIO(data), format="lines", on_bad="keep"))
    assert len(rows) == len(data.split(b"\n")) - data.endswith(b"\n") - (not data)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_packed_files(suffix: str, tmp_path: Path) -> None:
    packed: list[bytes]
    if suffix == ".gz":
        packed = [gzip.compress(LINES, mtime=0), gzip.compress(b"", mtime=0)]
    elif suffix == ".xz":
        packed = [lzma.compress(LINES), lzma.compress(LINES) * 2]
    else:
        zstandard = pytest.importorskip("zstandard")
        packed = [zstandard.compress(LINES), zstandard.compress(LINES) * 2]
    file = tmp_path / f"in.jsonl{suffix}"

    def check(data: bytes) -> None:
        file.write_bytes(data)
        with allowing(DataFormatError, naming=file):
            list(read_rows(file, on_bad="keep"))

    fuzz(damaged(packed), check)


def test_items_of_a_file(tmp_path: Path) -> None:
    names = ["in.jsonl", "in.json", "in.csv", "in.tsv", "in.txt"]
    inputs = st.tuples(st.sampled_from(names), damaged([*JSONL, *ARRAYS, *TABLES]))

    def check(both: tuple[str, bytes]) -> None:
        file = tmp_path / both[0]
        file.write_bytes(both[1])
        with allowing(DataFormatError, ConfigError, naming=file):
            for item in read_items(str(file), limit_field="id"):
                assert (item.text is None) == (item.error is not None)
        with allowing(DataFormatError, ConfigError, naming=file):
            table_columns(file, "csv")

    fuzz(inputs, check)


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "in.parquet"
    seeds = []
    for compression in ("none", "zstd"):
        pq.write_table(pa.table({"text": ["a", None], "n": [1, 2]}), file, compression=compression)
        seeds.append(file.read_bytes())

    def check(data: bytes) -> None:
        file.write_bytes(data)
        with allowing(DataFormatError, naming=file):
            list(read_rows(file, on_bad="keep"))

    fuzz(damaged(seeds), check)
