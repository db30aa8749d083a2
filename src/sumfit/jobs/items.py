"""Texts from files and standard input, each with its place, good or bad.

Owns the step from a file's records to texts with their own limits, in which a bad record becomes
an error in its place instead of the end. Does not own file formats (`sumfit.data.readers`).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from sumfit.data.lines import checked_encoding, recoded_lines
from sumfit.data.readers import Format, Row, delimiter_of, read_rows
from sumfit.errors import ConfigError, DataFormatError, Keyword, SumfitError, given
from sumfit.jobs.formats import FORMATS, input_format, peek
from sumfit.jobs.records import without_nan

__all__ = [
    "TABLES",
    "Item",
    "check_columns",
    "check_delimiter",
    "check_encoding",
    "guessed_delimiter",
    "item_of",
    "read_items",
]

USUAL_FIELDS = ("text", "source")
"""Where a record's text is looked for, unless the caller names its field."""

TABLES = ("parquet", "datasets", "excel")
"""Formats whose columns have types; a missing number may be no number there."""

_FIRST_RECORDS = 64
_MOST_HELD = 1000  # bad records among them included

_WITH_HEADER = ("csv", "tsv", "parquet", "datasets", "excel")
"""Formats whose records all have the same fields."""


@dataclass(frozen=True, slots=True)
class Item:
    """One record of the input.

    Attributes:
        line: Its line or row, from 1.
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


def read_items(
    path: str,
    *,
    format: str | None = None,
    text_field: str | None = None,
    limit_field: str | None = None,
    keep: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    on_guess: Callable[[Format], object] = lambda _: None,
    on_delimiter: Callable[[str], object] = lambda _: None,
) -> Iterator[Item]:
    """Read the texts of a file, or of standard input, one by one.

    A record that does not parse, has no such field, or is not UTF-8 becomes an item with an
    error; reading goes on. Where a file breaks off after some records, the error is the last item.

    Args:
        path: File, or ``-`` for standard input.
        format: One of `FORMATS`; told from the name if not given, and from the first lines of
            standard input.
        text_field: Field of the text; ``text`` or else ``source`` if not given.
        limit_field: Field of a record's own limit.
        keep: Fields to carry into the output.
        delimiter: What stands between fields of CSV; told from the first lines if not given.
        encoding: Encoding of a text format; UTF-8 if not given.
        on_guess: Called where standard input was found to be something else than lines.
        on_delimiter: Called where another delimiter than a comma was found.

    Yields:
        The items, in order.

    Raises:
        ConfigError: If the format is unknown, if a table lacks a column asked for, or if none of
            the first records has a field asked for.
        DataFormatError: If the file cannot be read, or breaks off before its first record.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f"--input-format must be one of {', '.join(FORMATS)}, was {format!r}")
    source: Any = path
    known = {name for name in (text_field, limit_field, *keep) if name is not None}
    if path == "-":
        if sys.stdin is None:
            raise DataFormatError("standard input is closed; name a file")
        source, chosen = sys.stdin.buffer, format
        if chosen is None and delimiter is not None:
            chosen = "csv"
        if chosen is None or (chosen == "csv" and delimiter is None):
            if encoding is not None:
                source = recoded_lines(source, checked_encoding(encoding), name="<stdin>")
                encoding = None
        if chosen is None:
            chosen, lines = peek(source, fields=known or USUAL_FIELDS)
            source = _Stdin(lines)
            if chosen != "lines":
                on_guess(chosen)
    else:
        if not Path(path).exists():
            raise DataFormatError(f"there is no file {path}")
        chosen = format or input_format(path)
    name = "<stdin>" if path == "-" else path
    check_delimiter(delimiter, chosen)
    check_encoding(encoding, chosen)
    if chosen == "csv" and delimiter is None:
        if path == "-":
            first, every = itertools.tee(source)
            delimiter = delimiter_of(first, fields=known or USUAL_FIELDS)
            del first  # or all lines would be kept for it
            source = _Stdin(every)
        elif Path(path).is_file():  # a pipe can be read once alone
            delimiter = guessed_delimiter(path, fields=known, encoding=encoding)
        if delimiter is not None:
            on_delimiter(delimiter)
    rows = read_rows(
        source,
        format=cast(Format, chosen),
        on_bad="keep",
        delimiter=delimiter,
        encoding=encoding,
    )
    others = (limit_field, *keep) if chosen in _WITH_HEADER else (limit_field,)
    if chosen not in ("lines", "whole"):
        patience = 1 if chosen in _WITH_HEADER else _FIRST_RECORDS
        rows = _checked(rows, name, patience, text_field=text_field, others=others)
    for row in rows:
        item = item_of(row, name=name, text_field=text_field, limit_field=limit_field, keep=keep)
        yield replace(item, kept=without_nan(item.kept)) if chosen in TABLES else item


def guessed_delimiter(
    path: str | Path, *, fields: Collection[str], encoding: str | None = None
) -> str | None:
    """Guess the delimiter of a CSV file from its first lines.

    Args:
        path: The file.
        fields: Columns asked for; the usual ones of a text if there are none.
        encoding: As in `read_items`.

    Returns:
        A semicolon, a tab or a bar; ``None`` for a comma, or where it cannot be told.
    """
    return delimiter_of(path, fields=fields or USUAL_FIELDS, encoding=encoding)


class _Stdin:
    """Lines of standard input, under its name."""

    name = "<stdin>"

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[bytes]:
        return self._lines


def _checked(
    rows: Iterator[Row],
    name: str,
    patience: int,
    *,
    text_field: str | None,
    others: Sequence[str | None],
) -> Iterator[Row]:
    """The records, once one of the first has shown the fields asked for.

    Nothing is held back longer than that, so that a stream is answered as it comes.
    """
    held: list[Row] = []
    columns: dict[str, None] = {}
    problem: ConfigError | None = None
    n_good = 0
    for row in rows:
        held.append(row)
        if row.error is not None:
            continue
        n_good += 1
        columns |= dict.fromkeys(row.fields)
        try:
            check_columns(name, tuple(columns), text_field=text_field, others=others)
        except ConfigError as error:
            problem = error
            if n_good < patience and len(held) < _MOST_HELD:
                continue
            raise
        problem = None
        break
    if problem is not None:
        raise problem
    yield from held
    yield from rows


def check_delimiter(delimiter: str | None, *formats: str) -> None:
    r"""Raise unless a delimiter can separate fields and occurs in a file of the call.

    Args:
        delimiter: What was asked for; ``None`` for nothing.
        *formats: Formats of the files.

    Raises:
        ConfigError: If it is no single character, or one that CSV means otherwise, or if no file
            is CSV.
    """
    if delimiter is None:
        return
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        rule = "must be one character other than a quotation mark or a line end"
        raise ConfigError.of("delimiter", delimiter, rule, "for a tab write 'tab'")
    if "csv" not in formats:
        raise ConfigError(
            given("delimiter", delimiter),
            f" is for CSV, was given with {' and '.join(formats)}; leave it out",
        )


def check_encoding(encoding: str | None, format: str) -> None:
    """Raise unless a file of that format can have that encoding.

    Args:
        encoding: What was asked for; ``None`` for nothing.
        format: Format of the file.

    Raises:
        ConfigError: If there is no such encoding, or the format has none.
    """
    if encoding is not None and format in TABLES:
        what = Keyword("encoding", f"={encoding}", encoding)
        raise ConfigError(what, f" is for text, was given with {format}; leave it out")
    if encoding is not None:
        checked_encoding(encoding)


def check_columns(
    name: str,
    columns: Sequence[str],
    *,
    text_field: str | None,
    others: Iterable[str | None] = (),
) -> None:
    """Raise if a file lacks a column asked for, as none of its records could be used.

    Args:
        name: File name for messages.
        columns: The file's columns.
        text_field: Column of the text; ``text`` or else ``source`` if not given.
        others: Further columns asked for.

    Raises:
        ConfigError: If one is not there.
    """
    known = ", ".join(map(repr, columns))
    wanted = (text_field,) if text_field else USUAL_FIELDS
    if not any(field in columns for field in wanted):
        names = " or ".join(map(repr, wanted))
        hint = "" if text_field else "; name the text's column with --field"
        raise ConfigError(f"{name} has no column {names}; its columns are {known}{hint}")
    for field_name in others:
        if field_name is not None and field_name not in columns:
            raise ConfigError(f"{name} has no column {field_name!r}; its columns are {known}")


def item_of(
    row: Row,
    *,
    name: str,
    text_field: str | None = None,
    limit_field: str | None = None,
    keep: Sequence[str] = (),
) -> Item:
    """Take the text and its limit out of a record.

    Args:
        row: The record, good or bad.
        name: File name for messages.
        text_field: As in `read_items`.
        limit_field: As in `read_items`.
        keep: As in `read_items`.

    Returns:
        The item.
    """
    if row.error is not None:
        return Item(row.line, error=row.error)
    kept = {key: row.fields[key] for key in keep if key in row.fields}
    try:
        text = _text(row, name, text_field)
        limit = _limit(row, name, limit_field) if limit_field else None
    except DataFormatError as error:
        return Item(row.line, kept=kept, error=error)
    return Item(row.line, text=text, kept=kept, limit=limit)


def _text(row: Row, name: str, text_field: str | None) -> str:
    wanted = (text_field,) if text_field else USUAL_FIELDS
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
        f"{name}:{row.line}: no field {' or '.join(map(repr, USUAL_FIELDS))}; "
        f"name the text's field with --field; fields here: {known}"
    )


def _limit(row: Row, name: str, limit_field: str) -> int:
    if limit_field not in row.fields:
        known = ", ".join(map(str, row.fields))
        raise DataFormatError(
            f"{name}:{row.line}: limit {limit_field!r} is missing; fields here: {known}"
        )
    value = row.fields[limit_field]
    try:
        if isinstance(value, str):
            return int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
            return int(value)
    except (ValueError, OverflowError):  # words, nan, infinity
        pass
    shown = "null" if value is None else repr(value)
    raise DataFormatError(
        f"{name}:{row.line}: limit {limit_field!r} must be a whole number, was {shown}"
    )
