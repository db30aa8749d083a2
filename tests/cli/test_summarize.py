"""``sumfit summarize``: every format, every bad record in its place, streams and pipes."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import lzma
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sumfit import Summarizer
from tests.cli.conftest import Sumfit
from tests.data.test_excel import write_book

RECIPE = Path(__file__).parents[2] / "recipes" / "tiny.toml"


@pytest.fixture
def expected(fit: Summarizer, texts: tuple[str, ...]) -> list[str]:
    return [summary.text for summary in fit(list(texts), max_chars=40)]


def write(path: Path, texts: tuple[str, ...]) -> Path:
    """Write the texts in the format of the name."""
    records = [{"id": number, "text": text} for number, text in enumerate(texts)]
    if path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist(records), path)
        return path
    kind = path.suffixes[0]
    if kind == ".txt":
        content = "".join(f"{text}\n" for text in texts)
    elif kind == ".jsonl":
        content = "".join(json.dumps(record) + "\n" for record in records)
    else:
        import io

        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, ["id", "text"], delimiter="\t" if kind == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(records)
        content = buffer.getvalue()
    data = content.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".xz":
        data = lzma.compress(data)
    elif path.suffix == ".zst":
        data = pytest.importorskip("zstandard").compress(data)
    path.write_bytes(data)
    return path


NAMES = [
    "a.txt",
    "a.jsonl",
    "a.csv",
    "a.tsv",
    "a.parquet",
    "a.jsonl.gz",
    "a.txt.xz",
    "a.csv.zst",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_format(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str], name: str
) -> None:
    file = write(tmp_path / name, texts)
    result = sumfit("summarize", str(file), "--max-chars", "40")
    assert result == (0, "".join(f"{text}\n" for text in expected), "")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_records(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str], name: str
) -> None:
    file = write(tmp_path / name, texts)
    result = sumfit(
        "summarize", str(file), "--max-chars", "40", "--format", "jsonl", "--keep", "id"
    )
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record["text"] for record in records] == expected
    assert [str(record["id"]) for record in records] == [str(n) for n in range(len(texts))]
    assert {"length", "unit", "limit", "log_prob", "optimal", "complete"} <= set(records[0])


def test_standard_input(sumfit: Sumfit, texts: tuple[str, ...], expected: list[str]) -> None:
    data = "".join(f"{text}\n" for text in texts).encode()
    plain = "".join(f"{text}\n" for text in expected)
    assert sumfit("summarize", "-", "--max-chars", "40", stdin=data).out == plain
    assert sumfit("summarize", "--max-chars", "40", stdin=b"\xef\xbb\xbf" + data).out == plain
    lines = "".join(json.dumps({"body": text}) + "\n" for text in texts).encode()
    arguments = ["--max-chars", "40", "--input-format", "jsonl", "--field", "body"]
    assert sumfit("summarize", *arguments, stdin=lines).out == plain


def test_lines_end_at_line_feeds_alone(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    data = f"{texts[0][:40]}\u2028{texts[0][40:]}\x85\x0c more\r\n{texts[1]}".encode()
    result = sumfit("summarize", "--max-chars", "40", "--format", "jsonl", stdin=data)
    assert [json.loads(line)["line"] for line in result.out.split("\n")[:-1]] == [1, 2]


def test_a_bad_record_loses_no_other(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_bytes(
        b"\n".join(
            [
                json.dumps({"text": texts[0]}).encode(),
                b"{broken \x1b[2J",
                json.dumps({"body": texts[1]}).encode(),
                json.dumps({"text": 17}).encode(),
                b'{"text": "caf\xe9"}',
                json.dumps({"text": "  "}).encode(),
                b"[1, 2]",
                json.dumps({"text": texts[1]}).encode(),
            ]
        )
    )
    result = sumfit("summarize", str(file), "--max-chars", "40", "--format", "jsonl")
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record.get("text") for record in records] == [
        expected[0],
        *[None] * 6,
        expected[1],
    ]
    assert [record["line"] for record in records] == list(range(1, 9))
    messages = [record["error"]["message"] for record in records if "error" in record]
    assert messages[0].startswith(f"{file}:2: not JSON: ")
    assert messages[1] == (
        f"{file}:3: no field 'text' or 'source'; name the text's field with --field; "
        "fields here: body"
    )
    assert messages[2] == f"{file}:4: field 'text' must be a string, was int"
    assert messages[3].startswith(f"{file}:5: not UTF-8 at byte 13 of the line (0xe9)")
    assert messages[4] == "the text is empty: nothing in it but white space; leave it out"
    assert (
        messages[5] == f"{file}:7: must be a JSON object, was list; write one object in each line"
    )
    assert result.code == 1
    assert result.err.splitlines()[-1] == "6 of 8 texts have no summary"
    assert result.err.splitlines()[4] == f"line 6: {messages[4]}"
    assert "\x1b" not in result.err

    text = sumfit("summarize", str(file), "--max-chars", "40")
    assert text.out.split("\n") == [expected[0], "", "", "", "", "", "", expected[1], ""]


def test_a_bad_csv_line_loses_no_other(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(f"id,text\n1,{texts[0]}\n2,a,b\n3,{texts[1]}\n", encoding="utf-8")
    result = sumfit("summarize", str(file), "--max-chars", "40")
    assert result.out.split("\n") == [expected[0], "", expected[1], ""]
    assert result.err == (
        f"{file}:3: 3 fields, but the header has 2; put a field that holds ',' between "
        "quotation marks\n1 of 3 texts have no summary\n"
    )


def test_a_file_that_breaks_off_loses_nothing_before_it(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    file = tmp_path / "half.jsonl.gz"
    noise = [os.urandom(8192).hex() for _ in range(40)]  # fills many buffers
    lines = [json.dumps({"text": texts[0], "noise": item}) for item in noise]
    data = gzip.compress("\n".join(lines).encode())
    file.write_bytes(data[: len(data) // 2])
    result = sumfit("summarize", str(file), "--max-chars", "40")
    found = result.out.split("\n")[:-1]
    assert found == [expected[0]] * (len(found) - 1) + [""]
    assert f"damaged after line {len(found) - 1}: " in result.err
    assert "; copy or make the file again" in result.err
    assert len(found) > 5
    assert result.code == 1


def test_json_that_no_parser_reads(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    file = tmp_path / "deep.jsonl"
    file.write_text("[" * 100_000 + "\n" + json.dumps({"text": texts[0]}) + "\n")
    result = sumfit("summarize", str(file), "--max-chars", "40")
    assert result.out.split("\n") == ["", expected[0], ""]
    assert f"{file}:1: JSON that is nested too deeply" in result.err


def test_kept_numbers_that_json_lacks(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    file = tmp_path / "nan.jsonl"
    file.write_text(f'{{"text": {json.dumps(texts[0])}, "n": NaN, "m": [1.5, -Infinity]}}\n')
    options = ["--max-chars", "40", "--format", "jsonl", "--keep", "n", "--keep", "m"]
    line = sumfit("summarize", str(file), *options).out
    assert line.startswith('{"n": NaN, "m": [1.5, -1e999], "line": 1, ')


def test_kept_values_that_json_lacks(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"day": pa.array([0], pa.date32()), "text": [texts[0]]})
    pq.write_table(table, tmp_path / "a.parquet")
    options = ["--max-chars", "40", "--format", "jsonl", "--keep", "day"]
    result = sumfit("summarize", str(tmp_path / "a.parquet"), *options)
    assert json.loads(result.out)["day"] == "1970-01-01"


def test_blank_lines_stay_blank(
    sumfit: Sumfit, texts: tuple[str, ...], expected: list[str]
) -> None:
    data = f"{texts[0]}\n\n  \n{texts[1]}\n".encode()
    result = sumfit("summarize", "--max-chars", "40", stdin=data)
    assert result == (0, f"{expected[0]}\n\n\n{expected[1]}\n", "")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--field", "body"], "has no column 'body'; its columns are 'id', 'text'"),
        (["--limit-field", "w", "--unit", "chars"], "has no column 'w'; its columns are 'id', 't"),
        (["--format", "jsonl", "--keep", "day"], "has no column 'day'; its columns are 'id', 'te"),
    ],
)
def test_a_column_that_is_not_there_is_one_error(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], flags: list[str], message: str
) -> None:
    length = [] if "--unit" in flags else ["--max-chars", "40"]
    for name in ("in.csv", "in.tsv", "in.parquet"):
        file = write(tmp_path / name, texts)
        result = sumfit("summarize", str(file), *length, *flags)
        assert (result.code, result.out) == (2, ""), result
        assert result.err.startswith(f"error: {file} {message}")
        assert result.err.count("\n") == 1


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.tsv", "in.json"])
def test_what_standard_input_holds_is_guessed_and_said(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str], name: str
) -> None:
    if name == "in.json":
        data = json.dumps([{"text": text} for text in texts], indent=1).encode()
    else:
        data = write(tmp_path / name, texts).read_bytes()
    result = sumfit("summarize", "--max-chars", "40", stdin=data)
    assert result.out.splitlines() == expected
    kind = name.removeprefix("in.").upper()
    assert result.err == (
        f"note: standard input is read as {kind} (--input-format lines if each line is a text)\n"
    )
    as_lines = sumfit("summarize", "--max-chars", "40", "--input-format", "lines", stdin=data)
    assert as_lines.out.count("\n") == data.rstrip(b"\n").count(b"\n") + 1
    assert "note" not in as_lines.err


def test_a_delimiter_makes_a_table_of_standard_input(
    sumfit: Sumfit, texts: tuple[str, ...], expected: list[str]
) -> None:
    data = f"id;text\n1;{texts[0]}\n".encode()
    result = sumfit("summarize", "--max-chars", "40", "--delimiter", ";", stdin=data)
    assert result == (0, f"{expected[0]}\n", "")


@pytest.mark.parametrize("encoding", ["UTF-8", "utf-16"])
@pytest.mark.parametrize("source", ["file", "stdin", "stdin as csv"])
@pytest.mark.parametrize(("mark", "shown"), [(";", "';'"), ("\t", "a tab"), ("|", "'|'")])
def test_another_delimiter_is_guessed_and_said(
    sumfit: Sumfit,
    tmp_path: Path,
    texts: tuple[str, ...],
    expected: list[str],
    mark: str,
    shown: str,
    source: str,
    encoding: str,
) -> None:
    rows = [["price", "text"], *([f"{i},50", text] for i, text in enumerate(texts))]
    data = "".join(f"{price}{mark}{text}\n" for price, text in rows).encode(encoding)
    arguments = ["summarize", "--max-chars", "40", "--encoding", encoding]
    if source == "file":
        file = tmp_path / "in.csv"
        file.write_bytes(data)
        result = sumfit(*arguments, str(file))
        name = str(file)
    else:
        arguments += ["--input-format", "csv"] if source == "stdin as csv" else []
        result = sumfit(*arguments, stdin=data)
        name = "standard input"
    assert result.out.splitlines() == expected, result.err
    last = result.err.splitlines()[-1]
    if source == "stdin" and mark == "\t":  # a format of its own
        assert last.startswith("note: standard input is read as TSV")
    else:
        assert last.startswith(f"note: {name} is read as CSV with {shown} between fields")
    wrong = sumfit(*arguments, "--delimiter", ",", "-" if source != "file" else name, stdin=data)
    assert wrong.code == 1
    assert "2 fields, but the header has 1" in wrong.err  # decimal commas, as separators
    assert "note" not in wrong.err


ACCENTS = (
    "Le caf\u00e9 de la gare \u00e0 Orl\u00e9ans closed on Monday after forty years in business."
)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "latin-1", "UTF-8"])
@pytest.mark.parametrize("name", ["in.csv", "in.jsonl", "in.txt", "in.txt.gz"])
def test_another_encoding_is_read(sumfit: Sumfit, tmp_path: Path, encoding: str, name: str) -> None:
    rows = {
        "in.csv": f"id,text\n1,{ACCENTS}\n",
        "in.jsonl": json.dumps({"text": ACCENTS}, ensure_ascii=False),
    }
    data = rows.get(name, f"{ACCENTS}\n").encode(encoding)
    file = tmp_path / name
    file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    options = ("--max-chars", "200", "--encoding", encoding)  # it fits, and comes back
    assert sumfit("summarize", str(file), *options).out == f"{ACCENTS}\n"
    target = tmp_path / "out.jsonl"
    assert sumfit("summarize", str(file), *options, "-o", str(target)).code == 0
    assert json.loads(target.read_text(encoding="utf-8"))["summary"] == ACCENTS
    if not name.endswith(".gz"):
        piped = sumfit("summarize", *options, stdin=data)
        assert piped.out == f"{ACCENTS}\n"
        assert ("is read as" in piped.err) == (name != "in.txt")


def test_an_encoding_that_cannot_be_is_an_error(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    file = tmp_path / "in.txt"
    file.write_bytes(f"{texts[0]}\n".encode() + b"caf\xe9\n")
    options = ("summarize", str(file), "--max-chars", "40")
    without = sumfit(*options)
    assert without.code == 1
    assert "in.txt:2: not UTF-8 at byte 3 of the line" in without.err
    assert "--encoding" in without.err
    for unknown in ("klingon", "rot13", "hex"):
        result = sumfit(*options, "--encoding", unknown)
        assert (result.code, result.out) == (2, ""), unknown
        assert result.err.startswith("error: --encoding must be one that Python knows"), result.err
    wrong = sumfit(*options, "--encoding", "ascii")
    assert wrong.code == 1
    assert "not ascii in or after line 2: ordinal not in range(128)" in wrong.err
    table = write(tmp_path / "in.parquet", texts)
    refused = sumfit("summarize", str(table), "--max-chars", "40", "--encoding", "cp1252")
    assert refused.code == 2
    assert "--encoding cp1252 is for text, was given with parquet" in refused.err


def test_a_spreadsheet_is_a_table(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    rows: list[list[object]] = [["id", "text", "width"], *([n, t, 40] for n, t in enumerate(texts))]
    book = write_book(tmp_path / "in.xlsx", rows)
    assert sumfit("summarize", str(book), "--max-chars", "40").out.splitlines() == expected
    own = sumfit("summarize", str(book), "--limit-field", "width", "--unit", "chars")
    assert own.out.splitlines() == expected
    target = tmp_path / "out.jsonl"
    assert sumfit("summarize", str(book), "--max-chars", "40", "-o", str(target)).code == 0
    made = [json.loads(line) for line in target.read_text().splitlines()]
    assert [(one["id"], one["summary"]) for one in made] == list(enumerate(expected))
    missing = sumfit("summarize", str(book), "--max-chars", "40", "--field", "body")
    assert "has no column 'body'; its columns are 'id', 'text', 'width'" in missing.err
    for name in ("out.xlsx", "out.html"):
        refused = sumfit("summarize", str(book), "--max-chars", "40", "-o", str(tmp_path / name))
        assert (refused.code, "cannot tell the format of" in refused.err) == (2, True)
    piped = sumfit("summarize", "--max-chars", "40", "--input-format", "excel", stdin=b"PK")
    assert (piped.code, "a stream needs a text format" in piped.err) == (2, True)


def test_a_page_is_one_text(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    page = f"<!doctype html>\n<html><body>\n<p>{texts[0]}</p>\n</body></html>\n"
    piped = sumfit("summarize", "--max-chars", "40", stdin=page.encode())
    assert piped.out == f"{expected[0]}\n"
    assert "is read as one text, a page (--input-format lines if" in piped.err
    file = tmp_path / "page.html"
    file.write_text(page)
    assert sumfit("summarize", str(file), "--max-chars", "40").out == piped.out
    out = tmp_path / "out.jsonl"
    assert sumfit("summarize", str(file), "--max-chars", "40", "-o", str(out)).code == 0
    (record,) = map(json.loads, out.read_text().splitlines())
    assert record["summary"] == expected[0]
    broken = tmp_path / "broken.html"
    broken.write_bytes(b"<html>\n\xff\n")
    result = sumfit("summarize", str(broken), "--max-chars", "40")
    assert (result.code, result.out) == (1, "\n")
    assert result.err.startswith(f"{broken}:2: not UTF-8 at byte 0")


def test_a_record_without_a_field_is_one_of_many(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    lines = [{"text": texts[0], "w": 40}, {"text": texts[0]}, {"text": texts[0], "w": None}]
    data = "\n".join(map(json.dumps, lines)).encode()
    flags = ("--input-format", "jsonl", "--limit-field", "w", "--unit", "chars")
    result = sumfit("summarize", *flags, stdin=data)
    assert result.code == 1
    assert result.err == (
        "<stdin>:2: limit 'w' is missing; fields here: text\n"
        "<stdin>:3: limit 'w' must be a whole number, was null\n"
        "2 of 3 texts have no summary\n"
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("{in} -o {out} --workers 2", "--workers has no effect with -o, was 2; leave it out"),
        ("{in} -o {out} --batch-size 2", "--batch-size has no effect with -o, was 2; leave it ou"),
        ("{in} -o {out} --backend torch", "--backend has no effect with -o, was torch; leave it "),
        ("{in} -o {out} --device cuda", "--device has no effect with -o, was cuda; leave it out"),
        ("{in} -o {out} --precision fp32", "--precision has no effect with -o, was fp32; leave it"),
        ("{in} --processes 2", "--processes is for a file job: name FILE and -o OUT with it, was"),
        ("{in} --restart", "--restart is for a file job: name FILE and -o OUT with it; leave it"),
        ("- -o {out} --output-field a", "--output-field is for a file job: name FILE and -o OUT w"),
        ("{in} --keep id", "--keep goes with --format jsonl, was 'id' with lines; add it"),
        ("{in} --format jsonl --keep text", "--keep text: a result has a field of that name; ren"),
        ("{in} --n-best 3", "--n-best 3: lines hold one summary of each text; add --format jsonl"),
        ("{in} -o {out}.txt --n-best 3", "--n-best 3: lines hold one summary of each text; add -"),
        ("- -o {out}.csv", "standard input is summarised into lines or JSONL, was -o {out}.csv; "),
    ],
)
def test_a_flag_that_would_do_nothing_is_refused(
    sumfit: Sumfit, tmp_path: Path, flags: str, message: str
) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "some words"}\n')
    places = {"{in}": str(tmp_path / "in.jsonl"), "{out}": str(tmp_path / "out.jsonl")}
    for name, place in places.items():
        flags, message = flags.replace(name, place), message.replace(name, place)
    result = sumfit("summarize", "--max-chars", "40", *flags.split(), stdin=b"some words\n")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {message}")


def test_standard_input_is_written_as_the_outputs_name_says(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    target = tmp_path / "out.jsonl"
    data = f"{texts[0]}\n".encode()
    assert sumfit("summarize", "--max-chars", "40", "-o", str(target), stdin=data).code == 0
    assert json.loads(target.read_text(encoding="utf-8"))["text"] == expected[0]


def test_many_failures_are_counted_not_listed(sumfit: Sumfit) -> None:
    result = sumfit(
        "summarize", "--max-chars", "0", "--format", "jsonl", stdin=b"some words here\n" * 30
    )
    assert result.code == 1
    lines = result.err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "30 of 30 texts have no summary; the first 20 above"


def test_what_is_wrong_with_a_text_is_said_in_flags(sumfit: Sumfit, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "some words", "n": -1}\n')
    name = str(tmp_path / "in.jsonl")
    cannot = sumfit("summarize", name, "--max-chars", "1")
    assert cannot.err.splitlines()[0].endswith("ask for --on-infeasible 'cut'")
    negative = sumfit("summarize", name, "--limit-field", "n", "--unit", "chars")
    assert negative.err.startswith("line 1: --max-length must be 0 or more, was -1\n")
    job = sumfit("summarize", name, "--max-chars", "1", "-o", str(tmp_path / "out.jsonl"))
    assert "ask for --on-infeasible 'cut'" in job.err


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", "id,text\r1,words\r", ":1: a carriage return outside quotation marks ends no"),
        ("a.csv", "id;text\n1;words; more\n", "if ';' stands between fields, give --delimiter ';'"),
        ("a.csv", "id|text\n1|words|more\n", "if '|' stands between fields, give --delimiter '|'"),
        ("a.csv", "id\ttext\nwords\n", "if 'tab' stands between fields, give --delimiter 'tab'"),
        ("a.csv", "a;b|c\n1;b|2\n", "its header is one column, 'a;b|c'; if ';' stands between"),
        ("a.tsv", "id,text\n1,words\n", "if ',' stands between fields, give the format csv"),
        ("a.tsv", "id;text\n1;words\n", "give the format csv and --delimiter ';'"),
        ("a.jsonl", '[{"text": "words"}]\n', "was list; write one object in each line"),
    ],
)
def test_a_file_of_another_format_is_explained(
    sumfit: Sumfit, tmp_path: Path, name: str, data: str, message: str
) -> None:
    (tmp_path / name).write_bytes(data.encode())
    result = sumfit("summarize", str(tmp_path / name), "--max-chars", "40")
    assert result.code != 0
    assert message in result.err


@pytest.mark.parametrize("name", ["prefix", "suffix"])
def test_a_summary_of_several_lines_goes_into_no_line(sumfit: Sumfit, name: str) -> None:
    asked = ("summarize", "--max-chars", "40", f"--{name}", "a\nb")
    refused = sumfit(*asked, stdin=b"some words\n")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"error: --{name} has a line end, which lines cannot hold; add")
    assert sumfit(*asked, "--format", "jsonl", stdin=b"some words\n").out.count("\n") == 1


def test_an_empty_file(sumfit: Sumfit, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_bytes(b"")
    assert sumfit("summarize", str(file), "--max-chars", "40") == (0, "", "")


def test_each_record_may_have_its_own_limit(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    file = tmp_path / "cues.csv"
    rows = [f'"{text}",{limit}' for text, limit in zip(texts, [20, 35, "wide", 50], strict=False)]
    file.write_text("\n".join(["text,width", *rows]) + "\n", encoding="utf-8")
    result = sumfit(
        "summarize", str(file), "--limit-field", "width", "--unit", "cells", "--format", "jsonl"
    )
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record.get("limit") for record in records] == [20, 35, None, 50]
    assert all(record["length"] <= record["limit"] for record in records if "limit" in record)
    assert records[2]["error"]["message"] == (
        f"{file}:4: limit 'width' must be a whole number, was 'wide'"
    )


def test_several_limits(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    data = "".join(f"{text}\n" for text in texts[:2]).encode()
    result = sumfit("summarize", "--max-chars", "30,50", "--format", "jsonl", stdin=data)
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [(record["line"], record["limit"]) for record in records] == [
        (1, 30),
        (1, 50),
        (2, 30),
        (2, 50),
    ]
    wrong = sumfit("summarize", "--exact-chars", "30,50", stdin=data)
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == (
        "error: several limits go with --max-..., was --exact-chars; give one value there\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["/no/such.jsonl", "--max-chars", "9"], 1, "error: there is no file /no/such.jsonl\n"),
        (["{tmp}/a.doc", "--max-chars", "9"], 2, "error: cannot tell the format of {tmp}/a.doc"),
        (["-", "--input-format", "xml", "--max-chars", "9"], 2, "error: --input-format must be on"),
        (["-", "--format", "xml", "--max-chars", "9"], 2, "error: --format must be text or jsonl"),
        (["-"], 2, "error: no length limit was given; give one, for example --max-chars 60"),
        (["{tmp}/cut.jsonl.gz", "--max-chars", "9"], 1, "error: {tmp}/cut.jsonl.gz: damaged aft"),
    ],
)
def test_errors(
    sumfit: Sumfit, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "a.doc").write_bytes(b"x")
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"text": "some"}\n' * 99)[:40])
    filled = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    result = sumfit("summarize", *filled, stdin=b"some words\n")
    assert result.code == code
    assert result.err.startswith(message.replace("{tmp}", str(tmp_path)))


def test_output_to_a_file(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    target = tmp_path / "out.txt"
    data = "".join(f"{text}\n" for text in texts).encode()
    result = sumfit("summarize", "--max-chars", "40", "-o", str(target), stdin=data)
    assert result == (0, "", "")
    assert target.read_bytes().decode() == "".join(f"{text}\n" for text in expected)
    for wrong in ("--method nonsense", "--max-words 4", "--input-format csv --field nowhere"):
        refused = sumfit(
            "summarize", "--max-chars", "40", "-o", str(target), *wrong.split(), stdin=data
        )
        assert refused.code == 2
        assert target.read_bytes().decode() == "".join(f"{text}\n" for text in expected)
    blocked = sumfit("summarize", "--max-chars", "40", "-o", str(tmp_path), stdin=data)
    assert blocked.code == 1
    assert blocked.err.startswith(f"error: cannot write {tmp_path}: ")


def test_a_file_job(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    source = write(tmp_path / "in.jsonl", texts)
    target = tmp_path / "out.csv"
    result = sumfit("summarize", str(source), "--max-chars", "40", "-o", str(target))
    assert result.code == 0, result.err
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["summary"] for row in rows] == expected
    assert [row["id"] for row in rows] == [str(number) for number in range(len(texts))]
    assert result.err == f"{len(texts)} records in {target}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["summarize", "{in}", "--max-chars", "9", "-o", "{out}", "--processes", "100000"],
        ["summarize", "{in}", "--max-chars", "9", "--workers", "100000"],
        ["serve", "--workers", "100000"],
        ["data", "pack", "{recipe}", "--workers", "100000"],
        ["train", "{recipe}", "--workers", "100000", "output_dir={out}"],
    ],
)
def test_no_command_starts_more_threads_or_processes_than_can_be(
    sumfit: Sumfit, tmp_path: Path, arguments: list[str]
) -> None:
    places = {"{in}": tmp_path / "in.txt", "{out}": tmp_path / "out", "{recipe}": RECIPE}
    (tmp_path / "in.txt").write_text("some words\n")
    if "-o" in arguments:
        places["{out}"] = tmp_path / "out.txt"
    for name, place in places.items():
        arguments = [word.replace(name, str(place)) for word in arguments]
    result = sumfit(*arguments)
    assert result.code == 2, result
    last = result.err.splitlines()[-1]
    assert re.match(
        r"error: --(workers|processes) must be at most \d+ on a machine with \d+ processors, was",
        last,
    )


def test_a_file_job_names_its_failures_like_a_stream(
    sumfit: Sumfit, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    lines = [json.dumps({"text": text}) for text in (texts[0], " ", "\x1b[2J")]
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join([*lines, "{"]) + "\n", encoding="utf-8")
    for name in ("out.jsonl", "out.txt"):
        arguments = ["summarize", str(source), "--max-chars", "40"]
        stream = sumfit(*arguments, "--format", "jsonl" if "jsonl" in name else "text")
        job = sumfit(*arguments, "-o", str(tmp_path / name))
        assert job.code == stream.code == 1
        *messages, done, total = job.err.splitlines()
        assert done == f"4 records in {tmp_path / name}"
        assert [*messages, total] == stream.err.splitlines()


@pytest.mark.parametrize("more", [[], ["-o", "{tmp}/out.jsonl"]])
def test_a_records_own_limit_is_the_only_one(
    sumfit: Sumfit, tmp_path: Path, more: list[str]
) -> None:
    file = tmp_path / "cues.csv"
    file.write_text("text,width\nsome words,20\n", encoding="utf-8")
    arguments = ["summarize", str(file), "--limit-field", "width"]
    arguments += [item.replace("{tmp}", str(tmp_path)) for item in more]
    both = sumfit(*arguments, "--max-chars", "40")
    assert (both.code, both.err) == (
        2,
        "error: --max-chars and --limit-field are two length specifications; give one of them\n",
    )
    bare = sumfit(*arguments)
    assert bare.err == "error: --limit-field needs --unit, for example --unit chars\n"


def start(tiny_model: Path, *arguments: str, **extra: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "SUMFIT_MODEL": str(tiny_model), **extra.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "sumfit", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )


def test_results_come_while_the_input_is_still_open(
    tiny_model: Path, texts: tuple[str, ...], expected: list[str]
) -> None:
    process = start(tiny_model, "summarize", "--max-chars", "40", "--workers", "1")
    assert process.stdin is not None
    assert process.stdout is not None
    for text, summary in zip(texts[:3], expected, strict=False):
        process.stdin.write(f"{text}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline().decode() == f"{summary}\n"
    process.communicate()
    assert process.returncode == 0


def test_a_closed_pipe_is_quiet(tiny_model: Path, texts: tuple[str, ...]) -> None:
    process = start(tiny_model, "summarize", "--max-chars", "40")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write("".join(f"{text}\n" for text in texts * 100).encode())
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write("".join(f"{text}\n" for text in texts * 3000).encode())
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    assert process.wait(300) == 1
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_an_interrupt_is_clean(tiny_model: Path, texts: tuple[str, ...]) -> None:
    process = start(tiny_model, "summarize", "--max-chars", "40", "--workers", "1")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{texts[0]}\n".encode())
    process.stdin.flush()
    process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_utf8_whatever_the_locale(tiny_model: Path) -> None:
    process = start(
        tiny_model,
        "--max-chars",
        "60",
        env={"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    out, err = process.communicate("Zoë Müller-Ångström — 東京 🎉".encode())
    assert (out.decode(), err) == ("Zoë Müller-Ångström — 東京 🎉\n", b"")


def test_arguments_in_utf8_whatever_the_locale(tiny_model: Path) -> None:
    text = "Zoë Müller-Ångström — 東京 🎉"
    process = start(
        tiny_model,
        text,
        "--max-chars",
        "60",
        env={"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    out, err = process.communicate()
    assert (out.decode(), err) == (f"{text}\n", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [[], ["summarize"]])
def test_a_full_disk(tiny_model: Path, texts: tuple[str, ...], command: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sumfit", *command, "--max-chars", "40"],
            input=texts[0].encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "SUMFIT_MODEL": str(tiny_model)},
        )
    assert done.returncode == 1
    assert done.stderr == (
        b"error: reading or writing failed: No space left on device; "
        b"make room, or write to another disk\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="closes POSIX descriptors")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'a text that is long enough' >&-", "standard output is closed"),
        ("<&-", "give a text"),
        ("summarize <&-", "standard input is closed"),
    ],
)
def test_closed_streams(tiny_model: Path, arguments: str, message: str) -> None:
    first, _, rest = arguments.partition(" ") if "summarize" in arguments else ("", "", arguments)
    done = subprocess.run(
        f"exec {shlex.quote(sys.executable)} -m sumfit {first} --max-chars 20 {rest}",
        shell=True,
        stderr=subprocess.PIPE,
        env={**os.environ, "SUMFIT_MODEL": str(tiny_model)},
    )
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(f"error: {message}".encode())
    assert done.stderr.count(b"\n") == 1


def test_lines_of_several_limits_say_text_and_limit(
    sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...]
) -> None:
    lines = f"{texts[0]}\n\n{texts[1]}\n".encode()
    result = sumfit("summarize", "--max-chars", "30,45", stdin=lines)
    assert result.code == 0
    assert result.out.splitlines() == [
        f"1\t30\t{fit(texts[0], max_chars=30)}",
        f"1\t45\t{fit(texts[0], max_chars=45)}",
        "2\t30\t",
        "2\t45\t",
        f"3\t30\t{fit(texts[1], max_chars=30)}",
        f"3\t45\t{fit(texts[1], max_chars=45)}",
    ]
