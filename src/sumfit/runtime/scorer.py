"""The scorer: what an autoregressive decoder says of whole candidates, given their source.

Owns the tree that candidates are put into, the call of the network, and the softmax. The decoder
(`sumfit.models.dat.DAT.read`) reads every candidate from left to right, so it sees who did what to
whom, which links between single vertices cannot (residual scoring of candidates: Deng et al. 2020).

Its softmax goes over the words of the graph, the source and the candidates alone, not over the
whole vocabulary: other words have next to no probability, and a product with all of them would
cost more than the network itself. Scores compare candidates of one text and mean nothing else.

A scorer may also have a verdict on each candidate: the logit that readers would print it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.models.config import BOS, EOS, SCORER_POSITIONS
from sumfit.models.session import open_session

__all__ = ["CandidateTree", "Reading", "Scorer"]

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTree:
    """Candidates as one tree of words, the start word at its root.

    Attributes:
        words: ``(N,)`` word of each node; parents stand before their children.
        parents: ``(N,)`` parent of each node, -1 for the root.
        places: ``(N,)`` depth of each node.
        ends: ``(C,)`` last node of each candidate.
    """

    words: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    @classmethod
    def of(cls, candidates: Iterable[Sequence[int]]) -> CandidateTree:
        """Put candidates into a tree.

        Args:
            candidates: Vocabulary ids of each, without start and end.

        Returns:
            The tree; equal candidates end at one node.
        """
        words, parents, places, ends = [BOS], [-1], [0], []
        children: dict[tuple[int, int], int] = {}
        for candidate in candidates:
            node = 0
            for word in candidate[: SCORER_POSITIONS - 1]:
                child = children.get((node, word))
                if child is None:
                    child = children[node, word] = len(words)
                    words.append(word)
                    parents.append(node)
                    places.append(places[node] + 1)
                node = child
            ends.append(node)
        arrays = (np.array(values, dtype=np.int64) for values in (words, parents, places, ends))
        return cls(*arrays)

    def sees(self) -> npt.NDArray[np.bool_]:
        """Return ``(N, N)`` bool: whether a node sees another, itself or an ancestor."""
        n_nodes = len(self.words)
        sees = np.eye(n_nodes, dtype=bool)
        for node in range(1, n_nodes):
            sees[node] |= sees[self.parents[node]]
        return sees


class Reading(NamedTuple):
    """What a scorer says of ``C`` candidates.

    Attributes:
        logp: ``(C,)`` nats, log-probability of each, its end included.
        least: ``(C,)`` nats of its least likely word.
        verdict: ``(C,)`` logit that readers would print it; ``None`` if the scorer has none.
    """

    logp: npt.NDArray[np.float64]
    least: npt.NDArray[np.float64]
    verdict: npt.NDArray[np.float32] | None


class Scorer:
    """Scores candidates with onnxruntime; safe to call from several threads at once."""

    def __init__(
        self, file: str | os.PathLike[str], rows: Callable[[], FloatArray], *, n_threads: int = 1
    ) -> None:
        """Load the network.

        Args:
            file: The scorer's ONNX file.
            rows: Gives the ``(V, D)`` word embeddings.
            n_threads: Threads inside one call.

        Raises:
            ModelFormatError: If the file does not load.
        """
        self._session = open_session(
            file, n_threads=n_threads, remedy="copy or export the model again"
        )
        self._rows = np.ascontiguousarray(rows(), dtype=np.float32)
        self._outputs = [output.name for output in self._session.get_outputs()]

    @property
    def has_verdict(self) -> bool:
        """Whether it says if readers would print a candidate."""
        return "verdict" in self._outputs

    def read(
        self,
        memory: FloatArray,
        candidates: Sequence[Sequence[int]],
        other_words: npt.NDArray[np.integer],
    ) -> Reading:
        """Read candidates.

        Args:
            memory: ``(T, D)`` encoded source.
            candidates: Vocabulary ids of each, without start and end; at least one.
            other_words: Words that compete with theirs: of the graph and the source.

        Returns:
            What it says of them.
        """
        tree = CandidateTree.of(candidates)
        known = np.unique(np.concatenate([other_words, tree.words[1:], [EOS]]).astype(np.int64))
        known = known[known >= EOS]
        next_logp, *judged = self._session.run(
            self._outputs,
            {
                "words": self._rows[tree.words][None],
                "places": tree.places,
                "sees": tree.sees(),
                "memory": memory[None],
                "choices": self._rows[known],
            },
        )
        column = np.searchsorted(known, tree.words)
        own = next_logp[0, tree.parents[1:], column[1:]].tolist()
        logp, least = [0.0], [0.0]
        for parent, step in zip(tree.parents[1:].tolist(), own, strict=True):
            logp.append(logp[parent] + step)
            least.append(min(least[parent], step))
        ended = next_logp[0, tree.ends, np.searchsorted(known, EOS)].astype(np.float64)
        return Reading(
            np.array(logp)[tree.ends] + ended,
            np.minimum(np.array(least)[tree.ends], ended),
            judged[0][0, tree.ends] if judged else None,
        )
