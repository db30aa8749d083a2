"""The Triton kernels against the plain versions: on CUDA, or interpreted where triton is there.

To run them without a GPU: ``TRITON_INTERPRET=1 pytest tests/losses/test_kernels.py``.
"""

from __future__ import annotations

import importlib.util
import math
import os

import pytest
import torch

from sumfit.losses import dag_loss

IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton not installed"),
    *([] if IS_INTERPRETED else [pytest.mark.gpu]),
    pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning"),  # interpreter
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
DEVICE = "cpu" if IS_INTERPRETED else "cuda"


def random_graphs(seed: int, n_items: int, size: int, n_words: int) -> tuple[torch.Tensor, ...]:
    gen = torch.Generator().manual_seed(seed)
    n_vertices = torch.randint(4, size + 1, (n_items,), generator=gen)
    n_targets = torch.randint(0, n_words + 1, (n_items,), generator=gen)
    match = torch.randn(n_items, size, n_words, generator=gen) - 2
    match[torch.rand(match.shape, generator=gen) < 0.05] = -math.inf
    real = torch.arange(size) < n_vertices[:, None]
    allowed = torch.ones(size, size, dtype=torch.bool).triu(1) & real[:, None] & real[:, :, None]
    link = torch.randn(n_items, size, size, generator=gen).masked_fill(~allowed, -math.inf)
    link = link.log_softmax(-1).nan_to_num(nan=-math.inf, neginf=-math.inf)
    return match.to(DEVICE), link.to(DEVICE), n_vertices.to(DEVICE), n_targets.to(DEVICE)


@pytest.mark.parametrize(
    ("n_items", "size", "n_words"), [(6, 9, 4), (4, 48, 16), (2, 70, 6), (2, 130, 5)]
)
def test_dag_kernels_equal_the_plain_loop(n_items: int, size: int, n_words: int) -> None:
    from sumfit.losses.kernels import dag

    for seed in range(3):
        graphs = random_graphs(seed, n_items, size, n_words)
        if seed == 2:
            graphs[0][0, 2, :] = math.nan
        for ours, theirs in zip(dag.sweep(*graphs), dag_loss._sweep(*graphs), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, equal_nan=True)
        if seed < 2:
            assert dag.best_alignment(*graphs).equal(dag_loss._best_alignment(*graphs))


@pytest.mark.parametrize("vocab_size", [37, 1000])
def test_vocabulary_kernels_equal_torch(vocab_size: int) -> None:
    from sumfit.losses.kernels import vocab

    gen = torch.Generator().manual_seed(0)
    logits = torch.randn(5, vocab_size, generator=gen).to(DEVICE) * 3
    grad_total = torch.randn(5, generator=gen).to(DEVICE)
    real = logits[:, 4:].clone()
    total, best = vocab.row_totals(logits, n_special=4, wants_best=True)
    torch.testing.assert_close(total, real.logsumexp(1))
    assert best.equal(real.argmax(1) + 4)
    vocab.softmax_grad_(logits, total, grad_total, n_special=4)
    torch.testing.assert_close(logits[:, 4:], real.softmax(1) * grad_total[:, None])
    assert logits[:, :4].eq(0).all()
