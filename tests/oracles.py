"""Brute force: every path of a tiny graph, every sequence, its marginal, and the best of them.

Nothing here is clever: plain Python loops over everything there is, in float64, so that every
decoder can be compared with it. Keep graphs at S <= 7 and W <= 4.

The empty sequence is no summary: it is never a result, whatever the budget.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sumfit.dag import DAG
from sumfit.length import LengthBudget

Words = tuple[int, ...]


@dataclass(frozen=True)
class OraclePath:
    words: Words
    vertices: tuple[int, ...]
    log_prob: float


@dataclass(frozen=True)
class OracleSequence:
    words: Words
    log_prob: float
    score: float
    cost: int


def enumerate_vertices(dag: DAG, ending: str = "eos") -> Iterator[tuple[tuple[int, ...], float]]:
    """Every chain of inner vertices that the links allow, with the log-product of its links."""
    last = dag.n_vertices - 1
    links = dag.link_logp.astype(np.float64)
    for n in range(1, last):
        for vertices in itertools.combinations(range(1, last), n):
            chain = (0, *vertices) if ending == "any" else (0, *vertices, last)
            log_prob = float(sum(links[i, j] for i, j in itertools.pairwise(chain)))
            if log_prob > -math.inf:
                yield vertices, log_prob


def enumerate_paths(dag: DAG, ending: str = "eos") -> Iterator[OraclePath]:
    """Every path of vertices and words together that has a probability above 0."""
    logp = dag.word_logp.astype(np.float64)
    for vertices, link_sum in enumerate_vertices(dag, ending):
        for columns in itertools.product(range(dag.n_candidates), repeat=len(vertices)):
            total = link_sum + sum(
                float(logp[j, c]) for j, c in zip(vertices, columns, strict=True)
            )
            if total > -math.inf:
                yield OraclePath(tuple(int(dag.word_ids[c]) for c in columns), vertices, total)


def log_sum_exp(values: Sequence[float]) -> float:
    peak = max(values, default=-math.inf)
    if peak == -math.inf:
        return -math.inf
    return peak + math.log(math.fsum(math.exp(value - peak) for value in values))


def enumerate_marginals(dag: DAG, ending: str = "eos") -> dict[Words, float]:
    """Log of Eq. 2 (eos) or Eq. 3 (any) for every sequence that some path emits."""
    by_words: dict[Words, list[float]] = {}
    for path in enumerate_paths(dag, ending):
        by_words.setdefault(path.words, []).append(path.log_prob)
    return {words: log_sum_exp(values) for words, values in by_words.items()}


def enumerate_path_scores(dag: DAG, ending: str = "eos") -> dict[Words, float]:
    """Log-probability of the best single path of every sequence."""
    best: dict[Words, float] = {}
    for path in enumerate_paths(dag, ending):
        best[path.words] = max(best.get(path.words, -math.inf), path.log_prob)
    return best


def total_cost(words: Words, unit_cost: np.ndarray, first_cost: np.ndarray | None = None) -> int:
    first = unit_cost if first_cost is None else first_cost
    return sum(
        int(first[word] if position == 0 else unit_cost[word])
        for position, word in enumerate(words)
    )


def ranked_sequences(
    dag: DAG,
    *,
    unit_cost: np.ndarray,
    budget: LengthBudget,
    first_cost: np.ndarray | None = None,
    ending: str = "eos",
    bonus: float = 0.0,
    unit_bonus: float = 0.0,
    objective: str = "seqmap",
    allowed: Callable[[Words], bool] | None = None,
) -> list[OracleSequence]:
    """Every sequence that meets the budget, best score first, ties by token ids.

    objective: "seqmap" ranks by the marginal, "pathmap" by the best single path (log_prob is the
    marginal in both). allowed: constraint on the words, None for none.
    """
    marginals = enumerate_marginals(dag, ending)
    ranking = marginals if objective == "seqmap" else enumerate_path_scores(dag, ending)
    found = []
    for words, log_prob in marginals.items():
        cost = total_cost(words, unit_cost, first_cost)
        if not budget.low <= cost <= budget.high or (allowed is not None and not allowed(words)):
            continue
        score = ranking[words] + bonus * len(words) + unit_bonus * cost
        found.append(OracleSequence(words, log_prob, score, cost))
    return sorted(found, key=lambda item: (-item.score, item.words))


def ctc_collapse(labels: Sequence[int], blank: int) -> Words:
    """Merge repeated neighbours, then drop blanks."""
    return tuple(label for label, _ in itertools.groupby(labels) if label != blank)


def enumerate_ctc(
    log_probs: np.ndarray, blank: int
) -> tuple[dict[Words, float], dict[Words, float]]:
    """For every string: log of the sum over its alignments, and of its best alignment."""
    n_frames, n_labels = log_probs.shape
    alignments: dict[Words, list[float]] = {}
    for labels in itertools.product(range(n_labels), repeat=n_frames):
        total = float(sum(log_probs[t, label] for t, label in enumerate(labels)))
        alignments.setdefault(ctc_collapse(labels, blank), []).append(total)
    sums = {words: log_sum_exp(values) for words, values in alignments.items()}
    return sums, {words: max(values) for words, values in alignments.items()}
