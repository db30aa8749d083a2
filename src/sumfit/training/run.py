"""One call that trains: check, join the other processes, pack if need be, run, leave.

Owns `train`. Does not own the loop (`sumfit.training.loop`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sumfit.errors import ConfigError
from sumfit.training import checkpoints
from sumfit.training.loop import Trainer
from sumfit.training.parallel import Processes
from sumfit.training.prepare import ensure_corpus, keep_lexicon
from sumfit.training.recipe import Recipe
from sumfit.training.stages import Progress, TrainResult

__all__ = ["train"]


def train(
    recipe: Recipe,
    *,
    resume: bool = False,
    device: str = "",
    n_workers: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> TrainResult:
    """Train a model as a recipe says; under ``torchrun`` call it in every process.

    Args:
        recipe: The recipe.
        resume: Go on from the last checkpoint in the output directory, if there is one. Without
            it a directory that holds checkpoints is refused.
        device: ``cpu``, ``cuda`` or ``cuda:N``; the best there is if empty.
        n_workers: Worker processes for packing, if the corpus is not there yet.
        on_progress: Called in the first process when the log is written.

    Returns:
        How it ended.

    Raises:
        ConfigError: If data files are missing, or checkpoints are in the way.
        TrainingError: If the gradient stays non-finite, memory runs out or a file cannot be
            written.
    """
    started = time.monotonic()
    problems = recipe.data_problems()
    if checkpoints.latest(recipe.output) is not None and not resume:
        problems.append(
            f"{recipe.output} already holds checkpoints; pass --resume to go on, or set "
            "another output_dir"
        )
    if problems:
        raise ConfigError("\n".join(problems))
    processes = Processes(device)
    try:
        if processes.is_first:
            ensure_corpus(recipe, n_workers=n_workers)
            keep_lexicon(recipe)
        processes.wait()
        tokenizer = ensure_corpus(recipe)
        recipe = recipe.with_vocab(tokenizer.vocab_size)
        return Trainer(recipe, tokenizer, processes, started=started).run(
            resume=resume, on_progress=on_progress
        )
    finally:
        processes.close()
