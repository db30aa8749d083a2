"""The compiled table equals the plain loops, is exact with room for everything, and never lies."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode, reference
from sumfit.decoding.costs import costs_out_of_candidates
from sumfit.decoding.kernels.words import top_words
from sumfit.decoding.problem import keep_best_words
from sumfit.errors import ConstraintError, InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_case, random_dag


def check_against_enumeration(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        case = random_case(rng)
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
        options = {"beam_size": 700, "words_per_vertex": None, "n_best": 4, **case.arguments()}
        if not expected:
            with pytest.raises(InfeasibleBudgetError):
                decode(case.dag, method="seqmap-table", **options)
            continue
        found = decode(case.dag, method="seqmap-table", **options)
        assert [item.score for item in found] == pytest.approx(
            [item.score for item in expected[:4]], abs=1e-6
        )
        truth = {item.words: item for item in expected}
        for item in found:
            assert item.log_prob == pytest.approx(truth[item.words].log_prob, abs=1e-6)
            assert item.cost == truth[item.words].cost


def test_table_with_room_for_everything_is_the_enumerated_maximum():
    check_against_enumeration(seed=41, n_cases=300)


@pytest.mark.slow
def test_table_with_room_for_everything_is_the_enumerated_maximum_on_many_graphs():
    check_against_enumeration(seed=42, n_cases=10_000)


@pytest.mark.parametrize("ending", ["eos", "any"])
def test_compiled_table_equals_the_plain_loops(ending):
    rng = np.random.default_rng(43)
    for _ in range(60):
        dag = random_dag(rng, n_vertices=int(rng.integers(6, 16)), n_words=12)
        options = {
            "unit_cost": rng.integers(0, 3, size=12),
            "first_cost": rng.integers(0, 3, size=12),
            "budget": LengthBudget(min=2, max=int(rng.integers(3, 9))),
            "ending": ending,
            "bonus": float(rng.choice([0.0, 0.5])),
        }
        expected = reference.seqmap_table(
            reference.Problem(dag, **options), beam_size=4, words_per_vertex=3, n_best=4
        )
        found = decode(
            dag, method="seqmap-table", beam_size=4, words_per_vertex=3, n_best=4, **options
        )
        assert [item.words for item in found] == [item.words for item in expected]
        assert [item.score for item in found] == pytest.approx(
            [item.score for item in expected], abs=1e-6
        )


def test_tiny_probabilities_do_not_underflow():
    n_vertices = 30
    rng = np.random.default_rng(44)
    links = np.full((n_vertices, n_vertices), -np.inf, dtype=np.float32)
    upper = np.triu_indices(n_vertices, 1)
    links[upper] = -40.0 - rng.random(upper[0].size)
    words = -60.0 - rng.random((n_vertices, 5))
    dag = DAG.from_dense(words, links)
    options = {"unit_cost": np.ones(5, int), "budget": LengthBudget(exact=20)}
    expected = reference.seqmap_table(
        reference.Problem(dag, **options), beam_size=3, words_per_vertex=2
    )
    found = decode(dag, method="seqmap-table", beam_size=3, words_per_vertex=2, **options).best
    assert found.words == expected[0].words
    assert found.score == pytest.approx(expected[0].score, abs=1e-6)
    assert found.score < -1500


def test_wider_beams_keep_all_words_that_narrow_ones_lose():
    rng = np.random.default_rng(45)
    better = 0
    for _ in range(40):
        dag = random_dag(rng, n_vertices=12, n_words=8, sharpness=0.6)
        options = {"unit_cost": np.ones(8, int), "budget": LengthBudget(exact=5)}
        narrow = decode(dag, method="seqmap-table", beam_size=1, words_per_vertex=1, **options).best
        wide = decode(dag, method="seqmap-table", beam_size=200, words_per_vertex=8, **options).best
        assert wide.score >= narrow.score - 1e-9
        better += wide.score > narrow.score + 1e-9
    assert better > 10


def test_top_words_are_the_sorted_best_of_every_vertex():
    rng = np.random.default_rng(46)
    words = -np.abs(rng.normal(size=(7, 300)) * 4).astype(np.float32) - 2
    words[2, 5:] = -np.inf
    words[3, 200] = words[3].max() + 1
    words[3, 100] = words[3, 200]
    top = top_words(words, 8)
    for j in range(1, 6):
        order = [v for v in np.argsort(-words[j], kind="stable")[:8] if words[j, v] > -np.inf]
        assert top[j].tolist() == order + [-1] * (8 - len(order))


@pytest.mark.parametrize("n_words", [1, 255, 256, 1030, 2600])
@pytest.mark.parametrize("n_top", [1, 6, 300])
def test_top_words_with_ties_are_those_of_the_smaller_columns(n_words, n_top):
    rng = np.random.default_rng(n_words + n_top)
    words = -np.abs(rng.normal(size=(9, n_words)) * 4).astype(np.float32)
    words[1:5] = np.round(words[1:5])
    words[rng.random(words.shape) < 0.3] = -np.inf
    words[4] = -1.0
    words[5, n_words // 2 :] = -np.inf
    top = top_words(words, n_top)
    for j in range(1, 8):
        order = np.argsort(-words[j], kind="stable")[:n_top]
        order = order[words[j, order] > -np.inf].tolist()
        assert top[j].tolist() == order + [-1] * (n_top - len(order))


@pytest.mark.parametrize("most", [7, 2**31 - 1])
def test_costs_out_of_candidates_are_those_of_all_other_words(most):
    rng = np.random.default_rng(49)
    for _ in range(50):
        cost = rng.integers(0, most, size=40, endpoint=True).astype(np.int32)
        ids = np.sort(rng.choice(40, size=int(rng.integers(41)), replace=False)).astype(np.int32)
        high = int(rng.integers(0, most, endpoint=True))
        left = np.delete(cost, ids)
        expected = np.unique(left[left <= high])
        np.testing.assert_array_equal(costs_out_of_candidates(cost, ids, high), expected)


def test_compiled_choice_of_words_is_that_of_the_graph():
    rng = np.random.default_rng(48)
    words = rng.normal(size=(9, 2000)).astype(np.float32) * 3
    words -= np.logaddexp.reduce(words, axis=1, keepdims=True)
    words[4, 3:] = -np.inf
    links = random_dag(rng, n_vertices=9).link_logp
    dag = DAG.from_dense(words, links)
    for n_kept in (1, 5):
        fast, slow = keep_best_words(dag, n_kept), dag.restrict(n_kept)
        inside = np.isin(fast.word_ids, slow.word_ids)
        assert inside.all()
        assert set(slow.word_ids[~np.isin(slow.word_ids, fast.word_ids)]) <= set(range(2000))
        np.testing.assert_array_equal(
            fast.other_logp[[1, 2, 3, 5, 6, 7]], slow.other_logp[[1, 2, 3, 5, 6, 7]]
        )
        np.testing.assert_array_equal(fast.word_logp[1:-1], words[1:-1, fast.word_ids])
    assert keep_best_words(dag, None) is dag


def test_constraints_are_refused_by_name():
    class Anything:
        vocab_size = 3

    dag = random_dag(np.random.default_rng(47), n_words=3)
    with pytest.raises(
        ConstraintError, match="method 'seqmap-table' cannot keep constraints; use method='seqmap'"
    ):
        decode(
            dag,
            method="seqmap-table",
            unit_cost=np.ones(3, int),
            budget=LengthBudget(max=3),
            constraints=Anything(),
        )
