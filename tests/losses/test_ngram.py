"""Fuzzy n-gram alignment against enumeration of every path and every sentence."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
import torch

from sumfit.losses import ngram_loss

BOS, EOS = "<s>", "</s>"


def grams(words: tuple[object, ...], n: int) -> Counter[tuple[object, ...]]:
    return Counter(words[i : i + n] for i in range(len(words) - n + 1))


def enumerated_loss(
    word_prob: torch.Tensor, link: torch.Tensor, target: tuple[int, ...], size: int, n: int
) -> float:
    """Expected counts from every path and every choice of its words."""
    n_vocabulary = word_prob.shape[1]
    expected: Counter[tuple[object, ...]] = Counter()
    for n_inner in range(size - 1):
        for inner in itertools.combinations(range(1, size - 1), n_inner):
            stops = (0, *inner, size - 1)
            path = math.prod(float(link[i, j]) for i, j in itertools.pairwise(stops))
            for words in itertools.product(range(n_vocabulary), repeat=n_inner):
                mass = path * math.prod(
                    float(word_prob[j, v]) for j, v in zip(inner, words, strict=True)
                )
                for gram, count in grams((BOS, *words, EOS), n).items():
                    expected[gram] += mass * count
    total = sum(expected.values())
    wanted = grams((BOS, *target, EOS), n)
    matched = sum(min(expected[gram], count) for gram, count in wanted.items())
    return 1 - min(1.0, math.exp(1 - sum(wanted.values()) / total)) * matched / total


@pytest.mark.parametrize("n", [2, 3])
def test_loss_equals_enumeration(n: int) -> None:
    gen = torch.Generator().manual_seed(n)
    sizes = torch.tensor([5, 4, 5])
    targets = torch.tensor([[0, 1, 0, 1], [2, 0, 0, 0], [1, 1, 1, 0]])
    n_targets = torch.tensor([4, 1, 3])
    word_prob = (torch.randn(3, 5, 3, generator=gen) * 2).softmax(-1)
    real = torch.arange(5) < sizes[:, None]
    allowed = torch.ones(5, 5, dtype=torch.bool).triu(1) & real[:, None] & real[:, :, None]
    scores = torch.randn(3, 5, 5, generator=gen).masked_fill(~allowed, -math.inf)
    link = scores.softmax(-1).nan_to_num(0.0)
    match = word_prob.log().gather(2, targets[:, None].expand(3, 5, 4))
    loss = ngram_loss(match, link.log(), targets, n_vertices=sizes, n_targets=n_targets, n=n)
    for item in range(3):
        target = tuple(targets[item, : n_targets[item]].tolist())
        expected = enumerated_loss(word_prob[item], link[item], target, int(sizes[item]), n)
        assert float(loss[item]) == pytest.approx(expected, abs=1e-5)


def test_certain_graph_of_the_target_has_no_loss_and_gradients_are_finite() -> None:
    link = torch.full((1, 4, 4), -math.inf)
    link[0, [0, 1, 2], [1, 2, 3]] = 0.0
    match = torch.full((1, 4, 2), -math.inf)
    match[0, 1, 0] = match[0, 2, 1] = 0.0
    lengths = {"n_vertices": torch.tensor([4]), "n_targets": torch.tensor([2])}
    target = torch.tensor([[7, 8]])
    for values in (match, link):
        values.requires_grad_()
    loss = ngram_loss(match, link, target, **lengths)
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
    loss.sum().backward()
    assert match.grad is not None
    assert link.grad is not None
    assert match.grad.isfinite().all()
    assert link.grad.isfinite().all()


def test_slope_equals_finite_differences() -> None:
    gen = torch.Generator().manual_seed(0)
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    link = torch.randn(1, 6, 6, generator=gen).masked_fill(~later, -math.inf).log_softmax(-1)
    link = link.nan_to_num(nan=-math.inf, neginf=-math.inf)
    match = torch.randn(1, 6, 3, generator=gen) - 2
    lengths = {"n_vertices": torch.tensor([6]), "n_targets": torch.tensor([3])}
    target = torch.tensor([[7, 8, 9]])
    leaf = match.clone().requires_grad_()
    ngram_loss(leaf, link, target, **lengths).sum().backward()
    step = 1e-2
    for index in [(0, 1, 0), (0, 2, 1), (0, 4, 2)]:
        ends = []
        for sign in (1, -1):
            moved = match.clone()
            moved[index] += sign * step
            ends.append(float(ngram_loss(moved, link, target, **lengths)))
        assert leaf.grad is not None
        assert float(leaf.grad[index]) == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-4)
