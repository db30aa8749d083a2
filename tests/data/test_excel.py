"""Spreadsheets: their first sheet as records, and files that are none."""

from __future__ import annotations

import contextlib
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit.data import excel
from sumfit.data.readers import read_rows, table_columns
from sumfit.errors import DataFormatError, MissingExtraError

pytest.importorskip("python_calamine", reason="python-calamine is not installed")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    text = escape(str(value))
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def write_book(path: Path, rows: list[list[object]]) -> Path:
    """The least file that is a spreadsheet."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(cell(f"{chr(65 + i)}{number}", value) for i, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{KIND}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": relation("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relation("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": sheet,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


def relation(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


def records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    return [(row.line, dict(row.fields)) for row in read_rows(path, format="excel")]


def test_the_first_sheet_is_read_by_the_names_in_its_first_row(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["id", "text", None, "price"],
        [1, "A storm & <rain>", "without a name", 2.5],
        [],
        [2, "Two\nlines", None, 40],
    ]
    book = write_book(tmp_path / "a.xlsx", rows)
    assert records(book) == [
        (2, {"id": 1, "text": "A storm & <rain>", "price": 2.5}),
        (4, {"id": 2, "text": "Two\nlines", "price": 40}),
    ]
    assert table_columns(book, "excel") == ("id", "text", "price")
    assert isinstance(records(book)[0][1]["id"], int)


def test_rows_are_counted_from_the_top_of_the_sheet(tmp_path: Path) -> None:
    book = write_book(tmp_path / "a.xlsx", [[None, "text"], [], [None, "A storm"]])
    assert records(book) == [(3, {"text": "A storm"})]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the first row of the first sheet has no names of columns"),
        ([[None, None], ["a", "b"]], "the first row of the first sheet has no names of columns"),
        ([["text", "text "]], ":1: column 'text' is there twice"),
    ],
)
def test_a_sheet_without_names_is_an_error(
    tmp_path: Path, rows: list[list[object]], message: str
) -> None:
    with pytest.raises(DataFormatError, match=message):
        records(write_book(tmp_path / "a.xlsx", rows))


def test_what_is_no_spreadsheet_is_an_error_that_names_it(tmp_path: Path) -> None:
    for content in (b"", b"id,text\n1,a\n", b"PK\x03\x04 and nothing more"):
        path = tmp_path / "a.xlsx"
        path.write_bytes(content)
        with pytest.raises(DataFormatError, match=r"a\.xlsx is no spreadsheet that can be read"):
            records(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme.txt", "a packed file of another kind")
    with pytest.raises(DataFormatError, match=r"a\.xlsx is no spreadsheet that can be read"):
        records(path)


def test_a_packed_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "_MOST_BYTES", 1 << 20)
    bomb = write_book(tmp_path / "a.xlsx", [["text"], *[["0" * 1000]] * 2000])
    assert bomb.stat().st_size < 50_000
    with pytest.raises(DataFormatError, match=r"unpacks to [\d,]+ bytes, more than 1,048,576"):
        records(bomb)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_file_gives_records_or_an_error_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = write_book(tmp_path_factory.mktemp("book") / "a.xlsx", [["text"], ["A storm"]])
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    with contextlib.suppress(DataFormatError):  # every other error fails
        assert all(isinstance(fields, dict) for _, fields in records(path))


def test_without_the_parser_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sumfit\[excel\]'"):
        records(write_book(tmp_path / "a.xlsx", [["text"]]))
