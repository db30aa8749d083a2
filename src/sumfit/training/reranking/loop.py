"""The training of a reranker: what it is set up from, a step, a validation, a checkpoint.

Owns `RerankerTrainer` and `train_reranker`. The stages of a run, optimiser, clock, journal and the
guard against steps that are not finite are those of the summarizer's training.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor

from sumfit.config import to_mapping
from sumfit.errors import ConfigError, TrainingError, joined
from sumfit.models.pretrained import PretrainedEncoder, fill_encoder, read_encoder
from sumfit.models.reranker import Reranker
from sumfit.models.reranker_config import RerankerShape, reader_file
from sumfit.training.checkpoints import TrainingState
from sumfit.training.clock import RunClock
from sumfit.training.guard import BadStepGuard
from sumfit.training.journal import Journal
from sumfit.training.loader import MicroBatch
from sumfit.training.nbest.lists import ListMeta
from sumfit.training.nbest.make import make_lists
from sumfit.training.nbest.spec import NbestSpec
from sumfit.training.optimise import Optimiser, learning_rate
from sumfit.training.parallel import Processes
from sumfit.training.reranking.counting import count_phrases
from sumfit.training.reranking.data import ListData, ListStream, check_kinds
from sumfit.training.reranking.files import load_training, save_checkpoint
from sumfit.training.reranking.recipe import RerankerRecipe
from sumfit.training.reranking.selection import measure
from sumfit.training.reranking.start import check_start, feature_names, read_start
from sumfit.training.reranking.step import list_losses
from sumfit.training.run import call_problems, output_problems
from sumfit.training.stages import Progress, TrainingRun, TrainResult
from sumfit.training.validation import autocast

__all__ = ["RerankerTrainer", "phrase_table", "prepare_lists", "train_reranker"]

logger = logging.getLogger(__name__)
_SUMS = ("loss", "lists", "grad_norm", "steps")


def train_reranker(
    recipe: RerankerRecipe,
    *,
    resume: bool = False,
    device: str = "",
    n_workers: int = 0,
    prepare_only: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> TrainResult | None:
    """Train a reranker as a recipe says.

    Args:
        recipe: The recipe.
        resume: Go on from the last intact checkpoint in the output directory, if there is one.
        device: ``cpu``, ``cuda`` or ``cuda:N``; the best there is if empty.
        n_workers: Processes for making and encoding lists.
        prepare_only: Make and encode the lists, and stop.
        on_progress: Called when the log is written.

    Returns:
        How it ended; ``None`` if nothing was to be trained.

    Raises:
        ConfigError: If checkpoints are in the way, lists cannot be made, or device or number of
            workers make no sense.
        ModelFormatError: If there are checkpoints to resume from but all are damaged.
        TrainingError: If the gradient stays non-finite or memory runs out.
    """
    started = time.monotonic()
    problems = [
        *output_problems(recipe.output, resume=resume or prepare_only),
        *call_problems(device=device, n_workers=n_workers),
    ]
    if problems:
        raise ConfigError(*joined("\n", problems))
    processes = Processes(device)
    try:
        if processes.is_first:
            prepare_lists(recipe, device=device, n_workers=n_workers)
        processes.wait()
        encoder = _encoder(recipe)
        shape = recipe.model.shape(encoder)

        def read(specs: tuple[NbestSpec, ...], least: int, most: int) -> ListData:
            names = [spec.lists for spec in specs]
            return ListData(
                names,
                shape,
                reader=encoder.tokenizer,
                least=least,
                most=most,
                n_workers=n_workers,
            )

        train = read(recipe.train, 2, 0)
        valid = read(recipe.valid, 1, recipe.selection.max_lists)
        both = recipe.train + recipe.valid
        check_kinds(train.metas + valid.metas, [spec.lists for spec in both])
        if prepare_only:
            return None
        trainer = RerankerTrainer(recipe, encoder, train, valid, processes, started=started)
        return trainer.run(resume=resume, on_progress=on_progress)
    finally:
        processes.close()


def prepare_lists(recipe: RerankerRecipe, *, device: str = "", n_workers: int = 0) -> None:
    """Make the lists of a recipe that say how and are not complete, and count its phrases.

    Args:
        recipe: The recipe.
        device: Device of the summarizers' networks.
        n_workers: Processes.

    Raises:
        ConfigError: If the table of phrases that it names is not there, or nothing was counted.
    """
    table = phrase_table(recipe)
    if recipe.counts_phrases and not table.is_file():
        if recipe.phrases.table:
            raise ConfigError(f"there is no table of phrases {table}; leave phrases.table empty")
        settings = recipe.phrases
        phrases = count_phrases(
            dict.fromkeys(settings.files, settings.max_pairs),
            least_words=settings.least_words,
            least_pairs=settings.least_pairs,
            n_workers=n_workers,
            on_progress=_logged("phrases", "bytes"),
        )
        table.parent.mkdir(parents=True, exist_ok=True)
        phrases.save(table)
        logger.info("%s: %d words, %d pairs", table, len(phrases.words), len(phrases.pairs))
    specs = [spec for spec in (*recipe.train, *recipe.valid) if spec.model]
    for number, spec in enumerate(specs, 1):
        show = _logged(f"{spec.lists} ({number} of {len(specs)})", "texts")
        report = make_lists(spec, device=device, n_workers=n_workers, on_progress=show)
        logger.info("%s: %d lists made, %s", spec.lists, report.n_made, report.meta.data)


def _logged(name: str, unit: str) -> Callable[[int, int, float], None]:
    """Log how far something is."""

    def show(done: int, wanted: int, left_s: float) -> None:
        logger.info("%s: %s of %s %s, %.0f s left", name, f"{done:,}", f"{wanted:,}", unit, left_s)

    return show


def phrase_table(recipe: RerankerRecipe) -> Path:
    """Name the file of the table of phrases.

    Args:
        recipe: The recipe.

    Returns:
        The file, there or not.
    """
    return Path(recipe.phrases.table or recipe.output / reader_file("none"))


def _encoder(recipe: RerankerRecipe) -> PretrainedEncoder:
    if recipe.start.reranker:
        return read_start(recipe.start.reranker)
    if recipe.counts_phrases:
        return PretrainedEncoder("none", {}, {}, phrase_table(recipe))
    return read_encoder(
        recipe.encoder.start,
        n_layers=recipe.encoder.n_layers,
        with_weights=recipe.encoder.pretrained,
    )


class RerankerTrainer(TrainingRun):
    """One process of a run."""

    _recipe: RerankerRecipe
    model: Reranker
    stream: ListStream

    def __init__(
        self,
        recipe: RerankerRecipe,
        encoder: PretrainedEncoder,
        train: ListData,
        valid: ListData,
        processes: Processes,
        *,
        started: float,
    ) -> None:
        """Build network and optimiser.

        Args:
            recipe: The recipe.
            encoder: The encoder, with weights if it is to start from them.
            train: Lists to learn from.
            valid: Lists to select by.
            processes: The processes of the run.
            started: `time.monotonic` when the call began; the time limit counts from there.
        """
        self._recipe = recipe
        self._encoder = encoder
        self._data = train
        self._valid = valid
        self._processes = processes
        torch.manual_seed(recipe.seed)
        self.model = Reranker(train.shape)
        if recipe.start.reranker:
            check_start(self.model, encoder, recipe.start.reranker)
        fill_encoder(self.model, encoder)
        self.model.to(processes.device).train()
        run = recipe.run
        self._optimiser = Optimiser(self.model, recipe.optimizer, processes, run.log_every)
        self.stream = ListStream(
            train,
            recipe.batches,
            seed=recipe.seed,
            rank=processes.rank,
            n_processes=processes.size,
            accumulate=run.accumulate,
        )
        super().__init__(self.stream.fingerprint)
        self._guard = BadStepGuard(self._optimiser, max_bad_steps=run.max_bad_steps)
        self._clock = RunClock(recipe, processes, started=started)
        self._sums = torch.zeros(len(_SUMS), dtype=torch.float64).to(processes.device)
        self._window_started = time.monotonic()

    def _step(self, micro_batches: Iterator[MicroBatch]) -> None:
        state = self._state
        lr = learning_rate(
            self._recipe.optimizer, step=state.step, share=self._clock.share(state.step)
        )
        self._optimiser.zero_gradients()
        items = []
        for micro in micro_batches:
            self._backward(micro)
            items.append(micro.items)
            if micro.is_last:
                break
        norm = self._optimiser.step(step=state.step, lr=lr)
        self._sums[2] += torch.where(norm.isfinite(), norm, 0.0)
        self._sums[3] += 1
        self._note_step(micro, items, lr)

    def _backward(self, micro: MicroBatch) -> None:
        device, recipe = self._processes.device, self._recipe
        # Dropout depends on the step and the batch's place in it alone, so a resumed run drops the
        # same.
        torch.manual_seed(hash((recipe.seed, self._state.step, micro.place)) & 0x7FFF_FFFF)
        tensors = {k: v.to(device, non_blocking=True) for k, v in micro.tensors.items()}
        try:
            with autocast(device, recipe.run.precision):
                logits = self.model(
                    tensors["source_ids"], tensors["candidate_ids"], tensors.get("features")
                )
            total = list_losses(logits, tensors, recipe.loss).sum()
            torch.autograd.backward(total / micro.n_step_targets)
        except torch.OutOfMemoryError as error:
            raise TrainingError(
                f"out of memory on {len(micro.items)} lists, candidates "
                f"{tuple(tensors['candidate_ids'].shape)}; lower batches.tokens (now "
                f"{recipe.batches.tokens}) and resume"
            ) from error
        self._sums[0] += total.detach()
        self._sums[1] += len(micro.items)

    def _window_values(self) -> dict[str, float] | None:
        self._processes.sum_(self._sums)
        sums = dict(zip(_SUMS, self._sums.tolist(), strict=True))
        self._sums.zero_()
        seconds = max(1e-9, time.monotonic() - self._window_started)
        self._restart_window()
        if not sums["steps"]:
            return None
        return {
            "loss": sums["loss"] / max(1.0, sums["lists"]),
            "grad_norm": sums["grad_norm"] / sums["steps"],
            "lists_per_s": sums["lists"] / seconds,
            "skipped_steps": self._guard.check(),
            "lr": self._lr,
            "epoch": self._state.position.epoch,
            "elapsed_s": self._clock.total_s,
            "lists_seen": self._state.n_pairs,
        }

    def _restart_window(self) -> None:
        self._window_started = time.monotonic()

    def _validate(self, journal: Journal) -> None:
        """Measure what the averaged network chooses; all processes do the same."""
        self._validated_at = self._state.step
        recipe = self._recipe
        with self._clock.timing("valid"), self._optimiser.averaged():
            self.model.eval()
            with self._clock.leaving_undone():
                scores = measure(
                    self.model,
                    self._valid,
                    batches=recipe.batches,
                    loss=recipe.loss,
                    selection=recipe.selection,
                    precision=recipe.run.precision,
                    device=self._processes.device,
                )
            self.model.train()
            self._note_validation(journal, scores, -scores["r_sum"])

    def _write(self, folder: Path, *, with_training: bool) -> None:
        self._recipe.output.mkdir(parents=True, exist_ok=True)
        save_checkpoint(
            folder,
            model=self.model,
            fields=_fields(self._recipe, self.model.shape, self._data.metas, self._scores),
            tokenizer=self._encoder.tokenizer,
            training=self._optimiser.tensors() if with_training else None,
            state=self._state if with_training else None,
        )

    def _load(self, folder: Path) -> tuple[TrainingState, dict[str, Tensor]]:
        return load_training(folder, self.model)

    def _say_what_is_trained(self) -> None:
        n_parameters = sum(p.numel() for p in self.model.parameters())
        logger.info(
            "%s: %.1fM parameters on %d x %s; %d lists, %d batches an epoch; step %d",
            self._recipe.name,
            n_parameters / 1e6,
            self._processes.size,
            self._processes.device,
            len(self._data),
            self.stream.n_batches(),
            self._state.step,
        )
        for meta in self._data.metas:
            seen = " (seen in training!)" if meta.seen_in_training else ""
            logger.info("lists of %s: %s%s", meta.model, meta.data, seen)


def _fields(
    recipe: RerankerRecipe,
    shape: RerankerShape,
    metas: tuple[ListMeta, ...],
    scores: dict[str, float],
) -> dict[str, object]:
    """What the run time and the reader need to know about a reranker."""
    weights = {"network_weight": 1.0, "weight": 0.0, "f1_weight": 0.0}
    return {
        "name": recipe.name,
        "tokenizer_sha256": metas[0].tokenizer_sha256,
        "models": sorted({meta.model for meta in metas}),
        "model_sha256": sorted({meta.model_sha256 for meta in metas}),
        "lists": [f"{meta.model}: {meta.data}" for meta in metas],
        "seen_in_training": any(meta.seen_in_training for meta in metas),
        "profiles": sorted({name for meta in metas for name in meta.profiles}),
        "mbr_temperature": metas[0].mbr_temperature,
        "n_listed": metas[0].n_best,
        "after_best": metas[0].after_best,
        "features": list(feature_names(shape)),
        **{name: scores.get(name, value) for name, value in weights.items()},
        "scores": scores,
        "recipe": to_mapping(recipe),
    }
