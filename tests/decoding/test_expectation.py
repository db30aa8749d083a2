"""Expected overlaps are those of all enumerated outputs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit.dag import DAG
from sumfit.decoding.expectation import expected_overlaps
from sumfit.errors import GraphError
from tests import oracles
from tests.strategies_dag import random_dag

KINDS = st.lists(st.sampled_from(["opens", "joins", "closes"]), min_size=4, max_size=4)


def split(words: tuple[int, ...], kinds: list[str]) -> list[tuple[int, ...]]:
    """The words of a sequence of pieces, by the definition."""
    found: list[list[int]] = []
    is_open = False
    for piece in words:
        if kinds[piece] == "closes":
            is_open = False
        elif kinds[piece] == "joins" and is_open:
            found[-1].append(piece)
        else:
            found.append([piece])
            is_open = True
    return [tuple(word) for word in found]


def whole(dag: DAG) -> DAG:
    """The same graph with candidates that hold all of the probability."""
    total = np.log(np.exp(dag.word_logp).sum(axis=1, keepdims=True))
    return DAG.from_dense(dag.word_logp - total, dag.link_logp)


def masks(kinds: list[str]) -> dict[str, np.ndarray]:
    return {name: np.array([kind == name for kind in kinds]) for name in ("opens", "joins")}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), KINDS, st.data())
def test_overlaps_are_expectations_over_enumerated_paths(seed, kinds, data):
    dag = whole(random_dag(np.random.default_rng(seed), n_vertices=6, n_words=4))
    sequences = data.draw(
        st.lists(st.lists(st.integers(0, 3), max_size=6).map(tuple), min_size=1, max_size=3)
    )
    counts: Counter[tuple[int, ...]] = Counter()
    n_words = 0.0
    for path in oracles.enumerate_paths(dag):
        for word in split(path.words, kinds):
            counts[word] += math.exp(path.log_prob)
            n_words += math.exp(path.log_prob)
    found = expected_overlaps(dag, sequences, **masks(kinds))
    assert found.expected_words == pytest.approx(n_words, abs=1e-5)
    for sequence, overlap, size in zip(sequences, found.overlap, found.n_words, strict=True):
        words = split(sequence, kinds)
        expected = sum(min(counts[word], times) for word, times in Counter(words).items())
        assert overlap == pytest.approx(expected, abs=1e-5)
        assert size == len(words)


def test_words_outside_the_candidates_are_words_that_nothing_shares():
    dag = whole(random_dag(np.random.default_rng(3), n_vertices=6, n_words=4))
    kinds = ["opens", "joins", "closes", "opens"]
    everything = expected_overlaps(dag, [(0, 1), (2, 0)], **masks(kinds))
    kept = DAG(
        word_ids=dag.word_ids[:3],
        word_logp=np.ascontiguousarray(dag.word_logp[:, :3]),
        link_logp=dag.link_logp,
        other_logp=dag.word_logp[:, 3],
        vocab_size=4,
    )
    found = expected_overlaps(kept, [(0, 1), (2, 0)], **masks(kinds))
    np.testing.assert_allclose(found.overlap, everything.overlap, atol=1e-6)
    assert found.expected_words == pytest.approx(everything.expected_words, abs=1e-5)


def test_f1_by_hand_and_of_nothing():
    # One vertex that says word 0 always; then the end.
    links = np.where(np.eye(3, k=1) > 0, 0.0, -np.inf)
    words = np.array([[0.0, -np.inf]] * 3)
    dag = DAG.from_dense(words, links)
    found = expected_overlaps(dag, [(0,), (1,), (0, 0), ()], **masks(["opens", "opens"]))
    assert found.expected_words == pytest.approx(1.0)
    np.testing.assert_allclose(found.overlap, [1, 0, 1, 0])
    np.testing.assert_allclose(found.f1, [1, 0, 2 / 3, 0])
    nothing = expected_overlaps(dag, [(0,)], **masks(["closes", "closes"]))
    np.testing.assert_allclose(nothing.f1, [0.0])
    assert expected_overlaps(dag, [], **masks(["opens", "opens"])).f1.shape == (0,)


def test_an_id_outside_the_graph_is_named():
    dag = random_dag(np.random.default_rng(0), n_words=3, vocab_size=9)
    missing = next(i for i in range(9) if i not in dag.word_ids)
    with pytest.raises(GraphError, match=rf"^id {missing} of sequence 2 is no candidate of the gr"):
        expected_overlaps(
            dag,
            [(int(dag.word_ids[0]),), (missing,)],
            opens=np.ones(9, bool),
            joins=np.zeros(9, bool),
        )
