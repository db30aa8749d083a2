"""What a job is asked to do, and the chunks that its input falls into.

Owns `JobSpec`, its checks, and reading the input as numbered chunks. Does not own summaries.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sumfit._version import __version__
from sumfit.data.readers import Format, file_format, read_rows
from sumfit.errors import ConfigError
from sumfit.pipeline.options import LENGTH_KEYWORDS
from sumfit.runtime import ModelDirectory

__all__ = ["Chunk", "JobSpec", "read_chunks"]

Engine = Literal["local", "ray"]

_RESULT_FIELDS = (
    "length unit limit log_prob optimal gap complete origin source_truncated alternatives error"
).split()
_HEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive records of the input.

    Attributes:
        index: Number of the chunk, from 0.
        texts: The texts; ``None`` where a record has none.
        limits: One limit per text, or ``None`` if the job has one limit for all.
    """

    index: int
    texts: list[str | None]
    limits: list[int | None] | None


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A file job.

    Attributes:
        input: File to read: JSONL, CSV, TSV, Parquet or lines, also compressed.
        output: File to write, in any of these formats.
        options: Keyword arguments of the summarizer, JSON types alone.
        model: Model directory, ``None`` for the embedded model.
        field: Column of the text; plain lines have the one column ``text``.
        limit_field: Column with a limit for each record, in the unit of ``options``.
        output_field: Column of the summary; further columns start with its name.
        chunk_size: Records in one part.
        n_processes: Worker processes, or actors.
        engine: ``"local"`` for processes on this machine, ``"ray"`` for a Ray cluster.
        n_gpus: GPUs for each Ray actor; above 0 also chooses the torch backend.
        restart: Throw away an unfinished job instead of going on with it.
    """

    input: Path
    output: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    field: str = "text"
    limit_field: str | None = None
    output_field: str = "summary"
    chunk_size: int = 64
    n_processes: int = 1
    engine: Engine = "local"
    n_gpus: float = 0.0
    restart: bool = False

    def __post_init__(self) -> None:
        for name in ("chunk_size", "n_processes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, was {getattr(self, name)}")
        if self.engine not in ("local", "ray"):
            raise ConfigError(f"engine must be 'local' or 'ray', was {self.engine!r}")
        for name in ("limits", *LENGTH_KEYWORDS):
            if isinstance(self.options.get(name), list):
                raise ConfigError(
                    f"a file job has one limit for each record, {name} has several; give one, or "
                    "a column of limits with --limit-field"
                )
        if not self.input.is_file():
            raise ConfigError(f"input {self.input} is not a file; give a file that exists")
        if self.output.resolve() == self.input.resolve():
            raise ConfigError(f"output {self.output} is the input; give another name")
        if not self.output.parent.is_dir():
            raise ConfigError(f"output folder {self.output.parent} does not exist; make it first")
        if self.output_format == "lines":
            for name in ("prefix", "suffix"):
                if "\n" in str(self.options.get(name, "")):
                    raise ConfigError(
                        f"{name} has a line end, which an output of lines cannot hold"
                    )

    @property
    def input_format(self) -> Format:
        """Format of the input, by its name."""
        return file_format(self.input)

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

    def fingerprint(self) -> dict[str, Any]:
        """Everything that decides what the job's parts hold.

        Returns:
            JSON types; two jobs with equal fingerprints can go on with each other's parts.
        """
        stat = self.input.stat()
        with self.input.open("rb") as file:
            head = hashlib.sha256(file.read(_HEAD_BYTES)).hexdigest()
        model = ModelDirectory.open(self.model)
        return {
            "format": "sumfit-job-1",
            "version": __version__,
            "input": str(self.input.resolve()),
            "input_bytes": stat.st_size,
            "input_mtime_ns": stat.st_mtime_ns,
            "input_head_sha256": head,
            "model": model.config.name,
            "model_sha256": _model_digest(Path(model.path)),
            "options": dict(self.options),
            "field": self.field,
            "limit_field": self.limit_field,
            "chunk_size": self.chunk_size,
        }


def read_chunks(spec: JobSpec) -> Iterator[Chunk]:
    """Read the input as chunks, lazily, in order.

    Args:
        spec: The job.

    Yields:
        Chunks of ``chunk_size`` records; the last may be shorter.

    Raises:
        ConfigError: If the first record has no text column of the name asked for.
        DataFormatError: If a record does not parse; the message names its line.
    """
    rows = iter(read_rows(spec.input, format=spec.input_format))
    for index in itertools.count():
        group = [row.fields for row in itertools.islice(rows, spec.chunk_size)]
        if not group:
            return
        if index == 0:
            _check_columns(spec, group[0])
        texts = [_text(fields.get(spec.field)) for fields in group]
        limits = None
        if spec.limit_field is not None:
            limits = [_limit(fields.get(spec.limit_field)) for fields in group]
        yield Chunk(index, texts, limits)


def _check_columns(spec: JobSpec, fields: Mapping[str, Any]) -> None:
    for name in (spec.field, spec.limit_field):
        if name is not None and name not in fields:
            known = ", ".join(repr(column) for column in fields)
            raise ConfigError(f"{spec.input} has no column {name!r}; its columns are {known}")
    if spec.output_format == "lines":
        return
    taken = [column for column in spec.result_columns.values() if column in fields]
    if taken:
        raise ConfigError(
            f"{spec.input} has a column {taken[0]!r} already; choose another name with "
            "--output-field"
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _limit(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return None


def _model_digest(path: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()):
        if file.suffix in (".json", ".onnx", ".safetensors", ".xz"):
            digest.update(file.name.encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
