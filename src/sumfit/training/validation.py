"""Validation: the loss of held-out pairs, and ROUGE of summaries decoded under a word budget.

Owns which pairs are looked at and how scores add up over processes. Does not own decoding
(`sumfit.decoding`) or ROUGE (`sumfit.evaluation`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from sumfit.data.batching import Batch, BatchOptions, build_batch, usable_items
from sumfit.data.controls import ControlDraw
from sumfit.data.corpus import PackedCorpus, read_valid_texts
from sumfit.errors import MissingExtraError
from sumfit.evaluation.rouge import rouge_items
from sumfit.models.network import Network
from sumfit.text import Tokenizer
from sumfit.training.loader import to_tensors
from sumfit.training.parallel import Processes
from sumfit.training.recipe import ValidationSection
from sumfit.training.systems import LossOptions, System

__all__ = ["Validator", "autocast"]

logger = logging.getLogger(__name__)
_ROUGE_BATCH = 32
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Group:
    """Validation pairs of one set in one profile."""

    name: str
    items: IntArray


class Validator:
    """Scores a model on the validation split of a corpus."""

    def __init__(
        self,
        directory: Path,
        *,
        system: System,
        tokenizer: Tokenizer,
        batch_options: BatchOptions,
        options: ValidationSection,
        processes: Processes,
        profiles: tuple[str, ...] = (),
        controls: ControlDraw | None = None,
    ) -> None:
        """Choose the pairs: the first of each set, the same at every validation.

        Args:
            directory: The corpus.
            system: Gives loss and summaries.
            tokenizer: Its tokenizer.
            batch_options: Size and padding of batches.
            options: How many pairs, and under which budget.
            processes: The processes that share the work.
            profiles: Text profiles to look at; all if empty.
            controls: If given, sources are told style and length as in training.
        """
        self._corpus = PackedCorpus.open(directory, "valid")
        self._texts = read_valid_texts(directory)
        self._system = system
        self._tokenizer = tokenizer
        self._batch_options = batch_options
        self._options = options
        self._processes = processes
        self._controls = controls
        usable, _ = usable_items(self._corpus, batch_options, profiles=profiles)
        set_ids = self._corpus.set_ids[usable]
        self._groups = [
            _Group(f"{entry.name}-{entry.profile}", usable[set_ids == index])
            for index, entry in enumerate(self._corpus.meta.sets)
            if (set_ids == index).any()
        ]

    @property
    def n_pairs(self) -> int:
        """Usable validation pairs."""
        return sum(len(group.items) for group in self._groups)

    def run(
        self, model: Network, *, precision: str, is_over: Callable[[], bool] = lambda: False
    ) -> dict[str, float]:
        """Score the model; all processes must call it together.

        Args:
            model: The network; left in the mode it was in.
            precision: As for `autocast`.
            is_over: Asked between batches; once it is true, the rest is skipped and the scores mean
                nothing.

        Returns:
            ``loss`` (nats per target word over all sets), ``loss/SET`` each, the same of the
            scorer as ``scorer`` where the model has one, and where asked for ``rouge`` and
            ``rouge/SET`` (R-Sum, 0 to 300).
        """
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                scores = self._losses(model, precision, is_over)
                if self._options.n_rouge:
                    scores |= self._rouge(model, precision, is_over)
        finally:
            model.train(was_training)
        return scores

    def _losses(
        self, model: Network, precision: str, is_over: Callable[[], bool]
    ) -> dict[str, float]:
        device = self._processes.device
        sums = torch.zeros(len(self._groups), 2, dtype=torch.float64).to(device)
        scored = torch.zeros_like(sums)
        options = LossOptions(scorer_weight=float(model.config.n_scorer_layers > 0))
        for index, group in enumerate(self._groups):
            for batch in self._batches(group.items[: self._options.n_loss]):
                if is_over():
                    break
                on_cpu = to_tensors(batch, pin=False)
                tensors = {name: value.to(device) for name, value in on_cpu.items()}
                with autocast(device, precision):
                    out = self._system.loss(model, tensors, options)
                sums[index, 0] += out.nll_sum
                sums[index, 1] += out.n_tokens
                if "scorer" in out.stats:
                    scored[index, 0] += out.stats["scorer"] * out.n_tokens
                    scored[index, 1] += out.n_tokens
        scores = self._means("loss", sums)
        return scores | self._means("scorer", scored) if options.scorer_weight else scores

    def _batches(self, items: IntArray) -> Iterator[Batch]:
        """This process's batches of some pairs, shortest first."""
        order = items[np.argsort(self._corpus.source_lengths[items], kind="stable")]
        options = self._batch_options
        longest = self._corpus.source_lengths[order].max(initial=1)
        size = max(
            1, int(options.batch_tokens / options.cost(np.minimum(longest, options.max_source)))
        )
        starts = range(0, len(order), size)
        for start in starts[self._processes.rank :: self._processes.size]:
            items = order[start : start + size]
            yield build_batch(self._corpus, items, options, controls=self._controls)

    def _rouge(
        self, model: Network, precision: str, is_over: Callable[[], bool]
    ) -> dict[str, float]:
        device = self._processes.device
        sums = torch.zeros(len(self._groups), 2, dtype=torch.float64).to(device)
        for index, group in enumerate(self._groups):
            mine = group.items[: self._options.n_rouge][
                self._processes.rank :: self._processes.size
            ]
            summaries, references = [], []
            for start in range(0, len(mine), _ROUGE_BATCH):
                if is_over():
                    break
                places = mine[start : start + _ROUGE_BATCH]
                batch = build_batch(
                    self._corpus, places, self._batch_options, controls=self._controls
                )
                budgets = [self._n_words(self._texts[place].source) for place in places]
                with autocast(device, precision):
                    summaries += self._system.summarize(model, batch, self._tokenizer, budgets)
                references += [list(self._texts[place].summaries) for place in places]
            if not summaries or is_over():
                continue
            try:
                items = rouge_items(summaries, references)
            except MissingExtraError as error:
                logger.warning("no ROUGE at this validation: %s", error)
                return {}
            sums[index, 0] += float(items[:, 3].sum())
            sums[index, 1] += len(summaries)
        return self._means("rouge", sums)

    def _means(self, name: str, sums: torch.Tensor) -> dict[str, float]:
        """Means over all pairs and over those of each set, of every process's sums and counts."""
        self._processes.sum_(sums)
        table: list[list[float]] = sums.tolist()
        scores = {
            f"{name}/{group.name}": row[0] / max(1.0, row[1])
            for group, row in zip(self._groups, table, strict=True)
        }
        total = [sum(column) for column in zip(*table, strict=True)] or [0.0, 0.0]
        return {name: total[0] / max(1.0, total[1]), **scores}

    def _n_words(self, source: str) -> int:
        if self._options.words:
            return self._options.words
        n_source = len(source.split())
        return int(self._options.ratio * (n_source + 2)) + 1


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """Choose the precision of a forward pass.

    Args:
        device: Where it runs.
        precision: ``bf16``, ``fp32``, or ``auto`` for bf16 on a GPU alone.

    Returns:
        A context manager.
    """
    is_bf16 = precision == "bf16" or (precision == "auto" and device.type != "cpu")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_bf16)
