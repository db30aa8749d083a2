"""Decoders at the end of their time: what they return is true, and the gap knows of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.deadline import Deadline
from sumfit.decoding import decode, decode_all_lengths, marginal_log_prob, tuning
from sumfit.errors import ConfigError, InfeasibleBudgetError, NothingFoundError
from sumfit.length import LengthBudget
from tests.clocks import Clock
from tests.strategies_dag import random_dag
from tests.tuned import tune


class Looks:
    """A clock that stands still for some looks, and then says that it is late."""

    def __init__(self, n_early: int) -> None:
        self.left = n_early

    def __call__(self) -> float:
        self.left -= 1
        return 0.0 if self.left >= 0 else 2.0


@pytest.mark.parametrize("method", ["seqmap-beam", "seqmap-table", "pathmap", "seqmap"])
@pytest.mark.parametrize("n_early", [1, 2, 3, 5, 9])
def test_what_is_found_when_the_time_runs_out_is_true(
    method: str, n_early: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(monkeypatch, steps_between_looks=1, beam_steps_between_looks=1)
    n_late = 0
    for seed in range(25):
        dag = random_dag(np.random.default_rng(seed), n_vertices=6, n_words=4)
        asked = {
            "unit_cost": np.ones(dag.vocab_size, dtype=np.int32),
            "budget": LengthBudget(max=4),
            "n_best": 3,
            "method": method,
        }
        deadline = Deadline(1.0, clock=Looks(n_early))
        try:
            found = decode(dag, **asked, deadline=deadline)
        except (InfeasibleBudgetError, NothingFoundError):
            continue
        best = decode(dag, **asked).best
        n_late += deadline.was_felt
        assert found.best.score + found.best.gap >= best.score - 1e-6
        for one in found:
            exact = marginal_log_prob(dag, one.words, "eos")
            assert one.log_prob == pytest.approx(exact, abs=1e-6)
            assert len(one.words) <= 4
    assert n_late > 3 or n_early > 2


def test_a_wide_beam_looks_at_the_clock_within_each_step() -> None:
    """A step of a thousand prefixes took longer than the time limit of the whole."""
    dag = random_dag(np.random.default_rng(1), n_vertices=12, n_words=40)
    asked = {
        "unit_cost": np.ones(dag.vocab_size, dtype=np.int32),
        "budget": LengthBudget(max=9),
        "method": "seqmap-beam",
        "beam_size": 1000,
        "n_best": 4000,
    }
    clock = Clock()
    found = decode(dag, **asked, deadline=Deadline(1.0, clock=clock))
    assert found.n_expanded > 3000
    assert clock.looks > found.n_expanded / tuning.SEARCH.beam_steps_between_looks
    best = found.best
    for n_early in (60, 90):
        deadline = Deadline(1.0, clock=Looks(n_early))
        early = decode(dag, **asked, deadline=deadline)
        assert deadline.was_felt
        assert early.n_expanded < (n_early + 1) * tuning.SEARCH.beam_steps_between_looks
        assert early.best.score + early.best.gap >= best.score - 1e-9


def test_all_limits_share_one_time_but_not_their_expansions() -> None:
    dag = random_dag(np.random.default_rng(3), n_vertices=9, n_words=6)
    cost = np.ones(dag.vocab_size, dtype=np.int32)
    asked = {"unit_cost": cost, "budget": LengthBudget(max=7), "bonus": 3.0}
    whole = decode_all_lengths(dag, **asked)
    late = decode_all_lengths(dag, **asked, deadline=Deadline(1.0, clock=Looks(1)))
    assert set(late) < set(whole)
    assert late[max(late)].score <= whole[max(late)].score
    shared = Deadline(None, 10_000)
    assert decode_all_lengths(dag, **asked, deadline=shared) == whole
    assert shared.expansions_left is not None
    assert 0 < 10_000 - shared.expansions_left


def test_a_deadline_is_a_deadline() -> None:
    dag = random_dag(np.random.default_rng(3))
    asked = {"unit_cost": np.ones(dag.vocab_size, dtype=np.int32), "budget": LengthBudget(max=7)}
    with pytest.raises(ConfigError, match=r"deadline must be a Deadline, was 2\.0"):
        decode(dag, **asked, deadline=2.0)


@pytest.mark.parametrize("method", ["seqmap", "pathmap"])
def test_calls_with_one_deadline_share_its_expansions(method: str) -> None:
    dag = random_dag(np.random.default_rng(5), n_vertices=9, n_words=6)
    asked = {"unit_cost": np.ones(dag.vocab_size, dtype=np.int32), "budget": LengthBudget(max=7)}
    free = decode(dag, **asked, method=method, n_best=20)
    shared = Deadline(None, free.n_expanded + 5)
    first = decode(dag, **asked, method=method, n_best=20, deadline=shared)
    assert [one.words for one in first] == [one.words for one in free]
    assert shared.expansions_left == 5
    assert not shared.was_felt
    second = decode(dag, **asked, method=method, n_best=20, deadline=shared)
    assert shared.expansions_left == 0
    assert shared.was_felt
    assert not second.is_complete
