"""Everything that keeps a recipe from training, said without training.

Owns the report. Does not own the checks of recipe, call, data and corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sumfit.data.checking import Packer, check_sets
from sumfit.data.corpus import is_packed
from sumfit.errors import ConfigError, InputError, ModelError, Phrase, joined
from sumfit.training.recipe import Recipe, load_recipe, recipe_problems
from sumfit.training.run import call_problems, corpus_problems, output_problems

__all__ = ["check_training"]


def check_training(
    path: Path, overrides: Sequence[str], *, resume: bool, device: str, n_workers: int
) -> Iterator[str]:
    """Check a recipe, its data and a call of training.

    Args:
        path: The recipe's file.
        overrides: Settings to change.
        resume: Whether checkpoints may be there.
        device: Device to train on.
        n_workers: Processes that pack.

    Yields:
        Lines of the report.

    Raises:
        ConfigError: At the end, if recipe or call have problems; all are listed.
        InputError: At the end, if files alone have.
    """
    problems: list[Phrase] = [*recipe_problems(path, overrides)]
    problems += call_problems(device=device, n_workers=n_workers)
    try:
        recipe = load_recipe(path, overrides)
    except ConfigError:
        raise ConfigError(*joined("\n", problems)) from None
    problems += output_problems(recipe.output, resume=resume)
    if not (problems and recipe.data.lists):  # lists that cannot be read have been named
        problems += corpus_problems(recipe)
    packer, of_files = None, list[str]()
    tokenizer = recipe.known_tokenizer
    if tokenizer is None:
        yield "no tokenizer yet: whether summaries are too long for the graph shows when packing"
    else:
        try:
            packer = Packer(tokenizer, recipe.data.sets, recipe.pack_options)
        except ModelError as error:
            of_files.append(str(error))
    data_dir = Path(recipe.data_dir)
    corpus = recipe.corpus if is_packed(recipe.corpus) else None
    sets = recipe.data.sets
    yield from check_sets(sets, data_dir, problems=of_files, packer=packer, corpus=corpus)
    if corpus is None:
        problems += _batch_problems(recipe, packer)
    if problems or of_files:
        kind = ConfigError if problems else InputError
        raise kind(*joined("\n", [*problems, *of_files]))
    yield f"{path} and its data can be used"


def _batch_problems(recipe: Recipe, packer: Packer | None) -> list[str]:
    """Return the problem if a batch has no room for the longest source of data not yet packed."""
    if packer is None or recipe.data.leave_out or recipe.data.max_pairs:
        return []  # only packing tells which pairs are used
    if recipe.batch_options.too_costly(1):
        return []  # said with the recipe
    problem = recipe.batch_options.too_costly(packer.longest_source)
    return [problem] if problem else []
