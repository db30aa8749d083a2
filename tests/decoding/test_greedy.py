"""Greedy and lookahead follow the best link (and word), and say what the result costs."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import UNBUDGETED_METHODS, decode
from sumfit.errors import InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_case


def small_graph() -> DAG:
    """The best first link leads to vertex 1, whose words are unsure; vertex 2 is sure."""
    with np.errstate(divide="ignore"):
        links = np.log(
            [
                [0, 0.6, 0.4, 0.0, 0.0],
                [0, 0, 0.1, 0.9, 0.0],
                [0, 0, 0, 0.2, 0.8],
                [0, 0, 0, 0, 1.0],
                [0, 0, 0, 0, 0],
            ]
        )
        words = np.log([[1, 0], [0.45, 0.55], [0.9, 0.1], [0.3, 0.7], [1, 0]])
    return DAG.from_dense(words, links)


def test_greedy_follows_links_and_lookahead_weighs_words_too():
    options = {"unit_cost": np.ones(2, int), "budget": LengthBudget(max=9)}
    greedy = decode(small_graph(), method="greedy", **options).best
    assert greedy.path == (1, 3)
    assert greedy.words == (1, 1)
    assert greedy.score == pytest.approx(np.log(0.6 * 0.55 * 0.9 * 0.7), abs=1e-6)
    lookahead = decode(small_graph(), method="lookahead", **options).best
    assert lookahead.path == (2,)
    assert lookahead.words == (0,)
    assert lookahead.score == pytest.approx(np.log(0.4 * 0.9 * 0.8), abs=1e-6)


@pytest.mark.parametrize("method", ["greedy", "lookahead"])
def test_results_are_real_paths_with_true_scores_whatever_the_budget(method):
    rng = np.random.default_rng(31)
    n_over = 0
    for _ in range(200):
        case = random_case(rng)
        arguments = case.arguments()
        try:
            best = decode(case.dag, method=method, **arguments).best
        except InfeasibleBudgetError:
            assert not oracles.enumerate_marginals(case.dag, "eos")
            continue
        paths = {
            (path.words, path.vertices): path.log_prob
            for path in oracles.enumerate_paths(case.dag, case.ending)
        }
        bonus = case.bonus * len(best.words) + case.unit_bonus * best.cost
        assert best.score - bonus == pytest.approx(paths[best.words, best.path], abs=1e-5)
        assert best.cost == oracles.total_cost(best.words, case.unit_cost, case.first_cost)
        assert best.log_prob == pytest.approx(
            oracles.enumerate_marginals(case.dag, case.ending)[best.words], abs=1e-6
        )
        assert not best.optimal
        n_over += best.cost > case.budget.high
    assert n_over > 0
    assert method in UNBUDGETED_METHODS


@pytest.mark.parametrize("method", ["greedy", "lookahead"])
def test_dead_ends_are_passed_over(method):
    links = np.full((5, 5), -np.inf)
    links[0, 1], links[0, 2] = np.log(0.9), np.log(0.1)  # vertex 1 leads nowhere
    links[2, 4] = 0.0
    dag = DAG.from_dense(np.zeros((5, 1)), links)
    best = decode(dag, method=method, unit_cost=[1], budget=LengthBudget(max=1)).best
    assert best.path == (2,)


@pytest.mark.parametrize("method", ["greedy", "lookahead"])
def test_graph_that_emits_no_word_is_an_error(method):
    links = np.full((3, 3), -np.inf)
    links[0, 2] = 0.0
    dag = DAG.from_dense(np.zeros((3, 1)), links)
    with pytest.raises(InfeasibleBudgetError, match="no path emits a word"):
        decode(dag, method=method, unit_cost=[1], budget=LengthBudget(max=1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["greedy", "lookahead"])
def test_a_vertex_without_words_is_passed_over_in_silence(method):
    with np.errstate(divide="ignore"):
        links = np.log([[0, 0.9, 0.1, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1], [0, 0, 0, 0]])
        words = np.log([[1, 0], [0, 0], [0.5, 0.5], [1, 0]])
    graph = DAG.from_dense(words, links)
    found = decode(graph, unit_cost=[1, 1], budget=LengthBudget(max=9), method=method).best
    assert found.path == (2,)
