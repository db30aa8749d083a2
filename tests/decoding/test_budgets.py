"""Budgets beyond what a graph can spend are as good as none, and take no memory for it."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit import Summarizer
from sumfit.dag import DAG
from sumfit.decoding import METHODS, UNBUDGETED_METHODS, ctc_decode, decode, decode_all_lengths
from sumfit.errors import BudgetError, InfeasibleBudgetError
from sumfit.length import FORBIDDEN, LengthBudget, unit_costs
from sumfit.length.units import UNITS
from tests.strategies_dag import random_dag

HUGE = 10**9
CAPPED = sorted(set(METHODS) - UNBUDGETED_METHODS)


@pytest.fixture(scope="module")
def graph() -> DAG:
    """Graph over the default model's vocabulary, with words that no SMS can hold."""
    tokenizer = Summarizer.from_pretrained().tokenizer
    rng = np.random.default_rng(0)
    forbidden = np.flatnonzero(unit_costs(tokenizer, "sms").cost == FORBIDDEN)
    ids = np.concatenate([rng.choice(np.arange(300, 9000), size=24, replace=False), forbidden[-6:]])
    small = random_dag(rng, n_vertices=14, n_words=30, sharpness=2.0)
    return DAG(
        np.sort(ids).astype(np.int32),
        small.word_logp,
        small.link_logp,
        np.full(14, -9.0, dtype=np.float32),
        tokenizer.vocab_size,
    )


@pytest.mark.parametrize("unit", sorted(UNITS))
@pytest.mark.parametrize("method", CAPPED)
def test_a_huge_budget_is_as_good_as_none(graph: DAG, method: str, unit: str) -> None:
    costs = unit_costs(Summarizer.from_pretrained().tokenizer, unit)
    options = {"unit_cost": costs.cost, "first_cost": costs.first_cost, "method": method, "seed": 3}
    huge = decode(graph, budget=LengthBudget(max=HUGE), **options)
    ample = decode(graph, budget=LengthBudget(max=600), **options)
    assert [item.words for item in huge] == [item.words for item in ample]
    assert huge.best.score == pytest.approx(ample.best.score, abs=1e-9)
    assert huge.best.cost == ample.best.cost < 600
    assert huge.best.optimal == ample.best.optimal
    if unit == "sms":
        assert (costs.cost[list(huge.best.words)] < FORBIDDEN).all()


@pytest.mark.parametrize("unit", sorted(UNITS))
@pytest.mark.parametrize("method", CAPPED)
@pytest.mark.parametrize("high", [HUGE, 2**40])
def test_no_search_for_what_cannot_be_spent(
    graph: DAG, method: str, unit: str, high: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sumfit.decoding.bounds.tables as module

    def refuse(*arguments: object) -> None:
        raise AssertionError("the bounds were filled")

    monkeypatch.setattr(module, "fill_bounds", refuse)
    costs = unit_costs(Summarizer.from_pretrained().tokenizer, unit)
    options = {"unit_cost": costs.cost, "first_cost": costs.first_cost, "method": method}
    with pytest.raises(InfeasibleBudgetError, match=f"costs exactly {high}: its sequences cost"):
        decode(graph, budget=LengthBudget(exact=high), **options)


@pytest.mark.parametrize("method", CAPPED)
def test_costs_that_need_a_table_beyond_memory_are_one_clear_error(method: str) -> None:
    dag = random_dag(np.random.default_rng(1), n_vertices=9, n_words=4)
    cost = np.array([10**8, 2 * 10**8, 3, 4])
    with pytest.raises(BudgetError, match=r"up to [0-9,]+ would take [0-9,]+ GiB, more than 4"):
        decode(dag, unit_cost=cost, budget=LengthBudget(max=HUGE), method=method)


def test_every_length_ends_where_the_graph_does(graph: DAG) -> None:
    costs = unit_costs(Summarizer.from_pretrained().tokenizer, "chars")
    options = {"unit_cost": costs.cost, "first_cost": costs.first_cost}
    huge = decode_all_lengths(graph, budget=LengthBudget(max=HUGE), **options)
    ample = decode_all_lengths(graph, budget=LengthBudget(max=600), **options)
    assert max(huge) < 600
    assert huge == {limit: ample[limit] for limit in huge}
    assert ample[600] == huge[max(huge)]


@pytest.mark.parametrize("method", ["alignment", "prefix-beam"])
def test_ctc_with_a_huge_budget(method: str) -> None:
    rng = np.random.default_rng(2)
    frames = rng.normal(size=(7, 5)) * 2
    frames -= np.logaddexp.reduce(frames, axis=1, keepdims=True)
    options = {"blank": 0, "unit_cost": [0, 1, 2, 2, FORBIDDEN], "method": method}
    huge = ctc_decode(frames, budget=LengthBudget(max=HUGE), **options)
    ample = ctc_decode(frames, budget=LengthBudget(max=14), **options)
    assert huge.best.words == ample.best.words
    assert 4 not in huge.best.words
    with pytest.raises(InfeasibleBudgetError):
        ctc_decode(frames, budget=LengthBudget(exact=HUGE), **options)


@pytest.mark.parametrize("method", ["pathmap", "seqmap-beam"])
def test_batches_with_a_huge_budget(graph: DAG, method: str) -> None:
    pytest.importorskip("torch")
    from sumfit.decoding import decode_batch

    budgets = [LengthBudget(max=HUGE), LengthBudget(max=600), LengthBudget(exact=HUGE)]
    for unit in ("chars", "sms"):
        costs = unit_costs(Summarizer.from_pretrained().tokenizer, unit)
        huge, ample, none = decode_batch(
            [graph] * 3,
            unit_cost=costs.cost,
            first_cost=costs.first_cost,
            budget=budgets,
            method=method,
        )
        assert huge.best.words == ample.best.words
        assert isinstance(none, InfeasibleBudgetError)
