"""Records of a CSV or TSV file, each good or bad, none lost for another's sake.

Owns quotes, records of several lines, where reading goes on after a record that does not parse,
and the guess at a delimiter. Does not own what the columns mean (`sumfit.data.readers`).
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from sumfit.data.lines import Line
from sumfit.errors import ConfigError, DataFormatError, Part, given

__all__ = ["Record", "csv_header", "csv_records", "guess_delimiter"]

_MARKS = ",;\t|"
_LOOKED_AT = 10  # lines, where the first one leaves a doubt
_FIELD_LIMIT = 1 << 30  # bytes in one field; the module's own limit is 128 KiB


class Record(NamedTuple):
    """One record.

    Attributes:
        line: Line it begins in, from 1.
        fields: Its columns; none if it is bad.
        error: What is wrong with it.
    """

    line: int
    fields: dict[str, str]
    error: DataFormatError | None = None


def csv_records(
    lines: Iterator[Line], *, name: str, delimiter: str, is_guessed: bool = False
) -> Iterator[Record]:
    """Parse a file whose first record names the columns.

    Where a quotation mark that nobody closed swallows lines that then do not parse, only the
    first of them is bad: reading goes on at the second.

    Args:
        lines: The file's lines.
        name: File name for messages.
        delimiter: What stands between fields.
        is_guessed: Nobody stated the delimiter, so a header that shows another one is refused.

    Yields:
        The records, blank lines left out.

    Raises:
        ConfigError: If another delimiter than the guessed one stands between the columns' names.
        DataFormatError: If the first record is bad or names a column twice.
    """
    csv.field_size_limit(_FIELD_LIMIT)
    feed = _Feed(lines)
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        feed.begin()
        try:
            values = next(reader)
            error = feed.error
        except StopIteration:
            return
        except csv.Error as found:
            error = DataFormatError(f"{name}:{feed.line}: {_explained(found)}")
            feed.give_back_all_but_first()
        if header is None:
            header = _header(values if error is None else error, name)
            _check_guess(header, name, delimiter, is_guessed)
        elif error is not None:
            yield Record(feed.line, {}, error)
        elif values and len(values) != len(header):
            problem = (
                f"{name}:{feed.line}: {len(values)} fields, but the header has {len(header)}; "
                f"put a field that holds {delimiter!r} between quotation marks"
            )
            yield Record(feed.line, {}, DataFormatError(problem))
        elif values:
            yield Record(feed.line, dict(zip(header, values, strict=True)))


def csv_header(
    lines: Iterator[Line], *, name: str, delimiter: str, is_guessed: bool = False
) -> list[str]:
    """Parse the first record alone.

    Args:
        lines: The file's lines.
        name: File name for messages.
        delimiter: What stands between fields.
        is_guessed: As in `csv_records`.

    Returns:
        Names of the columns; none if the file is empty.

    Raises:
        ConfigError: If another delimiter than the guessed one stands between the columns' names.
        DataFormatError: If the record is bad or names a column twice.
    """
    feed = _Feed(lines)
    try:
        values = next(csv.reader(feed, delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise DataFormatError(f"{name}:{feed.line}: {_explained(error)}") from error
    header = _header(values if feed.error is None else feed.error, name)
    _check_guess(header, name, delimiter, is_guessed)
    return header


def guess_delimiter(lines: Iterator[Line], *, fields: Collection[str]) -> str | None:
    """Guess what stands between fields where it is no comma.

    A mark fits if it makes several columns of the header and as many fields of each of the first
    records. Where several marks fit, those count whose columns have a name that is asked for.

    Args:
        lines: The file's lines. One is taken if it settles the matter, ten at most.
        fields: Names by one of which the right columns are known.

    Returns:
        A semicolon, a tab or a bar; ``None`` if a comma fits, nothing does, or two marks do.
    """
    seen = list(islice(lines, 1))
    if not seen or not set(_MARKS[1:]) & set(seen[0].text):
        return None
    if set(fields) & set(_columns(seen, ",")):
        return None
    seen.extend(islice(lines, _LOOKED_AT - 1))
    found = {mark: columns for mark in _MARKS if (columns := _columns(seen, mark))}
    marks = [mark for mark in found if set(fields) & set(found[mark])] or list(found)
    return marks[0] if len(marks) == 1 and marks != [","] else None


def _columns(lines: Sequence[Line], mark: str) -> list[str]:
    """The columns that a delimiter makes of some lines; none where it does not fit them."""
    csv.field_size_limit(_FIELD_LIMIT)
    texts = (line.text + "\n" for line in lines if line.error is None)
    records: list[list[str]] = []
    try:
        for record in csv.reader(texts, delimiter=mark, strict=True):
            records.append(record)
    except csv.Error as error:
        if not str(error).startswith("unexpected end"):  # a record that goes on behind these lines
            return []
    header, *others = records or [[]]
    is_table = 1 < len(header) == len(set(header))
    return header if is_table and all(len(one) in (0, len(header)) for one in others) else []


def _header(values: list[str] | DataFormatError, name: str) -> list[str]:
    if isinstance(values, DataFormatError):
        raise values
    if len(set(values)) < len(values):
        raise DataFormatError(f"{name}:1: a column name stands twice in {values}; rename one")
    return values


def _check_guess(header: list[str], name: str, delimiter: str, is_guessed: bool) -> None:
    """Raise if a header's only name is several names with another delimiter between."""
    if not is_guessed or len(header) != 1:
        return
    counts = {mark: header[0].count(mark) for mark in _MARKS if mark != delimiter}
    mark = max(counts, key=lambda one: counts[one])
    if counts[mark]:
        shown = "tab" if mark == "\t" else mark
        other = given("delimiter", shown)
        remedy: tuple[Part, ...] = (other, ", and if not, ", given("delimiter", delimiter))
        if delimiter == "\t":  # of a .tsv file, which has no other
            remedy = ("the format csv",) if mark == "," else ("the format csv and ", other)
        raise ConfigError(
            f"{name}: its header is one column, {header[0][:80]!r}; if {shown!r} stands between "
            "fields, give ",
            *remedy,
        )


def _explained(error: csv.Error) -> str:
    r"""What is wrong, and what to do; the parser's own words on a lone ``\r`` are about Python."""
    if str(error).startswith("new-line character"):
        return "a carriage return outside quotation marks ends no line; end lines with a line feed"
    return f"{error}; close every quotation mark, and write one inside a field twice"


class _Feed:
    """Lines for the parser, which remembers those of a record and takes them back."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._waiting: deque[Line] = deque()
        self._taken: list[Line] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else next(self._lines)
        self._taken.append(line)
        return line.text + "\n"

    def begin(self) -> None:
        """Another record begins."""
        self._taken = []

    @property
    def line(self) -> int:
        """The line in which the record begins."""
        return self._taken[0].number

    @property
    def error(self) -> DataFormatError | None:
        """What is wrong with the first bad line of the record."""
        return next((line.error for line in self._taken if line.error is not None), None)

    def give_back_all_but_first(self) -> None:
        """Let the parser have the record's further lines again."""
        self._waiting.extendleft(reversed(self._taken[1:]))
        del self._taken[1:]
