"""Hypothesis strategies for graphs, costs and budgets, and the same from a seeded generator.

`random_case` is the workhorse of the decoder tests (hundreds of graphs from one seed);
the strategies shrink failures to small ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from sumfit.dag import DAG
from sumfit.length import LengthBudget


def random_dag(
    rng: np.random.Generator,
    *,
    n_vertices: int = 5,
    n_words: int = 3,
    sharpness: float = 1.5,
    link_dropout: float = 0.2,
    word_dropout: float = 0.1,
    vocab_size: int | None = None,
) -> DAG:
    """A random valid graph; some links and words have probability 0, row sums may be below 1."""
    links = rng.normal(size=(n_vertices, n_vertices)) * sharpness
    links[rng.random(links.shape) < link_dropout] = -np.inf
    links[np.arange(n_vertices - 1), np.arange(1, n_vertices)] = 0.0  # a way through always exists
    links[np.tril_indices(n_vertices)] = -np.inf
    words = rng.normal(size=(n_vertices, n_words)) * sharpness
    dropped = rng.random(words.shape) < word_dropout
    dropped[:, rng.integers(n_words)] = False
    words[dropped] = -np.inf
    link_logp = _log_softmax(links)
    word_logp = _log_softmax(words)
    if rng.random() < 0.3:
        word_logp -= np.float32(rng.random())  # candidates that do not hold all of the mass
    dag = DAG.from_dense(word_logp, link_logp)
    if vocab_size is None:
        return dag
    ids = np.sort(rng.choice(vocab_size, size=n_words, replace=False)).astype(np.int32)
    full = DAG(ids, dag.word_logp, dag.link_logp, dag.other_logp, vocab_size)
    full.validate()
    return full


def _log_softmax(values: np.ndarray) -> np.ndarray:
    peak = values.max(axis=1, keepdims=True)
    peak[np.isinf(peak)] = 0.0
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(values - peak).sum(axis=1, keepdims=True))
    total[np.isinf(total)] = 0.0
    return (values - peak - total).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """One decoding problem of a size that brute force can solve."""

    dag: DAG
    unit_cost: np.ndarray
    first_cost: np.ndarray | None
    budget: LengthBudget
    ending: str
    bonus: float
    unit_bonus: float = 0.0

    def arguments(self) -> dict[str, object]:
        """Keyword arguments of `sumfit.decoding.decode` and of `oracles.ranked_sequences`."""
        return {
            "unit_cost": self.unit_cost,
            "first_cost": self.first_cost,
            "budget": self.budget,
            "ending": self.ending,
            "bonus": self.bonus,
            "unit_bonus": self.unit_bonus,
        }


def random_case(rng: np.random.Generator, *, max_vertices: int = 6, max_words: int = 4) -> Case:
    """A random problem: both endings, costs 0-3, three modes, with and without first costs."""
    n_words = int(rng.integers(1, max_words + 1))
    vocab_size = n_words + int(rng.integers(0, 3))
    dag = random_dag(
        rng,
        n_vertices=int(rng.integers(3, max_vertices + 1)),
        n_words=n_words,
        sharpness=float(rng.choice([0.3, 1.5, 4.0])),
        vocab_size=vocab_size,
    )
    unit_cost = rng.integers(0, 4, size=vocab_size).astype(np.int32)
    if rng.random() < 0.25:
        unit_cost[:] = 1
    first_cost = None
    if rng.random() < 0.5:
        first_cost = np.maximum(unit_cost - rng.integers(0, 2, size=vocab_size), 0).astype(np.int32)
        if rng.random() < 0.3:
            first_cost = rng.integers(0, 4, size=vocab_size).astype(np.int32)
    return Case(
        dag=dag,
        unit_cost=unit_cost,
        first_cost=first_cost,
        budget=random_budget(rng),
        ending=str(rng.choice(["eos", "any"])),
        bonus=float(rng.choice([0.0, 0.0, 0.7, -0.4])),
        unit_bonus=float(rng.choice([0.0, 0.0, 0.5, -0.3])),
    )


def random_budget(rng: np.random.Generator, highest: int = 7) -> LengthBudget:
    high = int(rng.integers(0, highest + 1))
    mode = int(rng.integers(3))
    if mode == 0:
        return LengthBudget(max=high)
    if mode == 1:
        return LengthBudget(exact=high)
    return LengthBudget(min=int(rng.integers(0, high + 1)), max=high)


def dags(*, max_vertices: int = 6, max_words: int = 4) -> st.SearchStrategy[DAG]:
    """Small valid graphs with ids that need not be contiguous."""

    def build(seed: int, n_vertices: int, n_words: int, extra: int) -> DAG:
        rng = np.random.default_rng(seed)
        return random_dag(rng, n_vertices=n_vertices, n_words=n_words, vocab_size=n_words + extra)

    return st.builds(
        build,
        st.integers(0, 2**32 - 1),
        st.integers(3, max_vertices),
        st.integers(1, max_words),
        st.integers(0, 3),
    )


def unit_costs(vocab_size: int, *, highest: int = 3) -> st.SearchStrategy[np.ndarray]:
    """One cost per vocabulary id, 0..highest."""
    return st.lists(st.integers(0, highest), min_size=vocab_size, max_size=vocab_size).map(
        lambda costs: np.array(costs, dtype=np.int32)
    )


def budgets(*, highest: int = 7) -> st.SearchStrategy[LengthBudget]:
    """At most, exactly, between."""
    return st.one_of(
        st.integers(0, highest).map(lambda n: LengthBudget(max=n)),
        st.integers(0, highest).map(lambda n: LengthBudget(exact=n)),
        st.tuples(st.integers(0, highest), st.integers(0, highest)).map(
            lambda pair: LengthBudget(min=min(pair), max=max(pair))
        ),
    )


def cases(**sizes: int) -> st.SearchStrategy[Case]:
    """Whole problems, by seed."""
    return st.integers(0, 2**32 - 1).map(
        lambda seed: random_case(np.random.default_rng(seed), **sizes)
    )
