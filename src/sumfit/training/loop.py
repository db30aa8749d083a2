"""The training loop: what happens in a step, between steps, and at the end.

Owns `Trainer`. Reads like the run itself: set up, resume, step, log, validate, save.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from sumfit.config import to_mapping
from sumfit.data.corpus import PackedCorpus
from sumfit.data.folds import Fold
from sumfit.models.minilm import init_from_minilm
from sumfit.models.network import Network
from sumfit.text import Tokenizer
from sumfit.training import checkpoints
from sumfit.training.checkpoints import TrainingState
from sumfit.training.clock import RunClock
from sumfit.training.gradient import StepGradient
from sumfit.training.guard import BadStepGuard
from sumfit.training.journal import Journal, Window
from sumfit.training.loader import BatchStream, MicroBatch, Position, Prefetcher
from sumfit.training.optimise import Optimiser, glance_ratio, learning_rate
from sumfit.training.parallel import Processes
from sumfit.training.recipe import INSTALLED, Recipe
from sumfit.training.start import start_directory, start_fields
from sumfit.training.systems import get_system
from sumfit.training.validation import Validator

__all__ = ["Progress", "TrainResult", "Trainer"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """What a progress bar shows.

    Attributes:
        step: Steps done.
        share: Share of the run that is over, 0 to 1.
        left_s: Seconds left, estimated.
        values: Means of the last window of the log.
    """

    step: int
    share: float
    left_s: float
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class TrainResult:
    """How a call to `train` ended.

    Attributes:
        step: Steps done, over all calls.
        reason: ``max_steps``, ``max_minutes``, ``patience`` or ``interrupted``.
        checkpoint: The last checkpoint.
        best: Best checkpoint, averaged weights; ``None`` without a validation split.
        scores: Last validation.
    """

    step: int
    reason: str
    checkpoint: Path
    best: Path | None
    scores: dict[str, float]


class Trainer:
    """One process of a run."""

    def __init__(
        self, recipe: Recipe, tokenizer: Tokenizer, processes: Processes, *, started: float
    ) -> None:
        """Build data, model and optimiser.

        Args:
            recipe: The recipe, its vocabulary size fixed.
            tokenizer: Tokenizer of the corpus.
            processes: The processes of the run.
            started: `time.monotonic` when the call began; the time limit counts from there.
        """
        self._recipe = recipe
        self._tokenizer = tokenizer
        self._processes = processes
        torch.manual_seed(recipe.seed)
        self._system = get_system(recipe.system)
        self.model = self._system.build(recipe.model, tokenizer)
        _start_from(self.model, recipe, tokenizer)
        self.model.to(processes.device).train()
        run = recipe.run
        self._optimiser = Optimiser(self.model, recipe.optimizer, processes, run.log_every)
        weights = [entry for spec in recipe.data.sets for entry in spec.packed_sets]
        corpus = PackedCorpus.open(recipe.corpus, "train").reweighted(weights)
        self.stream = BatchStream(
            corpus,
            recipe.batch_options,
            seed=recipe.seed,
            rank=processes.rank,
            n_processes=processes.size,
            accumulate=run.accumulate,
            profiles=recipe.data.profiles,
            max_pairs=recipe.data.max_pairs,
            left_out=Fold.parse(recipe.data.leave_out),
            piece_bytes=tokenizer.piece_bytes,
            denoising=recipe.loss.denoise,
            denoise_share=recipe.loss.denoise_share,
            n_limit_buckets=recipe.model.n_limit_buckets,
        )
        self._validator = Validator(
            recipe.corpus,
            system=self._system,
            tokenizer=tokenizer,
            batch_options=recipe.batch_options,
            options=recipe.validation,
            processes=processes,
            profiles=recipe.data.profiles,
        )
        self._gradient = StepGradient(recipe, self.model, self._optimiser, processes.device)
        self._state = TrainingState(plan=self.stream.fingerprint)
        self._window = Window(processes)
        self._guard = BadStepGuard(self._optimiser, max_bad_steps=run.max_bad_steps)
        self._clock = RunClock(recipe, processes, started=started)
        self._scores: dict[str, float] = {}
        self._validated_at = -1

    def run(
        self, *, resume: bool, on_progress: Callable[[Progress], None] | None = None
    ) -> TrainResult:
        """Train until something ends it, then validate and save.

        Args:
            resume: Go on from the last checkpoint, if there is one.
            on_progress: Called in the first process when the log is written.

        Returns:
            How it ended.
        """
        run, output = self._recipe.run, self._recipe.output
        if resume and (folder := checkpoints.latest(output)) is not None:
            self._restore(folder)
        if run.compile:
            self.model.compile_blocks()
        self._say_what_is_trained()
        stopped = ""
        device = self._processes.device
        prefetcher = Prefetcher(self.stream, self._state.position, device=device)
        with Journal(output, is_first=self._processes.is_first) as journal, prefetcher as batches:
            with self._clock.listening():
                micro_batches = iter(batches)
                while not (stopped := self._reason_to_stop()):
                    self._step(micro_batches)
                    self._between_steps(journal, on_progress)
            self._finish(journal, on_progress)
        best = output / "best"
        return TrainResult(
            self._state.step,
            stopped,
            output / f"checkpoint-{self._state.step:08d}",
            best if best.is_dir() else None,
            self._scores,
        )

    def _step(self, micro_batches: Iterator[MicroBatch]) -> None:
        """Take the batches of one step and update the weights."""
        state, share = self._state, self._clock.share(self._state.step)
        glance = 0.0
        if self._system.glances:
            glance = glance_ratio(self._recipe.loss, step=state.step, share=share)
        lr = learning_rate(self._recipe.optimizer, step=state.step, share=share)
        self._gradient.begin(step=state.step, glance=glance)
        items = []
        for micro in micro_batches:
            self._gradient.add(micro, self._window)
            items.append(micro.items)
            if micro.is_last:
                break
        self._window.add_step(self._optimiser.step(step=state.step, lr=lr))
        self._guard.remember(state.step, items)
        self._lr, self._glance = lr, glance
        self._state = dataclasses.replace(
            state,
            step=state.step + 1,
            position=micro.after,
            n_pairs=state.n_pairs + sum(map(len, items)) * self._processes.size,
        )

    def _between_steps(
        self, journal: Journal, on_progress: Callable[[Progress], None] | None
    ) -> None:
        run, step = self._recipe.run, self._state.step
        saves = run.save_every and step % run.save_every == 0
        validates = run.validate_every and step % run.validate_every == 0
        if step % run.log_every == 0 or saves or validates:
            self._log(journal, on_progress)
        if validates:
            self._validate(journal)
        if saves:
            self._save()
        if saves or validates:
            self._window.restart_clock()

    def _finish(self, journal: Journal, on_progress: Callable[[Progress], None] | None) -> None:
        """Save first: a validation that takes too long must not cost the run."""
        self._clock.agree()
        self._log(journal, on_progress)
        self._save()
        if self._validated_at != self._state.step:
            self._validate(journal)
            self._save()

    def _log(self, journal: Journal, on_progress: Callable[[Progress], None] | None) -> None:
        step, processes = self._state.step, self._processes
        values = self._window.close()
        if not values["pairs"] and not values["nonfinite_items"]:
            return
        values |= {
            "skipped_steps": self._guard.check(),
            "lr": self._lr,
            "glance": self._glance,
            "epoch": self._state.position.epoch,
            "elapsed_s": self._clock.total_s,
            "pairs_seen": self._state.n_pairs,
        }
        if processes.device.type == "cuda":
            values["memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
        journal.write("train", step, values)
        if on_progress and processes.is_first:
            share, left_s = self._clock.share(step), self._clock.left_s(step)
            on_progress(Progress(step, share, left_s, values))

    def _validate(self, journal: Journal) -> None:
        self._validated_at = self._state.step
        if self._validator.n_pairs == 0:
            return
        options = self._recipe.validation
        with self._clock.timing("valid"), self._optimiser.averaged():
            scores = self._validator.run(self.model, precision=self._recipe.run.precision)
            self._scores = scores
            journal.write("valid", self._state.step, scores)
            shown = {k: round(v, 3) for k, v in scores.items() if "/" not in k}
            logger.info("step %d valid %s", self._state.step, shown)
            wanted = -scores["rouge"] if options.metric == "rouge" and "rouge" in scores else None
            score = scores["loss"] if wanted is None else wanted
            is_best = self._state.best is None or score < self._state.best
            if is_best:
                self._state = dataclasses.replace(
                    self._state, best=score, best_step=self._state.step, n_stale=0
                )
                if self._processes.is_first:
                    self._write(self._recipe.output / "best", with_training=False)
            else:
                stale = self._state.n_stale + 1
                self._state = dataclasses.replace(self._state, n_stale=stale)

    def _save(self) -> None:
        self._state = dataclasses.replace(self._state, elapsed_s=self._clock.total_s)
        if not self._processes.is_first:
            return
        output = self._recipe.output
        with self._clock.timing("save"):
            self._write(output / f"checkpoint-{self._state.step:08d}", with_training=True)
            checkpoints.clear_old(output, keep=self._recipe.run.keep_last)

    def _write(self, folder: Path, *, with_training: bool) -> None:
        recipe = self._recipe
        recipe.output.mkdir(parents=True, exist_ok=True)
        profiles = sorted(
            {entry.profile for spec in recipe.data.sets for entry in spec.packed_sets}
        )
        fields = {
            "name": recipe.name,
            "tokenizer_sha256": self._tokenizer.fingerprint,
            "ending": "eos",
            **start_fields(recipe.start.model),
            "profiles": list(recipe.data.profiles) or profiles,
            "max_source": recipe.data.max_source,
            "recipe": to_mapping(recipe),
        }
        checkpoints.save_checkpoint(
            folder,
            model=self.model,
            fields=fields,
            tokenizer=recipe.corpus / "tokenizer.json",
            training=self._optimiser.tensors() if with_training else None,
            state=self._state if with_training else None,
        )

    def _restore(self, folder: Path) -> None:
        state, tensors = checkpoints.load_training(folder, self.model)
        self._optimiser.load(tensors)
        if state.plan != self._state.plan:
            logger.warning(
                "data or batch size changed: starting epoch %d", state.position.epoch + 1
            )
            position = Position(state.position.epoch + 1)
            # Another corpus has another validation split, so the old best means nothing.
            state = dataclasses.replace(
                state, position=position, plan=self._state.plan, best=None, n_stale=0
            )
        self._state = state
        self._clock.before_s = state.elapsed_s
        logger.info("resuming from %s", folder)

    def _reason_to_stop(self) -> str:
        return self._clock.reason_to_stop(step=self._state.step, n_stale=self._state.n_stale)

    def _say_what_is_trained(self) -> None:
        if not self._processes.is_first:
            return
        n_parameters = sum(p.numel() for p in self.model.parameters())
        plan = self.stream.plan(self._state.position.epoch)
        logger.info(
            "%s: %.1fM parameters on %d x %s; %d pairs, %d batches an epoch; step %d",
            self._recipe.name,
            n_parameters / 1e6,
            self._processes.size,
            self._processes.device,
            len(self.stream.items),
            len(plan),
            self._state.step,
        )
        for reason, count in self.stream.dropped.items():
            logger.info("%d training pairs left out: %s", count, reason)


def _start_from(model: Network, recipe: Recipe, tokenizer: Tokenizer) -> None:
    """Fill the network with the weights that the recipe starts from."""
    minilm = recipe.start.minilm
    if minilm:
        init_from_minilm(model, tokenizer, None if minilm == INSTALLED else minilm)
    if recipe.start.model:
        checkpoints.load_into(start_directory(recipe.start.model), model)
