"""A list that is stopped some expansions after its best: the best is exact, the rest is honest."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.decoding import decode
from sumfit.errors import ConfigError, InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests.oracles import ranked_sequences
from tests.strategies_dag import random_case, random_dag

SEEDS = range(120)


@pytest.mark.parametrize("after_best", [0, 1, 5])
def test_the_best_is_exact_and_the_others_are_real(after_best: int) -> None:
    n_longer = 0
    for seed in SEEDS:
        case = random_case(np.random.default_rng(seed))
        ranked = ranked_sequences(case.dag, **case.arguments())
        keywords = {**case.arguments(), "words_per_vertex": None, "n_best": 6}
        if not ranked:
            with pytest.raises(InfeasibleBudgetError):
                decode(case.dag, **keywords, after_best=after_best)
            continue
        best = decode(case.dag, **{**keywords, "n_best": 1})
        found = decode(case.dag, **keywords, after_best=after_best)
        assert found[0] == best[0], seed
        assert found.n_expanded <= best.n_expanded + after_best, seed
        known = {item.words: item for item in ranked}
        for place, item in enumerate(found):
            assert item.log_prob == pytest.approx(known[item.words].log_prob, abs=1e-6), seed
            before = {other.words for other in found[:place]}
            left = max(entry.score for entry in ranked if entry.words not in before)
            assert left - item.score <= item.gap + 1e-6, seed
            assert item.optimal == (item.gap == 0.0), seed
        assert len({item.words for item in found}) == len(found), seed
        scores = [item.score for item in found]
        assert scores == sorted(scores, reverse=True), seed
        n_longer += len(found) > 1
    assert n_longer > {0: 0, 1: 5, 5: 30}[after_best]


def test_enough_expansions_give_the_exact_list() -> None:
    for seed in SEEDS:
        case = random_case(np.random.default_rng(seed))
        keywords = {**case.arguments(), "words_per_vertex": None, "n_best": 4}
        if not ranked_sequences(case.dag, **case.arguments()):
            continue
        exact = decode(case.dag, **keywords)
        found = decode(case.dag, **keywords, after_best=10_000)
        assert [item.score for item in found] == pytest.approx([item.score for item in exact])
        assert all(item.optimal for item in found), seed


def test_more_expansions_only_add() -> None:
    dag = random_dag(np.random.default_rng(5), n_vertices=24, n_words=30, sharpness=2.0)
    keywords = {"unit_cost": np.ones(30, int), "budget": LengthBudget(max=8), "n_best": 40}
    lists = [decode(dag, **keywords, after_best=more) for more in (0, 8, 64)]
    sizes = [len(found) for found in lists]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert not lists[0].is_complete
    worst = [found[min(4, len(found) - 1)].score for found in lists[1:]]
    assert worst == sorted(worst)


def test_other_limits_still_hold() -> None:
    dag = random_dag(np.random.default_rng(5), n_vertices=24, n_words=30, sharpness=2.0)
    keywords = {"unit_cost": np.ones(30, int), "budget": LengthBudget(max=8), "n_best": 40}
    limit = decode(dag, **{**keywords, "n_best": 1}).n_expanded + 3
    found = decode(dag, **keywords, after_best=1_000, max_expansions=limit)
    assert found.n_expanded <= limit
    late = decode(dag, **keywords, after_best=100_000, time_limit_s=1e-9)
    assert late.n_expanded < 2_000


@pytest.mark.parametrize("after_best", [-1, 1.5, True])
def test_after_best_is_a_whole_number(after_best: object) -> None:
    dag = random_dag(np.random.default_rng(0))
    with pytest.raises(ConfigError, match=f"whole number of at least 0, was {after_best}"):
        decode(dag, unit_cost=[1, 1, 1], budget=LengthBudget(max=2), after_best=after_best)
