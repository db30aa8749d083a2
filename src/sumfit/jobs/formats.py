"""What an input is: told from a file's name, or from the first lines of a stream.

Owns the guesses. Does not own reading (`sumfit.data.readers`).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sumfit.data.lines import COMPRESSED
from sumfit.data.readers import Format, file_format

__all__ = ["FORMATS", "Peeked", "input_format", "peek"]

FORMATS = ("lines", "jsonl", "json", "csv", "tsv", "parquet", "datasets", "excel", "whole")
"""Formats of an input."""

_SUFFIXES: dict[str, Format] = {
    **dict.fromkeys((".html", ".htm", ".md", ".eml"), "whole"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "excel"),
}
"""Formats of files that are read and never written: one text each, and spreadsheets."""

_LOOKED_AT = 4  # lines, the blank ones at the start included
_PAGE = re.compile(r"<(!doctype\s+html|html|\?xml)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d][\w .-]{0,40}")
_TABLES: tuple[tuple[str, Format], ...] = (("\t", "tsv"), (",", "csv"), (";", "csv"), ("|", "csv"))


def input_format(path: str | Path) -> Format:
    """Tell the format of an input file from its name.

    Args:
        path: The file; a compression suffix is looked through.

    Returns:
        The format: ``whole`` for a page, a document or a mail, ``excel`` for a spreadsheet, else
        what `file_format` says.
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    is_packed = bool(suffixes) and suffixes[-1] in COMPRESSED
    found = _SUFFIXES.get(suffixes[-2 if is_packed else -1]) if len(suffixes) > is_packed else None
    if found is None or (found == "excel" and is_packed):
        return file_format(path)
    return found


class Peeked(NamedTuple):
    """A stream whose first lines were looked at.

    Attributes:
        format: What they look like; ``lines`` where nothing says otherwise.
        lines: All lines of the stream, those included.
    """

    format: Format
    lines: Iterator[bytes]


def peek(stream: Iterable[bytes], *, fields: Iterable[str]) -> Peeked:
    """Guess what a stream holds, from its first lines, so that it can be answered as it comes.

    A line of JSON, the header of a table and the first tag of a page are told from a line of prose
    by more than one sign each.

    Args:
        stream: Binary lines.
        fields: Columns by one of which a header is known.

    Returns:
        The guess and the stream.
    """
    lines = iter(stream)
    seen: list[bytes] = []
    guess: Format | None = None
    while guess is None and len(seen) < _LOOKED_AT:
        line = next(lines, None)
        if line is None:
            break
        seen.append(line)
        head = b"".join(seen).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip()
        if head:
            guess = _guess(head, set(fields))
    return Peeked(guess or "lines", itertools.chain(seen, lines))


def _guess(head: str, fields: set[str]) -> Format | None:
    """The format that a stream begins like; ``None`` if another line is needed to tell."""
    if _PAGE.match(head):
        return "whole"
    if head.startswith("["):
        inside = head[1:].lstrip()
        return None if not inside else ("json" if inside[0] in "{]" else "lines")
    if head.startswith("{"):
        return "jsonl" if _is_object(head) else "lines"
    for mark, format in _TABLES:
        cells = [cell.strip().strip('"') for cell in head.split(mark)]
        if len(cells) > 1 and fields & set(cells) and all(map(_NAME.fullmatch, cells)):
            return format
    return "lines"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
