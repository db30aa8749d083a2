from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.data.lines import ReadReport, iter_lines, recoded_lines
from sumfit.data.readers import (
    Columns,
    Row,
    delimiter_of,
    file_format,
    read_line_pairs,
    read_pairs,
    read_rows,
)
from sumfit.errors import ConfigError, DataFormatError

PAIRS = [
    {"source": "One line with a\u2028separator, \x85 and \x0c inside.", "summary": "Odd lines"},
    {"source": "Zwei Zeilen: größer als eine.", "summary": "Größer"},
]
JSONL = "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in PAIRS).encode()


def texts(path, **options):
    return [(pair.source, pair.summaries) for pair in read_pairs(path, **options)]


EXPECTED = [(pair["source"], (pair["summary"],)) for pair in PAIRS]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_jsonl_reads_the_same_under_every_compression(tmp_path, suffix):
    path = tmp_path / f"a.jsonl{suffix}"
    if suffix == ".zst":
        zstandard = pytest.importorskip("zstandard")
        path.write_bytes(zstandard.ZstdCompressor().compress(JSONL))
    else:
        pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix]
        path.write_bytes(pack(JSONL))
    assert texts(path) == EXPECTED


def test_parquet_and_dataset_directories_read_the_same(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.Table.from_pylist(PAIRS)
    parquet.write_table(table, tmp_path / "a.parquet")
    assert texts(tmp_path / "a.parquet") == EXPECTED
    folder = tmp_path / "saved"
    folder.mkdir()
    for number in range(2):
        with arrow.ipc.new_stream(str(folder / f"data-0000{number}.arrow"), table.schema) as out:
            out.write_table(table.slice(number, 1))
    assert texts(folder) == EXPECTED


def test_csv_keeps_quoted_newlines_and_counts_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'source,summary\r\n"two\nlines",first\r\n"a ""b""",second\r\n')
    rows = list(read_rows(path))
    assert rows == [
        Row(2, {"source": "two\nlines", "summary": "first"}),
        Row(4, {"source": 'a "b"', "summary": "second"}),
    ]


def test_csv_fields_may_be_longer_than_the_modules_limit(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("source\tsummary\n" + "x" * 200_000 + "\tlong\n")
    assert [len(row.fields["source"]) for row in read_rows(path)] == [200_000]


def test_a_csv_row_of_another_width_is_named_or_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("source,summary\na,b\nc\nd,e\n")
    with pytest.raises(DataFormatError, match=re.escape("a.csv:3: 1 fields, but the header has 2")):
        list(read_rows(path))
    report = ReadReport()
    assert [row.line for row in read_rows(path, on_bad="skip", report=report)] == [2, 4]
    assert (report.n_read, report.n_skipped) == (2, 1)


def test_an_open_quotation_mark_costs_its_own_line_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('source,summary\na,b\nc,"d\ne,f\n"g\nh",i\n"j" k,l\nm,"n\no,p\n')
    rows = list(read_rows(path, on_bad="keep"))
    assert [row.line for row in rows] == [2, 3, 4, 5, 7, 8, 9]
    assert [row.fields.get("source") for row in rows] == ["a", None, "e", "g\nh", None, None, "o"]
    hint = "close every quotation mark, and write one inside a field twice"
    assert str(rows[1].error) == f"{path}:3: ',' expected after '\"'; {hint}"
    assert str(rows[5].error) == f"{path}:8: unexpected end of data; {hint}"
    report = ReadReport()
    good = list(read_rows(path, on_bad="skip", report=report))
    assert (good, report.n_skipped) == ([row for row in rows if row.error is None], 3)


def test_csv_bytes_that_are_not_utf8_spoil_their_record_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'source,summary\ncaf\xe9,b\n"two\nlin\xe9s",d\ne,f\n')
    rows = list(read_rows(path, on_bad="keep"))
    assert [row.line for row in rows] == [2, 3, 5]
    assert str(rows[0].error).startswith(f"{path}:2: not UTF-8 at byte 3")
    assert str(rows[1].error).startswith(f"{path}:4: not UTF-8 at byte 3")
    assert rows[2].fields == {"source": "e", "summary": "f"}
    path.write_bytes(b"sourc\xe9,summary\na,b\n")
    for on_bad in ("keep", "skip"):
        with pytest.raises(DataFormatError, match=r"a\.csv:1: not UTF-8"):
            list(read_rows(path, on_bad=on_bad))


def test_bad_json_lines_are_named_or_counted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(JSONL + b'\n{"source": "x"\n[1]\n{"source": "y"}\n{"source": 3}\n' + JSONL)
    with pytest.raises(DataFormatError, match=r"a\.jsonl:4: not JSON: "):
        list(read_pairs(path))
    report = ReadReport()
    assert texts(path, on_bad="skip", report=report) == EXPECTED * 2
    assert (report.n_read, report.n_skipped) == (4, 4)
    assert report.messages[1:] == [
        f"{path}:5: must be a JSON object, was list; write one object in each line",
        f"{path}:6: column 'summary' is missing; columns here: source",
        f"{path}:7: column 'source' must be a string, was int",
    ]


def test_a_record_with_a_key_twice_loses_no_other(tmp_path):
    path = tmp_path / "a.jsonl"
    twice = b'{"source": "a", "summary": "b", "source": "c"}\n{"x": [{"y": 1, "y": 1}]}\n'
    path.write_bytes(JSONL + twice + JSONL)
    with pytest.raises(DataFormatError, match=r"a\.jsonl:3: key 'source' twice in one object"):
        list(read_pairs(path))
    report = ReadReport()
    assert texts(path, on_bad="skip", report=report) == EXPECTED * 2
    assert report.messages == [
        f"{path}:{line}: key {key!r} twice in one object; keep one of them"
        for line, key in ((3, "source"), (4, "y"))
    ]
    rows = list(read_rows(path, on_bad="keep"))
    assert [row.error is None for row in rows] == [True, True, False, False, True, True]


def test_columns_can_be_renamed_and_references_can_be_several(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"body": "b", "title": "t"}\n{"body": "c", "titles": ["u", "v"]}\n'
        '{"body": "d", "titles": []}\n'
    )
    columns = Columns(source="body", summary="title", summaries="titles")
    pairs = read_pairs(path, columns=columns)
    assert next(pairs).summaries == ("t",)
    assert next(pairs).summaries == ("u", "v")
    with pytest.raises(DataFormatError, match="'titles' must be a list of strings, not empty"):
        next(pairs)


def test_lines_split_at_line_feeds_alone():
    stream = io.BytesIO("\ufeffa\u2028b\r\n\x0b\x85\n\nlast".encode())
    assert list(iter_lines(stream, name="x")) == [
        (1, "a\u2028b"),
        (2, "\x0b\x85"),
        (3, ""),
        (4, "last"),
    ]


def test_bytes_that_are_not_utf8_are_named_or_counted():
    lines = [b"good\n", b"caf\xe9\n", b"more\n"]
    with pytest.raises(DataFormatError, match=r"x:2: not UTF-8 at byte 3 of the line \(0xe9\)"):
        list(iter_lines(lines, name="x"))
    report = ReadReport()
    kept = list(iter_lines(lines, name="x", on_bad="skip", report=report))
    assert kept == [(1, "good"), (3, "more")]
    assert report.n_skipped == 1


def test_parallel_files_must_have_the_same_number_of_lines(tmp_path):
    source, summary = tmp_path / "s.txt", tmp_path / "t.txt"
    source.write_text("a\nb\nc\n")
    summary.write_text("1\n2\n3\n")
    assert [(p.source, p.summaries[0]) for p in read_line_pairs(source, summary)] == [
        ("a", "1"),
        ("b", "2"),
        ("c", "3"),
    ]
    summary.write_text("1\n2\n")
    with pytest.raises(DataFormatError, match=r"t\.txt ends before line 3, which .*s\.txt still"):
        list(read_line_pairs(source, summary))


TEXTS_OF_LATIN = st.text(st.characters(codec="latin-1"), max_size=40)


@given(
    TEXTS_OF_LATIN, st.sampled_from(["latin-1", "utf-16", "utf-8", "utf-32-be"]), st.integers(1, 7)
)
def test_recoded_lines_are_those_of_the_text(text: str, encoding: str, size: int) -> None:
    data = text.encode(encoding)
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    lines = list(recoded_lines(parts, encoding, name="file"))
    assert b"".join(lines).decode() == text
    assert [line for line in lines if line[:-1].count(b"\n")] == []


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_truncated_archive_is_an_error_that_names_the_file(tmp_path, suffix):
    path = tmp_path / f"a.jsonl{suffix}"
    pack = {".gz": gzip.compress, ".xz": lzma.compress}[suffix]
    path.write_bytes(pack(JSONL * 500)[:-200])
    with pytest.raises(DataFormatError, match=rf"a\.jsonl{suffix}: damaged after line \d+"):
        list(read_pairs(path))


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:400] + b"x" * 400])
def test_a_damaged_zst_file_is_an_error_too(tmp_path, damage):
    zstandard = pytest.importorskip("zstandard")
    rows = b"\n".join(b'{"text": "%d"}' % (number * 7**20) for number in range(2000))
    frames = [zstandard.ZstdCompressor().compress(part) for part in (rows, b"\n", rows)]
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(b"".join(frames))
    assert sum(1 for _ in read_rows(path)) == 4000
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataFormatError, match=r"a\.jsonl\.zst: damaged after line \d+"):
        list(read_rows(path))


def test_missing_files_and_unknown_formats_say_what_is_wrong(tmp_path):
    with pytest.raises(DataFormatError, match=r"cannot read .*none\.jsonl: No such file"):
        list(read_pairs(tmp_path / "none.jsonl"))
    with pytest.raises(ConfigError, match=r"cannot tell the format of a\.docx"):
        file_format("a.docx")
    with pytest.raises(ConfigError, match=r"directory without \.arrow files"):
        file_format(tmp_path)
    with pytest.raises(ConfigError, match="a stream needs a text format"):
        list(read_rows(io.BytesIO(b"")))


def test_the_root_of_a_dataset_dict_is_told_its_splits(tmp_path):
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "data-00000-of-00002.arrow").write_bytes(b"")
        (tmp_path / split / "data-00001-of-00002.arrow").write_bytes(b"")
    with pytest.raises(ConfigError) as caught:
        file_format(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} holds a data set for each split, as a saved DatasetDict does; name one of "
        f"them, such as {tmp_path / 'train'} (splits here: test, train)"
    )


def test_reading_is_lazy():
    def endless():
        while True:
            yield b'{"source": "s", "summary": "t"}\n'

    class Stream(io.RawIOBase):
        def __iter__(self):
            return endless()

    rows = read_rows(Stream(), format="jsonl")
    assert [next(rows).line for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("data", "mark"),
    [
        ("id,text\n1,words; more|of them\n", None),
        ("id;text\n1;words, more\n", ";"),
        ("id\ttext\n1\twords, more; of them\n", "\t"),
        ("id|text\n1|words, more\n", "|"),
        ('id;text\n1;"words; more, and ""these"""\n', ";"),
        ('id;text\n1;"two\nlines; of, words"\n2;more\n', ";"),
        ('"id";"text, long"\n1;words\n', ";"),
        ("text;price\nfresh bread;1,50\nold bread;0,75\n", ";"),  # decimal commas
        ("price, EUR;text\n1,50;bread\n", ";"),  # a comma fits as well, but names no text
        ("text, EUR;price\n1,50;bread\n", None),  # nothing names a text
        ("text,a;b\nwords,1;2\n", None),  # a comma names it
        ("id;text\n", ";"),
        ("\ufeffid;text\r\n1;words\r\n\r\n2;more\r\n", ";"),
        ("id;text\n1;" + "\n".join(['"words', *["more"] * 20, 'words"']) + "\n", ";"),
        ("text\nwords; more\nwords; others\n", None),  # one column
        ('"text; long"\nwords; more\n', None),
        ("id;text\n1;words; more\n", None),  # fits its header, and no record
        ("a;b|c\n1;2|3\n", None),  # two marks fit
        ("a;a\n1;2\n", None),
        ("", None),
        ("\n", None),
    ],
)
def test_a_delimiter_is_told_from_the_first_lines(tmp_path, data, mark):
    path = tmp_path / "a.csv"
    path.write_bytes(data.encode())
    assert delimiter_of(path, fields={"text"}) == mark
    assert delimiter_of(io.BytesIO(data.encode()), fields={"text"}) == mark
    path.write_bytes(data.encode("utf-16"))
    assert delimiter_of(path, fields={"text"}, encoding="utf-16") == mark


CELLS = st.text(st.sampled_from("ab ,;|\t\"\n'0."), max_size=12)


@given(st.sampled_from(",;|\t"), st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=12))
def test_whatever_is_in_its_fields_a_written_table_is_told(mark, rows):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=mark, lineterminator="\n")
    writer.writerows([("id", "text", "price"), *rows])
    lines = io.BytesIO(stream.getvalue().encode())
    assert delimiter_of(lines, fields={"text"}) == (None if mark == "," else mark)


def test_a_table_with_commas_holds_no_line_back():
    lines = iter([b"id,text;note\n", b"1,words\n"])
    assert delimiter_of(lines, fields={"id"}) is None
    assert next(lines) == b"1,words\n"


def test_a_file_that_breaks_off_is_left_to_its_reader(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"id;text\n" + b"1;words\n" * 9)[:-12])
    assert delimiter_of(path, fields={"text"}) is None
    with pytest.raises(DataFormatError, match="cannot read"):
        delimiter_of(tmp_path / "none.csv", fields={"text"})


def test_pairs_of_a_table_with_another_delimiter(tmp_path, caplog):
    path = tmp_path / "a.csv"
    path.write_text("source;summary\nOne, two;Three\n" + 20 * "Four;Five, six\n")
    assert texts(path) == [("One, two", ("Three",)), *20 * [("Four", ("Five, six",))]]
    assert caplog.messages == [f"note: {path} is read as CSV with ';' between fields"]
    with pytest.raises(ConfigError, match="its header is one column"):
        list(read_rows(path))  # as nothing says which columns are right
