"""Running a file job from its first record, or its last crash, to its output.

Owns the order of things: lock, parts, output, clean-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sumfit import errors
from sumfit.data.readers import table_columns
from sumfit.errors import ConfigError, SumfitError
from sumfit.jobs.failures import Failures
from sumfit.jobs.output import write_output
from sumfit.jobs.parts import JobDirectory
from sumfit.jobs.pool import run_local
from sumfit.jobs.progress import Progress, count_records
from sumfit.jobs.spec import Chunk, JobSpec, changed_input, check_free, read_chunks

__all__ = ["JobReport", "run_job"]


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a job did.

    Attributes:
        n_records: Records of the output.
        n_resumed: Those among them that an earlier run had finished.
        failures: Records of the output without a summary.
        messages: What is wrong with the first of them.
    """

    n_records: int
    n_resumed: int
    failures: Failures
    messages: list[SumfitError] = field(default_factory=list)


def run_job(spec: JobSpec, *, show_progress: bool = True) -> JobReport:
    """Summarise a file into another, going on where an earlier run was stopped.

    The output has the input's records in order, each once, with its columns and those of the
    summary; a record that cannot be summarised has an error instead. Whenever the process is
    killed, the same call completes the job.

    Args:
        spec: The job.
        show_progress: Write progress to standard error.

    Returns:
        Counts.

    Raises:
        ConfigError: If there is an output already, and the job may not overwrite it.
        SumfitError: If input, options or model cannot be used; finished parts are kept.
    """
    directory = JobDirectory(spec.target)
    if not directory.is_begun() or spec.restart:
        _check_room(spec)
    state = spec.input_state()
    fingerprint = spec.fingerprint()
    report = JobReport(0, 0, Failures(blank_is_good=spec.output_format == "lines"))
    with directory.open(fingerprint, restart=spec.restart) as was_complete:
        if was_complete:
            return report
        if not directory.finished():
            _check_room(spec)
        pending = _Pending(spec, directory.finished())
        total = count_records(spec) if show_progress else None
        n_resumed = len(pending.finished) * spec.chunk_size
        progress = Progress(total, n_resumed=n_resumed, is_quiet=not show_progress)

        def save(index: int, results: list[dict[str, Any]]) -> None:
            directory.save(index, results)
            progress.add(len(results), sum(result["error"] is not None for result in results))

        if spec.engine == "ray":
            from sumfit.jobs.ray_engine import run_ray

            run_ray(spec, pending, save)
        else:
            run_local(spec, iter(pending), save)
        progress.close()
        known = fingerprint["input_sha256"] if spec.input_state() == state else None
        if spec.fingerprint(input_sha256=known) != fingerprint:
            raise changed_input(spec)
        if not pending.n_records:
            pending.columns |= dict.fromkeys(
                table_columns(
                    spec.input,
                    spec.input_format,
                    delimiter=spec.delimiter,
                    encoding=spec.encoding,
                )
            )
        check_free(spec, pending.columns)
        results = _noted(directory.results(pending.n_chunks), report)
        write_output(spec, pending.columns, results, directory.path / "output.tmp")
        directory.finish()
    return replace(
        report,
        n_records=pending.n_records,
        n_resumed=pending.n_records - progress.n_done,
    )


def _check_room(spec: JobSpec) -> None:
    if spec.target.exists() and not spec.overwrite:
        raise ConfigError(
            f"output {spec.output} exists; add --overwrite to replace it, or give another name"
        )


def _noted(results: Iterator[dict[str, Any]], report: JobReport) -> Iterator[dict[str, Any]]:
    """The results, counted on their way to the output."""
    for result in results:
        message = report.failures.add(result["line"], _error_of(result))
        if message is not None:
            report.messages.append(message)
        yield result


def _error_of(result: dict[str, Any]) -> SumfitError | None:
    """The error of a result, as it was before it became JSON."""
    if result["error"] is None:
        return None
    kind: type[SumfitError] = getattr(errors, result["error_type"], SumfitError)
    return kind.from_parts(result["error_parts"])


class _Pending:
    """The chunks that no earlier run finished; counts all of them, and their columns."""

    def __init__(self, spec: JobSpec, finished: set[int]) -> None:
        self._spec = spec
        self.finished = finished
        self.n_chunks = 0
        self.n_records = 0
        self.columns: dict[str, None] = {}

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in read_chunks(self._spec):
            self.n_chunks = chunk.index + 1
            self.n_records += len(chunk.records)
            self.columns |= dict.fromkeys(chunk.columns)
            if chunk.index not in self.finished:
                yield chunk
