"""From a network's outputs to a `sumfit.DAG`.

Owns what a backend is and the folding of per-vertex candidates into one table. Does not own the
networks that predict them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.errors import GraphError
from sumfit.models.config import N_SPECIAL
from sumfit.runtime.scorer import Scorer

__all__ = ["Backend", "GraphRequest", "Prediction", "fold"]


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """One text for a backend.

    Attributes:
        source_ids: Vocabulary ids of the source, at least one, at most ``max_source``.
        n_vertices: ``S`` of the graph to predict.
    """

    source_ids: tuple[int, ...]
    n_vertices: int


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What a network makes of one text.

    Attributes:
        dag: The graph.
        memory: ``(T, D)`` float32 encoded source, for the model's scorer; ``None`` if it has none.
    """

    dag: DAG
    memory: npt.NDArray[np.float32] | None = None


class Backend(Protocol):
    """Whatever predicts graphs. An item's graph never depends on the other items of a call."""

    @property
    def name(self) -> str:
        """What computes, for the records: ``"onnx-int8"``, ``"torch-cuda"``."""

    @property
    def device(self) -> str | None:
        """Torch device on which graphs may be decoded in batches; ``None`` for none."""

    @property
    def batch_size(self) -> int:
        """How many items one call should hold; 1 where batches gain nothing."""

    @property
    def scorer(self) -> Scorer | None:
        """Scores whole candidates; ``None`` if the model cannot."""

    def graphs(self, requests: list[GraphRequest]) -> list[DAG]:
        """Predict one graph per request, in order."""

    def predictions(self, requests: list[GraphRequest]) -> list[Prediction]:
        """Predict one graph per request, with what the scorer needs, in order."""


def fold(
    *,
    top_ids: npt.NDArray[np.int64],
    cand_logp: npt.NDArray[np.float32],
    other_logp: npt.NDArray[np.float32],
    link_logp: npt.NDArray[np.float32],
    vocab_size: int,
    pinned_ids: npt.NDArray[np.int64] | None = None,
) -> DAG:
    """Fold per-vertex best words into one table of candidates.

    The candidates are the words kept at any inner vertex and the pinned ones, each once; special
    pieces are dropped (they may not be emitted). Time and memory ``O(S * (S * M + P))``.

    Args:
        top_ids: ``(S, M)`` ids of the words kept at each vertex.
        cand_logp: ``(S, S * M + P)`` log-probability at every vertex of every kept word, in the
            order of ``top_ids`` flattened, then of the pinned words.
        other_logp: ``(S,)`` bound on the log-probability of any word not kept at that vertex.
        link_logp: ``(S, S)`` log-probabilities of links; ``-inf`` where ``to <= from``.
        vocab_size: ``V``.
        pinned_ids: ``(P,)`` ids of the words kept at all vertices; ``None`` for none.

    Returns:
        A graph that `DAG.validate` would accept but for float noise, which is taken away.

    Raises:
        GraphError: If the outputs hold NaN or no path leads to the end.
    """
    size, kept = top_ids.shape
    listed = top_ids[1:-1].reshape(-1)
    n_inner = listed.size
    if pinned_ids is not None:
        listed = np.concatenate([listed, pinned_ids])
    ids, first = np.unique(listed, return_index=True)
    is_word = ids >= N_SPECIAL
    ids, first = ids[is_word], first[is_word]
    # The flattened order starts with vertex 0, and has the last vertex before the pinned words.
    columns = first + np.where(first < n_inner, kept, 2 * kept)
    words = np.minimum(cand_logp[:, columns], np.float32(0))
    links = np.minimum(link_logp, np.float32(0))
    words[[0, size - 1]] = -np.inf
    links[size - 1] = -np.inf
    links[np.tril_indices(size)] = -np.inf
    if np.isnan(words).any() or np.isnan(links).any():
        raise GraphError("the model's output holds NaN; export it again from a sound checkpoint")
    if ids.size == 0 or not np.isfinite(links[:-1].max(axis=1)).any():
        raise GraphError("the model predicts no graph for this text; export the model again")
    return DAG(
        word_ids=ids.astype(np.int32),
        word_logp=np.ascontiguousarray(words, dtype=np.float32),
        link_logp=np.ascontiguousarray(links, dtype=np.float32),
        other_logp=np.minimum(other_logp, np.float32(0)).astype(np.float32),
        vocab_size=vocab_size,
    )
