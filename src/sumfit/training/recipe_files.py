"""What is wrong with the files that a recipe names: data, tokenizer, lists, start weights.

Owns one sentence for each problem. Does not own what a recipe says (`sumfit.training.recipe`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sumfit.data.sets import missing_files
from sumfit.errors import ModelNotFoundError
from sumfit.models.config import INSTALLED
from sumfit.training.start import start_directory, start_system, tokenizer_file

if TYPE_CHECKING:
    from sumfit.training.recipe import DataSection, StartSection

__all__ = ["data_problems", "start_problems"]


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
    if corpus is None or not (corpus / "meta.json").exists():
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


def start_problems(start: StartSection, system: str) -> list[str]:
    """Say what is wrong with the weights that a run is to start from.

    Args:
        start: Names them.
        system: What is trained.

    Returns:
        One sentence for each problem.
    """
    problems = []
    if start.minilm == INSTALLED:
        from sumfit.models.minilm import installed_directory

        try:
            installed_directory()
        except ModelNotFoundError as error:
            problems.append(f"start.minilm: {error}")
    elif start.minilm and not Path(start.minilm).exists():
        problems.append(f"start.minilm {start.minilm} does not exist")
    if start.model and not start_directory(start.model).exists():
        problems.append(f"start.model {start.model} does not exist")
    elif start.model and (found := start_system(start.model)) != system:
        problems.append(
            f"start.model {start.model} holds a model of the system {found!r}, but "
            f"{system!r} is wanted; give a model of that system, or change system"
        )
    return problems
