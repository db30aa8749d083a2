"""The marginal is the sum over enumerated paths, and the best path is the best of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from sumfit.dag import DAG
from sumfit.decoding.marginal import (
    best_path,
    marginal_log_prob,
    marginal_log_probs,
    path_log_prob,
    word_columns,
)
from sumfit.errors import ConfigError, GraphError
from tests import oracles
from tests.strategies_dag import dags, random_dag


@settings(max_examples=50, deadline=None)
@given(dags(max_vertices=6, max_words=3))
@pytest.mark.parametrize("ending", ["eos", "any"])
def test_marginal_is_the_sum_over_enumerated_paths(ending, dag):
    expected = oracles.enumerate_marginals(dag, ending)
    found = marginal_log_probs(dag, list(expected), ending=ending)
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(dags(max_vertices=6, max_words=3))
@pytest.mark.parametrize("ending", ["eos", "any"])
def test_best_path_is_the_best_enumerated_path(ending, dag):
    best: dict[tuple[int, ...], oracles.OraclePath] = {}
    for path in oracles.enumerate_paths(dag, ending):
        if path.words not in best or path.log_prob > best[path.words].log_prob:
            best[path.words] = path
    for words, path in list(best.items())[:40]:
        assert path_log_prob(dag, words, ending) == pytest.approx(path.log_prob, abs=1e-9)
        assert best_path(dag, words, ending) == path.vertices


def test_probabilities_of_all_sequences_sum_to_the_mass_that_reaches_the_end():
    rng = np.random.default_rng(3)
    dag = random_dag(rng, n_vertices=6, n_words=3, word_dropout=0.0)
    total = sum(math.exp(value) for value in oracles.enumerate_marginals(dag).values())
    total += math.exp(marginal_log_prob(dag, ()))
    assert total <= 1 + 1e-5


def test_empty_sequence_has_the_probability_of_the_direct_closing_link():
    dag = random_dag(np.random.default_rng(0), link_dropout=0.0)
    assert marginal_log_prob(dag, ()) == pytest.approx(float(dag.link_logp[0, -1]), abs=1e-9)
    assert marginal_log_prob(dag, (), ending="any") == 0.0


def test_words_outside_the_candidates_are_impossible():
    dag = random_dag(np.random.default_rng(1), n_words=3, vocab_size=9)
    outside = next(word for word in range(9) if word not in dag.word_ids)
    assert marginal_log_prob(dag, (outside,)) == -math.inf
    assert marginal_log_prob(dag, (int(dag.word_ids[0]), outside)) == -math.inf
    assert marginal_log_prob(dag, (99,)) == -math.inf
    assert word_columns(dag, [outside, int(dag.word_ids[-1])]).tolist() == [-1, 2]


def test_sequence_longer_than_the_graph_is_impossible():
    dag = random_dag(np.random.default_rng(1), n_vertices=4, n_words=2)
    assert marginal_log_prob(dag, (0, 0, 0)) == -math.inf


def test_tiny_probabilities_do_not_underflow():
    n_vertices = 40
    links = np.full((n_vertices, n_vertices), -np.inf, dtype=np.float32)
    links[np.arange(n_vertices - 1), np.arange(1, n_vertices)] = -30.0
    words = np.full((n_vertices, 2), -40.0, dtype=np.float32)
    dag = DAG.from_dense(words, links)
    sequence = (0, 1) * ((n_vertices - 2) // 2)
    expected = -30.0 * (n_vertices - 1) - 40.0 * (n_vertices - 2)
    assert marginal_log_prob(dag, sequence) == pytest.approx(expected, rel=1e-12)
    assert path_log_prob(dag, sequence) == pytest.approx(expected, rel=1e-12)


def test_products_and_logs_agree_where_both_work():
    from sumfit.decoding.kernels import marginal as kernels

    rng = np.random.default_rng(5)
    dag = random_dag(rng, n_vertices=30, n_words=8)
    sequences = [tuple(rng.integers(8, size=int(n)).tolist()) for n in rng.integers(1, 9, size=40)]
    sequences += [sequences[-1][:2], (*sequences[-1], 3), ()]
    for ending in ("eos", "any"):
        together = marginal_log_probs(dag, sequences, ending=ending)
        for words, log_prob in zip(sequences, together, strict=True):
            columns = np.array(words, dtype=np.int64)
            logarithmic = kernels._logarithmic(
                dag.link_logp, dag.word_logp, columns, ending == "any"
            )
            assert log_prob == pytest.approx(logarithmic, abs=1e-10)


def test_rows_that_are_never_read_may_hold_anything():
    dag = random_dag(np.random.default_rng(7), n_vertices=5, n_words=3)
    words, links = dag.word_logp.copy(), dag.link_logp.copy()
    words[[0, -1]] = np.nan
    links[-1] = np.nan
    spoiled = DAG(dag.word_ids, words, links, dag.other_logp, dag.vocab_size)
    for words_of in oracles.enumerate_marginals(dag):
        assert marginal_log_prob(spoiled, words_of) == marginal_log_prob(dag, words_of)


def test_unknown_ending_names_the_value():
    dag = random_dag(np.random.default_rng(0))
    with pytest.raises(ConfigError, match="ending must be 'eos' or 'any', was 'middle'"):
        marginal_log_prob(dag, (0,), ending="middle")


def test_best_path_of_impossible_words_is_an_error():
    dag = random_dag(np.random.default_rng(0), n_words=3)
    with pytest.raises(GraphError, match=r"no path of the graph emits the words \(77,\)"):
        best_path(dag, (77,))
