"""Records of a spreadsheet: the rows of its first sheet, under the names in the first row.

Owns which cells are records, and how far a packed file may unpack. The parser is python-calamine's.
"""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sumfit.errors import DataFormatError, MissingExtraError

__all__ = ["excel_columns", "excel_records"]

_MOST_BYTES = 1 << 28  # unpacked, all parts together


def excel_columns(path: Path) -> tuple[str, ...]:
    """Read the names in the first row.

    Args:
        path: The file.

    Returns:
        The names of the columns that have one.

    Raises:
        DataFormatError: If the file is no spreadsheet, or a name is there twice.
        MissingExtraError: If the parser is not installed.
    """
    return tuple(name for name in _header(_rows(path), path) if name)


def excel_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the records one by one.

    Args:
        path: The file.

    Yields:
        Row of the sheet, from 1, and the cells by column; rows without any are left out. Whole
        numbers are integers, an empty cell is an empty string.

    Raises:
        DataFormatError: If the file is no spreadsheet, or a name is there twice.
        MissingExtraError: If the parser is not installed.
    """
    rows = _rows(path)
    names = _header(rows, path)
    for number, cells in enumerate(rows, 2):
        if any(cell != "" for cell in cells):
            pairs = zip(names, cells, strict=False)
            yield number, {name: _plain(cell) for name, cell in pairs if name}


def _rows(path: Path) -> Iterator[list[Any]]:
    try:
        calamine = importlib.import_module("python_calamine")
    except ImportError as error:
        raise MissingExtraError("python-calamine", "excel") from error
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as parts:
                size = sum(part.file_size for part in parts.infolist())
            if size > _MOST_BYTES:
                raise DataFormatError(
                    f"{path} unpacks to {size:,} bytes, more than {_MOST_BYTES:,}; save it as CSV"
                )
        book = calamine.CalamineWorkbook.from_path(str(path))
        # to_python drops empty rows at the top otherwise, and rows would be counted from there.
        rows: list[list[Any]] = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except DataFormatError:
        raise
    except Exception as error:  # the parser's own kinds differ by format
        raise DataFormatError(f"{path} is no spreadsheet that can be read: {error}") from error
    return iter(rows)


def _header(rows: Iterator[list[Any]], path: Path) -> list[str]:
    names = [str(_plain(cell)).strip() for cell in next(rows, [])]
    given = [name for name in names if name]
    if not given:
        raise DataFormatError(f"{path}: the first row of the first sheet has no names of columns")
    for name in given:
        if given.count(name) > 1:
            raise DataFormatError(f"{path}:1: column {name!r} is there twice; rename one")
    return names


def _plain(cell: Any) -> Any:
    """A number as people wrote it: spreadsheets keep each as a fraction."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
