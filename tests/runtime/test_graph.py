"""Folding a network's outputs into a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode
from sumfit.errors import GraphError
from sumfit.length import LengthBudget
from sumfit.runtime import fold
from tests.oracles import ranked_sequences

S, V, M = 6, 12, 3


def outputs(
    seed: int = 0, *, kept: int = M, pinned: tuple[int, ...] = ()
) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Outputs of a network as the export computes them, with the dense tables behind them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(S, V)) * 2
    logits[:, :4] = -np.inf
    words = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    links = np.where(np.triu(np.ones((S, S)), 1) > 0, rng.normal(size=(S, S)), -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        links = links - np.log(np.exp(links).sum(axis=1, keepdims=True))
    links[-1] = -np.inf
    top = np.argsort(-words, axis=1, kind="stable")[:, :kept]
    arguments = {
        "top_ids": top.astype(np.int64),
        "cand_logp": words[:, [*top.ravel(), *pinned]].astype(np.float32),
        "other_logp": np.take_along_axis(words, top, 1)[:, -1].astype(np.float32),
        "link_logp": links.astype(np.float32),
        "vocab_size": V,
    }
    if pinned:
        arguments["pinned_ids"] = np.array(pinned, dtype=np.int64)
    return arguments, words, links


@pytest.mark.parametrize("seed", range(5))
def test_fold_keeps_every_probability(seed: int) -> None:
    arguments, words, links = outputs(seed)
    dag = fold(**arguments)
    dag.validate()
    assert list(dag.word_ids) == sorted(set(arguments["top_ids"][1:-1].ravel()))
    np.testing.assert_allclose(dag.word_logp[1:-1], words[1:-1][:, dag.word_ids], rtol=1e-6)
    np.testing.assert_array_equal(dag.link_logp, links.astype(np.float32))


@pytest.mark.parametrize("seed", range(5))
def test_other_logp_bounds_every_word_left_out(seed: int) -> None:
    arguments, words, _ = outputs(seed)
    dag = fold(**arguments)
    left_out = np.setdiff1d(np.arange(V), dag.word_ids)
    assert (words[1:-1][:, left_out].max(axis=1) <= dag.other_logp[1:-1] + 1e-6).all()


@pytest.mark.parametrize("pinned", [(11, 5), (4, 5, 6, 7, 8, 9, 10, 11)])
def test_pinned_words_are_candidates_with_their_own_probabilities(pinned: tuple[int, ...]) -> None:
    for seed in range(5):
        arguments, words, links = outputs(seed, kept=1, pinned=pinned)
        dag = fold(**arguments)
        dag.validate()
        inner = arguments["top_ids"][1:-1].ravel()
        assert list(dag.word_ids) == sorted({*inner, *pinned})
        np.testing.assert_allclose(dag.word_logp[1:-1], words[1:-1][:, dag.word_ids], rtol=1e-6)
        np.testing.assert_array_equal(dag.link_logp, links.astype(np.float32))


def test_certificates_with_pinned_words_hold_over_the_whole_vocabulary() -> None:
    unit_cost = np.array([0, 0, 0, 0, 1, 1, 2, 1, 1, 2, 6, 7], dtype=np.int32)
    options: dict[str, Any] = {
        "unit_cost": unit_cost, "budget": LengthBudget(max=8), "unit_bonus": 0.3,
    }  # fmt: skip
    certified = {}
    for pinned in ((), (11, 10)):
        certified[pinned] = 0
        for seed in range(12):
            arguments, words, links = outputs(seed, kept=2, pinned=pinned)
            whole = DAG.from_dense(words.astype(np.float32), links.astype(np.float32))
            best = ranked_sequences(whole, **options)[0].score
            found = decode(fold(**arguments), words_per_vertex=None, **options).best
            if found.optimal:
                certified[pinned] += 1
                assert found.score == pytest.approx(best, abs=1e-5), seed
            else:
                assert best <= found.score + found.gap + 1e-5, seed
    assert certified[()] < certified[(11, 10)] < 12  # words outside still count


def test_special_pieces_are_dropped() -> None:
    arguments, _, _ = outputs()
    arguments["top_ids"][2, 0] = 2
    arguments["cand_logp"][:, 2 * M] = -1.0
    assert fold(**arguments).word_ids.min() >= 4


def test_float_noise_above_zero_is_taken_away() -> None:
    arguments, _, _ = outputs()
    arguments["cand_logp"][1, 0] = 1e-7
    arguments["link_logp"][S - 2, S - 1] = 1e-7
    dag = fold(**arguments)
    assert dag.word_logp.max() <= 0
    assert dag.link_logp.max() <= 0


@pytest.mark.parametrize("name", ["cand_logp", "link_logp"])
def test_nan_is_an_error(name: str) -> None:
    arguments, _, _ = outputs()
    arguments[name][1, 4] = np.nan
    with pytest.raises(GraphError, match="the model's output holds NaN; export it again"):
        fold(**arguments)


def test_no_links_is_an_error() -> None:
    arguments, _, _ = outputs()
    arguments["link_logp"][:] = -np.inf
    with pytest.raises(GraphError, match="the model predicts no graph for this text"):
        fold(**arguments)
