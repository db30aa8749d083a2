"""The DAG loss against enumeration of every path, plain autograd and finite differences."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from sumfit.losses import best_alignment, dag_nll


def random_batch(seed: int, *, n_items: int = 3, size: int = 7, n_words: int = 4) -> dict:
    """Graphs of different sizes with some impossible links and words, and targets that fit."""
    gen = torch.Generator().manual_seed(seed)
    match = torch.randn(n_items, size, n_words, generator=gen, dtype=torch.float64) - 2
    match[torch.rand(match.shape, generator=gen) < 0.1] = -math.inf
    n_vertices = torch.randint(4, size + 1, (n_items,), generator=gen)
    n_targets = torch.randint(0, n_words + 1, (n_items,), generator=gen)
    scores = torch.randn(n_items, size, size, generator=gen, dtype=torch.float64)
    scores[torch.rand(scores.shape, generator=gen) < 0.1] = -math.inf
    real = torch.arange(size) < n_vertices[:, None]
    allowed = torch.ones(size, size, dtype=torch.bool).triu(1) & real[:, None] & real[:, :, None]
    scores = scores.masked_fill(~allowed, -math.inf)
    link = (scores - scores.logsumexp(-1, keepdim=True)).masked_fill(~allowed, -math.inf)
    link = link.nan_to_num(nan=-math.inf, neginf=-math.inf)
    return {
        "match_logp": match.float(),
        "link_logp": link.float(),
        "n_vertices": n_vertices,
        "n_targets": n_targets,
    }


def paths(batch: dict, item: int) -> list[tuple[tuple[int, ...], float]]:
    """Every path that emits the target of one item, with its log-probability."""
    match, link = batch["match_logp"][item], batch["link_logp"][item]
    end, n_words = int(batch["n_vertices"][item]) - 1, int(batch["n_targets"][item])
    found = []
    for inner in itertools.combinations(range(1, end), n_words):
        stops = (0, *inner, end)
        logp = sum(float(link[i, j]) for i, j in itertools.pairwise(stops))
        logp += sum(float(match[j, u]) for u, j in enumerate(inner))
        found.append((inner, logp))
    return found


def plain_nll(match: Tensor, link: Tensor, n_vertices: Tensor, n_targets: Tensor) -> Tensor:
    """The recursion item by item in probabilities, recorded by autograd."""
    losses = []
    for item in range(match.shape[0]):
        end = int(n_vertices[item]) - 1
        probability = link[item].exp()
        mass = torch.zeros(match.shape[1], dtype=match.dtype)
        mass[0] = 1.0
        for word in range(int(n_targets[item])):
            mass = (mass @ probability) * match[item, :, word].exp()
        losses.append(-(mass @ probability[:, end]).log())
    return torch.stack(losses)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_nll_and_posterior_are_the_enumerated_sums(seed: int) -> None:
    batch = random_batch(seed)
    nll, posterior = dag_nll(**batch)
    for item in range(3):
        listed = paths(batch, item)
        total = sum(math.exp(logp) for _, logp in listed)
        assert math.exp(-float(nll[item])) == pytest.approx(total, rel=1e-4, abs=1e-30)
        expected = torch.zeros_like(posterior[item])
        for inner, logp in listed:
            for word, vertex in enumerate(inner):
                expected[vertex, word] += math.exp(logp) / total if total else 0.0
        torch.testing.assert_close(posterior[item], expected, rtol=1e-4, atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_gradients_equal_autograd_through_the_plain_loop(seed: int) -> None:
    batch = random_batch(seed)
    fast = [batch[key].clone().requires_grad_() for key in ("match_logp", "link_logp")]
    slow = [batch[key].double().requires_grad_() for key in ("match_logp", "link_logp")]
    lengths = (batch["n_vertices"], batch["n_targets"])
    nll = dag_nll(fast[0], fast[1], n_vertices=lengths[0], n_targets=lengths[1]).nll
    expected = plain_nll(slow[0], slow[1], *lengths)
    weight = torch.tensor([1.0, -0.5, 2.0])
    keep = nll.isfinite()
    (nll[keep] * weight[keep]).sum().backward()
    (expected[keep] * weight[keep].double()).sum().backward()
    for ours, theirs in zip(fast, slow, strict=True):
        assert ours.grad is not None
        assert ours.grad.isfinite().all()
        recorded = torch.zeros_like(theirs) if theirs.grad is None else theirs.grad
        oracle = recorded.nan_to_num(nan=0.0).float()  # exp'(-inf) * 0 in the plain loop
        torch.testing.assert_close(ours.grad, oracle, rtol=1e-4, atol=1e-5)


def test_gradients_equal_finite_differences() -> None:
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    scores = torch.sin(torch.arange(36.0)).view(1, 6, 6)
    link = scores.masked_fill(~later, -math.inf)
    lengths = {"n_vertices": torch.tensor([6]), "n_targets": torch.tensor([2])}
    match = torch.cos(torch.arange(12.0)).view(1, 6, 2) - 2
    inputs = {"match_logp": match, "link_logp": link}
    grads = {name: values.clone().requires_grad_() for name, values in inputs.items()}
    dag_nll(**grads, **lengths).nll.sum().backward()
    step = 1e-2
    for name, index in [
        ("match_logp", (0, 1, 0)),
        ("match_logp", (0, 3, 1)),
        ("link_logp", (0, 0, 1)),
        ("link_logp", (0, 1, 3)),
        ("link_logp", (0, 3, 5)),
    ]:
        shifted = []
        for sign in (1, -1):
            values = inputs[name].clone()
            values[index] += sign * step
            shifted.append(float(dag_nll(**{**inputs, name: values}, **lengths).nll))
        slope = (shifted[0] - shifted[1]) / (2 * step)
        grad = grads[name].grad
        assert grad is not None
        assert slope < -0.01
        assert float(grad[index]) == pytest.approx(slope, abs=1e-3)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_best_alignment_is_the_best_enumerated_path(seed: int) -> None:
    batch = random_batch(seed)
    alignment = best_alignment(**batch)
    for item in range(3):
        best, logp = max(paths(batch, item), key=lambda p: p[1], default=((), -math.inf))
        expected = [-1] * batch["match_logp"].shape[1]
        if logp > -math.inf:
            for word, vertex in enumerate(best):
                expected[vertex] = word
        assert alignment[item].tolist() == expected


def test_item_without_a_path_is_infinite_and_gets_no_gradient() -> None:
    batch = random_batch(1)
    batch["n_vertices"] = torch.tensor([7, 4, 7])
    batch["n_targets"] = torch.tensor([2, 4, 2])  # 4 words do not fit between 4 vertices
    batch["match_logp"][2, 3, 1] = math.nan
    match = batch["match_logp"].requires_grad_()
    link = batch["link_logp"].requires_grad_()
    nll, posterior = dag_nll(
        match, link, n_vertices=batch["n_vertices"], n_targets=batch["n_targets"]
    )
    assert nll[1] == math.inf
    assert nll[2].isnan()
    assert posterior[1:].eq(0).all()
    torch.where(nll.isfinite(), nll, 0.0).sum().backward()
    for grad in (match.grad, link.grad):
        assert grad is not None
        assert grad.isfinite().all()
        assert grad[1:].eq(0).all()


def test_paths_far_below_the_mass_of_others_are_not_lost() -> None:
    """A probable lane too short for the target runs beside the improbable one that fits."""
    size, n_words = 64, 30
    link = torch.full((1, size, size), -math.inf)
    chain = torch.arange(1, 57)
    link[0, chain, chain + 1] = 0.0
    link[0, 0, [1, 31]] = math.log(0.5)  # vertices 1..30 fit, 31..57 are three too few
    link[0, 30] = link[0, 57] = -math.inf
    link[0, [30, 57], 63] = 0.0
    match = torch.full((1, size, n_words), -1.0)
    match[0, 1:31] = -6.0
    nll, posterior = dag_nll(
        match, link, n_vertices=torch.tensor([size]), n_targets=torch.tensor([n_words])
    )
    assert float(nll) == pytest.approx(6 * n_words - math.log(0.5), rel=1e-5)
    torch.testing.assert_close(posterior[0, 1:31], torch.eye(n_words), atol=1e-4, rtol=0)

    mass = torch.eye(size)[0]  # products scaled by their maximum lose it in float32
    for word in range(n_words):
        mass = (mass @ link[0].exp()) * match[0, :, word].exp()
        mass = mass / mass.max()
        if word == 24:
            assert mass[25] == 0
