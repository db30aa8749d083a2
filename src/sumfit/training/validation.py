"""Validation: the loss of held-out pairs, and ROUGE of summaries decoded under a word budget.

Owns which pairs are looked at and how scores add up over processes. Does not own decoding
(`sumfit.decoding`) or ROUGE (`sumfit.evaluation`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from sumfit.dag import DAG
from sumfit.data.batching import Batch, BatchOptions, build_batch, usable_items
from sumfit.data.corpus import PackedCorpus, ValidText, read_valid_texts
from sumfit.decoding import decode
from sumfit.errors import InfeasibleBudgetError, MissingExtraError
from sumfit.evaluation.rouge import rouge_items
from sumfit.length import LengthBudget
from sumfit.losses.objective import objective
from sumfit.models.dat import DAT
from sumfit.runtime.graph import fold
from sumfit.text import Tokenizer
from sumfit.training.loader import to_tensors
from sumfit.training.parallel import Processes
from sumfit.training.recipe import ValidationSection

__all__ = ["Validator"]

logger = logging.getLogger(__name__)
_WORDS_PER_VERTEX = 5
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
        tokenizer: Tokenizer,
        batch_options: BatchOptions,
        options: ValidationSection,
        processes: Processes,
        profiles: tuple[str, ...] = (),
    ) -> None:
        """Choose the pairs: the first of each set, the same at every validation.

        Args:
            directory: The corpus.
            tokenizer: Its tokenizer.
            batch_options: Size and padding of batches.
            options: How many pairs, and under which budget.
            processes: The processes that share the work.
            profiles: Text profiles to look at; all if empty.
        """
        self._corpus = PackedCorpus.open(directory, "valid")
        self._texts = read_valid_texts(directory)
        self._tokenizer = tokenizer
        self._batch_options = batch_options
        self._options = options
        self._processes = processes
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

    def run(self, model: DAT, *, precision: str) -> dict[str, float]:
        """Score the model; all processes must call it together.

        Args:
            model: The network; left in the mode it was in.
            precision: ``bf16`` or ``fp32``.

        Returns:
            ``loss`` (nats per target word over all sets), ``loss/SET`` each, and where asked
            for ``rouge`` and ``rouge/SET`` (R-Sum, 0 to 300).
        """
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                scores = self._losses(model, precision)
                if self._options.n_rouge:
                    scores |= self._rouge(model, precision)
        finally:
            model.train(was_training)
        return scores

    def _losses(self, model: DAT, precision: str) -> dict[str, float]:
        device = self._processes.device
        sums = torch.zeros(len(self._groups), 2, dtype=torch.float64).to(device)
        for index, group in enumerate(self._groups):
            for batch in self._batches(group.items[: self._options.n_loss]):
                tensors = {
                    name: value.to(device) for name, value in to_tensors(batch, pin=False).items()
                }
                with _autocast(device, precision):
                    out = objective(model, tensors)
                sums[index, 0] += out.nll_sum
                sums[index, 1] += out.n_tokens
        self._processes.sum_(sums)
        table: list[list[float]] = sums.tolist()
        scores = {
            f"loss/{group.name}": row[0] / max(1.0, row[1])
            for group, row in zip(self._groups, table, strict=True)
        }
        total = [sum(column) for column in zip(*table, strict=True)] or [0.0, 0.0]
        return {"loss": total[0] / max(1.0, total[1]), **scores}

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
            yield build_batch(self._corpus, order[start : start + size], options)

    def _rouge(self, model: DAT, precision: str) -> dict[str, float]:
        device = self._processes.device
        sums = torch.zeros(len(self._groups), 2, dtype=torch.float64).to(device)
        for index, group in enumerate(self._groups):
            mine = group.items[: self._options.n_rouge][
                self._processes.rank :: self._processes.size
            ]
            summaries, references = [], []
            for start in range(0, len(mine), _ROUGE_BATCH):
                places = mine[start : start + _ROUGE_BATCH]
                summaries += self.summarize(model, places, precision=precision)
                references += [list(self._texts[place].summaries) for place in places]
            if not summaries:
                continue
            try:
                items = rouge_items(summaries, references)
            except MissingExtraError as error:
                logger.warning("no ROUGE at this validation: %s", error)
                return {}
            sums[index, 0] += float(items[:, 3].sum())
            sums[index, 1] += len(summaries)
        self._processes.sum_(sums)
        table: list[list[float]] = sums.tolist()
        scores = {
            f"rouge/{group.name}": row[0] / max(1.0, row[1])
            for group, row in zip(self._groups, table, strict=True)
        }
        total = [sum(column) for column in zip(*table, strict=True)] or [0.0, 0.0]
        return {"rouge": total[0] / max(1.0, total[1]), **scores}

    def summarize(self, model: DAT, places: IntArray, *, precision: str) -> list[str]:
        """Decode validation texts with PathMAP to exactly the word budget, or at most it.

        Args:
            model: The network, in evaluation mode.
            places: ``(n,)`` places in the validation split.
            precision: ``bf16`` or ``fp32``.

        Returns:
            One summary for each; empty where the budget cannot be met.
        """
        from sumfit.length import unit_costs  # loads tables that a run without ROUGE can lack

        costs = unit_costs(self._tokenizer, "words")
        out = []
        for place, dag in zip(places, self._graphs(model, places, precision), strict=True):
            n_words = self._n_words(self._texts[place])
            out.append("")
            for budget in (LengthBudget(exact=n_words), LengthBudget(max=n_words)):
                try:
                    best = decode(
                        dag,
                        unit_cost=costs.cost,
                        first_cost=costs.first_cost,
                        budget=budget,
                        method="pathmap",
                    ).best
                except InfeasibleBudgetError:
                    continue
                out[-1] = self._tokenizer.decode(best.words)
                break
        return out

    def _n_words(self, text: ValidText) -> int:
        if self._options.words:
            return self._options.words
        n_source = len(text.source.split())
        return int(self._options.ratio * (n_source + 2)) + 1

    def _graphs(self, model: DAT, places: IntArray, precision: str) -> Iterator[DAG]:
        device = self._processes.device
        batch = build_batch(self._corpus, places, self._batch_options)
        source_ids = torch.from_numpy(batch.source_ids).to(device)
        mask = torch.from_numpy(batch.vertex_mask).to(device)
        with torch.no_grad(), _autocast(device, precision):
            word_logp, link_logp = model(source_ids, mask)
        top_logp, top_ids = word_logp.float().topk(_WORDS_PER_VERTEX, dim=-1)
        for row, n_vertices in enumerate(batch.n_vertices.tolist()):
            kept = top_ids[row, :n_vertices]
            words = word_logp[row, :n_vertices].float().index_select(1, kept.flatten())
            yield fold(
                top_ids=kept.cpu().numpy(),
                cand_logp=words.cpu().numpy(),
                other_logp=top_logp[row, :n_vertices, -1].cpu().numpy(),
                link_logp=link_logp[row, :n_vertices, :n_vertices].float().cpu().numpy(),
                vocab_size=word_logp.shape[-1],
            )


def _autocast(device: torch.device, precision: str) -> torch.autocast:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")
