"""The output file: the input's records with their results, in the input's order.

Owns the formats, and putting the file in its place. It is written in the job's directory and
renamed when complete, so the output is whole or not there.
"""

from __future__ import annotations

import csv
import filecmp
import gzip
import io
import itertools
import lzma
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from sumfit.errors import ConfigError, MissingExtraError
from sumfit.jobs.items import TABLES
from sumfit.jobs.parquet import write_parquet
from sumfit.jobs.records import as_text, json_line, without_nan
from sumfit.jobs.spec import JobSpec, changed_input
from sumfit.writing import flush_to_disk, naming, replace_file

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
        ConfigError: If another output has appeared meanwhile, and may not be overwritten.
        DataFormatError: If the input has more or fewer records than results.
        OSError: If it cannot be written; ``filename`` is the output.
    """
    try:
        with naming(spec.output), temporary.open("wb") as file:
            if spec.output_format == "parquet":
                write_parquet(spec, columns, results, file)
            else:
                _write_text(spec, columns, _joined(spec, results), file)
            flush_to_disk(file)
        _place(spec, temporary)
    finally:
        temporary.unlink(missing_ok=True)


def _place(spec: JobSpec, temporary: Path) -> None:
    """Put the file into its place; one of the same content is this job's, after a crash."""
    target = spec.target
    is_taken = target.exists() and not spec.overwrite
    if is_taken and not filecmp.cmp(temporary, target, shallow=False):
        raise ConfigError(
            f"output {spec.output} has appeared, or was there before; finished parts are kept: "
            "move it away and run the same command again, or add --overwrite to replace it"
        )
    replace_file(temporary, target)


def _joined(
    spec: JobSpec, results: Iterator[dict[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    for row, result in itertools.zip_longest(spec.rows(), results):
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
            stream.write(_json_record(spec, fields, result) + "\n")
    elif spec.output_format == "json":
        before = "[\n"
        for fields, result in joined:
            stream.write(before + _json_record(spec, fields, result))
            before = ",\n"
        stream.write("[]\n" if before == "[\n" else "\n]\n")
    else:
        for _, result in joined:
            stream.write((result["text"] or "") + "\n")
    stream.flush()
    stream.detach()
    if compressed is not file:
        compressed.close()


def _json_record(spec: JobSpec, fields: Mapping[str, Any], result: dict[str, Any]) -> str:
    kept = without_nan(fields) if spec.input_format in TABLES else fields
    return json_line({**kept, **spec.columns_of(result)})


def _write_csv(
    spec: JobSpec,
    columns: Collection[str],
    joined: Iterator[tuple[Mapping[str, Any], dict[str, Any]]],
    stream: io.TextIOWrapper,
) -> None:
    names = [*columns, *spec.result_columns.values()]
    delimiter = "\t" if spec.output_format == "tsv" else spec.delimiter or ","
    writer = csv.DictWriter(stream, names, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for fields, result in joined:
        record = {**fields, **spec.columns_of(result)}
        writer.writerow({column: _cell(value) for column, value in record.items()})


def _cell(value: Any) -> Any:
    """A value as CSV holds it: lists and objects as JSON, which other programs can read."""
    if isinstance(value, list | tuple | Mapping):
        return json_line(value)
    return as_text(value) if isinstance(value, bytes) else value


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
