"""Exact search against brute force, and what its certificate claims."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode, decode_all_lengths, marginal_log_prob
from sumfit.errors import BudgetError, InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests.oracles import OracleSequence, ranked_sequences
from tests.strategies_dag import Case, random_budget, random_case, random_dag
from tests.tuned import tune

N_BEST = 4


def oracle_by_words(ranked: list[OracleSequence]) -> dict[tuple[int, ...], OracleSequence]:
    return {item.words: item for item in ranked}


def check_against_brute_force(seed: int) -> None:
    case = random_case(np.random.default_rng(seed))
    ranked = ranked_sequences(case.dag, **case.arguments())
    if not ranked:
        with pytest.raises(InfeasibleBudgetError):
            decode(case.dag, **case.arguments(), words_per_vertex=None)
        return
    found = decode(case.dag, **case.arguments(), words_per_vertex=None, n_best=N_BEST)
    known = oracle_by_words(ranked)
    assert len(found) == min(N_BEST, len(ranked)), seed
    assert len({item.words for item in found}) == len(found), seed
    for item, best in zip(found, ranked, strict=False):
        assert item.score == pytest.approx(best.score, abs=1e-6), seed
        assert item.log_prob == pytest.approx(known[item.words].log_prob, abs=1e-6), seed
        assert item.cost == known[item.words].cost, seed
        assert item.optimal, seed
        assert item.gap == 0.0, seed
    assert found.is_complete, seed


@pytest.mark.parametrize("block", range(6))
def test_seqmap_is_the_enumerated_maximum(block: int) -> None:
    for seed in range(50 * block, 50 * (block + 1)):
        check_against_brute_force(seed)


@pytest.mark.parametrize("unit_bonus", [60.0, -60.0])
def test_a_bonus_that_outweighs_all_probabilities_keeps_the_search_exact(unit_bonus: float) -> None:
    for seed in range(60):
        case = random_case(np.random.default_rng([seed, 7]))
        arguments = case.arguments() | {"unit_bonus": unit_bonus, "budget": LengthBudget(max=15)}
        ranked = ranked_sequences(case.dag, **arguments)
        if ranked:
            found = decode(case.dag, **arguments, words_per_vertex=None, n_best=2)
            for item, best in zip(found, ranked, strict=False):
                assert item.score == pytest.approx(best.score, abs=1e-6), seed
                assert item.optimal, seed


@pytest.mark.slow
def test_seqmap_is_the_enumerated_maximum_on_ten_thousand_graphs() -> None:
    for seed in range(10_000):
        check_against_brute_force(seed)


@pytest.mark.parametrize("hope", [1, 24])
def test_certificate_over_restricted_candidates_is_honest(
    hope: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(monkeypatch, expansions_before_giving_up=hope)
    certified = 0
    for seed in range(300):
        rng = np.random.default_rng([seed, 1])
        dag = random_dag(rng, n_vertices=6, n_words=4, sharpness=float(rng.choice([1.5, 4.0])))
        cost = rng.integers(0, 3, size=4).astype(np.int32)
        budget = random_budget(rng, highest=6)
        options = {
            "unit_cost": cost,
            "budget": budget,
            "ending": str(rng.choice(["eos", "any"])),
            "unit_bonus": float(rng.choice([0.0, 0.6, -0.4])),
        }
        ranked = ranked_sequences(dag, **options)
        if not ranked:
            continue
        found = decode(dag, **options, words_per_vertex=1, n_best=2)
        known = oracle_by_words(ranked)
        for rank, item in enumerate(found):
            assert item.log_prob == pytest.approx(known[item.words].log_prob, abs=1e-6), seed
            if item.optimal:
                certified += 1
                before = {earlier.words for earlier in found[:rank]}
                rest = [other for other in ranked if other.words not in before]
                assert item.score == pytest.approx(rest[0].score, abs=1e-6), seed
            else:
                before = {earlier.words for earlier in found[:rank]}
                rest = [other for other in ranked if other.words not in before]
                assert rest[0].score <= item.score + item.gap + 1e-6, seed
    assert certified > 50


def test_gap_of_a_search_cut_short_bounds_the_optimum() -> None:
    cut_short = 0
    for seed in range(100):
        case = random_case(np.random.default_rng([seed, 2]))
        ranked = ranked_sequences(case.dag, **case.arguments())
        if not ranked:
            continue
        for limit in (1, 2, 3, 4):
            found = decode(
                case.dag, **case.arguments(), words_per_vertex=None, max_expansions=limit
            )
            best = found.best
            cut_short += not best.optimal
            assert best.score == pytest.approx(
                oracle_by_words(ranked)[best.words].score, abs=1e-6
            ), seed
            assert ranked[0].score <= best.score + best.gap + 1e-6, (seed, limit)
            assert not best.optimal or ranked[0].score <= best.score + 1e-6, seed
    assert cut_short > 5


def test_every_limit_of_decode_all_lengths_equals_its_own_search() -> None:
    for seed in range(60):
        case = random_case(np.random.default_rng([seed, 3]))
        arguments = case.arguments() | {"budget": LengthBudget(max=7), "words_per_vertex": None}
        expected = {}
        for limit in range(8):
            try:
                expected[limit] = decode(
                    case.dag, **(arguments | {"budget": LengthBudget(max=limit)})
                ).best
            except InfeasibleBudgetError:
                continue
        if not expected:
            with pytest.raises(InfeasibleBudgetError):
                decode_all_lengths(case.dag, **arguments)
            continue
        found = decode_all_lengths(case.dag, **arguments)
        assert list(found) == list(expected), seed
        for limit, best in found.items():
            assert best.score == pytest.approx(expected[limit].score, abs=1e-9), (seed, limit)
            assert best.cost <= limit
            assert best.optimal


def test_decode_all_lengths_refuses_a_minimum() -> None:
    dag = random_dag(np.random.default_rng(0))
    with pytest.raises(BudgetError) as caught:
        decode_all_lengths(dag, unit_cost=[1, 1, 1], budget=LengthBudget(min=2, max=5))
    assert str(caught.value) == ("decode_all_lengths takes upper limits only; remove min=2")


def planted(n_words: int, vocab_size: int) -> tuple[DAG, tuple[int, ...]]:
    """A long chain whose vertex j emits word 7 j mod V with probability 0.6."""
    n_vertices = n_words + 2
    words = np.full((n_vertices, vocab_size), np.log(0.4 / (vocab_size - 1)), dtype=np.float32)
    sequence = tuple(7 * j % vocab_size for j in range(1, n_words + 1))
    for j, word in enumerate(sequence, start=1):
        words[j, word] = np.log(0.6)
    links = np.full((n_vertices, n_vertices), -np.inf, dtype=np.float32)
    for i in range(n_vertices - 1):
        links[i, i + 1] = np.log(0.7)
        links[i, i + 2 :] = np.log(0.3 / n_vertices)
    return DAG.from_dense(words, links), sequence


def test_a_planted_sequence_of_seventy_words_is_found_and_nothing_underflows() -> None:
    dag, sequence = planted(70, 50)
    found = decode(dag, unit_cost=np.ones(50, dtype=np.int32), budget=LengthBudget(exact=70))
    assert found.best.words == sequence
    assert found.best.optimal
    assert found.best.path == tuple(range(1, 71))
    assert found.best.log_prob == pytest.approx(marginal_log_prob(dag, sequence), abs=1e-9)


def test_probabilities_far_below_the_smallest_float_are_searched_exactly() -> None:
    n_words = 240
    words = np.full((n_words + 2, 2), -6.0, dtype=np.float32)
    words[:, 1] = -7.0
    links = np.full((n_words + 2, n_words + 2), -np.inf, dtype=np.float32)
    links[np.arange(n_words + 1), np.arange(1, n_words + 2)] = -0.5
    dag = DAG.from_dense(words, links)
    found = decode(dag, unit_cost=[1, 1], budget=LengthBudget(exact=n_words))
    assert found.best.words == (0,) * n_words
    assert found.best.log_prob == pytest.approx(-6.0 * n_words - 0.5 * (n_words + 1), abs=1e-6)
    assert found.best.log_prob < math.log(5e-324)


def test_bonus_trades_probability_for_words_at_its_exact_price() -> None:
    dag, _ = planted(12, 5)
    cost = np.ones(5, dtype=np.int32)
    lengths = []
    for bonus in (0.0, 1.0, 2.0, 3.0):
        best = decode(dag, unit_cost=cost, budget=LengthBudget(max=12), bonus=bonus).best
        assert best.score == pytest.approx(best.log_prob + bonus * len(best.words), abs=1e-9)
        lengths.append(len(best.words))
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_an_absurdly_large_limit_costs_no_memory() -> None:
    dag, _ = planted(6, 4)
    cost = np.ones(4, dtype=np.int32)
    large = decode(dag, unit_cost=cost, budget=LengthBudget(max=10**9)).best
    assert large.words == decode(dag, unit_cost=cost, budget=LengthBudget(max=6)).best.words
    with pytest.raises(InfeasibleBudgetError):
        decode(dag, unit_cost=cost, budget=LengthBudget(exact=10**9))


def test_infeasible_budgets_say_what_was_asked() -> None:
    dag, _ = planted(3, 4)
    cost = np.full(4, 2, dtype=np.int32)
    texts = {
        "at most 1": LengthBudget(max=1),
        "exactly 3": LengthBudget(exact=3),
        "7 to 9": LengthBudget(min=7, max=9),
    }
    for asked, budget in texts.items():
        with pytest.raises(InfeasibleBudgetError) as caught:
            decode(dag, unit_cost=cost, budget=budget)
        assert str(caught.value) == (
            f"no sequence of the graph costs {asked}: its sequences cost 2 to 6; "
            "raise the limit, lower the minimum or ask for another unit"
        )


def test_a_graph_without_inner_vertex_is_infeasible() -> None:
    links = np.array([[-np.inf, 0.0], [-np.inf, -np.inf]])
    dag = DAG.from_dense(np.zeros((2, 1)), links)
    with pytest.raises(InfeasibleBudgetError, match="a graph of 2 vertices emits no word"):
        decode(dag, unit_cost=[1], budget=LengthBudget(max=3))


def test_restriction_that_leaves_nothing_is_lifted() -> None:
    words = np.log(np.array([[0.5, 0.5], [0.9, 0.1], [0.9, 0.1], [0.5, 0.5]]))
    links = np.full((4, 4), -np.inf)
    links[0, 1] = links[1, 2] = links[2, 3] = 0.0
    dag = DAG.from_dense(words, links)
    found = decode(dag, unit_cost=[1, 3], budget=LengthBudget(exact=6), words_per_vertex=1)
    assert found.best.words == (1, 1)
    assert found.best.optimal


def test_same_input_gives_the_same_output_to_the_last_bit() -> None:
    case: Case = random_case(np.random.default_rng(8), max_vertices=9, max_words=6)
    arguments = case.arguments() | {"budget": LengthBudget(max=6), "words_per_vertex": None}
    first = decode(case.dag, **arguments, n_best=5)
    second = decode(case.dag, **arguments, n_best=5)
    assert first == second


def test_a_time_limit_ends_the_search_with_a_valid_gap() -> None:
    rng = np.random.default_rng(5)
    dag = random_dag(rng, n_vertices=40, n_words=30, sharpness=0.3)
    found = decode(
        dag,
        unit_cost=np.ones(30, dtype=np.int32),
        budget=LengthBudget(exact=12),
        time_limit_s=1e-4,
        max_expansions=10**6,
    )
    assert not found.is_complete
    assert len(found.best.words) == 12
    assert found.best.gap > 0
    assert not found.best.optimal
