"""The chance that a reader would print a line is a logistic regression on what is known of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import ModelFormatError
from sumfit.rerank.confidence import BIAS, Evidence, check_weights, confidence

EVIDENCE = Evidence.of(
    verdict=0.5, logp=-12.0, least=-4.0, graph=-6.0, n_pieces=11, n_chars=48, penalty=2.0
)


def test_evidence_counts_the_end_as_a_piece() -> None:
    assert EVIDENCE == Evidence(0.5, -12.0, -1.0, -4.0, -6.0, -0.5, 0.48, 2.0, 0.0)


def test_what_is_next_to_impossible_says_no_more() -> None:
    far = Evidence.of(verdict=0, logp=-500.0, least=-90.0, graph=-math.inf, n_pieces=5, n_chars=9)
    assert (far.logp, far.logp_per_piece, far.graph, far.graph_per_piece) == (-60, -10, -60, -10)


def test_the_chance_is_the_one_written_out() -> None:
    weights = {"verdict": 0.8, "graph": 0.1, "penalty": -0.2, BIAS: 0.3}
    logit = 0.3 + 0.8 * 0.5 - 0.1 * 6.0 - 0.2 * 2.0
    assert confidence(EVIDENCE, weights) == pytest.approx(1 / (1 + math.exp(-logit)))
    assert confidence(EVIDENCE, {}) == 0.5


@given(st.floats(-1e5, 1e5), st.floats(-1e3, 1e3))
def test_a_chance_stays_one(verdict: float, weight: float) -> None:
    chance = confidence(EVIDENCE._replace(verdict=verdict), {"verdict": weight})
    assert 0.0 <= chance <= 1.0


def test_weights_of_what_there_is_not_are_refused() -> None:
    check_weights({name: 1.0 for name in (*Evidence._fields, BIAS)}, "config.json")
    with pytest.raises(
        ModelFormatError, match=r"config\.json: 'confidence' has 'luck', but may have"
    ):
        check_weights({"verdict": 1.0, "luck": 2.0}, "config.json")
