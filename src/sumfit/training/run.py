"""One call that trains: check, join the other processes, pack if need be, run, leave.

Owns `train` and the checks that need no recipe. Does not own the loop (`sumfit.training.loop`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sumfit.data.corpus import is_packed
from sumfit.errors import ConfigError, Phrase, SumfitError, joined
from sumfit.processors import checked_workers
from sumfit.training import checkpoints
from sumfit.training.heartbeat import Heartbeat
from sumfit.training.loop import Trainer, open_stream
from sumfit.training.parallel import Processes, checked_device
from sumfit.training.prepare import ensure_corpus, keep_lexicon
from sumfit.training.recipe import Recipe
from sumfit.training.recipe_files import batch_problems
from sumfit.training.stages import Progress, TrainResult

__all__ = ["call_problems", "corpus_problems", "output_problems", "train"]

logger = logging.getLogger(__name__)


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
        resume: Go on from the last intact checkpoint in the output directory, if there is one.
            Without it a directory that holds checkpoints is refused.
        device: ``cpu``, ``cuda`` or ``cuda:N``; the best there is if empty.
        n_workers: Worker processes for packing, if the corpus is not there yet.
        on_progress: Called in the first process when the log is written.

    Returns:
        How it ended.

    Raises:
        ConfigError: If data files are missing, checkpoints are in the way, there is no such device
            or the number of workers makes no sense; all is listed.
        ModelFormatError: If there are checkpoints to resume from but all are damaged.
        TrainingError: If the gradient stays non-finite, memory runs out or a file cannot be
            written.
    """
    started = time.monotonic()
    problems = [
        *recipe.data_problems(),
        *output_problems(recipe.output, resume=resume),
        *call_problems(device=device, n_workers=n_workers),
    ]
    if problems:
        raise ConfigError(*joined("\n", problems))
    processes = Processes(device)
    try:
        if processes.is_first:
            with Heartbeat(lambda: "packing the data", logger.info):
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


def corpus_problems(recipe: Recipe) -> list[str]:
    """Say what keeps a corpus that is packed from being cut into batches.

    Args:
        recipe: Names the corpus; its lists, if any, can be used.

    Returns:
        One sentence; nothing where the corpus is not packed yet, or no pair at all fits, which is
            said with the recipe.
    """
    if not is_packed(recipe.corpus) or batch_problems(recipe.batch_options):
        return []
    try:
        open_stream(recipe, ensure_corpus(recipe)).plan(0)
    except SumfitError as error:
        return [str(error)]
    return []


def output_problems(output: Path, *, resume: bool) -> list[str]:
    """Say whether checkpoints are in the way.

    Args:
        output: Directory of the run.
        resume: The run is to go on from them.

    Returns:
        One sentence, or nothing.
    """
    if resume or checkpoints.latest(output) is None:
        return []
    return [
        f"{output} already holds checkpoints; pass --resume to go on, or set another output_dir"
    ]


def call_problems(*, device: str, n_workers: int) -> list[Phrase]:
    """List what is wrong with a call of training, whatever its recipe.

    Args:
        device: As in `train`.
        n_workers: As in `train`.

    Returns:
        One sentence for each problem.
    """
    problems: list[Phrase] = []
    for check in (partial(checked_device, device), partial(checked_workers, n_workers)):
        try:
            check()
        except ConfigError as error:
            problems.append(error.parts)
    return problems
