"""The optional backend: the network in torch, in padded batches, on a GPU if there is one.

Owns batching and padding for `sumfit.models.DAT`. Needs ``sumfit[train]`` and a directory with
``model.safetensors``. Imported only when it is asked for.

Padding is masked, so an item's graph depends on its batch through the rounding of the device's
matrix products alone.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import nn

from sumfit.dag import DAG
from sumfit.decoding.device.batch import DAGBatch, DeviceCosts, fetch, read_back, seqmap_beam_batch
from sumfit.decoding.options import DEFAULTS, Ending
from sumfit.errors import ConfigError, InfeasibleBudgetError, Keyword, given
from sumfit.hypothesis import NBest
from sumfit.length import LengthBudget, longest_pieces
from sumfit.models.checkpoint import load_model
from sumfit.models.config import N_SPECIAL
from sumfit.models.dat import DAT, vertex_ids, vertex_mask
from sumfit.models.exported import exported_file
from sumfit.models.network import usable_device
from sumfit.runtime.directory import ModelDirectory
from sumfit.runtime.graph import GraphRequest, Prediction, fold
from sumfit.runtime.scorer import Scorer

__all__ = ["MOST_DEVICE_WORDS", "TorchBackend"]

MOST_DEVICE_WORDS = 12  # a vertex, in batches on the device
_MOST_BYTES = 1 << 29  # of the word scores of one call
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class TorchBackend:
    """Predicts graphs with torch; calls from several threads wait for each other."""

    def __init__(
        self,
        model: ModelDirectory,
        *,
        device: str | None = None,
        precision: str | None = None,
        batch_size: int = 64,
    ) -> None:
        """Load the network onto a device.

        Args:
            model: An opened model directory.
            device: Torch device; a GPU if there is one, else the CPU, if not given.
            precision: ``"fp32"``, ``"bf16"`` or ``"fp16"``; bf16 on a GPU and fp32 on the CPU if
                not given.
            batch_size: Texts that one call should hold.

        Raises:
            ConfigError: If device or precision cannot be used.
        """
        self._device = usable_device(device)
        chosen = precision or ("fp32" if self._device.type == "cpu" else "bf16")
        if chosen not in _DTYPES:
            known = ", ".join(repr(name) for name in _DTYPES)
            rule = (f" must be one of {known} with ", given("backend", "torch"))
            raise ConfigError(Keyword("precision", "", chosen), *rule, f", was {chosen!r}")
        self._precision = chosen
        self._words_per_vertex = model.config.words_per_vertex
        self._pinned_ids = longest_pieces(model.tokenizer, model.config.pinned_words)
        self._batch_size = batch_size
        self._network: DAT = load_model(model.path).to(self._device)
        self._words = self._network.embedding.weight.detach().to(_DTYPES[chosen])
        for module in self._network.modules():  # autocast would do it again in every call
            if isinstance(module, nn.Linear):
                module.to(_DTYPES[chosen])
        self._lock = threading.Lock()
        self._scorer: Scorer | None = None
        if self._network.config.n_scorer_layers:
            graph = exported_file(model.path)
            scorer = model.scorer_file(graph) if graph is not None else None
            if scorer is not None:
                self._scorer = Scorer(scorer, self._all_rows)

    @property
    def name(self) -> str:
        """For example ``"torch-cuda-bf16"``."""
        return f"torch-{self._device.type}-{self._precision}"

    @property
    def device(self) -> str:
        """Where graphs may be decoded in batches."""
        return str(self._device)

    @property
    def batch_size(self) -> int:
        """Texts that one call should hold."""
        return self._batch_size

    def graphs(self, requests: list[GraphRequest]) -> list[DAG]:
        """Predict one graph per request, in order.

        Args:
            requests: Sources and graph sizes.

        Returns:
            The graphs.
        """
        return [prediction.dag for prediction in self.predictions(requests)]

    @property
    def scorer(self) -> Scorer | None:
        """Scores whole candidates, on the CPU; ``None`` if the model cannot."""
        return self._scorer

    def predictions(self, requests: list[GraphRequest]) -> list[Prediction]:
        """Predict one graph per request, with what the scorer needs, in order.

        Texts of similar size share a call, so little is padded.

        Args:
            requests: Sources and graph sizes.

        Returns:
            The predictions.
        """
        result: dict[int, Prediction] = {}
        vocab_size = self._network.config.vocab_size
        with self._lock, torch.inference_mode():
            for places in self._calls(requests):
                called = [requests[place] for place in places]
                top_ids, cand_logp, other_logp, link_logp, *memory = self._kept(called)
                kept, n_listed = top_ids.shape[2], top_ids[0].size
                for row, place in enumerate(places):
                    size = requests[place].n_vertices
                    columns = np.r_[: size * kept, n_listed : cand_logp.shape[2]]
                    dag = fold(
                        top_ids=top_ids[row, :size],
                        cand_logp=cand_logp[row, :size, columns].T,
                        other_logp=other_logp[row, :size].copy(),
                        link_logp=link_logp[row, :size, :size],
                        vocab_size=vocab_size,
                        pinned_ids=self._pinned_ids,
                    )
                    n_source = len(requests[place].source_ids)
                    own = memory[0][row, :n_source] if memory else None
                    result[place] = Prediction(dag, own)
        return [result[place] for place in range(len(requests))]

    def _all_rows(self) -> npt.NDArray[np.float32]:
        weight = self._network.embedding.weight.detach()
        rows: npt.NDArray[np.float32] = weight.float().cpu().numpy()
        return rows

    def _kept(self, requests: list[GraphRequest]) -> tuple[npt.NDArray[Any], ...]:
        """What `fold` reads, for a whole call: the host waits for the device once."""
        logits, link_logp, _, memory = self._predict(requests)
        logits[:, :, :N_SPECIAL] = -torch.inf
        word_logp = logits.float().log_softmax(dim=-1)
        top_logp, top_ids = word_logp.topk(self._words_per_vertex, dim=-1)
        pinned = torch.from_numpy(self._pinned_ids).to(top_ids.device).expand(len(requests), -1)
        listed = torch.cat([top_ids.flatten(1), pinned], dim=1)
        cand_logp = torch.gather(word_logp, 2, listed[:, None].expand(-1, top_ids.shape[1], -1))
        parts = [top_ids, cand_logp, top_logp[:, :, -1], link_logp.float()]
        if self._scorer is not None:
            parts.append(memory.float())
        return tuple(part.cpu().numpy() for part in parts)

    def sequences(
        self,
        requests: list[GraphRequest],
        *,
        costs: DeviceCosts,
        budgets: Sequence[LengthBudget],
        ending: Ending = DEFAULTS.ending,
        bonus: float = DEFAULTS.bonus,
        unit_bonus: float = DEFAULTS.unit_bonus,
        beam_size: int = DEFAULTS.beam_size,
        words_per_vertex: int | None = None,
        n_best: int = DEFAULTS.n_best,
        at_once: int | None = None,
    ) -> list[NBest | InfeasibleBudgetError]:
        """Predict graphs and search them where they are, by seqmap-beam without constraints.

        Nothing but the words found leaves the device. What one call found is made into hypotheses
        while the device is at the next ones.

        Args:
            requests: Sources and graph sizes.
            costs: What words cost, on this device.
            budgets: One budget for each.
            ending: ``"eos"`` or ``"any"``.
            bonus: Score added per word, nats.
            unit_bonus: Score added per unit of cost, nats.
            beam_size: ``K``.
            words_per_vertex: ``M``; if not given as many as the model states, at most 12: the
                beam's time grows with them, and exact search takes what it cannot certify.
            n_best: ``N``.
            at_once: Most graphs that the device holds at once; as many as their scores leave room
                for if not given.

        Returns:
            For each request its list, in order; its error where no sequence meets the budget.
        """
        kept = words_per_vertex or min(self._words_per_vertex, MOST_DEVICE_WORDS)
        pending = []
        with self._lock, torch.inference_mode():
            for places in self._calls(requests, at_once):
                logits, link_logp, sizes, _ = self._predict([requests[place] for place in places])
                batch = DAGBatch.from_scores(
                    logits,
                    link_logp,
                    sizes,
                    words_per_vertex=kept,
                    n_special=N_SPECIAL,
                    costs=costs,
                    budgets=[budgets[place] for place in places],
                    is_normalised=False,
                )
                found = seqmap_beam_batch(
                    batch,
                    ending=ending,
                    bonus=bonus,
                    unit_bonus=unit_bonus,
                    beam_size=beam_size,
                    n_best=n_best,
                )
                pending.append((places, fetch(found, batch.word_ids)))
        result: dict[int, NBest | InfeasibleBudgetError] = {}
        for places, fetched in pending:
            own = [budgets[place] for place in places]
            lists = read_back(fetched, budgets=own, method="seqmap-beam")
            result.update(zip(places, lists, strict=True))
        return [result[place] for place in range(len(requests))]

    def _calls(
        self, requests: list[GraphRequest], at_once: int | None = None
    ) -> Iterator[list[int]]:
        """Cut the requests, largest graph first, so that no call holds too many scores.

        Nor does one hold graphs that decoding would pad to another power of two.
        """
        sizes = [(item.n_vertices, len(item.source_ids)) for item in requests]
        order = sorted(range(len(requests)), key=sizes.__getitem__, reverse=True)
        per_vertex = self._network.config.vocab_size * _DTYPES[self._precision].itemsize
        for _, group in itertools.groupby(order, key=lambda place: _power(sizes[place][0] - 2)):
            alike = list(group)
            while alike:
                room = _MOST_BYTES // (sizes[alike[0]][0] * per_vertex)
                most = at_once or max(1, room)
                yield alike[:most]
                alike = alike[most:]

    def _predict(
        self, requests: list[GraphRequest]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Word scores ``(B, S, V)`` before the softmax, links, graph sizes, encoded source."""
        lengths = np.array([len(item.source_ids) for item in requests])
        padded = np.zeros((len(requests), lengths.max()), dtype=np.int64)
        padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.fromiter(
            itertools.chain.from_iterable(item.source_ids for item in requests), dtype=np.int64
        )
        ids = torch.from_numpy(padded)
        sizes = torch.tensor([item.n_vertices for item in requests])
        mask = vertex_mask(sizes, int(sizes.max()))
        parts = [ids, sizes, mask]
        if self._device.type == "cuda":  # so that copying waits for nothing
            parts = [part.pin_memory() for part in parts]
        ids, sizes, mask = (part.to(self._device, non_blocking=True) for part in parts)
        dtype = _DTYPES[self._precision]
        with torch.autocast(self._device.type, dtype=dtype, enabled=dtype != torch.float32):
            memory, source_mask = self._network.encode(ids)
            hidden = self._network.decode(vertex_ids(mask), mask, memory, source_mask)
            links = self._network.link_logp(hidden, mask)
            return F.linear(hidden, self._words), links, sizes, memory


def _power(n: int) -> int:
    """Which power of two is the least that is at least ``n``; 5, for 32, for all below."""
    return max(5, (n - 1).bit_length())
