"""The directed acyclic graph that a model predicts and a decoder reads.

Owns the arrays, their validation and their file format. Does not own how they are predicted
(`sumfit.runtime`) or searched (`sumfit.decoding`).

Axis letters, used in the whole package: ``B`` batch, ``T`` source tokens, ``S`` graph vertices,
``V`` vocabulary, ``W`` candidate words of one graph, ``M`` words kept per vertex, ``C`` budget
(0..limit), ``K`` beam, ``N`` n-best, ``U`` target words, ``D`` width. Probabilities are natural
logs; impossible is ``-inf`` and nothing else.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.errors import GraphError

__all__ = ["DAG"]

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]

_FORMAT = "sumfit-dag-1"
_TOLERANCE = 1e-3  # how far above 1 a row of probabilities may sum (float32 softmax noise)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DAG:
    """Words and links of one graph, over the candidate words alone.

    Vertex 0 is the start: it emits nothing that counts (``<bos>``), and its row of ``word_logp``
    is never read. Vertex ``S-1`` is the end: it emits nothing (``<eos>``) and is reached by the
    closing link. A path is ``0 < j1 < j2 < ... < jn (< S-1)``.

    Attributes:
        word_ids: ``(W,)`` vocabulary ids of the candidate words, strictly ascending.
        word_logp: ``(S, W)`` natural-log probability of each candidate at each vertex. A column
            is complete: a candidate has its true probability at *every* vertex.
        link_logp: ``(S, S)`` natural-log link probabilities, ``[from, to]``; ``-inf`` where
            ``to <= from``.
        other_logp: ``(S,)`` upper bound on the log-probability, at each vertex, of any single
            word that is not a candidate; ``-inf`` if the candidates are the whole vocabulary.
        vocab_size: ``V``; unit costs are given over ``V`` and indexed by ``word_ids``.
    """

    word_ids: IntArray
    word_logp: FloatArray
    link_logp: FloatArray
    other_logp: FloatArray
    vocab_size: int

    def __repr__(self) -> str:
        """Its sizes, on one line."""
        words = f"{self.n_candidates:,} of {self.vocab_size:,} words"
        return f"DAG({self.n_vertices} vertices, {words})"

    @property
    def n_vertices(self) -> int:
        """``S``."""
        return int(self.link_logp.shape[0])

    @property
    def n_candidates(self) -> int:
        """``W``."""
        return int(self.word_ids.shape[0])

    @classmethod
    def from_dense(cls, word_logp: npt.ArrayLike, link_logp: npt.ArrayLike) -> DAG:
        """Build and validate a graph whose candidates are the whole vocabulary.

        Args:
            word_logp: ``(S, V)`` natural-log word probabilities of each vertex; rows 0 and
                ``S-1`` are not read.
            link_logp: ``(S, S)`` natural-log link probabilities; ``-inf`` where ``to <= from``.

        Returns:
            The graph; no vocabulary id is special in it.

        Raises:
            GraphError: If the arrays are not such a graph; see `validate`.
        """
        words = _as_float32(word_logp, "word_logp")
        links = _as_float32(link_logp, "link_logp")
        if words.ndim != 2:
            raise GraphError(f"word_logp must be (S, V), was {words.shape}; pass one graph")
        dag = cls(
            word_ids=np.arange(words.shape[1], dtype=np.int32),
            word_logp=words,
            link_logp=links,
            other_logp=np.full(words.shape[0], -np.inf, dtype=np.float32),
            vocab_size=int(words.shape[1]),
        )
        dag.validate()
        return dag

    def validate(self) -> None:
        """Check shapes, values and reachability.

        Raises:
            GraphError: If a shape does not fit, a value is NaN or above 0, a row of
                probabilities sums to more than 1, a link goes backwards, ids are not ascending
                or out of range, or no path leads from the start to the end.
        """
        _check_shapes(self)
        _check_values(self)
        if not _has_path(self.link_logp):
            raise GraphError(
                "no path leads from vertex 0 to the last vertex; give at least one link with "
                "probability above 0 on the way"
            )

    def restrict(self, words_per_vertex: int) -> DAG:
        """Keep the words that are among the best of some vertex, and bound the rest.

        Args:
            words_per_vertex: ``M``, at least 1.

        Returns:
            A graph over at most ``S * M`` candidates with the same links, whose ``other_logp``
            covers the words dropped; the graph itself if nothing is dropped.

        Raises:
            GraphError: If ``words_per_vertex`` is below 1.
        """
        if words_per_vertex < 1:
            raise GraphError.of("words_per_vertex", words_per_vertex, "must be at least 1")
        n_words = self.n_candidates
        if words_per_vertex >= n_words:
            return self
        inner = self.word_logp[1:-1]
        if inner.shape[0] == 0:
            return self
        top = np.argpartition(inner, n_words - words_per_vertex, axis=1)[:, -words_per_vertex:]
        keep = np.zeros(n_words, dtype=bool)
        keep[top.ravel()] = True
        if keep.all():
            return self
        dropped = self.word_logp[:, ~keep].max(axis=1)
        return DAG(
            word_ids=self.word_ids[keep],
            word_logp=np.ascontiguousarray(self.word_logp[:, keep]),
            link_logp=self.link_logp,
            other_logp=np.maximum(self.other_logp, dropped),
            vocab_size=self.vocab_size,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to one ``.npz`` file.

        Args:
            path: File to write.
        """
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                format=np.array(_FORMAT),
                word_ids=self.word_ids,
                word_logp=self.word_logp,
                link_logp=self.link_logp,
                other_logp=self.other_logp,
                vocab_size=np.array(self.vocab_size),
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DAG:
        """Read and validate a graph that `save` wrote.

        Args:
            path: File to read.

        Returns:
            The graph.

        Raises:
            GraphError: If the file is not such a graph.
        """
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                if str(arrays["format"]) != _FORMAT:
                    raise GraphError(f"{path} has format {arrays['format']}, not {_FORMAT}")
                dag = cls(
                    word_ids=arrays["word_ids"],
                    word_logp=arrays["word_logp"],
                    link_logp=arrays["link_logp"],
                    other_logp=arrays["other_logp"],
                    vocab_size=int(arrays["vocab_size"]),
                )
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
            if isinstance(error, GraphError):
                raise
            raise GraphError(f"{path} is not a graph file written by DAG.save: {error}") from error
        dag.validate()
        return dag


def _as_float32(values: npt.ArrayLike, name: str) -> FloatArray:
    try:
        array: npt.NDArray[Any] = np.asarray(values)
        return np.ascontiguousarray(array, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise GraphError(f"{name} must be an array of numbers: {error}") from error


def _check_shapes(dag: DAG) -> None:
    links, words = dag.link_logp, dag.word_logp
    if links.ndim != 2 or links.shape[0] != links.shape[1]:
        raise GraphError(f"link_logp must be square (S, S), was {links.shape}")
    n_vertices = links.shape[0]
    if n_vertices < 2:
        raise GraphError(f"a graph needs a start and an end vertex, S was {n_vertices}")
    expected = (n_vertices, dag.word_ids.shape[0])
    if words.shape != expected:
        raise GraphError(f"word_logp must be (S, W) = {expected}, was {words.shape}")
    if dag.other_logp.shape != (n_vertices,):
        raise GraphError(f"other_logp must be (S,) = ({n_vertices},), was {dag.other_logp.shape}")
    ids = dag.word_ids
    if ids.ndim != 1 or ids.size == 0:
        raise GraphError(f"word_ids must hold at least one id, shape was {ids.shape}")
    if (np.diff(ids) <= 0).any() or ids[0] < 0 or ids[-1] >= dag.vocab_size:
        raise GraphError(f"word_ids must ascend strictly within 0..{dag.vocab_size - 1}")


def _check_values(dag: DAG) -> None:
    for name in ("word_logp", "link_logp", "other_logp"):
        values = getattr(dag, name)
        inner = values[1:-1] if name != "link_logp" else values[:-1]
        if np.isnan(inner).any():
            where = tuple(int(i) for i in np.argwhere(np.isnan(inner))[0])
            raise GraphError(f"{name} holds NaN (first at row offset {where}); give natural logs")
        if inner.size and inner.max() > _TOLERANCE:
            raise GraphError(
                f"{name} holds {float(inner.max()):.4g}, but a log-probability is at most 0; "
                "give natural logs of probabilities"
            )
    lower = np.tril_indices(dag.n_vertices)
    if (dag.link_logp[lower] > -np.inf).any():
        flat = int(np.argmax(dag.link_logp[lower] > -np.inf))
        source, target = int(lower[0][flat]), int(lower[1][flat])
        raise GraphError(
            f"link {source} -> {target} does not go forwards; "
            "link_logp must be -inf where to <= from"
        )
    for name, rows in (("word_logp", dag.word_logp[1:-1]), ("link_logp", dag.link_logp[:-1])):
        total = np.exp(rows.astype(np.float64)).sum(axis=1)
        if total.size and total.max() > 1 + _TOLERANCE:
            raise GraphError(
                f"a row of {name} sums to {float(total.max()):.4g} as probabilities, more than 1; "
                "normalise it first"
            )


def _has_path(link_logp: FloatArray) -> bool:
    reached = np.zeros(link_logp.shape[0], dtype=bool)
    reached[0] = True
    for vertex in range(link_logp.shape[0] - 1):
        if reached[vertex]:
            reached |= link_logp[vertex] > -np.inf
    return bool(reached[-1])
