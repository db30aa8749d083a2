"""Ranking losses against plain loops, and their laws."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sumfit.losses.ranking import ranking_loss, smoothed

ROWS = st.lists(
    st.tuples(st.floats(-4, 4), st.floats(0, 1), st.booleans()), min_size=1, max_size=6
).filter(lambda row: any(there for _, _, there in row))
KINDS = ("one-hot", "listwise", "pairwise", "risk")


def softmax(values: list[float]) -> list[float]:
    total = sum(math.exp(value) for value in values)
    return [math.exp(value) / total for value in values]


def plain(logits: list[float], gains: list[float], kind: str, smoothing: float) -> float:
    """The loss of one list whose candidates are all there."""
    n, p = len(logits), softmax(logits)
    if kind == "risk":
        return sum(p[k] * (max(gains) - gains[k]) for k in range(n))
    if kind == "pairwise":
        pairs = [(i, j) for i in range(n) for j in range(n) if gains[i] > gains[j]]
        weight = sum(gains[i] - gains[j] for i, j in pairs)
        total = sum(
            (gains[i] - gains[j]) * math.log1p(math.exp(logits[j] - logits[i])) for i, j in pairs
        )
        return total / max(weight, 1e-6)
    best = gains.index(max(gains))
    target = [float(k == best) for k in range(n)]
    if kind == "listwise":
        target = softmax([gain / 0.1 for gain in gains])
    target = [(1 - smoothing) * value + smoothing / n for value in target]
    return -sum(t * math.log(q) for t, q in zip(target, p, strict=True))


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("kind", KINDS)
@given(row=ROWS)
def test_a_loss_is_that_of_a_plain_loop_over_what_is_there(
    kind: str, smoothing: float, row: list[tuple[float, float, bool]]
) -> None:
    row = [(logit, round(gain, 2), there) for logit, gain, there in row]
    logits = torch.tensor([[x if there else -math.inf for x, _, there in row]])
    gains = torch.tensor([[gain for _, gain, _ in row]])
    kept = [(x, gain) for x, gain, there in row if there]
    best = max(range(len(row)), key=lambda k: (row[k][2], row[k][1], -k))
    got = ranking_loss(
        logits,
        gains,
        torch.tensor([best]),
        loss=kind,  # type: ignore[arg-type]
        label_smoothing=smoothing,
    )
    expected = plain([x for x, _ in kept], [g for _, g in kept], kind, smoothing)
    assert got.item() == pytest.approx(expected, abs=1e-4, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_finite_where_candidates_are_missing_or_equal(kind: str) -> None:
    logits = torch.tensor([[0.3, -math.inf, 0.1], [1.0, 1.0, -math.inf]], requires_grad=True)
    gains = torch.tensor([[0.2, 9.0, 0.7], [0.5, 0.5, 0.0]])
    loss = ranking_loss(logits, gains, torch.tensor([2, 0]), loss=kind)  # type: ignore[arg-type]
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert logits.grad is not None
    there = torch.isfinite(logits)
    assert torch.isfinite(logits.grad[there]).all()
    assert logits.grad[0, 2] < 0 < logits.grad[0, 0]  # towards the better one


def test_smoothing_gives_missing_candidates_nothing() -> None:
    target = torch.tensor([[1.0, 0.0, 0.0]])
    there = torch.tensor([[True, True, False]])
    assert smoothed(target, there, 0.1).tolist() == [pytest.approx([0.95, 0.05, 0.0])]
