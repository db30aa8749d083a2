"""The kernels of batched decoding find what plain torch finds: on CUDA, or interpreted.

To run them without a GPU: ``TRITON_INTERPRET=1 pytest tests/decoding/device/test_kernels.py``.
"""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest

from sumfit.length import LengthBudget
from tests.decoding.device.test_batch import random_batch
from tests.strategies_dag import random_dag

torch = pytest.importorskip("torch")

from sumfit.decoding.device import fused  # noqa: E402
from sumfit.decoding.device.batch import DAGBatch, DeviceCosts, seqmap_beam_batch  # noqa: E402
from sumfit.decoding.device.words import in_one_reading  # noqa: E402

IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton not installed"),
    *([] if IS_INTERPRETED else [pytest.mark.gpu]),
    pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning"),  # interpreter
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
DEVICE = "cpu" if IS_INTERPRETED else "cuda"


def check(dags, budgets, *, beam_size, n_best, tuning, **options):
    """Compare words, scores, costs and certificates with plain torch on the CPU."""
    ending, bonus = options.pop("ending", "eos"), options.pop("bonus", 0.0)
    unit_bonus = options.pop("unit_bonus", 0.0)
    plain = seqmap_beam_batch(
        DAGBatch.pack(dags, budgets=budgets, **options),
        ending=ending,
        bonus=bonus,
        unit_bonus=unit_bonus,
        beam_size=beam_size,
        n_best=n_best,
    )
    found = fused.fused_beam(
        DAGBatch.pack(dags, budgets=budgets, device=DEVICE, **options),
        any_ending=ending == "any",
        bonus=bonus,
        unit_bonus=unit_bonus,
        beam_size=beam_size,
        n_best=n_best,
        tuning=tuning,
    )
    torch.testing.assert_close(found.score.cpu(), plain.score, atol=1e-6, rtol=0)
    torch.testing.assert_close(found.log_prob.cpu(), plain.log_prob, atol=1e-6, rtol=0)
    is_found = plain.score > -torch.inf
    assert found.cost.cpu()[is_found].equal(plain.cost[is_found])
    gaps = [part.gap.cpu()[is_found] for part in (found, plain)]
    torch.testing.assert_close(*gaps, atol=5e-4, rtol=0)
    for ours, theirs in zip(found.columns.cpu().tolist(), plain.columns.tolist(), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert [at for at in one if at >= 0] == [at for at in other if at >= 0]


@pytest.mark.parametrize("by_sort", [False, True])
def test_the_kernels_find_what_plain_torch_finds_in_small_graphs(by_sort):
    rng = np.random.default_rng(91)
    for beam_size, n_best in ((2, 1), (20, 3)):
        dags, options, budgets = random_batch(rng, size=8)
        tuning = fused.Tuning(by_sort=by_sort, chunk=16)
        check(dags, budgets, beam_size=beam_size, n_best=n_best, tuning=tuning, **options)


@pytest.mark.parametrize("unit", ["tokens", "words", "chars"])
def test_the_kernels_find_what_plain_torch_finds_in_larger_graphs(unit):
    rng = np.random.default_rng(92)
    dags = [
        random_dag(rng, n_vertices=int(rng.integers(10, 30)), n_words=40, sharpness=2.5)
        for _ in range(3)
    ]
    dags = [dag.restrict(3) for dag in dags]
    cost, budget = {
        "tokens": (np.ones(40, int), LengthBudget(exact=6)),
        "words": (rng.integers(0, 2, size=40), LengthBudget(max=4)),
        "chars": (rng.integers(1, 9, size=40), LengthBudget(min=10, max=25)),
    }[unit]
    tuning = fused.Tuning()
    options = {"unit_cost": cost, "bonus": 0.3, "unit_bonus": 0.25}
    check(dags, [budget] * 3, beam_size=20, n_best=1, tuning=tuning, **options)


def test_words_that_can_only_come_first_are_kept():
    rng = np.random.default_rng(93)
    dags = [random_dag(rng, n_vertices=6, n_words=5, vocab_size=5) for _ in range(4)]
    options = {"unit_cost": np.array([9, 9, 9, 9, 9]), "first_cost": np.array([1, 2, 1, 2, 9])}
    tuning = fused.Tuning()
    check(dags, [LengthBudget(max=2)] * 4, beam_size=4, n_best=2, tuning=tuning, **options)


def test_candidates_that_are_none_change_nothing():
    gen = torch.Generator().manual_seed(1)
    words = torch.randn(3, 9, 20, generator=gen) * 3
    words[:, :, 7] += 4.0  # among the best of many vertices, so listed once and left out often
    links = (torch.randn(3, 9, 9, generator=gen) * 2).log_softmax(2)
    links = links.masked_fill(torch.ones(9, 9).tril().bool(), -torch.inf)
    cost = np.arange(20, dtype=np.int32) % 4
    found = []
    for place, search in (("cpu", seqmap_beam_batch), (DEVICE, fused.fused_beam)):
        batch = DAGBatch.from_scores(
            words.to(place),
            links.to(place),
            torch.tensor([9, 5, 3]).to(place),
            words_per_vertex=3,
            n_special=4,
            costs=DeviceCosts(cost, cost, device=place),
            budgets=[LengthBudget(max=6)] * 3,
            is_normalised=False,
        )
        options = {"bonus": 0.2, "unit_bonus": 0.5, "beam_size": 8, "n_best": 2}
        if search is fused.fused_beam:
            options["any_ending"] = False
        found.append(search(batch, **options))
        assert int((batch.cost <= 6).sum()) < batch.cost.numel() / 2
    plain, compiled = found
    torch.testing.assert_close(compiled.score.cpu(), plain.score, atol=1e-6, rtol=0)
    assert compiled.cost.cpu().equal(plain.cost)


def test_best_words_in_one_reading():
    gen = torch.Generator().manual_seed(0)
    scores = (torch.randn(3, 7, 50, generator=gen) * 3).to(DEVICE)
    scores[:, :, :4] = 99.0
    sizes = torch.tensor([7, 4, 3]).to(DEVICE)
    found = in_one_reading(scores, sizes, 5, 4)
    words = scores[:, 1:-1, 4:]
    top, ids = words.topk(5, dim=2)
    for item, size in enumerate(sizes.tolist()):
        real = slice(0, size - 2)
        torch.testing.assert_close(found[0][item, real], top[item, real])
        assert found[1][item, real].equal(ids[item, real] + 4)
        torch.testing.assert_close(found[2][item, real], words[item, real].logsumexp(1))
