"""Read texts and text-summary pairs from files, lazily, without torch.

Owns the file formats: JSONL, JSON arrays, CSV, TSV, Parquet, plain lines, parallel line files and
Hugging Face ``datasets`` directories; spreadsheets are `sumfit.data.excel`'s. Does not own
decompression and lines (`sumfit.data.lines`), cleaning (`sumfit.text`) or tokenisation
(`sumfit.data.packing`).
"""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from sumfit.data.csv_records import csv_header, csv_records, guess_delimiter
from sumfit.data.excel import excel_columns, excel_records
from sumfit.data.json_records import json_elements, starts_array
from sumfit.data.json_text import RepeatedKeyError, parse_json
from sumfit.data.lines import (
    COMPRESSED,
    Line,
    OnBad,
    ReadReport,
    decoded_lines,
    iter_lines,
    open_bytes,
    recoded_lines,
    skip_or_raise,
)
from sumfit.errors import ConfigError, DataFormatError, MissingExtraError
from sumfit.text.printable import one_line

__all__ = [
    "Columns",
    "Format",
    "Pair",
    "ReadReport",
    "Row",
    "delimiter_of",
    "file_format",
    "iter_lines",
    "open_bytes",
    "pair_from_row",
    "parse_json_line",
    "read_line_pairs",
    "read_pairs",
    "read_rows",
    "table_columns",
]

_LOG = logging.getLogger(__name__)

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "lines", "datasets", "excel", "whole"]

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "lines",
}


class Row(NamedTuple):
    """One record of a file.

    Attributes:
        line: 1-based line of a text file, 1-based row of Parquet, ``datasets``, JSON arrays and
            spreadsheets.
        fields: Column values; plain lines have the one column ``"text"``; a bad record has none.
        error: What is wrong with it, where bad records are kept.
    """

    line: int
    fields: Mapping[str, Any]
    error: DataFormatError | None = None


class Pair(NamedTuple):
    """A source text with its reference summaries, at least one.

    Attributes:
        source: The text.
        summaries: The references.
        line: Where it stands in its file, from 1.
    """

    source: str
    summaries: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns to read.

    Attributes:
        source: Column of the source text.
        summary: Column of the summary.
        summaries: Column of a list of summaries, read where ``summary`` is absent.
    """

    source: str = "source"
    summary: str = "summary"
    summaries: str = "summaries"


def file_format(path: str | Path) -> Format:
    """Tell the format of a file from its name, or of a directory from its content.

    Args:
        path: File or directory; a compression suffix is looked through.

    Returns:
        Name of the format.

    Raises:
        ConfigError: If the suffix is unknown, or a directory holds no Arrow files.
    """
    path = Path(path)
    if path.is_dir():
        if any(path.glob("*.arrow")):
            return "datasets"
        raise ConfigError(_no_data_set(path))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    found = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        known = " ".join(_SUFFIXES)
        raise ConfigError(
            f"cannot tell the format of {path} from its name; known suffixes: {known}, each "
            f"also with {' '.join(COMPRESSED)}; or state the format of an input"
        )
    return found


def _no_data_set(path: Path) -> str:
    """What is wrong with a directory that holds no Arrow files itself."""
    splits = sorted(place.parent.name for place in path.glob("*/*.arrow"))
    splits = list(dict.fromkeys(splits))
    if not splits:
        return f"{path} is a directory without .arrow files; give a file"
    example = path / ("train" if "train" in splits else splits[0])
    return (
        f"{path} holds a data set for each split, as a saved DatasetDict does; name one of them, "
        f"such as {example} (splits here: {', '.join(splits)})"
    )


def parse_json_line(text: str, *, name: str, line: int) -> dict[str, Any]:
    """Parse one line of JSONL.

    Args:
        text: The line.
        name: File name for messages.
        line: Line number for messages.

    Returns:
        The object.

    Raises:
        DataFormatError: If the line is not a JSON object, or one has a key twice.
    """
    try:
        value = parse_json(text)
    except RepeatedKeyError as error:
        raise DataFormatError(f"{name}:{line}: {error}") from error
    except ValueError as error:
        hint = "; write one JSON object in each line"
        raise DataFormatError(f"{name}:{line}: not JSON: {error}{hint}") from error
    except RecursionError as error:
        raise DataFormatError(f"{name}:{line}: JSON that is nested too deeply") from error
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise DataFormatError(
            f"{name}:{line}: must be a JSON object, was {kind}; write one object in each line"
        )
    return value


def read_rows(
    source: str | Path | Iterable[bytes],
    *,
    format: Format | None = None,
    on_bad: OnBad | Literal["keep"] = "raise",
    report: ReadReport | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    columns: Collection[str] = (),
) -> Iterator[Row]:
    """Read the records of a file one by one, in order.

    A record that does not parse raises `DataFormatError`, whose message names file and line; a
    missing package for the format raises `MissingExtraError`.

    Args:
        source: Path, or an open binary stream (for example standard input), or its lines.
        format: Format; told from the name where not given. A stream needs it.
        on_bad: Whether a bad record raises, is left out and counted, or is kept in its place
            with its error; where a file breaks off, ``"keep"`` makes that its last record. Blank
            lines of JSONL are left out silently; blank lines of ``lines`` are records. All of a
            ``whole`` file is one record.
        report: Filled while rows are taken.
        delimiter: What stands between fields of CSV; a comma if not given.
        encoding: Encoding of a text format; UTF-8 if not given.
        columns: Names by one of which the right columns are known. Where they are given and the
            delimiter of a file is not, it is told from the first lines, and logged.

    Yields:
        The records.

    Raises:
        ConfigError: If a stream comes without a text format, or a header shows another delimiter
            than the comma and none is given.
        DataFormatError: Under ``"keep"`` too if the file breaks off before its first record, or
            its header is bad.
    """
    report = report if report is not None else ReadReport()
    line: int | None = None
    if columns and delimiter is None and isinstance(source, str | Path):
        delimiter = _told(Path(source), format, columns, encoding)
    try:
        for row in _rows(source, format, delimiter, encoding):
            line = row.line
            if row.error is None:
                report.n_read += 1
            elif on_bad != "keep":
                skip_or_raise(row.error, on_bad, report)
                continue
            yield row
    except DataFormatError as error:
        if on_bad != "keep" or line is None:
            raise
        yield Row(line + 1, {}, error)


def _rows(
    source: str | Path | Iterable[bytes],
    format: Format | None,
    delimiter: str | None,
    encoding: str | None,
) -> Iterator[Row]:
    """All records, good and bad."""
    opened: IO[bytes] | None = None
    if isinstance(source, str | Path):
        format = format or file_format(source)
        name = str(source)
        if format in ("parquet", "datasets"):
            yield from _read_arrow(Path(source), format)
            return
        if format == "excel":
            yield from (Row(*one) for one in excel_records(Path(source)))
            return
        opened = open_bytes(source)
        stream: Iterable[bytes] = opened
    else:
        name = getattr(source, "name", "<stream>")
        name = "<stdin>" if name in (0, "<stdin>") else str(name)
        stream = source
        if format is None or format in ("parquet", "datasets", "excel"):
            raise ConfigError(
                f"a stream needs a text format (jsonl, json, csv, tsv, lines, whole), was {format}"
            )
    with contextlib.ExitStack() as stack:
        if opened is not None:
            stack.enter_context(opened)
        lines = _decoded(stream, encoding, name)
        if format in ("csv", "tsv"):
            mark = _delimiter(format, delimiter)
            guessed = delimiter is None
            for one in csv_records(lines, name=name, delimiter=mark, is_guessed=guessed):
                yield Row(*one)
            return
        if format == "json":
            is_array, lines = starts_array(lines)
            if is_array:
                yield from (Row(*one) for one in json_elements(lines, name=name))
                return
        if format == "whole":
            yield _whole(lines)
            return
        for line, text, error in lines:
            if format == "lines" or error is not None:
                yield Row(line, {} if error else {"text": text}, error)
            elif text.strip():
                yield _json_row(text, name, line)


def _decoded(stream: Iterable[bytes], encoding: str | None, name: str) -> Iterator[Line]:
    parts = recoded_lines(stream, encoding, name=name) if encoding else stream
    return decoded_lines(parts, name=name)


def table_columns(
    path: str | Path,
    format: Format,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> tuple[str, ...]:
    """Read the columns that a table names before its records, which may be none.

    Args:
        path: File.
        format: Its format.
        delimiter: As in `read_rows`.
        encoding: As in `read_rows`.

    Returns:
        The names; none for a format whose records name their fields themselves.

    Raises:
        DataFormatError: If the header is bad.
        MissingExtraError: If pyarrow is needed and not installed.
    """
    if format in ("csv", "tsv"):
        with open_bytes(path) as stream:
            lines = _decoded(stream, encoding, str(path))
            mark = _delimiter(format, delimiter)
            guessed = delimiter is None
            return tuple(csv_header(lines, name=str(path), delimiter=mark, is_guessed=guessed))
    if format == "excel":
        return excel_columns(Path(path))
    if format == "parquet":
        try:
            parquet = importlib.import_module("pyarrow.parquet")
        except ImportError as error:
            raise MissingExtraError("pyarrow", "parquet") from error
        return tuple(parquet.read_schema(path).names)
    return ()


def delimiter_of(
    source: str | Path | Iterable[bytes],
    *,
    fields: Collection[str],
    encoding: str | None = None,
) -> str | None:
    """Guess the delimiter of CSV from the first lines.

    Args:
        source: Path, or binary lines, of which at most ten are taken.
        fields: Names by one of which the right columns are known.
        encoding: As in `read_rows`.

    Returns:
        A semicolon, a tab or a bar; ``None`` for a comma, or where it cannot be told.

    Raises:
        DataFormatError: If the file cannot be opened, or the lines break off.
    """
    if not isinstance(source, str | Path):
        return guess_delimiter(_decoded(source, encoding, "<stream>"), fields=fields)
    with open_bytes(source) as stream:
        try:
            return guess_delimiter(_decoded(stream, encoding, str(source)), fields=fields)
        except DataFormatError:  # damage, told again when it is read, behind the records before it
            return None


def _told(
    path: Path, format: Format | None, columns: Collection[str], encoding: str | None
) -> str | None:
    """The delimiter of a CSV file where it is no comma, logged; a pipe can be read once alone."""
    if not path.is_file() or (format or file_format(path)) != "csv":
        return None
    mark = delimiter_of(path, fields=columns, encoding=encoding)
    if mark is not None:
        shown = "a tab" if mark == "\t" else f"'{mark}'"
        _LOG.warning("note: %s is read as CSV with %s between fields", one_line(str(path)), shown)
    return mark


def _delimiter(format: Format, given: str | None) -> str:
    return given or ("\t" if format == "tsv" else ",")


def _whole(lines: Iterable[Line]) -> Row:
    """All lines as one text; bad if one of them is."""
    kept = []
    for line in lines:
        if line.error is not None:
            return Row(1, {}, line.error)
        kept.append(line.text)
    return Row(1, {"text": "\n".join(kept)})


def _json_row(text: str, name: str, line: int) -> Row:
    try:
        return Row(line, parse_json_line(text, name=name, line=line))
    except DataFormatError as error:
        return Row(line, {}, error)


def pair_from_row(row: Row, columns: Columns, *, name: str) -> Pair:
    """Take source and summaries out of a record.

    Args:
        row: The record.
        columns: Which columns to take.
        name: File name for messages.

    Returns:
        The pair; texts as they stand in the file, possibly empty.

    Raises:
        DataFormatError: If a column is missing or does not hold text.
    """
    fields = row.fields
    source = fields.get(columns.source)
    if not isinstance(source, str):
        raise DataFormatError(_bad_field(row, columns.source, "a string", name))
    summary = fields.get(columns.summary)
    if isinstance(summary, str):
        return Pair(source, (summary,), row.line)
    if summary is None and columns.summaries in fields:
        many = fields[columns.summaries]
        if isinstance(many, list) and many and all(isinstance(item, str) for item in many):
            return Pair(source, tuple(many), row.line)
        raise DataFormatError(
            _bad_field(row, columns.summaries, "a list of strings, not empty", name)
        )
    raise DataFormatError(_bad_field(row, columns.summary, "a string", name))


def read_pairs(
    path: str | Path,
    *,
    columns: Columns | None = None,
    format: Format | None = None,
    on_bad: OnBad = "raise",
    report: ReadReport | None = None,
) -> Iterator[Pair]:
    """Read the text-summary pairs of a file one by one, in order.

    Args:
        path: File or ``datasets`` directory.
        columns: Which columns to take; ``source`` and ``summary`` or ``summaries`` by default.
        format: Format; told from the name where not given.
        on_bad: Whether a bad record raises or is left out and counted.
        report: Filled while pairs are taken.

    Yields:
        The pairs.

    Raises:
        DataFormatError: If a record does not parse or lacks a column.
    """
    columns = columns or Columns()
    report = report if report is not None else ReadReport()
    known = (columns.source, columns.summary, columns.summaries)
    for row in read_rows(path, format=format, on_bad=on_bad, report=report, columns=known):
        try:
            pair = pair_from_row(row, columns, name=str(path))
        except DataFormatError as error:
            report.n_read -= 1
            skip_or_raise(error, on_bad, report)
            continue
        yield pair


def read_line_pairs(
    source_path: str | Path,
    summary_path: str | Path,
    *,
    report: ReadReport | None = None,
) -> Iterator[Pair]:
    """Read two parallel files: line n of one belongs to line n of the other.

    Args:
        source_path: File of sources, one a line.
        summary_path: File of summaries, one a line.
        report: Filled while pairs are taken.

    Yields:
        The pairs.

    Raises:
        DataFormatError: If one file ends before the other, or a line is not UTF-8; a bad line
            is never skipped here, since the files would fall out of step.
    """
    report = report if report is not None else ReadReport()
    with open_bytes(source_path) as first, open_bytes(summary_path) as second:
        sources = iter_lines(first, name=str(source_path))
        summaries = iter_lines(second, name=str(summary_path))
        while True:
            one, two = next(sources, None), next(summaries, None)
            if one is None and two is None:
                return
            if one is None or two is None:
                short, long = (
                    (source_path, summary_path) if one is None else (summary_path, source_path)
                )
                line = (two or one or (0, ""))[0]
                raise DataFormatError(
                    f"{short} ends before line {line}, which {long} still has; "
                    "parallel files need the same number of lines"
                )
            report.n_read += 1
            yield Pair(one[1], (two[1],), one[0])


def _read_arrow(path: Path, format: Format) -> Iterator[Row]:
    try:
        importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
        ipc = importlib.import_module("pyarrow.ipc")
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet") from error
    files = sorted(path.glob("*.arrow")) if format == "datasets" else [path]
    if not files:
        raise ConfigError(f"{path} is no directory of .arrow files, as format 'datasets' needs it")
    number = 0
    for file in files:
        try:
            with file.open("rb") as stream:
                if format == "parquet":
                    batches = parquet.ParquetFile(stream).iter_batches(batch_size=1024)
                else:
                    batches = ipc.open_stream(stream)
                for batch in batches:
                    for fields in batch.to_pylist():
                        number += 1
                        yield Row(number, fields)
        except (OSError, ValueError) as error:  # pyarrow's errors derive from these
            raise DataFormatError(f"{file}: damaged after row {number}: {error}") from error


def _bad_field(row: Row, column: str, expected: str, name: str) -> str:
    if column not in row.fields:
        known = ", ".join(map(str, row.fields)) or "none"
        return f"{name}:{row.line}: column {column!r} is missing; columns here: {known}"
    kind = type(row.fields[column]).__name__
    return f"{name}:{row.line}: column {column!r} must be {expected}, was {kind}"
