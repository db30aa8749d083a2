"""Graphs of many texts from a checkpoint, in batches on a GPU, as plain arrays.

Owns batching for `sumfit.training.nbest`: what leaves here, worker processes fold and search.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from sumfit.errors import ModelFormatError
from sumfit.models.checkpoint import read_architecture
from sumfit.models.dat import DAT, vertex_ids, vertex_mask
from sumfit.runtime.graph import GraphRequest
from sumfit.training.nbest.worker import Outputs
from sumfit.training.parallel import checked_device
from sumfit.training.pieces import averaged_weights

__all__ = ["Predictor"]


class Predictor:
    """The network of a checkpoint on a device, in bfloat16 on a GPU."""

    def __init__(self, checkpoint: str | Path, *, device: str, words_per_vertex: int) -> None:
        """Load the averaged weights.

        Args:
            checkpoint: A checkpoint or a model directory with ``model.safetensors``.
            device: Torch device; the best there is if empty.
            words_per_vertex: ``M``, words kept at each vertex.

        Raises:
            ConfigError: If there is no such device.
            ModelFormatError: If the weights do not fit the architecture.
        """
        self.device = checked_device(device)
        self._kept = words_per_vertex
        network = DAT(read_architecture(checkpoint))
        weights = {name: value.float() for name, value in averaged_weights(checkpoint).items()}
        try:
            network.load_state_dict(weights)
        except RuntimeError as error:
            raise ModelFormatError(f"{checkpoint} is damaged: {error}") from error
        self._network = network.to(self.device).eval()

    @torch.inference_mode()
    def outputs(self, items: Sequence[GraphRequest]) -> Outputs:
        """Predict the graphs of texts of similar size.

        Args:
            items: The texts.

        Returns:
            The network's outputs, padded.
        """
        ids = np.zeros((len(items), max(len(item.source_ids) for item in items)), dtype=np.int64)
        for row, item in enumerate(items):
            ids[row, : len(item.source_ids)] = item.source_ids
        n_vertices = [item.n_vertices for item in items]
        mask = vertex_mask(torch.tensor(n_vertices), max(n_vertices)).to(self.device)
        source = torch.from_numpy(ids).to(self.device)
        is_gpu = self.device.type == "cuda"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=is_gpu):
            memory, source_mask = self._network.encode(source)
            hidden = self._network.decode(vertex_ids(mask), mask, memory, source_mask)
            word_logp = self._network.word_logp(hidden)
            link_logp = self._network.link_logp(hidden, mask)
        top_logp, top_ids = word_logp.topk(self._kept, dim=-1)
        columns = top_ids.flatten(1)[:, None].expand(-1, top_ids.shape[1], -1)
        cand_logp = word_logp.gather(2, columns)
        return Outputs(
            n_vertices,
            top_ids.int().cpu().numpy(),
            cand_logp.float().cpu().numpy(),
            top_logp[..., -1].float().cpu().numpy(),
            link_logp.float().cpu().numpy(),
        )
