"""The plain loops equal brute force where they are exact, and never beat it where they are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sumfit.decoding import reference
from sumfit.decoding.reference import Problem
from tests import oracles
from tests.strategies_dag import random_case

N_CASES = 300
EVERYTHING = 10_000  # a beam that prunes nothing on graphs of this size


def draw(seed: int, n: int = N_CASES, **sizes):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield random_case(rng, **sizes)


def test_path_map_is_the_enumerated_maximum():
    for case in draw(11):
        expected = oracles.ranked_sequences(case.dag, objective="pathmap", **case.arguments())
        found = reference.path_map(Problem(case.dag, **case.arguments()))
        if not expected:
            assert found is None
            continue
        assert found is not None
        assert found.score == pytest.approx(expected[0].score, abs=1e-9)
        assert found.words == expected[0].words or expected[1].score == pytest.approx(
            found.score, abs=1e-9
        )
        assert case.budget.low <= found.cost <= case.budget.high


def test_bound_is_never_below_what_any_continuation_collects():
    for case in draw(12, 60, max_vertices=5, max_words=3):
        problem = Problem(case.dag, **case.arguments())
        table = reference.bound(problem)
        root = max(
            (
                problem.bonus
                + problem.unit_bonus * cost
                + reference.log_add(
                    problem.link[0][i] + problem.word[i][v] + table[problem.high - cost][i]
                    for i in problem.inner()
                )
                for v, cost in enumerate(problem.first)
                if cost <= problem.high
            ),
            default=-math.inf,
        )
        for sequence in oracles.ranked_sequences(case.dag, **case.arguments()):
            assert root >= sequence.score - 1e-9


def test_table_with_room_for_everything_is_exact():
    for case in draw(13, max_vertices=5, max_words=3):
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
        found = reference.seqmap_table(
            Problem(case.dag, **case.arguments()),
            beam_size=EVERYTHING,
            words_per_vertex=EVERYTHING,
            n_best=3,
        )
        assert [item.score for item in found] == pytest.approx(
            [item.score for item in expected[:3]], abs=1e-9
        )


def test_narrow_table_never_scores_above_the_optimum_and_reports_true_marginals():
    for case in draw(14, 100):
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
        by_words = {item.words: item for item in expected}
        for item in reference.seqmap_table(
            Problem(case.dag, **case.arguments()), beam_size=2, words_per_vertex=1, n_best=4
        ):
            assert item.log_prob == pytest.approx(by_words[item.words].log_prob, abs=1e-9)
            assert item.cost == by_words[item.words].cost


def test_certified_beam_is_the_enumerated_maximum():
    n_certified = 0
    for case in draw(15, max_vertices=5, max_words=3):
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
        found = reference.beam(Problem(case.dag, **case.arguments()), beam_size=3)
        if found and found[0].optimal:
            n_certified += 1
            assert found[0].score == pytest.approx(expected[0].score, abs=1e-9)
        if not expected:
            assert not found
    assert n_certified > 100


def test_beam_with_room_for_everything_lists_all_sequences_in_order():
    for case in draw(16, 100, max_vertices=5, max_words=3):
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
        found = reference.beam(
            Problem(case.dag, **case.arguments()), beam_size=EVERYTHING, n_best=EVERYTHING
        )
        assert [item.score for item in found] == pytest.approx(
            [item.score for item in expected], abs=1e-9
        )
        assert all(item.optimal for item in found)
