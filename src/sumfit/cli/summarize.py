"""``sumfit summarize``: a file of texts in, a summary for each out, in order."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer

from sumfit.cli.options import LengthFlags, ModelFlags, SummaryFlags, choice, with_flags
from sumfit.cli.settings import SettingsFlags
from sumfit.cli.terminal import as_flag
from sumfit.data.lines import COMPRESSED
from sumfit.errors import BudgetError, ConfigError, ConflictingBudgetError, SumfitError
from sumfit.hypothesis import Summary
from sumfit.jobs import JobSpec, run_job
from sumfit.jobs.failures import Failures
from sumfit.jobs.formats import FORMATS
from sumfit.jobs.items import Item, guessed_delimiter, read_items
from sumfit.jobs.records import RECORD_FIELDS, error_record, json_line, record_of
from sumfit.jobs.stream import StreamProgress, summarize_items
from sumfit.jobs.whole_file import open_output
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.text.printable import one_line

__all__ = ["summarize"]

_RECORDS = "Records of the file"
_JOB = "File jobs (--output)"
_SPEED = "Speed"


@dataclass(frozen=True)
class RecordFlags:
    """What to take out of each record."""

    field: Annotated[
        str | None,
        typer.Option(
            "--field",
            "--source-column",
            help="Field of the text; text or source if not given.",
            metavar="NAME",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    limit_field: Annotated[
        str | None,
        typer.Option(
            help="Field of each record's own limit, in --unit.",
            metavar="NAME",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Field to carry into the JSONL output; repeatable.",
            metavar="NAME",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    input_format: Annotated[
        str | None,
        choice("Told from name or first lines if not given; whole is one text", FORMATS, _RECORDS),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="What stands between fields of CSV, read and written, tab for a tab; told from "
            "the first lines if not given.",
            metavar="MARK",
            rich_help_panel=_RECORDS,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Encoding of the input, such as cp1252; UTF-8 if not given, and in the output.",
            metavar="NAME",
            rich_help_panel=_RECORDS,
        ),
    ] = None

    @property
    def mark(self) -> str | None:
        """The delimiter, which names a tab."""
        return "\t" if self.delimiter in ("tab", "\\t") else self.delimiter


@dataclass(frozen=True)
class JobFlags:
    """How a file becomes another one."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, its format by its name; resumable if FILE is one.",
            metavar="OUT",
        ),
    ] = None
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace an output that exists.", rich_help_panel=_JOB),
    ] = False
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Start a job again.", rich_help_panel=_JOB),
    ] = False
    output_field: Annotated[
        str,
        typer.Option(
            help="Column of the summary in a job's output.", metavar="NAME", rich_help_panel=_JOB
        ),
    ] = "summary"
    processes: Annotated[
        int, typer.Option(help="Processes of a file job.", metavar="N", rich_help_panel=_JOB)
    ] = 1
    engine: Annotated[str, choice("This machine, or a Ray cluster.", ("local", "ray"), _JOB)] = (
        "local"
    )
    gpus: Annotated[
        float, typer.Option(help="GPUs for each Ray actor.", metavar="N", rich_help_panel=_JOB)
    ] = 0.0

    def spec(self, file: str, record: RecordFlags, **settings: Any) -> JobSpec:
        """The job that turns a file into the output.

        Args:
            file: The input.
            record: What to take out of its records.
            **settings: Further fields of `JobSpec`.

        Returns:
            The job.
        """
        return JobSpec(
            input=Path(file),
            output=Path(str(self.output)),
            format=cast(Any, record.input_format),
            field=record.field,
            limit_field=record.limit_field,
            output_field=self.output_field,
            n_processes=self.processes,
            engine=cast(Any, self.engine),
            n_gpus=self.gpus,
            restart=self.restart,
            overwrite=self.overwrite,
            delimiter=record.mark,
            encoding=record.encoding,
            **settings,
        )


@with_flags(
    length=LengthFlags,
    summary=SummaryFlags,
    record=RecordFlags,
    job=JobFlags,
    model=ModelFlags,
    settings=SettingsFlags,
)
def summarize(
    file: Annotated[str, typer.Argument(help="File of texts; - for standard input.")] = "-",
    format: Annotated[str, choice("Lines, or everything known.", ("text", "jsonl"))] = "text",
    workers: Annotated[
        int | None,
        typer.Option(
            help="Threads; one per processor if not given.", metavar="N", rich_help_panel=_SPEED
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            help="Texts that a batching backend predicts at once.",
            metavar="N",
            rich_help_panel=_SPEED,
        ),
    ] = None,
    *,
    record: RecordFlags,
    job: JobFlags,
    length: LengthFlags,
    summary: SummaryFlags,
    model: ModelFlags,
    settings: SettingsFlags,
) -> None:
    """Summarise every text of a file, in order, as results come.

    sumfit summarize news.txt --max-words 8

    sumfit summarize news.jsonl.gz --field body --max-chars 60 --format jsonl --keep id

    sumfit summarize subtitles.csv --limit-field width --unit cells

    sumfit summarize big.parquet --max-chars 60 -o out.parquet --processes 4

    With --output, the input's columns are kept and the job is resumable: the same command after
    a crash goes on where it stopped. An output that exists is replaced with --overwrite alone.

    With several limits, as --max-chars 30,60, lines are tab-separated: number of the text, limit,
    summary.

    A text that cannot be summarised gives an empty line (text) or a record with its line and error
    (jsonl); the others come through, and the exit code is 1 at the end.
    """
    if format not in ("text", "jsonl"):
        raise ConfigError(f"--format must be text or jsonl, was {format!r}")
    keywords = {**_lengths(length, record.limit_field), **summary.keywords()}
    if job.output not in (None, "-") and file != "-":
        _refuse_given(_flags_of_streams(workers, batch_size, model), "has no effect with -o")
        options = {**length.keywords(), **summary.keywords()}
        spec = _with_delimiter(job.spec(file, record, options=options, model=model.model))
        _check_candidates(summary, has_room=spec.output_format != "lines")
        failures = _run_job(spec)
    else:
        _refuse_given(_flags_of_jobs(job), "is for a file job: name FILE and -o OUT with it")
        format = _stream_format(format, job.output)
        _check_kept(record.keep or (), format)
        _check_candidates(summary, has_room=format == "jsonl")
        _check_line_ends(length, format)
        items = read_items(
            file,
            format=record.input_format,
            text_field=record.field,
            limit_field=record.limit_field,
            keep=record.keep or (),
            delimiter=record.mark,
            encoding=record.encoding,
            on_guess=_say_guess,
            on_delimiter=partial(_say_delimiter, "standard input" if file == "-" else file),
        )
        if job.overwrite and job.output in (None, "-"):
            raise ConfigError("--overwrite goes with -o FILE; leave it out")
        summarizer = model.load(n_workers=workers)
        results = summarize_items(
            summarizer,
            items,
            has_own_limits=record.limit_field is not None,
            batch_size=batch_size,
            **keywords,
        )
        limits = keywords.get("limits")
        failures = _write_all(results, job.output, format, limits, overwrite=job.overwrite)
    if failures.n_failed:
        print(failures.total(), file=sys.stderr)
        raise typer.Exit(1)


def _say_guess(format: str) -> None:
    what = {"whole": "one text, a page"}.get(format, format.upper())
    print(
        f"note: standard input is read as {what} (--input-format lines if each line is a text)",
        file=sys.stderr,
    )


def _with_delimiter(spec: JobSpec) -> JobSpec:
    """The job with the delimiter that its input has, where nobody stated one."""
    if spec.input_format != "csv" or spec.delimiter is not None:
        return spec
    fields = {name for name in (spec.field, spec.limit_field) if name is not None}
    mark = guessed_delimiter(spec.input, fields=fields, encoding=spec.encoding)
    if mark is None:
        return spec
    _say_delimiter(str(spec.input), mark)
    return replace(spec, delimiter=mark)


def _say_delimiter(name: str, mark: str) -> None:
    shown = "a tab" if mark == "\t" else f"'{mark}'"
    print(
        f"note: {one_line(name)} is read as CSV with {shown} between fields (--delimiter ',' if a "
        "comma is)",
        file=sys.stderr,
    )


def _flags_of_streams(
    workers: int | None, batch_size: int | None, model: ModelFlags
) -> dict[str, Any]:
    """What was given among the flags that a file job, with processes of its own, cannot heed."""
    return {
        "--workers": workers,
        "--batch-size": batch_size,
        "--backend": None if model.backend == "onnx" else model.backend,
        "--device": model.device,
        "--precision": model.precision,
    }


def _flags_of_jobs(job: JobFlags) -> dict[str, Any]:
    """What was given among the flags of file jobs."""
    names = ("processes", "output_field", "restart", "engine", "gpus")
    given = {name: getattr(job, name) for name in names}
    return {
        f"--{name.replace('_', '-')}": value
        for name, value in given.items()
        if value != getattr(JobFlags, name)
    }


def _refuse_given(flags: dict[str, Any], reason: str) -> None:
    for flag, value in flags.items():
        if value is not None:
            shown = "" if value is True else f", was {value}"
            raise ConfigError(f"{flag} {reason}{shown}; leave it out")


def _stream_format(format: str, output: str | None) -> str:
    """What a stream is written as; the file's name says more than the default."""
    suffix = Path(output or "").suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return "jsonl"
    if suffix in (".json", ".csv", ".tsv", ".parquet", *COMPRESSED):
        raise ConfigError(
            f"standard input is summarised into lines or JSONL, was -o {output}; write .txt or "
            ".jsonl, or save the input as a file and name that"
        )
    return format


def _check_kept(keep: Sequence[str], format: str) -> None:
    if keep and format != "jsonl":
        raise ConfigError(f"--keep goes with --format jsonl, was {keep[0]!r} with lines; add it")
    taken = [name for name in keep if name in RECORD_FIELDS]
    if taken:
        raise ConfigError(
            f"--keep {taken[0]}: a result has a field of that name; rename the input's, or write a "
            "file with -o, which keeps all fields beside the summary's"
        )


def _check_candidates(summary: SummaryFlags, *, has_room: bool) -> None:
    """Raise for candidates that are neither written nor chosen from."""
    given = summary.keywords()
    is_chosen_from = given.get("rerank", "none") != "none" or given.get("faithful")
    n_best = given.get("n_best", 1)
    if n_best > 1 and not has_room and not is_chosen_from:
        raise ConfigError(
            f"--n-best {n_best}: lines hold one summary of each text; add --format jsonl, "
            "write a table with -o, or leave it out"
        )


def _check_line_ends(length: LengthFlags, format: str) -> None:
    """Raise for what would make several lines of one summary."""
    given = length.keywords()
    for name in ("prefix", "suffix"):
        if format == "text" and "\n" in given.get(name, ""):
            raise ConfigError(
                f"--{name} has a line end, which lines cannot hold; add --format jsonl, or leave "
                "the line end out"
            )


def _run_job(spec: JobSpec) -> Failures:
    is_quiet = os.environ.get("SUMFIT_QUIET", "") not in ("", "0") and not sys.stderr.isatty()
    report = run_job(spec, show_progress=not is_quiet)
    for message in report.messages:
        _print_failure(message)
    resumed = f", {report.n_resumed} of them from an earlier run" if report.n_resumed else ""
    records = "1 record" if report.n_records == 1 else f"{report.n_records} records"
    print(f"{records} in {one_line(str(spec.output))}{resumed}", file=sys.stderr)
    return report.failures


def _write_all(
    results: Iterator[tuple[Item, list[Summary]]],
    output: str | None,
    format: str,
    limits: Sequence[int] | None,
    *,
    overwrite: bool,
) -> Failures:
    failures = Failures(blank_is_good=format == "text")
    first = list(itertools.islice(results, 1))  # what is wrong with the call leaves a file alone
    with open_output(output, overwrite=overwrite) as stream, StreamProgress("texts") as progress:
        for item, summaries in itertools.chain(first, results):
            _write(stream, format, item, summaries, failures, limits)
            progress.advance(failures.n_failed)
    return failures


def _write(
    stream: TextIO,
    format: str,
    item: Item,
    summaries: list[Summary],
    failures: Failures,
    limits: Sequence[int] | None,
) -> None:
    """Write an item's results as they are, and say on stderr what is wrong with it."""
    error = item.error or next((one.error for one in summaries if one.error), None)
    message = failures.add(item.line, error)
    if message is not None:
        _print_failure(message)
    for place, one in enumerate(summaries):
        if format == "text":
            label = f"{item.line}\t{limits[place]}\t" if limits else ""
            stream.write(f"{label}{one.text}\n")
        else:
            result = record_of(one) if item.error is None else error_record(item.error)
            stream.write(json_line({**item.kept, "line": item.line, **result}) + "\n")
    stream.flush()


def _print_failure(message: SumfitError) -> None:
    print(one_line(message.text(as_flag)), file=sys.stderr)


def _lengths(length: LengthFlags, limit_field: str | None) -> dict[str, Any]:
    """Length keywords; several limits mean several for each text."""
    keywords = length.keywords()
    if limit_field is not None:
        _check_own_limits(keywords)
    several = [name for name, value in keywords.items() if isinstance(value, list)]
    if not several:
        return keywords
    name = several[0]
    flag = "--" + name.replace("_", "-")
    if not name.startswith("max_"):
        raise BudgetError(f"several limits go with --max-..., was {flag}; give one value there")
    limits = keywords.pop(name)
    unit = name.removeprefix("max_")
    return {**keywords, "limits": limits} | ({} if unit == "length" else {"unit": unit})


def _check_own_limits(keywords: dict[str, Any]) -> None:
    """Raise for what would fail for every record with a limit of its own."""
    others = [name for name in LIMIT_KEYWORDS if name in keywords and name != "min_length"]
    if others:
        flag = "--" + others[0].replace("_", "-")
        raise ConflictingBudgetError(
            f"{flag} and --limit-field are two length specifications; give one of them"
        )
    if "unit" not in keywords:
        raise BudgetError("--limit-field needs --unit, for example --unit chars")
