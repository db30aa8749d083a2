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
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from sumfit.cli.jobs.parquet import write_parquet
from sumfit.cli.jobs.parts import flush_to_disk
from sumfit.cli.jobs.spec import JobSpec, changed_input
from sumfit.cli.records import json_line
from sumfit.data.readers import read_rows
from sumfit.errors import MissingExtraError

__all__ = ["write_output"]


def write_output(
    spec: JobSpec,
    columns: Collection[str],
    results: Iterator[dict[str, Any]],
    temporary: Path,
) -> None:
    """Join the input with the results and put the output in its place.

    Args:
        spec: The job.
        columns: Columns of the input's records, all that any has.
        results: One result per record, in order.
        temporary: Where to write until it is complete; on the output's file system.

    Raises:
        DataFormatError: If the input has more or fewer records than results.
    """
    with temporary.open("wb") as file:
        if spec.output_format == "parquet":
            write_parquet(spec, columns, results, file)
        else:
            _write_text(spec, columns, _joined(spec, results), file)
        flush_to_disk(file)
    temporary.replace(spec.output)


def _joined(
    spec: JobSpec, results: Iterator[dict[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    rows = read_rows(spec.input, format=spec.input_format, on_bad="keep")
    for row, result in itertools.zip_longest(rows, results):
        if row is None or result is None:
            raise changed_input(spec)
        yield row.fields, result


def _write_text(
    spec: JobSpec,
    columns: Collection[str],
    joined: Iterator[tuple[Mapping[str, Any], dict[str, Any]]],
    file: IO[bytes],
) -> None:
    compressed = _compressor(spec.output)(file)
    stream = io.TextIOWrapper(compressed, "utf-8", "backslashreplace", newline="\n")
    if spec.output_format in ("csv", "tsv"):
        _write_csv(spec, columns, joined, stream)
    elif spec.output_format == "jsonl":
        for fields, result in joined:
            record = {**fields, **spec.columns_of(result)}
            stream.write(json_line(record) + "\n")
    else:
        for _, result in joined:
            stream.write((result["text"] or "") + "\n")
    stream.flush()
    stream.detach()
    if compressed is not file:
        compressed.close()


def _write_csv(
    spec: JobSpec,
    columns: Collection[str],
    joined: Iterator[tuple[Mapping[str, Any], dict[str, Any]]],
    stream: io.TextIOWrapper,
) -> None:
    names = [*columns, *spec.result_columns.values()]
    delimiter = "\t" if spec.output_format == "tsv" else ","
    writer = csv.DictWriter(stream, names, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for fields, result in joined:
        record = {**fields, **spec.columns_of(result)}
        writer.writerow({column: _cell(value) for column, value in record.items()})


def _cell(value: Any) -> Any:
    """A value as CSV holds it: lists and objects as JSON, which other programs can read."""
    is_nested = isinstance(value, list | tuple | Mapping)
    return json.dumps(value, ensure_ascii=False, default=str) if is_nested else value


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
