"""Minimum Bayes risk under the whole graph."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode
from sumfit.decoding.expectation import expected_overlaps
from sumfit.errors import ConfigError
from sumfit.length import LengthBudget
from sumfit.rerank import GraphMBRReranker
from tests.sample_texts import tiny_tokenizer
from tests.strategies_dag import random_dag

OPENS = np.array([True, True, True, False, True])
JOINS = np.array([False, False, False, True, False])


def reranker(weight: float) -> GraphMBRReranker:
    return GraphMBRReranker(opens=OPENS, joins=JOINS, weight=weight)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_that_of_score_and_weighted_gain(seed: int) -> None:
    dag = random_dag(np.random.default_rng(seed), n_vertices=9, n_words=5)
    nbest = decode(dag, unit_cost=[1] * 5, budget=LengthBudget(max=4), n_best=12)
    gains = expected_overlaps(dag, [one.words for one in nbest], opens=OPENS, joins=JOINS).f1
    for weight in (0.0, 3.0, 1e6):
        order = reranker(weight).rank(dag, nbest)
        assert sorted(order) == list(range(len(nbest)))
        values = [nbest[place].score + weight * gains[place] for place in order]
        assert values == sorted(values, reverse=True)
    assert reranker(0.0).rank(dag, nbest) == tuple(range(len(nbest)))
    assert gains[reranker(1e6).rank(dag, nbest)[0]] == pytest.approx(gains.max())


def test_what_the_graph_repeats_wins_over_what_is_likeliest() -> None:
    # "x" alone has 0.4; everything else begins with "a" and differs after it.
    links = np.full((5, 5), -np.inf)
    links[0, 1], links[0, 2] = np.log(0.4), np.log(0.6)
    links[1, 4] = links[2, 3] = links[3, 4] = 0.0
    words = np.full((5, 5), -np.inf)
    words[1, 0] = 0.0
    words[2, 1] = 0.0
    words[3, 2], words[3, 4] = np.log(0.5), np.log(0.5)
    words[0] = words[4] = words[1]
    dag = DAG.from_dense(words, links)
    nbest = decode(dag, unit_cost=[1] * 5, budget=LengthBudget(max=2), n_best=3)
    assert nbest[0].words == (0,)
    assert nbest[reranker(10.0).rank(dag, nbest)[0]].words == (1, 2)


def test_equal_ones_keep_their_order_and_short_lists_need_no_graph() -> None:
    dag = random_dag(np.random.default_rng(1), n_words=5)
    nbest = decode(dag, unit_cost=[1] * 5, budget=LengthBudget(max=2), n_best=1)
    assert reranker(5.0).rank(dag, nbest) == (0,)
    assert reranker(5.0).rank(dag, [nbest[0]] * 3) == (0, 1, 2)


def test_pieces_of_a_tokenizer_open_and_join_words() -> None:
    tokenizer = tiny_tokenizer()
    made = GraphMBRReranker.of(tokenizer, weight=7.0)
    assert (made.name, made.weight) == ("mbr", 7.0)
    index = {piece: place for place, piece in enumerate(tokenizer.piece_bytes)}
    assert made.opens[index[b" the"]]
    assert not made.joins[index[b" the"]]
    assert made.joins[index[b"e"]]
    for piece in (b".", b" ", b"\xe6"):
        assert not made.opens[index[piece]]
        assert not made.joins[index[piece]]
    assert not made.opens[:4].any()


def test_bad_numbers_are_named() -> None:
    with pytest.raises(ConfigError, match=r"weight must be at least 0 and finite, was -1"):
        reranker(-1.0)
    with pytest.raises(ConfigError, match="n_candidates must be at least 1, was 0"):
        GraphMBRReranker(opens=OPENS, joins=JOINS, n_candidates=0)
    with pytest.raises(ConfigError, match="after_best must be at least 0, was -2"):
        GraphMBRReranker(opens=OPENS, joins=JOINS, after_best=-2)
