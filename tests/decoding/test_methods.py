"""What holds for every method of the registry, whatever it searches for."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.decoding import METHODS, UNBUDGETED_METHODS, decode, marginal_log_prob
from sumfit.errors import InfeasibleBudgetError
from sumfit.hypothesis import NBest
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_case, random_dag


@pytest.mark.parametrize("method", sorted(METHODS))
def test_results_are_different_sorted_scored_exactly_and_within_the_budget(method):
    rng = np.random.default_rng(91)
    n_found = 0
    for _ in range(80):
        case = random_case(rng)
        try:
            found = decode(case.dag, method=method, n_best=4, seed=1, **case.arguments())
        except InfeasibleBudgetError:
            continue
        n_found += 1
        assert isinstance(found, NBest)
        assert found.method == method
        assert 1 <= len(found) <= 4
        assert len({item.words for item in found}) == len(found)
        scores = [item.score for item in found]
        assert scores == sorted(scores, reverse=True)
        for item in found:
            exact = marginal_log_prob(case.dag, item.words, case.ending)
            assert item.log_prob == pytest.approx(exact, abs=1e-6)
            assert item.cost == oracles.total_cost(item.words, case.unit_cost, case.first_cost)
            assert item.gap >= 0.0
            assert item.optimal == (item.gap == 0.0)
            if method not in UNBUDGETED_METHODS:
                assert case.budget.low <= item.cost <= case.budget.high
            if item.path is not None:
                assert len(item.path) == len(item.words)
                assert list(item.path) == sorted(set(item.path))
    assert n_found > 30


@pytest.mark.parametrize("method", sorted(METHODS))
def test_same_call_gives_the_same_result(method):
    dag = random_dag(np.random.default_rng(92), n_vertices=14, n_words=12)
    options = {"unit_cost": np.ones(12, int), "budget": LengthBudget(max=4)}
    options |= {"n_best": 3, "seed": 7}
    assert decode(dag, method=method, **options) == decode(dag, method=method, **options)


def test_sequence_methods_never_beat_exact_search_and_paths_never_their_sequence():
    rng = np.random.default_rng(94)
    for _ in range(30):
        dag = random_dag(rng, n_vertices=16, n_words=12, sharpness=2.0)
        unit_cost = rng.integers(0, 4, size=12)
        options = {"unit_cost": unit_cost, "words_per_vertex": None}
        options["budget"] = random_case(rng).budget
        try:
            best = decode(dag, **options).best
        except InfeasibleBudgetError:
            continue
        if not best.optimal:
            continue
        for method in ("seqmap-beam", "seqmap-table", "sample", "diverse", "pathmap"):
            try:
                other = decode(dag, method=method, seed=0, **options).best
            except InfeasibleBudgetError:
                assert method in ("seqmap-beam", "seqmap-table")
                continue
            assert other.log_prob <= best.log_prob + 1e-9
            if method == "pathmap":
                assert other.score <= other.log_prob + 1e-9
