"""Parquet as a job's output: columns of one type each, whatever the input's records hold.

Owns the types of columns, from the input's own or found by reading it once before. Does not own
the results or their order (`sumfit.jobs.output`).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import IO, Any

from sumfit.errors import MissingExtraError
from sumfit.hypothesis import SourceSelection
from sumfit.jobs.records import json_line
from sumfit.jobs.spec import JobSpec, changed_input

__all__ = ["write_parquet"]

_ROWS_PER_GROUP = 4096


def write_parquet(
    spec: JobSpec,
    columns: Collection[str],
    results: Iterator[dict[str, Any]],
    file: IO[bytes],
) -> None:
    """Join the input with the results.

    Args:
        spec: The job.
        columns: Columns of the input's records.
        results: One result per record, in order.
        file: Where to write.

    Raises:
        DataFormatError: If the input has more or fewer records than results.
        MissingExtraError: If pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "parquet") from error
    result_schema = _result_schema(pa, spec)
    tables = (
        _tables_from_parquet(pa, pq, spec)
        if spec.input_format == "parquet"
        else _tables_from_rows(pa, spec, columns)
    )
    writer: Any = None
    try:
        for table in tables:
            group = list(itertools.islice(results, table.num_rows))
            if len(group) != table.num_rows:
                raise changed_input(spec)
            added = pa.Table.from_pylist(
                [spec.columns_of(result) for result in group], schema=result_schema
            )
            for column in added.column_names:
                table = table.append_column(added.schema.field(column), added.column(column))
            writer = writer or pq.ParquetWriter(file, table.schema, compression="zstd")
            writer.write_table(table)
        if next(results, None) is not None:
            raise changed_input(spec)
        if writer is None:
            fields = [*((column, pa.string()) for column in columns), *result_schema]
            pq.write_table(pa.schema(fields).empty_table(), file)
    finally:
        if writer is not None:
            writer.close()


def _tables_from_parquet(pa: Any, pq: Any, spec: JobSpec) -> Iterator[Any]:
    with pq.ParquetFile(spec.input) as source:
        if not source.metadata.num_rows:
            yield source.schema_arrow.empty_table()
        for batch in source.iter_batches(batch_size=_ROWS_PER_GROUP):
            yield pa.Table.from_batches([batch])


def _tables_from_rows(pa: Any, spec: JobSpec, columns: Collection[str]) -> Iterator[Any]:
    kinds: dict[str, Any] = dict.fromkeys(columns, pa.null())
    for group in _groups(spec, columns):
        for name, values in group.items():
            kinds[name] = _common_kind(pa, kinds[name], values)
    for group in _groups(spec, columns):
        arrays = [
            pa.array(values, kinds[name])
            if kinds[name] is not None
            else pa.array([_as_text(value) for value in values], pa.string())
            for name, values in group.items()
        ]
        yield pa.Table.from_arrays(arrays, names=list(columns))


def _groups(spec: JobSpec, columns: Collection[str]) -> Iterator[dict[str, list[Any]]]:
    """The input's columns, some thousand records at a time."""
    rows = spec.rows()
    while group := list(itertools.islice(rows, _ROWS_PER_GROUP)):
        yield {name: [_spelled(row.fields.get(name)) for row in group] for name in columns}


def _common_kind(pa: Any, kind: Any, values: list[Any]) -> Any:
    """The type that holds these values and those before; ``None`` if only text does."""
    if kind is None:
        return None
    try:
        both = [pa.schema([("x", kind)]), pa.schema([("x", pa.array(values).type)])]
        return pa.unify_schemas(both, promote_options="permissive").field("x").type
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return None


def _as_text(value: Any) -> str | None:
    """A value of a column whose values differ in type: a string as it is, all else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json_line(value)


def _spelled(value: Any) -> Any:
    """The value; halves of characters, which UTF-8 lacks, spelled out."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _result_schema(pa: Any, spec: JobSpec) -> Any:
    kinds = {
        "line": pa.int64(),
        "length": pa.int64(),
        "limit": pa.int64(),
        "log_prob": pa.float64(),
        "gap": pa.float64(),
        "optimal": pa.bool_(),
        "complete": pa.bool_(),
        "choice_score": pa.float64(),
        "confidence": pa.float64(),
        "unfinished": pa.bool_(),
        "source_truncated": pa.bool_(),
        "source_selected": pa.struct([(item.name, pa.int64()) for item in fields(SourceSelection)]),
        "cleaned": pa.list_(pa.string()),
        "added": pa.list_(pa.string()),
        "alternatives": pa.list_(pa.string()),
    }
    return pa.schema(
        [(column, kinds.get(name, pa.string())) for name, column in spec.result_columns.items()]
    )
