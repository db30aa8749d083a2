"""How much of a sequence a graph would say too, over all of its paths at once.

Owns Eq. A16-A18 of ``docs/algorithms.md``. Does not search, and does not choose between sequences
(`sumfit.rerank`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.kernels.expectation import expected_overlaps as fill
from sumfit.decoding.marginal import word_columns
from sumfit.errors import GraphError

__all__ = ["Overlaps", "expected_overlaps"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """Sequences compared with what a graph says.

    Attributes:
        overlap: ``(N,)`` expected number of words that a sequence shares with an output of the
            graph, each occurrence counted once.
        n_words: ``(N,)`` words of each sequence.
        expected_words: Expected number of words of an output.
    """

    overlap: npt.NDArray[np.float64]
    n_words: npt.NDArray[np.int64]
    expected_words: float

    @property
    def f1(self) -> npt.NDArray[np.float64]:
        """``(N,)`` F1 of overlap, words and expected words; 0 where there are no words at all."""
        total = self.n_words + self.expected_words
        out = np.zeros(self.overlap.shape)
        return np.asarray(np.divide(2 * self.overlap, total, out=out, where=total > 0))


def expected_overlaps(
    dag: DAG, sequences: Sequence[Sequence[int]], *, opens: BoolArray, joins: BoolArray
) -> Overlaps:
    """Count the words that sequences share with what the graph says (Eq. A18).

    The k-th occurrence of a word counts ``min(max(E - (k - 1), 0), 1)`` with E the expected number
    of its occurrences (Eq. A17). What is outside the candidates counts as other words.

    Time O(S · (S + W)) and O(S² · U) for each sequence.

    Args:
        dag: The graph.
        sequences: N sequences of at most U vocabulary ids, candidates of the graph.
        opens: ``(V,)`` whether a piece begins a word whatever stands before it.
        joins: ``(V,)`` whether a piece continues the word before it, if there is one, and begins
            one otherwise; never both. A piece that does neither closes the word.

    Returns:
        Overlaps and lengths.

    Raises:
        GraphError: If an id is no candidate of the graph.
    """
    sizes = np.array([len(words) for words in sequences], dtype=np.int64)
    ids = np.fromiter(itertools.chain.from_iterable(sequences), np.int64, int(sizes.sum()))
    found = word_columns(dag, ids)
    if found.size and found.min() < 0:
        place = int(found.argmin())
        row = int(np.searchsorted(np.cumsum(sizes), place, side="right"))
        raise GraphError(f"id {ids[place]} of sequence {row + 1} is no candidate of the graph")
    columns = np.full((sizes.size, max(int(sizes.max(initial=0)), 1)), -1, dtype=np.int64)
    columns[np.arange(columns.shape[1]) < sizes[:, None]] = found
    word = np.exp(np.ascontiguousarray(dag.word_logp.T), dtype=np.float64)
    word[:, 0] = word[:, -1] = 0.0
    overlap, n_words = np.empty(sizes.size), np.empty(sizes.size, dtype=np.int64)
    expected = fill(
        np.exp(dag.link_logp, dtype=np.float64),
        word,
        columns,
        np.ascontiguousarray(opens[dag.word_ids]),
        np.ascontiguousarray(joins[dag.word_ids]),
        overlap,
        n_words,
    )
    return Overlaps(overlap, n_words, float(expected))
