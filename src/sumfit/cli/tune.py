"""``sumfit tune``: fit the length bonus and the MBR settings, and store them in the model."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from sumfit.errors import ConfigError
from sumfit.evaluation.table import render
from sumfit.jobs.progress import Progress
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, find_set
from sumfit.reproduction.tuning import (
    bonus_grids,
    count_summaries,
    store,
    tune_bonuses,
    tune_weight,
)
from sumfit.runtime.directory import DEFAULT_MODEL

__all__ = ["tune"]


def tune(
    model: Annotated[Path, typer.Argument(help="Model directory; its config.json is rewritten")],
    data: Annotated[Path, typer.Option("--data", "-d", help="Directory of the validation sets")],
    sets: Annotated[
        list[str], typer.Option("--set", "-s", help="Set below --data, such as newsapi/valid")
    ],
    first: Annotated[int, typer.Option(help="Items of each set", min=1)] = 300,
    bonuses: Annotated[
        str | None,
        typer.Option(
            help="Bonuses to try, nats per unit of the limit, with commas between; "
            "a grid for each unit if not given"
        ),
    ] = None,
    units: Annotated[str, typer.Option(help="Units to tune")] = "chars,words,tokens",
    mbr: Annotated[bool, typer.Option(help="Tune the weight of MBR too")] = True,
    mbr_limit: Annotated[int, typer.Option(help="Limit in characters for MBR")] = 60,
    processes: Annotated[int | None, typer.Option(help="Processes; one per processor")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change no file")] = False,
    format: Annotated[
        Literal["text", "markdown", "json"], typer.Option(help="Output format")
    ] = "text",
) -> None:
    """Tune the length bonus of each unit and the weight of MBR on validation data."""
    if not dry_run:
        _check_own(model)
    grids = bonus_grids(units, bonuses)
    pairs = [EvaluationSet.read(find_set(data, name), name=name, first=first) for name in sets]
    n_summaries = count_summaries(pairs, grids, mbr=mbr)
    shown = Progress(n_summaries, what="summaries", is_quiet=not sys.stderr.isatty())
    runs = ModelRunner(model, n_processes=processes, on_progress=shown.add)
    with contextlib.closing(shown), runs as runner:
        found = tune_bonuses(runner, pairs, grids)
        if mbr:
            found = tune_weight(runner, pairs, found, limit=mbr_limit)
    if not dry_run:
        store(model, found.bonus, found.weight)
    typer.echo(render(found.tables, format))


def _check_own(model: Path) -> None:
    """Raise for the embedded model, which the caller may not rewrite."""
    if str(model) == DEFAULT_MODEL and not model.exists():
        raise ConfigError(
            "the embedded model is not rewritten; copy it with sumfit export default -o DIR and "
            "tune that, or use --dry-run"
        )
