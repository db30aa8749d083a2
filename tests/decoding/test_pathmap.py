"""PathMAP equals enumeration and the plain loops: one path, the list of paths, and the switch."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode, reference
from sumfit.errors import InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_case, random_dag


def check_against_enumeration(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        case = random_case(rng)
        expected = oracles.ranked_sequences(case.dag, objective="pathmap", **case.arguments())
        if not expected:
            with pytest.raises(InfeasibleBudgetError):
                decode(case.dag, method="pathmap", **case.arguments())
            continue
        best = decode(case.dag, method="pathmap", **case.arguments()).best
        assert best.score == pytest.approx(expected[0].score, abs=1e-6)
        truth = {item.words: item for item in expected}[best.words]
        assert truth.score == pytest.approx(expected[0].score, abs=1e-6)
        assert best.log_prob == pytest.approx(truth.log_prob, abs=1e-6)
        assert best.cost == truth.cost
        assert best.optimal
        assert best.gap == 0.0


def test_path_map_is_the_enumerated_maximum():
    check_against_enumeration(seed=21, n_cases=300)


@pytest.mark.slow
def test_path_map_is_the_enumerated_maximum_on_many_graphs():
    check_against_enumeration(seed=22, n_cases=10_000)


def test_n_best_lists_different_sequences_by_their_best_path():
    rng = np.random.default_rng(23)
    for _ in range(150):
        case = random_case(rng)
        expected = oracles.ranked_sequences(case.dag, objective="pathmap", **case.arguments())
        if not expected:
            continue
        found = decode(case.dag, method="pathmap", n_best=7, **case.arguments())
        assert [item.score for item in found] == pytest.approx(
            [item.score for item in expected[:7]], abs=1e-6
        )
        assert len({item.words for item in found}) == len(found)
        scores = {item.words: item.score for item in expected}
        for item in found:
            assert scores[item.words] == pytest.approx(item.score, abs=1e-6)


def test_list_of_one_by_search_equals_the_dynamic_program():
    rng = np.random.default_rng(24)
    for _ in range(20):
        dag = random_dag(rng, n_vertices=24, n_words=30)
        cost = rng.integers(0, 5, size=30)
        options = {"unit_cost": cost, "budget": LengthBudget(min=3, max=12), "bonus": 0.3}
        one = decode(dag, method="pathmap", **options).best
        first = decode(dag, method="pathmap", n_best=5, **options).best
        assert first.words == one.words
        assert first.score == pytest.approx(one.score, abs=1e-9)


def test_path_score_is_the_product_along_the_returned_path():
    dag = random_dag(np.random.default_rng(25), n_vertices=20, n_words=12)
    best = decode(
        dag, method="pathmap", unit_cost=np.ones(12, int), budget=LengthBudget(exact=6)
    ).best
    assert best.path is not None
    chain = (0, *best.path, dag.n_vertices - 1)
    links = sum(float(dag.link_logp[i, j]) for i, j in itertools.pairwise(chain))
    words = sum(float(dag.word_logp[j, v]) for j, v in zip(best.path, best.words, strict=True))
    assert best.score == pytest.approx(links + words, abs=1e-9)
    assert best.score <= best.log_prob + 1e-9


def test_planted_path_is_found_in_a_large_graph():
    rng = np.random.default_rng(26)
    n_vertices, n_words = 64, 50
    vertices = np.sort(rng.choice(np.arange(1, n_vertices - 1), size=9, replace=False))
    words = rng.integers(n_words, size=9)
    links = np.full((n_vertices, n_vertices), 1e-4)
    logits = np.full((n_vertices, n_words), 1e-4)
    chain = [0, *vertices.tolist(), n_vertices - 1]
    for i, j in itertools.pairwise(chain):
        links[i, j] = 0.9
    logits[vertices, words] = 0.9
    links = np.where(np.tri(n_vertices, dtype=bool), 0.0, links)
    with np.errstate(divide="ignore"):
        dag = DAG.from_dense(np.log(logits), np.log(links))
    best = decode(
        dag, method="pathmap", unit_cost=np.ones(n_words, int), budget=LengthBudget(max=20)
    ).best
    assert best.words == tuple(words.tolist())
    assert best.path == tuple(vertices.tolist())


@pytest.mark.parametrize(("limit", "unit_bonus"), [(3, 0.0), (3, 0.8), (14, 0.0), (14, 0.8)])
def test_words_outside_the_candidates_withdraw_the_certificate(limit, unit_bonus):
    rng = np.random.default_rng(27)
    n_uncertified = 0
    for _ in range(100):
        full = random_dag(rng, n_vertices=6, n_words=12)
        part = full.restrict(1)
        unit_cost = rng.integers(0, 4, size=12)
        options = {"unit_cost": unit_cost, "budget": LengthBudget(max=limit)}
        options["unit_bonus"] = unit_bonus
        truth = decode(full, method="pathmap", **options).best
        try:
            found = decode(part, method="pathmap", **options).best
        except InfeasibleBudgetError:
            continue
        assert truth.score <= found.score + found.gap + 1e-6
        if found.optimal:
            assert found.score == pytest.approx(truth.score, abs=1e-6)
        n_uncertified += not found.optimal
    assert limit > 3 or 0 < n_uncertified < 100


def test_released_switch_leaves_the_first_word_out_of_the_score():
    rng = np.random.default_rng(28)
    for _ in range(100):
        case = random_case(rng)
        problem = reference.Problem(case.dag, **case.arguments())
        expected = reference.path_map(problem, score_first_word=False)
        if expected is None:
            with pytest.raises(InfeasibleBudgetError):
                decode(case.dag, method="pathmap-released", **case.arguments())
            continue
        found = decode(case.dag, method="pathmap-released", **case.arguments()).best
        assert found.score == pytest.approx(expected.score, abs=1e-6)
        assert found.log_prob == pytest.approx(
            oracles.enumerate_marginals(case.dag, case.ending)[found.words], abs=1e-6
        )
        assert not found.optimal
        assert found.gap == math.inf


def test_infeasible_budget_names_what_was_asked_and_what_there_is():
    dag = random_dag(np.random.default_rng(29), n_vertices=5, n_words=2, link_dropout=0.0)
    with pytest.raises(
        InfeasibleBudgetError,
        match="no sequence of the graph costs exactly 40: its sequences cost 3 to 9; raise the "
        "limit, lower the minimum or ask for another unit",
    ):
        decode(dag, method="pathmap", unit_cost=np.full(2, 3), budget=LengthBudget(exact=40))
    with pytest.raises(InfeasibleBudgetError, match="costs at most 2: its sequences cost 3 to 9"):
        decode(dag, method="pathmap", unit_cost=np.full(2, 3), budget=LengthBudget(max=2))


def test_absurdly_large_limit_costs_no_memory():
    dag = random_dag(np.random.default_rng(30), n_vertices=8, n_words=5)
    options = {"unit_cost": np.arange(5), "method": "pathmap"}
    huge = decode(dag, budget=LengthBudget(max=10**12), **options)
    assert huge.best == decode(dag, budget=LengthBudget(max=40), **options).best
