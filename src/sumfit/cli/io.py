"""Texts from files and standard input, each with its place, good or bad.

Owns the step from a file's records to texts with their own limits, in which a bad record becomes
an error in its place instead of the end. Does not own file formats (`sumfit.data.readers`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

from sumfit.data.readers import Format, ReadReport, Row, file_format, read_rows
from sumfit.errors import ConfigError, DataFormatError, SumfitError

__all__ = ["Item", "open_output", "read_items"]

_FORMATS = ("lines", "jsonl", "csv", "tsv", "parquet", "datasets")
_USUAL_FIELDS = ("text", "source")


@dataclass(frozen=True, slots=True)
class Item:
    """One record of the input.

    Attributes:
        line: Its line or row, from 1; 0 where a damaged record's line is only in the message.
        text: The text, ``None`` if the record is bad.
        kept: Fields to carry into the output.
        limit: Its own limit, ``None`` for that of the command line.
        error: What is wrong with the record.
    """

    line: int
    text: str | None = None
    kept: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    error: SumfitError | None = None


class _Collecting(ReadReport):
    """Keeps every message of a skipped record until it is asked for."""

    __slots__ = ("pending",)

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[str] = []

    def skip(self, message: str) -> None:
        self.n_skipped += 1
        self.pending.append(message)

    def take(self) -> list[str]:
        messages, self.pending = self.pending, []
        return messages


def read_items(
    path: str,
    *,
    format: str | None = None,
    text_field: str | None = None,
    limit_field: str | None = None,
    keep: Sequence[str] = (),
) -> Iterator[Item]:
    """Read the texts of a file, or of standard input, one by one.

    A record that does not parse, has no such field, or is not UTF-8 becomes an item with an
    error; reading goes on. Where a file breaks off after some records, the error is the last item.

    Args:
        path: File, or ``-`` for standard input.
        format: ``lines``, ``jsonl``, ``csv``, ``tsv`` or ``parquet``; told from the name if not
            given, and ``lines`` for standard input.
        text_field: Field of the text; ``text`` or else ``source`` if not given.
        limit_field: Field of a record's own limit.
        keep: Fields to carry into the output.

    Yields:
        The items, in order.

    Raises:
        ConfigError: If the format is unknown.
        DataFormatError: If the file cannot be read, or breaks off before its first record.
    """
    if format is not None and format not in _FORMATS:
        raise ConfigError(f"--input-format must be one of {', '.join(_FORMATS)}, was {format!r}")
    source: Any = path
    if path == "-":
        if sys.stdin is None:
            raise DataFormatError("standard input is closed; name a file")
        source = sys.stdin.buffer
        chosen = format or "lines"
    else:
        if not Path(path).exists():
            raise DataFormatError(f"there is no file {path}")
        chosen = format or file_format(path)
    name = "<stdin>" if path == "-" else path
    report = _Collecting()
    rows = read_rows(source, format=cast(Format, chosen), on_bad="skip", report=report)
    has_begun = False
    try:
        for row in rows:
            has_begun = True
            for message in report.take():
                yield _bad(message)
            yield _item(row, name, text_field, limit_field, keep)
    except DataFormatError as error:  # the file breaks off: what came before it is kept
        if not has_begun:
            raise
        report.skip(str(error))
    for message in report.take():
        yield _bad(message)


@contextmanager
def open_output(path: str | None) -> Iterator[TextIO]:
    r"""Open the file to write, UTF-8 with ``\n`` line ends, or hand out standard output.

    Args:
        path: File; ``None`` or ``-`` for standard output.

    Yields:
        The stream.

    Raises:
        DataFormatError: If the file cannot be written.
    """
    if path is None or path == "-":
        yield sys.stdout
        return
    try:
        stream = Path(path).open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise DataFormatError(f"cannot write {path}: {error.strerror or error}") from error
    with stream:
        yield stream


def _item(
    row: Row,
    name: str,
    text_field: str | None,
    limit_field: str | None,
    keep: Sequence[str],
) -> Item:
    kept = {key: row.fields[key] for key in keep if key in row.fields}
    try:
        text = _text(row, name, text_field)
        limit = _limit(row, name, limit_field) if limit_field else None
    except DataFormatError as error:
        return Item(row.line, kept=kept, error=error)
    return Item(row.line, text=text, kept=kept, limit=limit)


def _bad(message: str) -> Item:
    return Item(0, error=DataFormatError(message))


def _text(row: Row, name: str, text_field: str | None) -> str:
    wanted = (text_field,) if text_field else _USUAL_FIELDS
    for key in wanted:
        if key not in row.fields:
            continue
        value = row.fields[key]
        if isinstance(value, str):
            return value
        kind = "null" if value is None else type(value).__name__
        raise DataFormatError(f"{name}:{row.line}: field {key!r} must be a string, was {kind}")
    known = ", ".join(map(str, row.fields)) or "none"
    if text_field:
        raise DataFormatError(
            f"{name}:{row.line}: field {text_field!r} is missing; fields here: {known}"
        )
    raise DataFormatError(
        f"{name}:{row.line}: no field {' or '.join(map(repr, _USUAL_FIELDS))}; "
        f"name the text's field with --field; fields here: {known}"
    )


def _limit(row: Row, name: str, limit_field: str) -> int:
    value = row.fields.get(limit_field)
    try:
        if isinstance(value, bool):
            raise ValueError
        number = int(value) if isinstance(value, (str, int)) else None
    except ValueError:
        number = None
    if number is None:
        raise DataFormatError(
            f"{name}:{row.line}: limit {limit_field!r} must be a whole number, was {value!r}"
        )
    return number
