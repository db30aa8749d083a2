"""Exact probability of given words under a graph, and the best path that emits them.

Owns Eq. A1-A4 of ``docs/algorithms.md`` for one or many finished sequences. Does not search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.kernels.marginal import best_path_of, marginals
from sumfit.decoding.options import Ending, is_any_ending
from sumfit.errors import GraphError

__all__ = [
    "best_path",
    "marginal_log_prob",
    "marginal_log_probs",
    "path_log_prob",
    "word_columns",
]


def word_columns(dag: DAG, words: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Find the candidate column of each word.

    Args:
        dag: The graph.
        words: ``(n,)`` vocabulary ids.

    Returns:
        ``(n,)`` columns of ``dag.word_logp``; -1 for a word that is no candidate.
    """
    ids = np.asarray(words, dtype=np.int64).reshape(-1)
    columns = np.searchsorted(dag.word_ids, ids)
    columns[columns == dag.n_candidates] = 0
    return np.where(dag.word_ids[columns] == ids, columns, -1).astype(np.int64)


def marginal_log_probs(
    dag: DAG, sequences: Sequence[Sequence[int]], *, ending: Ending = "eos"
) -> npt.NDArray[np.float64]:
    """Sum the probability of each sequence over all its paths (Eq. A1 with A2 or A3; paper Eq. 7).

    Exact in float64, whatever the size of the probabilities. Time O(n · S²) a sequence of n
    words, memory O(S²).

    Args:
        dag: The graph.
        sequences: ``N`` sequences of vocabulary ids, without ``<bos>`` and ``<eos>``.
        ending: ``"eos"`` closes each path with the link to the last vertex; ``"any"`` sums over
            all end vertices without it.

    Returns:
        ``(N,)`` natural-log probabilities; ``-inf`` for a sequence with a word that is no
        candidate of the graph or that no path emits.

    Raises:
        ConfigError: If ``ending`` is unknown.
    """
    any_ending = is_any_ending(ending)
    lengths = np.fromiter((len(words) for words in sequences), dtype=np.int64)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    flat = [int(word) for words in sequences for word in words]
    links = np.ascontiguousarray(dag.link_logp, dtype=np.float32)
    words = np.ascontiguousarray(dag.word_logp, dtype=np.float32)
    link_prob = np.exp(links, dtype=np.float64)
    return np.asarray(
        marginals(links, link_prob, words, word_columns(dag, flat), offsets, any_ending)
    )


def marginal_log_prob(dag: DAG, words: Sequence[int], ending: Ending = "eos") -> float:
    """Sum the probability of one sequence over all its paths; see `marginal_log_probs`.

    Args:
        dag: The graph.
        words: Vocabulary ids, without ``<bos>`` and ``<eos>``.
        ending: ``"eos"`` or ``"any"``.

    Returns:
        Natural-log probability; ``-inf`` if a word is no candidate or no path emits them.
    """
    return float(marginal_log_probs(dag, [words], ending=ending)[0])


def path_log_prob(dag: DAG, words: Sequence[int], ending: Ending = "eos") -> float:
    """Find the log-probability of the best single path that emits the words (Eq. A4).

    Args:
        dag: The graph.
        words: Vocabulary ids, without ``<bos>`` and ``<eos>``.
        ending: ``"eos"`` or ``"any"``.

    Returns:
        Natural-log probability, closing link included for ``"eos"``; ``-inf`` if there is none.
    """
    return _best_path(dag, words, ending)[0]


def best_path(dag: DAG, words: Sequence[int], ending: Ending = "eos") -> tuple[int, ...]:
    """Find the vertices of the best single path that emits the words (Eq. A4).

    Args:
        dag: The graph.
        words: Vocabulary ids, without ``<bos>`` and ``<eos>``.
        ending: ``"eos"`` or ``"any"``.

    Returns:
        One vertex per word, ascending; start and end vertex left out.

    Raises:
        GraphError: If no path of the graph emits these words.
    """
    score, vertices = _best_path(dag, words, ending)
    if score == -np.inf:
        raise GraphError(f"no path of the graph emits the words {tuple(words)}")
    return vertices


def _best_path(dag: DAG, words: Sequence[int], ending: Ending) -> tuple[float, tuple[int, ...]]:
    any_ending = is_any_ending(ending)
    columns = word_columns(dag, words)
    if (columns < 0).any() or columns.size > dag.n_vertices - 2:
        return -np.inf, ()
    links = np.ascontiguousarray(dag.link_logp, dtype=np.float32)
    logp = np.ascontiguousarray(dag.word_logp, dtype=np.float32)
    score, vertices = best_path_of(links, logp, columns, any_ending)
    return float(score), tuple(vertices.tolist())
