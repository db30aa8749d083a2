"""Read summaries and references from files and pair them, line by line.

Owns which fields hold what and the errors when files fall out of step. Formats and encodings
are `sumfit.data.readers`'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sumfit.data.readers import read_rows
from sumfit.errors import DataFormatError

__all__ = [
    "ReferenceItem",
    "SummaryItem",
    "check_paired",
    "read_references",
    "read_sources",
    "read_summaries",
]

_SUMMARY_FIELDS = ("summary", "text", "prediction", "summary_text")
_REFERENCE_FIELDS = ("summaries", "references", "summary", "reference", "text")
_SOURCE_FIELDS = ("source", "document")


@dataclass(frozen=True, slots=True)
class SummaryItem:
    """One summary as a system wrote it.

    Attributes:
        text: The summary; empty where the system failed.
        place: ``file:line``.
        limit: The limit that the record names, if it does.
        unit: The unit that the record names, if it does.
    """

    text: str
    place: str
    limit: int | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class ReferenceItem:
    """What a summary is compared with.

    Attributes:
        texts: The references, at least one, none empty.
        place: ``file:line``.
        source: The text that was summarised, if the record has it.
    """

    texts: tuple[str, ...]
    place: str
    source: str | None = None


def read_summaries(
    source: Path | IO[bytes], *, field: str | None = None, format: Any = None
) -> list[SummaryItem]:
    """Read a system's summaries.

    Args:
        source: File of text lines, JSONL, CSV, TSV or Parquet; or a binary stream.
        field: Field of the summary; the first of ``summary``, ``text``, ``prediction``,
            ``summary_text`` by default.
        format: Format; told from the name where not given.

    Returns:
        The summaries in order; a record with an ``error``, or in a file job's output with a
        ``summary_error``, and no text is an empty summary.

    Raises:
        DataFormatError: If a record does not parse or has no such field; it names file and line.
    """
    name = _name(source)
    items = []
    for line, fields, _ in read_rows(source, format=format, columns=_known(field, _SUMMARY_FIELDS)):
        place = f"{name}:{line}"
        key = field or _first(fields, _SUMMARY_FIELDS)
        value = fields.get(key) if key else None
        if (value is None and fields.get("error")) or _has_failed(fields, field or "summary"):
            value = ""
        if not isinstance(value, str):
            raise _missing(place, field, _SUMMARY_FIELDS, fields)
        limit, unit = fields.get("limit"), fields.get("unit")
        items.append(
            SummaryItem(
                text=value,
                place=place,
                limit=limit if isinstance(limit, int) else None,
                unit=unit if isinstance(unit, str) else None,
            )
        )
    return items


def read_references(
    paths: Sequence[Path],
    *,
    field: str | None = None,
    source_field: str | None = None,
    format: Any = None,
) -> list[ReferenceItem]:
    """Read references; several files give alternatives for the same items.

    Args:
        paths: Files of text lines, JSONL, CSV, TSV or Parquet, at least one.
        field: Field of the reference or list of references.
        source_field: Field of the source.
        format: Format; told from the names where not given.

    Returns:
        The items in order.

    Raises:
        DataFormatError: If a record does not parse, a reference is empty or missing, or the
            files differ in length; it names file and line.
    """
    columns = [_read_one(path, field, source_field, format) for path in paths]
    first = columns[0]
    for path, column in zip(paths[1:], columns[1:], strict=True):
        check_paired(first, column, names=(f"references in {paths[0]}", f"references in {path}"))
    return [
        ReferenceItem(
            texts=tuple(text for item in items for text in item.texts),
            place=items[0].place,
            source=next((item.source for item in items if item.source is not None), None),
        )
        for items in zip(*columns, strict=True)
    ]


def read_sources(path: Path, *, field: str | None = None, format: Any = None) -> list[str]:
    """Read the texts that were summarised.

    Args:
        path: File of text lines, JSONL, CSV, TSV or Parquet.
        field: Field of the source; ``source``, ``document`` or ``text`` by default.
        format: Format; told from the name where not given.

    Returns:
        The texts in order.

    Raises:
        DataFormatError: If a record does not parse or has no such field; it names file and line.
    """
    texts = []
    for line, fields, _ in read_rows(
        path, format=format, columns=_known(field, (*_SOURCE_FIELDS, "text"))
    ):
        value = fields.get(field or _first(fields, (*_SOURCE_FIELDS, "text")) or "")
        if not isinstance(value, str):
            raise _missing(f"{path}:{line}", field, (*_SOURCE_FIELDS, "text"), fields)
        texts.append(value)
    return texts


def check_paired(
    one: Sequence[SummaryItem | ReferenceItem],
    two: Sequence[SummaryItem | ReferenceItem],
    *,
    names: tuple[str, str],
) -> None:
    """Check that two files have as many items.

    Args:
        one: Items of the first file.
        two: Items of the second.
        names: What the message calls them.

    Raises:
        DataFormatError: If the counts differ; it names both and the first item left over.
    """
    if len(one) == len(two):
        return
    longer = one if len(one) > len(two) else two
    raise DataFormatError(
        f"there are {len(one)} {names[0]} but {len(two)} {names[1]}; "
        f"the first without a partner is {longer[min(len(one), len(two))].place}"
    )


def _read_one(
    path: Path, field: str | None, source_field: str | None, format: Any
) -> list[ReferenceItem]:
    items = []
    for line, fields, _ in read_rows(path, format=format, columns=_known(field, _REFERENCE_FIELDS)):
        place = f"{path}:{line}"
        key = field or _first(fields, _REFERENCE_FIELDS)
        value = fields.get(key) if key else None
        texts = (value,) if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(isinstance(t, str) for t in texts):
            raise _missing(place, field, _REFERENCE_FIELDS, fields)
        if not texts or not all(text.strip() for text in texts):
            raise DataFormatError(f"{place}: an empty reference; give a text for every item")
        source = fields.get(source_field or _first(fields, _SOURCE_FIELDS) or "")
        if source_field and not isinstance(source, str):
            raise _missing(place, source_field, _SOURCE_FIELDS, fields)
        items.append(
            ReferenceItem(tuple(texts), place, source if isinstance(source, str) else None)
        )
    return items


def _known(field: str | None, names: Sequence[str]) -> Sequence[str]:
    return (field,) if field else names


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if fields.get(name) is not None), None)


def _has_failed(fields: Mapping[str, Any], key: str) -> bool:
    """Return whether a file job found no summary; the record's other texts are the input's."""
    return fields.get(key) is None and bool(fields.get(f"{key}_error"))


def _missing(
    place: str, field: str | None, names: Sequence[str], fields: Mapping[str, Any]
) -> DataFormatError:
    wanted = repr(field) if field else "one of " + ", ".join(names)
    return DataFormatError(f"{place}: no text in field {wanted}; fields are {', '.join(fields)}")


def _name(source: Path | IO[bytes]) -> str:
    return str(source) if isinstance(source, Path) else "<stdin>"
