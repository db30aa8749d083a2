"""The output file: the input's records with their results, in the input's order.

Owns the formats. It is written beside the output and renamed when complete, so the output is
whole or not there.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from sumfit.cli.jobs.parts import flush_to_disk
from sumfit.cli.jobs.spec import JobSpec
from sumfit.data.readers import read_rows
from sumfit.errors import DataFormatError, MissingExtraError

__all__ = ["changed_input", "write_output"]

_ROWS_PER_GROUP = 4096


def write_output(spec: JobSpec, results: Iterator[dict[str, Any]], temporary: Path) -> None:
    """Join the input with the results and put the output in its place.

    Args:
        spec: The job.
        results: One result per record, in order.
        temporary: Where to write until it is complete; on the output's file system.

    Raises:
        DataFormatError: If the input has more or fewer records than results.
    """
    with temporary.open("wb") as file:
        if spec.output_format == "parquet":
            _write_parquet(spec, results, file)
        else:
            _write_text(spec, _joined(spec, results), file)
        flush_to_disk(file)
    temporary.replace(spec.output)


def _joined(
    spec: JobSpec, results: Iterator[dict[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    rows = read_rows(spec.input, format=spec.input_format)
    for row, result in itertools.zip_longest(rows, results):
        if row is None or result is None:
            raise changed_input(spec)
        yield row.fields, result


def changed_input(spec: JobSpec) -> DataFormatError:
    """Make the error for an input or model that is not what it was.

    Args:
        spec: The job.

    Returns:
        The error to raise.
    """
    return DataFormatError(
        f"{spec.input} changed while the job ran; run the same command again with --restart"
    )


def _columns(spec: JobSpec, result: Mapping[str, Any]) -> dict[str, Any]:
    return {column: result.get(name) for name, column in spec.result_columns.items()}


def _write_text(
    spec: JobSpec, joined: Iterator[tuple[Mapping[str, Any], dict[str, Any]]], file: IO[bytes]
) -> None:
    compressed = _compressor(spec.output)(file)
    stream = io.TextIOWrapper(compressed, encoding="utf-8", newline="\n", write_through=False)
    if spec.output_format in ("csv", "tsv"):
        _write_csv(spec, joined, stream)
    elif spec.output_format == "jsonl":
        for fields, result in joined:
            record = {**fields, **_columns(spec, result)}
            stream.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")
    else:
        for _, result in joined:
            stream.write((result["text"] or "") + "\n")
    stream.flush()
    stream.detach()
    if compressed is not file:
        compressed.close()


def _write_csv(
    spec: JobSpec,
    joined: Iterator[tuple[Mapping[str, Any], dict[str, Any]]],
    stream: io.TextIOWrapper,
) -> None:
    delimiter = "\t" if spec.output_format == "tsv" else ","
    writer: Any = None
    for fields, result in joined:
        columns = _columns(spec, result)
        for column, value in columns.items():
            if isinstance(value, list):
                columns[column] = json.dumps(value, ensure_ascii=False)
        if writer is None:
            names = [*fields, *columns]
            writer = csv.DictWriter(
                stream, names, delimiter=delimiter, lineterminator="\n", extrasaction="ignore"
            )
            writer.writeheader()
        writer.writerow({**fields, **columns})


def _write_parquet(spec: JobSpec, results: Iterator[dict[str, Any]], file: IO[bytes]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "parquet") from error
    result_schema = _result_schema(pa, spec)
    tables = (
        _tables_from_parquet(pa, pq, spec)
        if spec.input_format == "parquet"
        else _tables_from_rows(pa, spec)
    )
    writer: Any = None
    try:
        for table in tables:
            group = list(itertools.islice(results, table.num_rows))
            if len(group) != table.num_rows:
                raise changed_input(spec)
            added = pa.Table.from_pylist(
                [_columns(spec, result) for result in group], schema=result_schema
            )
            for column in added.column_names:
                table = table.append_column(added.schema.field(column), added.column(column))
            writer = writer or pq.ParquetWriter(file, table.schema, compression="zstd")
            writer.write_table(table)
        if next(results, None) is not None:
            raise changed_input(spec)
        if writer is None:
            pq.write_table(result_schema.empty_table(), file)
    finally:
        if writer is not None:
            writer.close()


def _tables_from_parquet(pa: Any, pq: Any, spec: JobSpec) -> Iterator[Any]:
    with pq.ParquetFile(spec.input) as source:
        for batch in source.iter_batches(batch_size=_ROWS_PER_GROUP):
            yield pa.Table.from_batches([batch])


def _tables_from_rows(pa: Any, spec: JobSpec) -> Iterator[Any]:
    rows = read_rows(spec.input, format=spec.input_format)
    schema: Any = None
    while group := [dict(row.fields) for row in itertools.islice(rows, _ROWS_PER_GROUP)]:
        try:
            table = pa.Table.from_pylist(group, schema=schema)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataFormatError(
                f"{spec.input} has a column whose values differ in type, which Parquet cannot "
                f"hold ({error}); write JSONL instead"
            ) from error
        schema = schema or table.schema
        yield table


def _result_schema(pa: Any, spec: JobSpec) -> Any:
    kinds = {
        "length": pa.int64(),
        "limit": pa.int64(),
        "log_prob": pa.float64(),
        "gap": pa.float64(),
        "optimal": pa.bool_(),
        "complete": pa.bool_(),
        "source_truncated": pa.bool_(),
        "alternatives": pa.list_(pa.string()),
    }
    return pa.schema(
        [(column, kinds.get(name, pa.string())) for name, column in spec.result_columns.items()]
    )


def _compressor(path: Path) -> Callable[[IO[bytes]], Any]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return lambda file: gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
    if suffix == ".xz":
        return lambda file: lzma.LZMAFile(file, "wb")
    if suffix == ".zst":
        try:
            import zstandard
        except ModuleNotFoundError as error:
            raise MissingExtraError("zstandard", "zstd") from error
        return lambda file: zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    return lambda file: file
