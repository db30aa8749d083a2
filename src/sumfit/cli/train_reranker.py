"""``sumfit train-reranker``: train a reranker from a recipe."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sumfit.cli.logs import log_to_stderr
from sumfit.cli.train import print_result

if TYPE_CHECKING:
    from sumfit.training.stages import Progress

__all__ = ["train_reranker"]


def train_reranker(
    recipe: Annotated[Path, typer.Argument(help="Recipe file (TOML).")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE...",
            help="Settings to change, such as train=LISTS,LISTS valid=LISTS loss.kind=pairwise.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint, if there is one.")
    ] = False,
    prepare_only: Annotated[
        bool, typer.Option("--prepare-only", help="Make and encode the n-best lists, and stop.")
    ] = False,
    show: Annotated[
        bool,
        typer.Option(
            "--show",
            help="Print every setting of the recipe, inherited and default ones too; no training.",
        ),
    ] = False,
    export: Annotated[
        Path | None, typer.Option(help="Also export the best checkpoint to this directory.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda or cuda:N; the best there is by default.")
    ] = "",
    workers: Annotated[
        int, typer.Option(help="Processes for making and encoding lists; 0 for one per core.")
    ] = 0,
) -> None:
    """Train a reranker from a recipe.

    N-best lists that the recipe describes are made first, where they are not there yet.
    """
    from sumfit.training.reranking.loop import train_reranker as run
    from sumfit.training.reranking.recipe import load_reranker_recipe

    settings = load_reranker_recipe(recipe, overrides or ())
    if show:
        from sumfit.training.recipe_text import recipe_text

        print(recipe_text(settings), end="")
        return
    log_to_stderr(logging.INFO)
    result = run(
        settings,
        resume=resume,
        device=device,
        n_workers=workers,
        prepare_only=prepare_only,
        on_progress=_print_line,
    )
    if result is None:
        return
    print_result(result)
    if export is not None:
        from sumfit.training.reranking.files import export_reranker

        print(export_reranker(result.best or result.checkpoint, export))


def _print_line(progress: Progress) -> None:
    values = progress.values
    left = "" if progress.left_s == float("inf") else f"  {progress.left_s / 60:.1f} min left"
    print(
        f"step {progress.step}  loss {values['loss']:.4f}  lr {values['lr']:.2e}  "
        f"grad {values['grad_norm']:.2f}  {values['lists_per_s']:.0f} lists/s{left}",
        file=sys.stderr,
        flush=True,
    )
