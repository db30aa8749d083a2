"""``sumfit train``: train a model from a recipe, on one device or under ``torchrun``."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sumfit.cli.logs import log_to_stderr

if TYPE_CHECKING:
    from sumfit.data.checking import Packer
    from sumfit.training.recipe import Recipe
    from sumfit.training.reranking.recipe import RerankerRecipe
    from sumfit.training.stages import Progress, TrainResult

__all__ = ["print_recipe", "print_result", "train"]


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
        _report(recipe, overrides or (), resume=resume, device=device, workers=workers)
        return
    if show:
        print_recipe(load_recipe(recipe, overrides or ()))
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


def print_recipe(recipe: Recipe | RerankerRecipe) -> None:
    """Print a recipe with all that it inherits, as TOML that makes the same recipe.

    Args:
        recipe: What was read from its file.
    """
    import tomli_w

    from sumfit.config import to_mapping
    from sumfit.training.recipe import Recipe

    values = _without_none(to_mapping(recipe))
    if isinstance(recipe, Recipe):
        del values["model"]["vocab_size"]  # the tokenizer's; a recipe may not set it
    print(tomli_w.dumps(values), end="")


def _without_none(value: Any) -> Any:
    """Leave out what is not set, for which TOML has no value."""
    if isinstance(value, dict):
        return {k: _without_none(item) for k, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


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


def _report(
    path: Path, overrides: Sequence[str], *, resume: bool, device: str, workers: int
) -> None:
    from sumfit.data.checking import Packer, check_sets
    from sumfit.data.corpus import is_packed
    from sumfit.errors import ConfigError, InputError, ModelError
    from sumfit.training.recipe import load_recipe, recipe_problems
    from sumfit.training.run import call_problems, corpus_problems, output_problems

    problems = recipe_problems(path, overrides)
    problems += call_problems(device=device, n_workers=workers)
    try:
        recipe = load_recipe(path, overrides)
    except ConfigError:
        raise ConfigError("\n".join(problems)) from None
    problems += output_problems(recipe.output, resume=resume)
    if not (problems and recipe.data.lists):  # lists that cannot be read have been named
        problems += corpus_problems(recipe)
    packer, of_files = None, list[str]()
    tokenizer = recipe.known_tokenizer
    if tokenizer is None:
        print("no tokenizer yet: whether summaries are too long for the graph shows when packing")
    else:
        try:
            packer = Packer(tokenizer, recipe.data.sets, recipe.pack_options)
        except ModelError as error:
            of_files.append(str(error))
    data_dir = Path(recipe.data_dir)
    corpus = recipe.corpus if is_packed(recipe.corpus) else None
    sets = recipe.data.sets
    for line in check_sets(sets, data_dir, problems=of_files, packer=packer, corpus=corpus):
        print(line)
    if corpus is None:
        problems += _batch_problems(recipe, packer)
    if problems or of_files:
        kind = ConfigError if problems else InputError
        raise kind("\n".join([*problems, *of_files]))
    print(f"{path} and its data can be used")


def _batch_problems(recipe: Recipe, packer: Packer | None) -> list[str]:
    """Return the problem if a batch has no room for the longest source of data not yet packed."""
    if packer is None or recipe.data.leave_out or recipe.data.max_pairs:
        return []  # only packing tells which pairs are used
    if recipe.batch_options.too_costly(1):
        return []  # said with the recipe
    problem = recipe.batch_options.too_costly(packer.longest_source)
    return [problem] if problem else []


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
            bar.update(task, completed=progress.share, description=_describe(progress))

        yield show


def _print_line(progress: Progress) -> None:
    print(_describe(progress), file=sys.stderr, flush=True)


def _describe(progress: Progress) -> str:
    values = progress.values
    left = "" if progress.left_s == float("inf") else f"  {progress.left_s / 60:.1f} min left"
    glance = f"glance {values['glance']:.2f}  " if values["glance"] else ""
    return (
        f"step {progress.step}  loss {values['loss']:.3f}  nll {values['nll']:.3f}  "
        f"lr {values['lr']:.2e}  grad {values['grad_norm']:.2f}  {glance}"
        f"{values['pairs_per_s']:.0f} pairs/s{left}"
    )
