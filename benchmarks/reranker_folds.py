"""What a reranker's recipe wins, cross-validated over the texts of all its lists.

    python benchmarks/reranker_folds.py RECIPE [--folds N] [KEY=VALUE ...]

All lists of the recipe, those to learn from and those to select by, are dealt into N folds; a text
and its other forms are in one fold, as far as their files are of one directory. N times the recipe
learns from all folds but one and chooses from that one. Weights should be settled in the recipe
(``selection.weights`` and ``selection.f1_weights`` of one value each): of several, the best on the
very fold is taken, which is a little too good. A table of phrases is counted once, or named by
``phrases.table``.

Prints R-Sum without stemming of the first candidate, minimum Bayes risk, the choice and the best
candidate of each fold and over all lists.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sumfit.errors import SumfitError
from sumfit.evaluation.table import Cell, Table, render
from sumfit.training.nbest.lists import Lists, part_path, read_lists, write_meta
from sumfit.training.nbest.spec import NbestSpec
from sumfit.training.reranking.loop import phrase_table, prepare_lists, train_reranker
from sumfit.training.reranking.recipe import RerankerRecipe, load_reranker_recipe

SCORES = ("r_sum_first", "r_sum_mbr", "r_sum", "r_sum_oracle")
COLUMNS = ("fold", "lists", "first", "MBR", "chosen", "best", "over MBR")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("overrides", nargs="*", help="key=value, as for sumfit train-reranker")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=0, help="processes; one per core")
    args = parser.parse_intermixed_args(argv)
    try:
        with tempfile.TemporaryDirectory() as folder:
            recipe = load_reranker_recipe(args.recipe, args.overrides)
            recipe = dataclasses.replace(recipe, output_dir=f"{folder}/run")
            table = cross_validated(recipe, Path(folder), args.folds, args.workers)
    except SumfitError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(render([table], "markdown"))
    return 0


def cross_validated(recipe: RerankerRecipe, folder: Path, n_folds: int, n_workers: int) -> Table:
    """Train on all folds but one, N times.

    Args:
        recipe: The recipe.
        folder: An empty directory to work in.
        n_folds: N.
        n_workers: Processes for what is made first.

    Returns:
        A row for each fold, and one for all lists.
    """
    prepare_lists(recipe, n_workers=n_workers)
    if recipe.counts_phrases:
        phrases = dataclasses.replace(recipe.phrases, table=str(phrase_table(recipe)))
        recipe = dataclasses.replace(recipe, phrases=phrases)
    specs = (*recipe.train, *recipe.valid)
    sizes = [deal(Path(spec.lists), folder / "lists", n_folds) for spec in specs]
    rows: list[tuple[Cell, ...]] = []
    values = []
    counts = np.sum(sizes, axis=0)
    for fold in range(n_folds):
        kept = [_dealt(folder, spec, k) for spec in specs for k in range(n_folds) if k != fold]
        held = [_dealt(folder, spec, fold) for spec in specs]
        result = train_reranker(
            dataclasses.replace(
                recipe, train=tuple(kept), valid=tuple(held), output_dir=str(folder / f"r{fold}")
            ),
            n_workers=n_workers,
        )
        assert result is not None
        values.append([result.scores[name] for name in SCORES])
        rows.append((fold, int(counts[fold]), *values[-1], values[-1][2] - values[-1][1]))
    means = np.average(values, axis=0, weights=counts).tolist()
    rows.append(("all", int(counts.sum()), *means, means[2] - means[1]))
    return Table(f"{recipe.name}, {n_folds} folds", COLUMNS, tuple(rows))


def deal(directory: Path, target: Path, n_folds: int) -> list[int]:
    """Write the lists of a directory as one directory for each fold.

    Args:
        directory: Lists.
        target: Where the directories ``NAME-FOLD`` are made.
        n_folds: How many.

    Returns:
        Lists of each.
    """
    meta, parts = read_lists(directory)
    lists = Lists.joined(list(parts))
    corpus = directory.name.rpartition("-")[0]
    texts = [f"{corpus} {item}".encode() for item in lists.items.tolist()]
    folds = np.array([zlib.crc32(text) % n_folds for text in texts])
    for fold in range(n_folds):
        own = target / f"{directory.name}-{fold}"
        own.mkdir(parents=True)
        (own / "tokenizer.json").write_bytes((directory / "tokenizer.json").read_bytes())
        some = taken(lists, folds == fold)
        some.save(part_path(own, 0))
        write_meta(own, dataclasses.replace(meta, n_items=len(some), n_parts=1))
    return [int((folds == fold).sum()) for fold in range(n_folds)]


def taken(lists: Lists, wanted: npt.NDArray[np.bool_]) -> Lists:
    """Some of the lists.

    Args:
        lists: All.
        wanted: ``(N,)`` which.

    Returns:
        Those.
    """
    candidates = np.repeat(wanted, lists.n_candidates)
    masks = {
        "source_ids": np.repeat(wanted, lists.source_lengths),
        "candidate_ids": np.repeat(candidates, lists.candidate_lengths),
    }
    arrays = {field.name: getattr(lists, field.name) for field in dataclasses.fields(lists)}
    per_list = {"items", "limits", "n_candidates", "source_lengths"}
    for name, values in arrays.items():
        mask = masks.get(name, wanted if name in per_list else candidates)
        arrays[name] = values[mask]
    return Lists(**arrays)


def _dealt(folder: Path, spec: NbestSpec, fold: int) -> NbestSpec:
    return NbestSpec(lists=str(folder / "lists" / f"{Path(spec.lists).name}-{fold}"))


if __name__ == "__main__":
    sys.exit(main())
