"""What a job is asked to do, and the chunks that its input falls into.

Owns `JobSpec`, its checks, and reading the input as numbered chunks. Does not own summaries.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sumfit._version import __version__
from sumfit.data.readers import Format, Row, file_format, read_rows
from sumfit.errors import ConfigError, DataFormatError, Keyword, SumfitError, given
from sumfit.jobs.fingerprint import JOB_FORMAT, content_digest
from sumfit.jobs.formats import FORMATS, input_format
from sumfit.jobs.items import check_columns, check_delimiter, check_encoding, item_of
from sumfit.pipeline.options import LENGTH_KEYWORDS
from sumfit.processors import checked_workers
from sumfit.runtime import ModelDirectory

__all__ = ["Chunk", "JobSpec", "changed_input", "check_free", "failed_result", "read_chunks"]

Engine = Literal["local", "ray"]

_RESULT_FIELDS = (
    "line length unit limit log_prob optimal gap complete origin added chosen_by choice_score "
    "confidence unfinished source_truncated source_selected language cleaned "
    "alternatives error_type error"
).split()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive records of the input.

    Attributes:
        index: Number of the chunk, from 0.
        records: JSON types: ``line``; ``text``, ``None`` for a bad record; its own ``limit``,
            ``None`` if the job has one for all; ``error``, the result in place of a summary.
        columns: Names of their columns, in the order in which they are first seen.
    """

    index: int
    records: list[dict[str, Any]]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A file job.

    Attributes:
        input: File to read: JSONL, CSV, TSV, Parquet or lines, also compressed.
        output: File to write, in any of these formats.
        options: Keyword arguments of the summarizer, JSON types alone.
        model: Model directory, ``None`` for the embedded model.
        format: Format of the input; told from its name if not given.
        field: Column of the text; ``text`` or else ``source`` if not given.
        limit_field: Column with a limit for each record, in the unit of ``options``.
        output_field: Column of the summary; further columns start with its name.
        chunk_size: Records in one part.
        n_processes: Worker processes, or actors.
        engine: ``"local"`` for processes on this machine, ``"ray"`` for a Ray cluster.
        n_gpus: GPUs for each Ray actor; above 0 also chooses the torch backend.
        restart: Throw away an unfinished job instead of going on with it.
        overwrite: Replace an output that is there already.
        delimiter: What stands between fields of CSV, read and written; a comma if not given.
        encoding: Encoding of an input of text; UTF-8 if not given, and always in the output.
    """

    input: Path
    output: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    format: Format | None = None
    field: str | None = None
    limit_field: str | None = None
    output_field: str = "summary"
    chunk_size: int = 64
    n_processes: int = 1
    engine: Engine = "local"
    n_gpus: float = 0.0
    restart: bool = False
    overwrite: bool = False
    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.engine not in ("local", "ray"):
            raise ConfigError.of("engine", self.engine, "must be 'local' or 'ray'")
        for name, value in (("chunk_size", self.chunk_size), ("processes", self.n_processes)):
            if value < 1:
                raise ConfigError.of(name, value, "must be at least 1")
        if self.engine == "local":  # a cluster may have any number of processors
            checked_workers(self.n_processes, name="processes")
        self._check_gpus()
        for name in ("limits", *LENGTH_KEYWORDS):
            if isinstance(self.options.get(name), list):
                raise ConfigError(
                    "a file job has one limit for each record, ",
                    given(name),
                    " has several; give one, or a column of limits with --limit-field",
                )
        if self.format is not None and self.format not in FORMATS:
            raise ConfigError(
                f"the input's format must be one of {', '.join(FORMATS)}, was {self.format!r}"
            )
        if not self.output_field:
            raise ConfigError.of("output_field", "", "must be the name of a column")
        if not self.input.is_file():
            raise ConfigError(f"input {self.input} is not a file; give a file that exists")
        if self.output.resolve() == self.input.resolve():
            raise ConfigError(f"output {self.output} is the input; give another name")
        if self.output.is_dir():
            raise ConfigError(f"output {self.output} is a directory; give the name of a file")
        if self.target.exists() and not self.target.is_file():
            raise ConfigError(
                f"output {self.output} is no plain file, and a job puts a whole file in its place; "
                "write to standard output and redirect that"
            )
        if not self.target.parent.is_dir():
            raise ConfigError(f"output folder {self.target.parent} does not exist; make it first")
        check_delimiter(self.delimiter, self.input_format, self.output_format)
        check_encoding(self.encoding, self.input_format)
        if self.output_format == "lines":
            for name in ("prefix", "suffix"):
                text = str(self.options.get(name, ""))
                if "\n" in text:
                    rule = " has a line end, which an output of lines cannot hold"
                    raise ConfigError(Keyword(name, "", text), rule)

    def _check_gpus(self) -> None:
        if not 0 <= self.n_gpus < math.inf:
            raise ConfigError.of("gpus", self.n_gpus, "must be a number of at least 0")
        if self.n_gpus and self.engine == "local":
            raise ConfigError(
                f"gpus are given to the actors of engine 'ray', was {self.n_gpus} with engine "
                "'local'; add --engine ray, or leave --gpus out"
            )

    @property
    def target(self) -> Path:
        """The file to write: the output, or what it is a link to."""
        return Path(os.path.realpath(self.output))

    @property
    def input_format(self) -> Format:
        """Format of the input, as given or by its name."""
        return self.format or input_format(self.input)

    @property
    def output_format(self) -> Format:
        """Format of the output, by its name."""
        return file_format(self.output)

    @property
    def result_columns(self) -> dict[str, str]:
        """Output column of each field of a result."""
        return {"text": self.output_field} | {
            name: f"{self.output_field}_{name}"
            for name in _RESULT_FIELDS
            if name != "alternatives" or self.options.get("n_best", 1) > 1
        }

    def columns_of(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Give the fields of a result the names of their columns.

        Args:
            result: One result.

        Returns:
            Column -> value; ``None`` where the result has none.
        """
        return {column: result.get(name) for name, column in self.result_columns.items()}

    def rows(self) -> Iterator[Row]:
        """Read the input's records, the bad ones in their places.

        Yields:
            The records.
        """
        yield from read_rows(
            self.input,
            format=self.input_format,
            on_bad="keep",
            delimiter=self.delimiter,
            encoding=self.encoding,
        )

    def input_state(self) -> tuple[int, ...]:
        """What changes when somebody writes to the input.

        Returns:
            Its size, time and number on the disk.
        """
        found = self.input.stat()
        return found.st_size, found.st_mtime_ns, found.st_ino

    def fingerprint(self, *, input_sha256: str | None = None) -> dict[str, Any]:
        """Everything that decides what the job's parts hold: contents, not names or times.

        Args:
            input_sha256: The input's digest where it is known; the whole file is read if not.

        Returns:
            JSON types; two jobs with equal fingerprints can go on with each other's parts.
        """
        model = ModelDirectory.open(self.model)
        return {
            "format": JOB_FORMAT,
            "version": __version__,
            "input_bytes": self.input.stat().st_size,
            "input_sha256": input_sha256 or content_digest(self.input),
            "model": model.config.name,
            "model_sha256": model.files.digest(),
            "options": dict(self.options),
            "input_format": self.input_format,
            "field": self.field,
            "limit_field": self.limit_field,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "chunk_size": self.chunk_size,
        }


def read_chunks(spec: JobSpec) -> Iterator[Chunk]:
    """Read the input as chunks, lazily, in order; a bad record has an error in its place.

    Args:
        spec: The job.

    Yields:
        Chunks of ``chunk_size`` records; the last may be shorter.

    Raises:
        ConfigError: If no record of the first chunk has a column of the name asked for.
        DataFormatError: If the file cannot be read, or breaks off before its first record.
    """
    rows = spec.rows()
    for index in itertools.count():
        group = list(itertools.islice(rows, spec.chunk_size))
        if not group:
            return
        columns = tuple(dict.fromkeys(name for row in group for name in row.fields))
        if index == 0 and columns:
            others = (spec.limit_field,)
            check_columns(str(spec.input), columns, text_field=spec.field, others=others)
            check_free(spec, columns)
        yield Chunk(index, [_record(spec, row) for row in group], columns)


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


def check_free(spec: JobSpec, columns: Iterable[str]) -> None:
    """Raise if columns of the output would replace those of the input.

    Args:
        spec: The job.
        columns: Columns of the input.

    Raises:
        ConfigError: If a column of the result has the name of one of them.
    """
    if spec.output_format == "lines":
        return
    own = set(spec.result_columns.values())
    taken = [column for column in columns if column in own]
    if taken:
        raise ConfigError(
            f"{spec.input} has a column {taken[0]!r} already; choose another name with "
            "--output-field"
        )


def _record(spec: JobSpec, row: Row) -> dict[str, Any]:
    item = item_of(row, name=str(spec.input), text_field=spec.field, limit_field=spec.limit_field)
    error = failed_result(item.error) if item.error is not None else None
    return {"line": row.line, "text": item.text, "limit": item.limit, "error": error}


def failed_result(error: SumfitError) -> dict[str, Any]:
    """The result of a record that has no summary.

    Args:
        error: Why.

    Returns:
        JSON types.
    """
    said = {"error": str(error), "error_parts": error.parts}
    return {"text": None, "error_type": type(error).__name__, **said}
