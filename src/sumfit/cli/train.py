"""``sumfit train``: train a model from a recipe, on one device or under ``torchrun``."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sumfit.cli.logs import log_to_stderr

if TYPE_CHECKING:
    from sumfit.training.stages import Progress, TrainResult

__all__ = ["print_result", "train"]


def train(
    recipe: Annotated[Path, typer.Argument(help="Recipe file (TOML).")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE...", help="Settings to change, such as optimizer.lr=3e-4."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint, if there is one.")
    ] = False,
    validate_only: Annotated[
        bool,
        typer.Option(
            "--validate-only",
            help="Report every problem of recipe, data and options; no training.",
        ),
    ] = False,
    show: Annotated[
        bool,
        typer.Option(
            "--show",
            help="Print every setting of the recipe, inherited and default ones too; no training.",
        ),
    ] = False,
    device: Annotated[
        str, typer.Option(help="cpu, cuda or cuda:N; the best there is by default.")
    ] = "",
    workers: Annotated[
        int, typer.Option(help="Processes for packing the data; 0 for one per core.")
    ] = 0,
) -> None:
    """Train a model from a recipe.

    On several GPUs: torchrun --nproc-per-node 4 -m sumfit train RECIPE.toml [KEY=VALUE...]

    The first process prints the last checkpoint and the best one on standard output.
    """
    from sumfit.training.recipe import load_recipe

    if validate_only:
        from sumfit.training.check import check_training

        for line in check_training(
            recipe, overrides or (), resume=resume, device=device, n_workers=workers
        ):
            print(line)
        return
    if show:
        from sumfit.training.recipe_text import recipe_text

        print(recipe_text(load_recipe(recipe, overrides or ())), end="")
        return
    is_first = int(os.environ.get("RANK", "0")) == 0
    log_to_stderr(logging.INFO if is_first else logging.WARNING)
    settings = load_recipe(recipe, overrides or ())
    from sumfit.training.run import train as run

    with _progress(settings.name) as on_progress:
        result = run(
            settings, resume=resume, device=device, n_workers=workers, on_progress=on_progress
        )
    if is_first:
        print_result(result)


def print_result(result: TrainResult) -> None:
    """Print the checkpoints that a run made, and on standard error how it ended.

    Args:
        result: How it ended.
    """
    print(f"stopped: {result.reason} at step {result.step}", file=sys.stderr)
    for name, value in result.scores.items():
        print(f"{name}: {value:.4f}", file=sys.stderr)
    print(result.checkpoint)
    if result.best is not None:
        print(result.best)


@contextmanager
def _progress(name: str) -> Iterator[Callable[[Progress], None]]:
    """Show a bar on a terminal, and lines elsewhere."""
    if not sys.stderr.isatty():
        yield _print_line
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (bars.TextColumn(name), bars.BarColumn(), bars.TextColumn("{task.description}"))
    with bars.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=1.0)

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.share, description=progress.line())

        yield show


def _print_line(progress: Progress) -> None:
    print(progress.line(), file=sys.stderr, flush=True)
