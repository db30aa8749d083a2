"""The training of a summarizer: what it is set up from, a step, a validation, a checkpoint.

Owns `Trainer`. Does not own the order of a run's stages (`sumfit.training.stages`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from sumfit.config import to_mapping
from sumfit.data.controls import ControlDraw
from sumfit.data.corpus import PackedCorpus, PackedSet
from sumfit.data.folds import Fold
from sumfit.models.config import INSTALLED
from sumfit.models.minilm import init_from_minilm
from sumfit.models.network import Network
from sumfit.text import Tokenizer
from sumfit.text.controls import Controls
from sumfit.training import checkpoints
from sumfit.training.checkpoints import TrainingState
from sumfit.training.clock import RunClock
from sumfit.training.gradient import StepGradient
from sumfit.training.guard import BadStepGuard
from sumfit.training.journal import Journal, Window
from sumfit.training.loader import BatchStream, MicroBatch
from sumfit.training.nbest.candidates import read_candidates
from sumfit.training.optimise import Optimiser, glance_ratio, learning_rate
from sumfit.training.parallel import Processes
from sumfit.training.recipe import Recipe
from sumfit.training.stages import TrainingRun
from sumfit.training.start import start_directory, start_fields
from sumfit.training.systems import get_system
from sumfit.training.validation import Validator

__all__ = ["Trainer", "open_stream"]

logger = logging.getLogger(__name__)


class Trainer(TrainingRun):
    """One process of a run."""

    _recipe: Recipe
    model: Network
    stream: BatchStream

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
        self.stream = open_stream(
            recipe, tokenizer, rank=processes.rank, n_processes=processes.size
        )
        self._validator = Validator(
            recipe.corpus,
            system=self._system,
            tokenizer=tokenizer,
            batch_options=recipe.batch_options,
            options=recipe.validation,
            processes=processes,
            profiles=recipe.data.profiles,
            controls=control_draw(recipe, tokenizer),
        )
        super().__init__(self.stream.fingerprint)
        self._gradient = StepGradient(recipe, self.model, self._optimiser, processes.device)
        self._window = Window(processes)
        self._guard = BadStepGuard(self._optimiser, max_bad_steps=run.max_bad_steps)
        self._clock = RunClock(recipe, processes, started=started)

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
        self._note_step(micro, items, lr)
        self._glance = glance

    def _window_values(self) -> dict[str, float] | None:
        values = self._window.close()
        if not values["pairs"] and not values["nonfinite_items"]:
            return None
        values |= {
            "skipped_steps": self._guard.check(),
            "lr": self._lr,
            "glance": self._glance,
            "epoch": self._state.position.epoch,
            "elapsed_s": self._clock.total_s,
            "pairs_seen": self._state.n_pairs,
        }
        if self._processes.device.type == "cuda":
            values["memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
        return values

    def _restart_window(self) -> None:
        self._window.restart_clock()

    def _validate(self, journal: Journal) -> None:
        self._validated_at = self._state.step
        if self._validator.n_pairs == 0:
            return
        options = self._recipe.validation
        with self._clock.timing("valid"), self._optimiser.averaged():
            with self._clock.leaving_undone():
                scores = self._validator.run(
                    self.model,
                    precision=self._recipe.run.precision,
                    is_over=lambda: self._clock.is_asked_to_stop,
                )
            wanted = -scores["rouge"] if options.metric == "rouge" and "rouge" in scores else None
            self._note_validation(journal, scores, scores["loss"] if wanted is None else wanted)

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
        if recipe.data.controls.is_used:
            fields["controls"] = Controls.of_tokenizer(self._tokenizer).to_dict()
        checkpoints.save_checkpoint(
            folder,
            model=self.model,
            fields=fields,
            tokenizer=recipe.corpus / "tokenizer.json",
            training=self._optimiser.tensors() if with_training else None,
            state=self._state if with_training else None,
        )

    def _load(self, folder: Path) -> tuple[TrainingState, dict[str, Tensor]]:
        return checkpoints.load_training(folder, self.model)

    def _say_what_is_trained(self) -> None:
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


def open_stream(
    recipe: Recipe, tokenizer: Tokenizer, *, rank: int = 0, n_processes: int = 1
) -> BatchStream:
    """Open the batches of a recipe whose corpus is packed.

    Args:
        recipe: The recipe.
        tokenizer: Tokenizer of the corpus.
        rank: This process.
        n_processes: Number of processes.

    Returns:
        The batches.
    """
    corpus = PackedCorpus.open(recipe.corpus, "train").reweighted(_packed_sets(recipe))
    return BatchStream(
        corpus,
        recipe.batch_options,
        seed=recipe.seed,
        rank=rank,
        n_processes=n_processes,
        accumulate=recipe.run.accumulate,
        profiles=recipe.data.profiles,
        max_pairs=recipe.data.max_pairs,
        left_out=Fold.parse(recipe.data.leave_out),
        piece_bytes=tokenizer.piece_bytes,
        denoising=recipe.loss.denoise,
        denoise_share=recipe.loss.denoise_share,
        candidates=read_candidates(recipe.data.lists, corpus) if recipe.data.lists else None,
        controls=control_draw(recipe, tokenizer),
    )


def control_draw(recipe: Recipe, tokenizer: Tokenizer) -> ControlDraw | None:
    """Make what puts control pieces before sources, if the recipe wants any.

    Args:
        recipe: The recipe, its corpus packed.
        tokenizer: Tokenizer of the corpus.

    Returns:
        The draw, ``None`` for none.
    """
    if not recipe.data.controls.is_used:
        return None
    corpus = PackedCorpus.open(recipe.corpus, "valid").reweighted(_packed_sets(recipe))
    styles = [entry.style for entry in corpus.meta.sets]
    return ControlDraw(recipe.data.controls, tokenizer, styles)


def _packed_sets(recipe: Recipe) -> list[PackedSet]:
    return [entry for spec in recipe.data.sets for entry in spec.packed_sets]


def _start_from(model: Network, recipe: Recipe, tokenizer: Tokenizer) -> None:
    """Fill the network with the weights that the recipe starts from."""
    minilm = recipe.start.minilm
    if minilm:
        init_from_minilm(model, tokenizer, None if minilm == INSTALLED else minilm)
    if recipe.start.model:
        checkpoints.load_into(start_directory(recipe.start.model), model)
