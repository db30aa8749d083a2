"""Viterbi equals the maximum over all labellings."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from sumfit.decoding.device.crf import viterbi  # noqa: E402
from tests.crf_cases import draw, scores_of  # noqa: E402


@pytest.mark.parametrize("seed", range(20))
def test_best_labelling_is_the_enumerated_maximum(seed: int) -> None:
    emission, pair, mask = draw(seed)
    pair[1, 0, 2, :2] = -math.inf
    labels, score = viterbi(emission, pair, mask)
    for row in range(2):
        n_slots = int(mask[row].sum())
        every = scores_of(emission[row], pair[row], n_slots)
        best = max(every, key=lambda found: every[found])
        assert tuple(labels[row, :n_slots].tolist()) == best
        assert score[row].item() == pytest.approx(every[best].item())
        assert not labels[row, n_slots:].any()
