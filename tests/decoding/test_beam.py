"""The beam equals the plain loops; where it says optimal, enumeration agrees."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode, reference
from sumfit.errors import InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_case, random_dag


def check_certificates(seed: int, n_cases: int, beam_size: int) -> tuple[int, int]:
    rng = np.random.default_rng(seed)
    n_optimal, n_other = 0, 0
    for _ in range(n_cases):
        case = random_case(rng)
        expected = oracles.ranked_sequences(case.dag, **case.arguments())
        options = {"beam_size": beam_size, "n_best": 3, **case.arguments()}
        try:
            found = decode(case.dag, method="seqmap-beam", **options)
        except InfeasibleBudgetError:
            assert not expected or beam_size < 3
            continue
        truth = {item.words: item for item in expected}
        for rank, item in enumerate(found):
            assert item.score == pytest.approx(truth[item.words].score, abs=1e-6)
            assert item.cost == truth[item.words].cost
            assert expected[rank].score <= item.score + item.gap + 1e-6
            if item.optimal:
                assert item.score == pytest.approx(expected[rank].score, abs=1e-6)
                n_optimal += 1
            else:
                n_other += 1
    return n_optimal, n_other


@pytest.mark.parametrize("beam_size", [1, 3, 20])
def test_what_the_beam_calls_optimal_is_the_enumerated_maximum(beam_size):
    n_optimal, n_other = check_certificates(seed=51, n_cases=300, beam_size=beam_size)
    assert n_optimal > 0
    if beam_size == 20:
        assert n_optimal > 20 * n_other


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", [2, 20])
def test_what_the_beam_calls_optimal_is_the_enumerated_maximum_on_many_graphs(beam_size):
    assert check_certificates(seed=52, n_cases=10_000, beam_size=beam_size)[0] > 1000


def test_a_beam_that_misses_all_does_not_say_that_there_is_none():
    rng = np.random.default_rng(52)
    messages = []
    for _ in range(400):
        case = random_case(rng, max_vertices=5)
        if oracles.ranked_sequences(case.dag, **case.arguments()):
            try:
                decode(case.dag, method="seqmap-beam", beam_size=1, **case.arguments())
            except InfeasibleBudgetError as error:
                messages.append(str(error))
    assert messages
    assert all("a beam of 1 found no sequence that costs" in message for message in messages)


@pytest.mark.parametrize("ending", ["eos", "any"])
def test_compiled_beam_equals_the_plain_loops(ending):
    rng = np.random.default_rng(53)
    for _ in range(40):
        dag = random_dag(rng, n_vertices=int(rng.integers(5, 10)), n_words=6)
        options = {
            "unit_cost": rng.integers(0, 3, size=6),
            "first_cost": rng.integers(0, 3, size=6),
            "budget": LengthBudget(min=int(rng.integers(3)), max=int(rng.integers(3, 7))),
            "ending": ending,
            "bonus": float(rng.choice([0.0, 0.4])),
        }
        expected = reference.beam(reference.Problem(dag, **options), beam_size=5)
        found = decode(
            dag, method="seqmap-beam", beam_size=5, words_per_vertex=None, **options
        ).best
        if expected[0].optimal:
            assert found.words == expected[0].words
        assert found.score == pytest.approx(expected[0].score, abs=0.5)


@pytest.mark.parametrize("method", ["seqmap-beam", "seqmap"])
def test_certificate_covers_the_words_that_are_not_kept(method):
    rng = np.random.default_rng(54)
    n_optimal, n_beaten = 0, 0
    for _ in range(300):
        dag = random_dag(rng, n_vertices=6, n_words=9, sharpness=float(rng.choice([1.0, 3.0])))
        low = int(rng.integers(0, 4))
        options = {
            "unit_cost": rng.integers(0, 4, size=9),
            "budget": LengthBudget(min=low, max=low + int(rng.integers(0, 3))),
        }
        try:
            found = decode(dag, method=method, words_per_vertex=1, beam_size=50, **options).best
        except InfeasibleBudgetError:
            continue
        truth = decode(dag, method="seqmap-table", words_per_vertex=9, beam_size=900, **options)
        assert truth.best.score <= found.score + found.gap + 1e-6
        n_optimal += found.optimal
        n_beaten += truth.best.score > found.score + 1e-6
    assert n_optimal > 50
    assert n_beaten > 10


def test_tiny_probabilities_do_not_underflow():
    n_vertices = 30
    rng = np.random.default_rng(55)
    links = np.full((n_vertices, n_vertices), -np.inf, dtype=np.float32)
    upper = np.triu_indices(n_vertices, 1)
    links[upper] = -40.0 - rng.random(upper[0].size)
    words = -60.0 - rng.random((n_vertices, 5))
    dag = DAG.from_dense(words, links)
    options = {"unit_cost": np.ones(5, int), "budget": LengthBudget(exact=20)}
    found = decode(dag, method="seqmap-beam", **options).best
    table = decode(dag, method="seqmap-table", beam_size=50, **options).best
    assert found.score >= table.score - 1e-6
    assert found.score < -1500


def test_beam_that_finds_nothing_says_what_the_graph_can_spend():
    dag = random_dag(np.random.default_rng(57), n_vertices=5, n_words=2, link_dropout=0.0)
    with pytest.raises(
        InfeasibleBudgetError, match="no sequence of the graph costs exactly 40: its sequences cost"
    ):
        decode(dag, method="seqmap-beam", unit_cost=np.full(2, 3), budget=LengthBudget(exact=40))
