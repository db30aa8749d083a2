"""The optional backend: the network in torch, in padded batches, on a GPU if there is one.

Owns batching and padding for `sumfit.models.DAT`. Needs ``sumfit[train]`` and a directory with
``model.safetensors``. Imported only when it is asked for.

Padding is masked, so an item's graph depends on its batch through the rounding of the device's
matrix products alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import torch

from sumfit.dag import DAG
from sumfit.errors import ConfigError
from sumfit.models.checkpoint import load_model
from sumfit.models.dat import DAT, vertex_ids, vertex_mask
from sumfit.runtime.directory import ModelDirectory
from sumfit.runtime.graph import GraphRequest, fold

__all__ = ["TorchBackend"]

_MOST_SCORES = 1 << 27  # B * S * V of one call: half a gigabyte of float32
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


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
            precision: ``"fp32"`` or ``"bf16"``; bf16 on a GPU and fp32 on the CPU if not given.
            batch_size: Texts that one call should hold.

        Raises:
            ConfigError: If device or precision cannot be used.
        """
        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._device = torch.device(place)
            torch.empty(0, device=self._device)
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(f"device {place!r} cannot be used here ({reason})") from error
        chosen = precision or ("fp32" if self._device.type == "cpu" else "bf16")
        if chosen not in _DTYPES:
            raise ConfigError(f"precision of backend 'torch' is 'fp32' or 'bf16', was {chosen!r}")
        self._precision = chosen
        self._words_per_vertex = model.config.words_per_vertex
        self._batch_size = batch_size
        self._network: DAT = load_model(model.path).to(self._device)
        self._lock = threading.Lock()

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

        Texts of similar size share a call, so little is padded.

        Args:
            requests: Sources and graph sizes.

        Returns:
            The graphs.
        """
        sizes = [(item.n_vertices, len(item.source_ids)) for item in requests]
        order = sorted(range(len(requests)), key=sizes.__getitem__, reverse=True)
        result: dict[int, DAG] = {}
        with self._lock:
            for places in self._calls(order, requests):
                batch = self._predict([requests[place] for place in places])
                result.update(zip(places, batch, strict=True))
        return [result[place] for place in range(len(requests))]

    def _calls(self, order: list[int], requests: list[GraphRequest]) -> Iterator[list[int]]:
        """Cut the order, largest graph first, so that no call holds too many scores."""
        start = 0
        while start < len(order):
            size = requests[order[start]].n_vertices
            most = max(1, _MOST_SCORES // (size * self._network.config.vocab_size))
            yield order[start : start + most]
            start += most

    @torch.inference_mode()
    def _predict(self, requests: list[GraphRequest]) -> list[DAG]:
        n_source = max(len(item.source_ids) for item in requests)
        ids = torch.zeros(len(requests), n_source, dtype=torch.int64)
        for row, item in enumerate(requests):
            ids[row, : len(item.source_ids)] = torch.tensor(item.source_ids)
        sizes = torch.tensor([item.n_vertices for item in requests])
        mask = vertex_mask(sizes, int(sizes.max())).to(self._device)
        dtype = _DTYPES[self._precision]
        with torch.autocast(self._device.type, dtype=dtype, enabled=dtype != torch.float32):
            memory, source_mask = self._network.encode(ids.to(self._device))
            hidden = self._network.decode(vertex_ids(mask), mask, memory, source_mask)
            word_logp = self._network.word_logp(hidden)
            link_logp = self._network.link_logp(hidden, mask)
        top_logp, top_ids = word_logp.topk(self._words_per_vertex, dim=-1)
        return [
            self._fold(row, size, word_logp, link_logp, top_logp, top_ids)
            for row, size in enumerate(sizes.tolist())
        ]

    def _fold(
        self,
        row: int,
        size: int,
        word_logp: torch.Tensor,
        link_logp: torch.Tensor,
        top_logp: torch.Tensor,
        top_ids: torch.Tensor,
    ) -> DAG:
        kept = top_ids[row, :size]
        return fold(
            top_ids=kept.cpu().numpy(),
            cand_logp=word_logp[row, :size][:, kept.flatten()].float().cpu().numpy(),
            other_logp=np.ascontiguousarray(top_logp[row, :size, -1].float().cpu().numpy()),
            link_logp=link_logp[row, :size, :size].float().cpu().numpy(),
            vocab_size=self._network.config.vocab_size,
        )
