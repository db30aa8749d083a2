"""``sumfit reproduce``: make the paper's tables again, with the paper's figures beside ours."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sumfit.cli.options import with_flags
from sumfit.errors import ConfigError
from sumfit.evaluation.endpoint import AnswerCache, Endpoint, EndpointOptions
from sumfit.evaluation.table import Table, render
from sumfit.jobs.progress import Progress
from sumfit.reproduction.baselines import load_baselines
from sumfit.reproduction.paper import TABLES
from sumfit.reproduction.paper_data import read_test_set
from sumfit.reproduction.plots import write_plots
from sumfit.reproduction.rows import Reproduction, parse_rerankers, parse_systems
from sumfit.reproduction.runs import ModelRunner
from sumfit.reproduction.tables import MAKERS, choose_tables, count_summaries

__all__ = ["reproduce"]


@dataclass(frozen=True)
class RowFlags:
    """What fills rows that the model alone cannot fill."""

    system: Annotated[
        list[str] | None,
        typer.Option(help="Fill a row from a file: NAME=FILE, or NAME@25=FILE for one ratio"),
    ] = None
    baseline: Annotated[
        list[str] | None,
        typer.Option(help="Fill the rows of a trained baseline: its checkpoint, or NAME=DIR"),
    ] = None
    device: Annotated[
        str | None, typer.Option(help="Torch device of baselines; a GPU if there is one")
    ] = None
    reranker: Annotated[
        list[str] | None,
        typer.Option(
            help="Trained rerankers: DIR for the paper's, ours=DIR, or NAME=DIR with the name of a "
            "row of table9"
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """The same for `Reproduction`.

        Returns:
            Files, rerankers and baselines; the latter loaded.
        """
        return {
            "files": parse_systems(self.system or []),
            "rerankers": parse_rerankers(self.reranker or []),
            "baselines": load_baselines(self.baseline or [], device=self.device),
        }


@dataclass(frozen=True)
class JudgeFlags:
    """Who judges pairs of summaries for table4."""

    endpoint: Annotated[str | None, typer.Option(help="Chat endpoint of the judge")] = None
    judge_model: Annotated[str, typer.Option(help="Name of the judging model")] = ""
    cache: Annotated[Path, typer.Option(help="File of the judge's answers")] = Path(
        "judge-answers.jsonl"
    )

    def opened(self) -> contextlib.AbstractContextManager[Endpoint | None]:
        """The judge, if there is one.

        Returns:
            A context manager.
        """
        if self.endpoint is None:
            return contextlib.nullcontext()
        options = EndpointOptions(self.endpoint, self.judge_model)
        return Endpoint(options, cache=AnswerCache(self.cache))


@with_flags(rows=RowFlags, judge=JudgeFlags)
def reproduce(
    table: Annotated[
        str | None, typer.Argument(help="table1, table2, table4 ... table9, or all")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name all tables and stop")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", "-d", help="Test set: a directory or a file of pairs")
    ] = None,
    duc: Annotated[
        Path | None, typer.Option(help="DUC 2004 for table2; --data if left out")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Model directory; the default model if left out")
    ] = None,
    ending: Annotated[
        Literal["eos", "any"], typer.Option(help="Objective; the paper's search used any")
    ] = "eos",
    first: Annotated[int | None, typer.Option(help="So many items, spread evenly", min=1)] = None,
    processes: Annotated[int | None, typer.Option(help="Processes; one per processor")] = None,
    plots: Annotated[
        Path | None, typer.Option(help="Directory for charts of tables 1 and 6, as SVG")
    ] = None,
    format: Annotated[
        Literal["text", "markdown", "json"], typer.Option(help="Output format")
    ] = "text",
    *,
    rows: RowFlags,
    judge: JudgeFlags,
) -> None:
    """Make tables of the paper again; rows that need a baseline not at hand are left out."""
    if list_:
        known = Table("Tables of the paper", ("table", "subject"), tuple(TABLES.items()))
        typer.echo(render([known], format))
        return
    names = choose_tables(table, has_judge=judge.endpoint is not None, has_duc=duc is not None)
    if data is None:
        raise ConfigError("give the test set with --data DIR; see sumfit reproduce --help")
    shown = _progress(names)
    settings = {**rows.settings(), "ending": ending, "first": first, "on_progress": shown.add}
    runs = ModelRunner(model, n_processes=processes, on_progress=shown.add)
    with contextlib.closing(shown), runs as runner, judge.opened() as asked:
        made = {}
        for path in {data, duc or data}:
            part = read_test_set(path, first=first)
            made[path] = Reproduction(runner=runner, part=part, endpoint=asked, **settings)
        origins = {name: made[duc or data] if name == "table2" else made[data] for name in names}
        tables = _tables(origins, shown)
    if plots is not None:
        write_plots(plots, tables)
    typer.echo(render([part for parts in tables.values() for part in parts], format))


def _progress(names: Sequence[str]) -> Progress:
    """Counts the summaries that all tables take; shown on a terminal alone."""
    is_quiet = not sys.stderr.isatty() or names == ["table6"]  # which only times some
    return Progress(None, what="summaries", is_quiet=is_quiet)


def _tables(origins: Mapping[str, Reproduction], shown: Progress) -> dict[str, list[Table]]:
    """Make the tables, each from its origin."""
    shown.expect(count_summaries(origins))
    return {name: MAKERS[name](origin) for name, origin in origins.items()}
