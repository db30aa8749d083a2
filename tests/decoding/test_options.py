"""Options of decoding: every check and its text, and the registry."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sumfit.constraints.compile import Constraints
from sumfit.dag import DAG
from sumfit.decoding import METHODS, DecodeOptions, decode, decode_all_lengths, get_decoder
from sumfit.errors import (
    BudgetError,
    ConfigError,
    ConstraintError,
    GraphError,
)
from sumfit.length import LengthBudget


def tiny() -> DAG:
    links = np.full((4, 4), -np.inf)
    links[0, 1] = links[1, 2] = links[2, 3] = links[1, 3] = np.log(0.5)
    return DAG.from_dense(np.log(np.full((4, 3), 1 / 3)), links)


BAD = {
    "beam_size must be a whole number of at least 1, was 0": {"beam_size": 0},
    "beam_size must be a whole number of at least 1, was 2.5": {"beam_size": 2.5},
    "words_per_vertex must be a whole number of at least 1, was 0": {"words_per_vertex": 0},
    "words_per_vertex must be a whole number of at least 1, was -3": {"words_per_vertex": -3},
    "n_best must be a whole number of at least 1, was True": {"n_best": True},
    "max_expansions must be a whole number of at least 1, was 0": {"max_expansions": 0},
    "time_limit_s must be above 0 seconds, was 0": {"time_limit_s": 0},
    "time_limit_s must be above 0 seconds, was nan": {"time_limit_s": float("nan")},
    "bonus must be a finite number of nats, was inf": {"bonus": float("inf")},
    "bonus must be a finite number of nats, was 'much'": {"bonus": "much"},
    "unit_bonus must be a finite number of nats, was nan": {"unit_bonus": float("nan")},
    "bonus must be between -100 and 100 nats, was 1000": {"bonus": 1000},
    "ending must be 'eos' or 'any', was 'stop'": {"ending": "stop"},
    "seed must be a whole number of at least 0, was 1.5": {"seed": 1.5},
    "seed must be a whole number of at least 0, was -1": {"seed": -1},
    "decode has no such option": {"beams": 3},
    "method must be one of ": {"method": "magic"},
    "method must be one of diverse, ": {"method": ["seqmap"]},
}


@pytest.mark.parametrize("text", list(BAD))
def test_bad_option_is_one_config_error_that_names_it(text: str) -> None:
    arguments = {"unit_cost": [1, 1, 1], "budget": LengthBudget(max=2)} | BAD[text]
    with pytest.raises(ConfigError, match="^" + re.escape(text)):
        decode(tiny(), **arguments)


BAD_BUDGETS = {
    "unit_cost[1] is -1; a cost must be 0 or more": {"unit_cost": [1, -1, 1]},
    "unit_cost[1] is -4294967296; a cost must be 0 or more": {"unit_cost": [1, -(2**32), 1]},
    "first_cost[0] is -2; a cost must be 0 or more": {"first_cost": [-2, 0, 0]},
    "unit_cost must be (V,), one cost per vocabulary id, was (1, 3)": {"unit_cost": [[1, 1, 1]]},
    "unit_cost must hold whole numbers, was of type float64": {"unit_cost": [1.0, 1.0, 1.0]},
    "unit_cost must be (V,) = (3,), was (2,); give one cost per vocabulary id": {
        "unit_cost": [1, 1]
    },
    "first_cost must have the shape of unit_cost (3,), was (2,)": {"first_cost": [1, 1]},
    "budget must be a LengthBudget, was 8; for example LengthBudget(max=8)": {"budget": 8},
}


@pytest.mark.parametrize("text", list(BAD_BUDGETS))
def test_bad_cost_or_budget_is_one_budget_error(text: str) -> None:
    arguments = {"unit_cost": [1, 1, 1], "budget": LengthBudget(max=2)} | BAD_BUDGETS[text]
    with pytest.raises(BudgetError) as caught:
        decode(tiny(), **arguments)
    assert str(caught.value) == text


def test_costs_above_every_limit_do_not_overflow() -> None:
    found = decode(tiny(), unit_cost=np.array([2**40, 1, 2**40]), budget=LengthBudget(max=2))
    assert set(found.best.words) == {1}


def test_graphs_that_are_none_are_refused_before_any_search() -> None:
    links = np.full((3, 3), -np.inf)
    links[0, 1] = links[1, 2] = 0.0
    words = np.log(np.full((3, 2), 0.5))
    broken = {
        "word_logp holds NaN": (np.where(words == words, np.nan, 0), links),
        "word_logp holds 0.5, but a log-probability is at most 0": (words * 0 + 0.5, links),
        "a row of word_logp sums to 2 as probabilities, more than 1": (words * 0, links),
        "link 2 -> 0 does not go forwards": (words, np.where(np.eye(3, k=-2) > 0, -1.0, links)),
        "no path leads from vertex 0 to the last vertex": (words, links + -np.inf),
    }
    for text, (word_logp, link_logp) in broken.items():
        with pytest.raises(GraphError, match=re.escape(text)):
            DAG.from_dense(word_logp, link_logp)


def test_first_cost_is_unit_cost_unless_given() -> None:
    options = DecodeOptions(unit_cost=[1, 2], budget=LengthBudget(max=3))
    assert options.first_cost is options.unit_cost
    changed = options.replace(bonus=0.5, first_cost=[0, 1])
    assert changed.bonus == 0.5
    assert changed.first_cost.tolist() == [0, 1]
    assert options.bonus == 0.0


def test_constraints_of_another_vocabulary_are_refused() -> None:
    class Compiled:
        vocab_size = 7

    with pytest.raises(ConstraintError) as caught:
        decode(tiny(), unit_cost=[1, 1, 1], budget=LengthBudget(max=2), constraints=Compiled())
    assert str(caught.value) == (
        "constraints were compiled for 7 vocabulary ids, but the graph has 3; "
        "compile them with the graph's tokenizer"
    )


def test_all_lengths_checks_options_too() -> None:
    with pytest.raises(ConfigError, match=r"^decode_all_lengths has no such option"):
        decode_all_lengths(tiny(), unit_cost=[1, 1, 1], budget=LengthBudget(max=2), beams=2)
    with pytest.raises(BudgetError):
        decode_all_lengths(tiny(), unit_cost=[1, 1], budget=LengthBudget(max=2))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_registered_method_is_there(method: str) -> None:
    assert callable(get_decoder(method))


def test_constraints_that_are_not_compiled_are_refused() -> None:
    constraints = Constraints(repeat_words=False)
    with pytest.raises(ConstraintError, match=r"constraints must be compiled for one text, was"):
        decode(tiny(), unit_cost=[1, 1, 1], budget=LengthBudget(max=2), constraints=constraints)


def test_costs_of_different_lengths_are_refused() -> None:
    with pytest.raises(
        BudgetError, match=r"^unit_cost must be \(V,\), one cost per vocabulary id: "
    ):
        decode(tiny(), unit_cost=[[1], [1, 2]], budget=LengthBudget(max=2))


def test_a_path_search_cut_short_finds_what_a_beam_finds() -> None:
    options = {"unit_cost": [1, 1, 1], "budget": LengthBudget(max=2), "method": "pathmap"}
    whole = decode(tiny(), n_best=2, **options)
    cut = decode(tiny(), n_best=2, max_expansions=1, **options)
    assert [item.words for item in cut] == [item.words for item in whole]
    assert not cut.is_complete
