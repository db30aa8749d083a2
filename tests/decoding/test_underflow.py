"""Words of -900 nats: what double precision loses is found by its path, and never certified."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.search.underflow import underflow_bound
from sumfit.errors import InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_dag


def underflow_dag(rng: np.random.Generator) -> DAG:
    """A small graph of which many words and links are very improbable."""
    dag = random_dag(rng, n_vertices=int(rng.integers(4, 9)), n_words=int(rng.integers(2, 5)))
    depth = float(rng.choice([200, 400, 900]))
    words, links = dag.word_logp.copy(), dag.link_logp.copy()
    for values, share in ((words, 0.6), (links, 0.3)):
        values[rng.random(values.shape) < share] -= np.float32(depth * rng.random())
    return DAG(dag.word_ids, words, links, dag.other_logp, dag.vocab_size)


@pytest.mark.parametrize("method", ["seqmap", "seqmap-beam"])
@pytest.mark.parametrize("n_graphs", [300, pytest.param(6000, marks=pytest.mark.slow)])
def test_improbable_sequences_are_found_and_no_certificate_is_wrong(method, n_graphs):
    rng = np.random.default_rng(71)
    n_underflow = 0
    for _ in range(n_graphs):
        dag = underflow_dag(rng)
        options = {
            "unit_cost": rng.integers(0, 3, size=dag.vocab_size),
            "budget": LengthBudget(exact=int(rng.integers(1, 6))),
            "bonus": float(rng.choice([0.0, 0.5])),
            "unit_bonus": float(rng.choice([0.0, 0.3])),
        }
        expected = oracles.ranked_sequences(dag, **options)
        if not expected:
            with pytest.raises(InfeasibleBudgetError):
                decode(dag, method=method, words_per_vertex=None, **options)
            continue
        found = decode(dag, method=method, words_per_vertex=None, **options).best
        truth = {item.words: item.score for item in expected}
        assert found.score == pytest.approx(truth[found.words], abs=1e-6)
        assert expected[0].score <= found.score + found.gap + 1e-6
        if expected[0].score > -600:
            assert found.optimal
        n_underflow += expected[0].score < -690
        assert not (found.optimal and expected[0].score < -690)
    assert n_underflow > 10


def test_what_can_be_lost_grows_with_the_bonus_that_can_be_had():
    dag = random_dag(np.random.default_rng(72), n_vertices=11, n_words=2, link_dropout=0.0)
    options = DecodeOptions(unit_cost=[1, 1], budget=LengthBudget(max=3), bonus=2.0, unit_bonus=0.5)
    plain = underflow_bound(dag, options.replace(bonus=-1.0, unit_bonus=0.0), 0.0)
    assert plain == pytest.approx(-690 + 2 * math.log(10))
    assert underflow_bound(dag, options, 0.0) == pytest.approx(plain + 2.0 * 9 + 0.5 * 3)
    assert underflow_bound(dag, options, -700.0) == pytest.approx(plain + 2.0 * 3 + 0.5 * 3)
