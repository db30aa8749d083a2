"""Batched decoding gives each graph what the CPU version gives it, whatever its batch-mates."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sumfit.dag import DAG
from sumfit.decoding import decode
from sumfit.errors import ConfigError, InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_budget, random_dag

torch = pytest.importorskip("torch")

from sumfit.decoding.device.batch import (  # noqa: E402
    DAGBatch,
    DeviceCosts,
    decode_batch,
    seqmap_beam_batch,
)


def random_batch(rng, size=12, n_words=5):
    vocab_size = n_words + 2
    dags = [
        random_dag(
            rng,
            n_vertices=int(rng.integers(3, 7)),
            n_words=int(rng.integers(1, n_words + 1)),
            sharpness=float(rng.choice([0.5, 1.5, 3.0])),
            vocab_size=vocab_size,
        )
        for _ in range(size)
    ]
    highest = int(rng.choice([1, 4]))
    unit_cost = rng.integers(int(rng.integers(2)), highest + 1, size=vocab_size).astype(np.int32)
    first_cost = None
    if rng.random() < 0.5:
        first_cost = rng.integers(0, highest + 1, size=vocab_size).astype(np.int32)
    return (
        dags,
        {
            "unit_cost": unit_cost,
            "first_cost": first_cost,
            "ending": str(rng.choice(["eos", "any"])),
            "bonus": float(rng.choice([0.0, 0.5])),
            "unit_bonus": float(rng.choice([0.0, 0.7, -0.4])),
        },
        [random_budget(rng) for _ in range(size)],
    )


@pytest.mark.parametrize("n_batches", [25, pytest.param(840, marks=pytest.mark.slow)])
def test_batched_path_map_is_the_enumerated_maximum(n_batches):
    rng = np.random.default_rng(81)
    for _ in range(n_batches):
        dags, options, budgets = random_batch(rng)
        for dag, budget, found in zip(
            dags,
            budgets,
            decode_batch(dags, method="pathmap", budget=budgets, **options),
            strict=True,
        ):
            expected = oracles.ranked_sequences(dag, objective="pathmap", budget=budget, **options)
            if not expected:
                assert isinstance(found, InfeasibleBudgetError)
                continue
            alone = decode(dag, method="pathmap", budget=budget, **options).best
            assert found.best.score == pytest.approx(expected[0].score, abs=1e-6)
            assert found.best.words == alone.words
            assert found.best.path == alone.path
            assert found.best.cost == alone.cost
            assert found.best.log_prob == pytest.approx(alone.log_prob, abs=1e-6)
            assert found.best.optimal


@pytest.mark.parametrize("n_batches", [25, pytest.param(840, marks=pytest.mark.slow)])
@pytest.mark.parametrize("beam_size", [2, 20])
def test_what_the_batched_beam_calls_optimal_is_the_enumerated_maximum(beam_size, n_batches):
    rng = np.random.default_rng(82)
    n_optimal, n_other = 0, 0
    for _ in range(n_batches):
        dags, options, budgets = random_batch(rng)
        results = decode_batch(dags, budget=budgets, beam_size=beam_size, n_best=2, **options)
        for dag, budget, found in zip(dags, budgets, results, strict=True):
            expected = oracles.ranked_sequences(dag, budget=budget, **options)
            if not expected:
                assert isinstance(found, InfeasibleBudgetError)
                continue
            if isinstance(found, InfeasibleBudgetError):
                assert beam_size == 2
                continue
            truth = {item.words: item for item in expected}
            for rank, item in enumerate(found):
                assert item.score == pytest.approx(truth[item.words].score, abs=1e-6)
                assert item.cost == truth[item.words].cost
                assert expected[rank].score <= item.score + item.gap + 1e-6
                if item.optimal:
                    assert item.score == pytest.approx(expected[rank].score, abs=1e-6)
                n_optimal += item.optimal
                n_other += not item.optimal
    assert n_optimal > 200
    if beam_size == 20:
        assert n_optimal > 20 * n_other


def test_batched_beam_equals_the_beam_of_one_graph_on_larger_graphs():
    rng = np.random.default_rng(83)
    dags = [
        random_dag(rng, n_vertices=int(rng.integers(10, 30)), n_words=40, sharpness=2.5)
        for _ in range(16)
    ]
    for unit_cost, budget in (
        (np.ones(40, int), LengthBudget(exact=6)),
        (rng.integers(0, 2, size=40), LengthBudget(max=4)),
        (rng.integers(1, 9, size=40), LengthBudget(min=10, max=25)),
    ):
        options = {"unit_cost": unit_cost, "budget": budget, "unit_bonus": 0.25}
        for dag, found in zip(dags, decode_batch(dags, **options), strict=True):
            alone = decode(dag, method="seqmap-beam", **options).best
            if alone.optimal:
                assert found.best.words == alone.words
                assert found.best.log_prob == pytest.approx(alone.log_prob, abs=1e-6)
            else:
                assert found.best.score == pytest.approx(alone.score, abs=0.5)


def test_what_the_beam_cannot_certify_goes_to_exact_search_when_asked_for():
    rng = np.random.default_rng(88)
    dags = [random_dag(rng, n_vertices=12, n_words=6, sharpness=1.0) for _ in range(24)]
    options = {
        "unit_cost": rng.integers(1, 4, size=6),
        "budget": LengthBudget(exact=9),
        "words_per_vertex": None,
    }
    results = decode_batch(dags, beam_size=2, certify=True, **options)
    for dag, found in zip(dags, results, strict=True):
        assert found.best.optimal
        assert found.best.score == pytest.approx(decode(dag, **options).best.score, abs=1e-6)
    methods = [found.method for found in results]
    assert 0 < methods.count("seqmap") < len(methods)


@pytest.mark.parametrize("method", ["pathmap", "seqmap-beam"])
def test_batch_mates_and_their_order_change_nothing(method):
    rng = np.random.default_rng(84)
    dags, options, budgets = random_batch(rng, size=8)
    together = decode_batch(dags, method=method, budget=budgets, **options)
    turned = decode_batch(dags[::-1], method=method, budget=budgets[::-1], **options)[::-1]
    for dag, budget, one, other in zip(dags, budgets, together, turned, strict=True):
        (alone,) = decode_batch([dag], method=method, budget=budget, **options)
        if isinstance(alone, InfeasibleBudgetError):
            assert isinstance(one, InfeasibleBudgetError)
            assert isinstance(other, InfeasibleBudgetError)
        else:
            assert one.best.words == other.best.words == alone.best.words
            assert one.best.score == pytest.approx(alone.best.score, abs=1e-6)


@pytest.mark.parametrize("method", ["pathmap", "seqmap-beam"])
def test_certificate_covers_the_words_that_are_not_kept(method):
    rng = np.random.default_rng(85)
    n_optimal, n_beaten = 0, 0
    for _ in range(20):
        low = int(rng.integers(0, 4))
        budget = LengthBudget(min=low, max=low + int(rng.integers(0, 3)))
        unit_cost = rng.integers(int(rng.integers(2)), 4, size=9)
        options = {"unit_cost": unit_cost, "budget": budget, "method": method}
        options["unit_bonus"] = float(rng.choice([0.0, 0.7, -0.4]))
        dags = [random_dag(rng, n_vertices=6, n_words=9, sharpness=2.0) for _ in range(10)]
        parts = [dag.restrict(1) for dag in dags]
        results = decode_batch(parts, words_per_vertex=None, **options)
        for dag, found in zip(dags, results, strict=True):
            if isinstance(found, InfeasibleBudgetError):
                continue
            truth = decode(
                dag,
                method="pathmap" if method == "pathmap" else "seqmap-table",
                unit_cost=unit_cost,
                budget=budget,
                unit_bonus=options["unit_bonus"],
                words_per_vertex=9,
                beam_size=900,
            )
            assert truth.best.score <= found.best.score + found.best.gap + 1e-6
            n_optimal += found.best.optimal
            n_beaten += truth.best.score > found.best.score + 1e-6
    assert n_optimal > 20
    assert n_beaten > 3


def test_scores_of_a_network_become_the_graphs_that_the_host_would_fold():
    rng = np.random.default_rng(89)
    size, n_vertices, vocab_size, n_special = 5, 12, 40, 4
    sizes = np.array([12, 5, 9, 12, 3])
    words = rng.normal(size=(size, n_vertices, vocab_size)) * 2
    words -= np.logaddexp.reduce(words, axis=2, keepdims=True)
    links = np.full((size, n_vertices, n_vertices), -np.inf)
    dags = []
    for item, own in enumerate(sizes):
        part = random_dag(rng, n_vertices=int(own), n_words=2).link_logp
        links[item, :own, :own] = part
        inner = words[item, :own].astype(np.float32)
        top = np.argsort(-inner[1:-1, n_special:], axis=1)[:, :3] + n_special
        ids = np.unique(top)
        other = np.full(own, -np.inf, dtype=np.float32)
        other[1:-1] = np.sort(inner[1:-1, n_special:], axis=1)[:, -3]
        dags.append(DAG(ids.astype(np.int32), inner[:, ids], part, other, vocab_size))
    cost = rng.integers(1, 3, size=vocab_size).astype(np.int32)
    budgets = [LengthBudget(max=5), LengthBudget(exact=2)] * 2 + [LengthBudget(max=3)]
    batch = DAGBatch.from_scores(
        torch.from_numpy(words),
        torch.from_numpy(links),
        torch.from_numpy(sizes),
        words_per_vertex=3,
        n_special=n_special,
        costs=DeviceCosts(cost, cost, device="cpu"),
        budgets=budgets,
    )
    result = seqmap_beam_batch(batch, bonus=0.5, unit_bonus=0.3)
    for item, (dag, budget) in enumerate(zip(dags, budgets, strict=True)):
        columns = result.columns[item, 0]
        found = tuple(batch.word_ids[item, columns[columns >= 0]].tolist())
        alone = decode(
            dag,
            method="seqmap-beam",
            unit_cost=cost,
            budget=budget,
            bonus=0.5,
            unit_bonus=0.3,
            words_per_vertex=None,
        ).best
        assert found == alone.words
        assert float(result.score[item, 0]) == pytest.approx(alone.score, abs=1e-5)
        assert (float(result.gap[item, 0]) == 0.0) == alone.optimal


def test_long_sequences_do_not_underflow():
    rng = np.random.default_rng(86)
    dag = random_dag(rng, n_vertices=60, n_words=300, sharpness=0.1, link_dropout=0.0)
    options = {"unit_cost": np.ones(300, int), "budget": LengthBudget(exact=50)}
    (found,) = decode_batch([dag], **options)
    alone = decode(dag, method="seqmap-beam", **options).best
    assert found.best.log_prob < -150
    assert found.best.log_prob == pytest.approx(alone.log_prob, abs=2.0)


def test_unusable_calls_are_one_clear_error():
    dag = random_dag(np.random.default_rng(87), n_words=3)
    options = {"unit_cost": [1, 1, 1], "budget": LengthBudget(max=2)}
    with pytest.raises(ConfigError, match="pathmap, seqmap-beam in batches, was 'seqmap'"):
        decode_batch([dag], method="seqmap", **options)
    with pytest.raises(ConfigError, match="had 0 graphs and 0 budgets"):
        decode_batch([], **options)
    with pytest.raises(ConfigError, match="had 1 graphs and 2 budgets"):
        decode_batch([dag], unit_cost=[1, 1, 1], budget=[LengthBudget(max=2)] * 2)


def test_without_torch_the_error_is_the_line_that_installs_it():
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from sumfit.errors import MissingExtraError\n"
        "try:\n"
        "    from sumfit.decoding import decode_batch\n"
        "except MissingExtraError as error:\n"
        "    print(error)\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip().startswith("torch is not installed; run: pip install 'sumfit[train]' ")
