"""What is wrong with what a recipe names: data, tokenizer, lists, start weights, batches.

Owns one sentence for each problem. Does not own what a recipe says (`sumfit.training.recipe`).
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sumfit.data.batching import BatchOptions
from sumfit.data.corpus import is_packed
from sumfit.data.sets import missing_files
from sumfit.errors import ModelError, ModelNotFoundError
from sumfit.models.config import INSTALLED, DATConfig, architecture_differences
from sumfit.text import Tokenizer
from sumfit.training.start import start_directory, start_system, tokenizer_file

if TYPE_CHECKING:
    from sumfit.training.recipe import DataSection, StartSection

__all__ = ["batch_problems", "data_problems", "start_problems"]


def data_problems(data: DataSection, data_dir: Path, corpus: Path | None) -> list[str]:
    """Say what is wrong with the files of the sets, the tokenizer and the n-best lists.

    Args:
        data: Names them.
        data_dir: Where relative names start.
        corpus: Directory of the packed corpus, ``None`` if unknown; where there is one already,
            sets and tokenizer are not looked at.

    Returns:
        One sentence for each problem.
    """
    problems = list[str]()
    if corpus is None or not is_packed(corpus):
        if corpus is not None and data.corpus and not data.sets:
            problems.append(f"data.corpus {corpus} is not a packed corpus")
        problems += missing_files(data.sets, data_dir)
        tokenizer = tokenizer_file(data.tokenizer)
        if tokenizer is not None and not tokenizer.exists():
            problems.append(f"data.tokenizer {data.tokenizer} does not exist")
    if data.lists and corpus is not None:
        # Only here: lists are many imports for a recipe that names none.
        from sumfit.training.nbest.candidates import list_problems

        problems += list_problems(data.lists, corpus)
    return problems


def batch_problems(options: BatchOptions) -> list[str]:
    """Say whether no pair at all fits into a batch; how long sources are shows in the data.

    Args:
        options: Size of batches and rule for the graph.

    Returns:
        One sentence, or nothing.
    """
    if not options.too_costly(1):
        return []
    least = math.ceil(float(options.cost(np.array([1]))[0]))
    return [
        f"data.batch_tokens must be at least {least}, the cost of one pair of the shortest "
        f"source, was {options.batch_tokens}; raise it"
    ]


def start_problems(
    start: StartSection,
    system: str,
    model: DATConfig | None = None,
    tokenizer: Path | None = None,
) -> list[str]:
    """Say what is wrong with the weights that a run is to start from.

    Args:
        start: Names them.
        system: What is trained.
        model: Its architecture, whose number of pieces is not looked at; ``None`` if unknown.
        tokenizer: File of its tokenizer; ``None`` if there is none yet.

    Returns:
        One sentence for each problem.
    """
    problems = list[str]()
    if start.minilm == INSTALLED:
        from sumfit.models.minilm import installed_directory

        try:
            installed_directory()
        except ModelNotFoundError as error:
            problems.append(f"start.minilm: {error}")
    elif start.minilm and not Path(start.minilm).exists():
        problems.append(f"start.minilm {start.minilm} does not exist")
    if start.model:
        problems += _model_problems(start.model, system, model, tokenizer)
    return problems


def _model_problems(
    name: str, system: str, model: DATConfig | None, tokenizer: Path | None
) -> list[str]:
    """What is wrong with the model that a run is to start from."""
    directory = start_directory(name)
    if not directory.exists():
        return [f"start.model {name} does not exist"]
    if (found := start_system(name)) != system:
        return [
            f"start.model {name} holds a model of the system {found!r}, but "
            f"{system!r} is wanted; give a model of that system, or change system"
        ]
    # Only here: a recipe that starts from no model needs no torch to be looked at.
    from sumfit.models.checkpoint import read_architecture, require_weights

    try:
        there = read_architecture(directory)
        require_weights(directory, system)
    except ModelError as error:
        return [f"start.model {name}: {error}"]
    problems = list[str]()
    if model is not None:
        here = dataclasses.replace(model, vocab_size=there.vocab_size)
        if different := architecture_differences(there, here, system, may_adjust=True):
            problems.append(
                f"start.model {name} has another architecture than [model] asks for: {different}; "
                "leave these out of [model], which then takes them from there, or start from "
                "another model"
            )
    own, theirs = _tokenizer(tokenizer), _tokenizer(directory / "tokenizer.json")
    different = ""
    if own is not None and own.vocab_size != there.vocab_size:
        different = f"has {there.vocab_size} pieces, but {tokenizer} {own.vocab_size}"
    elif own is not None and theirs is not None and own.fingerprint != theirs.fingerprint:
        different = f"has as many pieces as {tokenizer}, but not the same"
    if different:
        problems.append(
            f"start.model {name} {different}; leave data.tokenizer out, or pack data.corpus again "
            "with the tokenizer of that model"
        )
    return problems


def _tokenizer(file: Path | None) -> Tokenizer | None:
    try:
        return None if file is None else Tokenizer.from_file(file)
    except ModelError:  # said when the data are looked at; a checkpoint may have none
        return None
