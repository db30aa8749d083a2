"""Draws follow the enumerated distribution given the budget; diverse lists keep their promise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sumfit.decoding import decode
from sumfit.decoding.methods.sampling import MAX_OVERLAP, PathSampler, overlap, pick_diverse
from sumfit.decoding.options import DecodeOptions
from sumfit.errors import ConstraintError, InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_case, random_dag


def test_mass_within_the_budget_is_the_enumerated_sum():
    rng = np.random.default_rng(61)
    for _ in range(300):
        case = random_case(rng)
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
        if not expected:
            with pytest.raises(InfeasibleBudgetError):
                PathSampler(case.dag, DecodeOptions(**case.arguments()))
            continue
        sampler = PathSampler(case.dag, DecodeOptions(**case.arguments()))
        assert sampler.log_mass == pytest.approx(
            oracles.log_sum_exp([item.score for item in expected]), abs=1e-6
        )


@pytest.mark.parametrize("seed", range(6))
def test_frequencies_follow_the_distribution_given_the_budget(seed):
    rng = np.random.default_rng(1000 + seed)
    expected = []
    while len(expected) < 4:
        case = random_case(rng, max_vertices=5, max_words=3)
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
    n_draws = 20_000
    sampler = PathSampler(case.dag, DecodeOptions(seed=seed, **case.arguments()))
    counts: dict[tuple[int, ...], int] = {}
    for words, vertices in sampler.draw(n_draws):
        assert len(words) == len(vertices)
        counts[words] = counts.get(words, 0) + 1
    total = oracles.log_sum_exp([item.score for item in expected])
    for item in expected:
        share = math.exp(item.score - total)
        error = math.sqrt(share * (1 - share) / n_draws)
        assert abs(counts.get(item.words, 0) / n_draws - share) < 5 * error + 1e-4
    assert set(counts) <= {item.words for item in expected}


def test_same_seed_same_list_other_seed_other_list():
    dag = random_dag(np.random.default_rng(62), n_vertices=20, n_words=20, sharpness=0.5)
    options = {"unit_cost": np.ones(20, int), "budget": LengthBudget(max=6), "n_best": 8}
    first = decode(dag, method="sample", seed=5, **options)
    assert first == decode(dag, method="sample", seed=5, **options)
    assert first != decode(dag, method="sample", seed=6, **options)
    assert len(first) == 8
    assert [item.score for item in first] == sorted((item.score for item in first), reverse=True)
    assert all(1 <= item.cost <= 6 for item in first)


def test_fewer_sequences_than_wanted_are_returned_once_each():
    rng = np.random.default_rng(63)
    dag = random_dag(rng, n_vertices=4, n_words=2, sharpness=0.3, word_dropout=0.0)
    options = {"unit_cost": np.ones(2, int), "budget": LengthBudget(exact=1)}
    found = decode(dag, method="sample", n_best=50, seed=0, **options)
    assert sorted(item.words for item in found) == [(0,), (1,)]


def test_diverse_list_starts_with_the_optimum_and_shares_at_most_half():
    dag = random_dag(np.random.default_rng(64), n_vertices=24, n_words=40, sharpness=2.0)
    options = {"unit_cost": np.ones(40, int), "budget": LengthBudget(exact=5)}
    found = decode(dag, method="diverse", n_best=4, seed=1, **options)
    assert len(found) == 4
    assert found.best.optimal
    assert found.best.words == decode(dag, **options).best.words
    for left, right in itertools.combinations(found, 2):
        assert overlap(left.words, right.words) <= MAX_OVERLAP
        assert left.score >= right.score


def test_picking_takes_the_best_that_differ_enough():
    def item(words, score):
        return Hypothesis(words=words, log_prob=score, score=score, cost=len(words))

    pool = [item((1, 2), -1.0), item((1, 2, 3), -2.0), item((4, 5), -3.0), item((1, 5), -4.0)]
    assert overlap((1, 2), (1, 2, 3)) == pytest.approx(0.8)
    assert [one.words for one in pick_diverse(pool, 3)] == [(1, 2), (4, 5), (1, 5)]
    assert [one.words for one in pick_diverse(pool, 3, max_overlap=0.4)] == [(1, 2), (4, 5)]
    assert [one.words for one in pick_diverse(pool, 1)] == [(1, 2)]


@pytest.mark.parametrize("method", ["sample", "diverse"])
def test_constraints_are_refused_by_name(method):
    class Anything:
        vocab_size = 3

    dag = random_dag(np.random.default_rng(65), n_words=3)
    with pytest.raises(ConstraintError, match=f"method '{method}' cannot keep constraints"):
        decode(
            dag,
            method=method,
            unit_cost=np.ones(3, int),
            budget=LengthBudget(max=3),
            constraints=Anything(),
        )
