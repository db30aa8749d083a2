"""The graph type: what it accepts, what it refuses and how it says so, restriction, files."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from sumfit.dag import DAG
from sumfit.decoding.marginal import marginal_log_prob
from sumfit.errors import GraphError
from tests import oracles
from tests.strategies_dag import dags, random_dag


def arrays(n_vertices: int = 5, n_words: int = 3) -> tuple[np.ndarray, np.ndarray]:
    dag = random_dag(
        np.random.default_rng(0), n_vertices=n_vertices, n_words=n_words, word_dropout=0.0
    )
    return dag.word_logp.copy(), dag.link_logp.copy()


def test_dense_graph_has_the_whole_vocabulary_and_nothing_outside():
    words, links = arrays()
    dag = DAG.from_dense(words, links)
    assert dag.n_vertices == 5
    assert dag.n_candidates == dag.vocab_size == 3
    assert dag.word_ids.tolist() == [0, 1, 2]
    assert dag.other_logp.tolist() == [-math.inf] * 5
    assert dag.word_logp.dtype == dag.link_logp.dtype == np.float32


def test_lists_are_accepted_and_the_caller_keeps_the_arrays():
    words, links = arrays()
    before = words.copy(), links.copy()
    dag = DAG.from_dense(words.tolist(), links.tolist())
    np.testing.assert_array_equal(dag.link_logp, links)
    np.testing.assert_array_equal(before[0], words)
    np.testing.assert_array_equal(before[1], links)


@settings(max_examples=50, deadline=None)
@given(dags())
def test_probabilities_of_all_outputs_sum_to_at_most_one(dag):
    total = sum(math.exp(value) for value in oracles.enumerate_marginals(dag).values())
    assert total + math.exp(marginal_log_prob(dag, ())) <= 1 + 1e-4


@settings(max_examples=50, deadline=None)
@given(dags(max_words=4))
def test_restriction_keeps_the_best_words_and_bounds_the_rest(dag):
    part = dag.restrict(1)
    inner = slice(1, dag.n_vertices - 1)
    assert set(part.word_ids) <= set(dag.word_ids)
    best = dag.word_ids[dag.word_logp[inner].argmax(axis=1)]
    kept_best = part.word_logp[inner].max(axis=1)
    np.testing.assert_array_equal(kept_best, dag.word_logp[inner].max(axis=1))
    assert len(part.word_ids) <= len(set(best)) or part is not dag
    for column, word in enumerate(dag.word_ids):
        if word in part.word_ids:
            place = int(np.searchsorted(part.word_ids, word))
            np.testing.assert_array_equal(part.word_logp[:, place], dag.word_logp[:, column])
        else:
            assert (dag.word_logp[inner, column] <= part.other_logp[inner]).all()


def test_restriction_that_drops_nothing_returns_the_graph_itself():
    dag = DAG.from_dense(*arrays())
    assert dag.restrict(3) is dag
    assert dag.restrict(99) is dag
    with pytest.raises(GraphError, match="words_per_vertex must be at least 1, was 0"):
        dag.restrict(0)


def test_file_gives_the_graph_back(tmp_path):
    dag = random_dag(np.random.default_rng(4), n_words=4, vocab_size=50).restrict(2)
    dag.save(tmp_path / "graph.npz")
    again = DAG.load(tmp_path / "graph.npz")
    for name in ("word_ids", "word_logp", "link_logp", "other_logp"):
        np.testing.assert_array_equal(getattr(again, name), getattr(dag, name))
    assert again.vocab_size == 50


@pytest.mark.parametrize("content", [b"", b"not a zip file", b"PK\x03\x04 broken"])
def test_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "graph.npz"
    path.write_bytes(content)
    with pytest.raises(GraphError, match=r"graph\.npz is not a graph file written by DAG\.save"):
        DAG.load(path)


def test_file_of_another_format_is_named(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, format=np.array("other-1"))
    with pytest.raises(GraphError, match=r"graph\.npz has format other-1, not sumfit-dag-1"):
        DAG.load(path)
    np.savez(path, words=np.zeros(3))
    with pytest.raises(GraphError, match=r"graph\.npz is not a graph file"):
        DAG.load(path)


def spoil(change):
    words, links = arrays()
    change(words, links)
    return words, links


def _positive(words, links):
    words[2, 1] = 0.5


def _nan_word(words, links):
    words[1, 2] = np.nan


def _nan_link(words, links):
    links[0, 1] = np.nan


def _fat_words(words, links):
    words[3] = 0.0


def _fat_links(words, links):
    links[1, 2:] = -0.1


def _backwards(words, links):
    links[3, 1] = -1.0


def _to_itself(words, links):
    links[2, 2] = -5.0


def _no_way(words, links):
    links[:, 4] = -np.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_positive, r"word_logp holds 0\.5, but a log-probability is at most 0; give natural logs"),
        (_nan_word, r"word_logp holds NaN \(first at row offset \(0, 2\)\); give natural logs"),
        (_nan_link, r"link_logp holds NaN \(first at row offset \(0, 1\)\)"),
        (_fat_words, r"a row of word_logp sums to 3 as probabilities, more than 1; normalise it"),
        (_fat_links, r"a row of link_logp sums to 2\.715 as probabilities, more than 1"),
        (_backwards, r"link 3 -> 1 does not go forwards; link_logp must be -inf where to <= from"),
        (_to_itself, r"link 2 -> 2 does not go forwards"),
        (_no_way, r"no path leads from vertex 0 to the last vertex; give at least one link"),
    ],
)
def test_values_that_make_no_graph_are_one_clear_error(change, message):
    with pytest.raises(GraphError, match=message):
        DAG.from_dense(*spoil(change))


@pytest.mark.parametrize(
    ("words", "links", "message"),
    [
        (np.zeros((2, 3, 1)), np.zeros((3, 3)), r"word_logp must be \(S, V\), was \(2, 3, 1\)"),
        (np.zeros((3, 1)), np.zeros((3, 4)), r"link_logp must be square \(S, S\), was \(3, 4\)"),
        (np.zeros((1, 1)), np.zeros((1, 1)), "needs a start and an end vertex, S was 1"),
        (np.zeros((4, 1)), np.zeros((3, 3)), r"word_logp must be \(S, W\) = \(3, 1\), was \(4, 1"),
        (np.zeros((3, 0)), np.zeros((3, 3)), r"word_ids must hold at least one id"),
        ([["a"]], [[0.0]], "word_logp must be an array of numbers"),
    ],
)
def test_shapes_that_make_no_graph_are_one_clear_error(words, links, message):
    with pytest.raises(GraphError, match=message):
        DAG.from_dense(words, links)


def test_ids_and_bounds_are_checked_too():
    words, links = arrays()
    other = np.full(5, -np.inf, dtype=np.float32)
    ids = np.array([0, 1, 2], dtype=np.int32)
    with pytest.raises(GraphError, match=r"word_ids must ascend strictly within 0\.\.1"):
        DAG(ids, words, links, other, 2).validate()
    with pytest.raises(GraphError, match=r"word_ids must ascend strictly within 0\.\.8"):
        DAG(ids[::-1], words, links, other, 9).validate()
    with pytest.raises(GraphError, match=r"other_logp must be \(S,\) = \(5,\), was \(2,\)"):
        DAG(ids, words, links, other[:2], 3).validate()
