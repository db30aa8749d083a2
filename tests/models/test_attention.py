"""Attention ignores padding, and its fused version equals torch's.

To check the fused version without a GPU: ``TRITON_INTERPRET=1 pytest tests/models``.
"""

from __future__ import annotations

import importlib.util
import os

import pytest
import torch

from sumfit.models import attention

IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if IS_INTERPRETED else "cuda"
ON_GPU = () if IS_INTERPRETED else (pytest.mark.gpu,)
CASES = [pytest.param(*case, marks=ON_GPU) for case in ((5, 7), (20, 33), (40, 16))]
HAS_TRITON = importlib.util.find_spec("triton") is not None
pytestmark = pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning")


def make_inputs(size: int, n_keys: int, device: str = "cpu") -> tuple[torch.Tensor, ...]:
    gen = torch.Generator().manual_seed(size)
    qkv = torch.randn(3, size, 96, generator=gen)
    query = torch.randn(3, size, 32, generator=gen)
    key_value = torch.randn(3, n_keys, 64, generator=gen)
    mask = torch.arange(size) < torch.tensor([[size], [3], [2]])
    key_mask = torch.arange(n_keys) < torch.tensor([[n_keys], [4], [1]])
    return tuple(x.to(device) for x in (qkv, mask, query, key_value, key_mask))


def test_padded_keys_have_no_weight() -> None:
    qkv, mask, query, key_value, key_mask = make_inputs(5, 7)
    before = (
        attention.self_attend(qkv, mask, 2),
        attention.cross_attend(query, key_value, key_mask, 2),
    )
    qkv[~mask] = 9.0
    key_value[~key_mask] = 9.0
    after = (
        attention.self_attend(qkv, mask, 2),
        attention.cross_attend(query, key_value, key_mask, 2),
    )
    torch.testing.assert_close(before[0][mask], after[0][mask])
    torch.testing.assert_close(before[1], after[1])


@pytest.mark.skipif(not HAS_TRITON, reason="triton not installed")
@pytest.mark.parametrize(("size", "n_keys"), CASES)
def test_fused_attention_and_gradients_equal_torch(size: int, n_keys: int) -> None:
    qkv, mask, query, key_value, key_mask = make_inputs(size, n_keys, DEVICE)
    for leaf in (qkv, query, key_value):
        leaf.requires_grad_()
    own, source = (qkv, mask, 2), (query, key_value, key_mask, 2)
    pairs = [
        (attention._self_attention(*own), attention.self_attend(*own), (qkv,)),
        (attention._cross_attention(*source), attention.cross_attend(*source), (query, key_value)),
    ]
    tolerance = 1e-4 if DEVICE == "cpu" else 5e-3  # tf32 products on a GPU
    for ours, theirs, inputs in pairs:
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
        weight = torch.sin(torch.arange(ours.numel(), device=DEVICE)).view_as(ours)
        grads = [torch.autograd.grad(out, inputs, weight) for out in (ours, theirs)]
        for our_grad, their_grad in zip(*grads, strict=True):
            torch.testing.assert_close(our_grad, their_grad, rtol=tolerance, atol=tolerance)


def test_custom_operators_have_shapes_for_the_compiler() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        qkv, mask = torch.empty(2, 5, 96), torch.ones(2, 5, dtype=torch.bool)
        query, key_value = torch.empty(2, 5, 32), torch.empty(2, 7, 64)
        assert attention._self_attention(qkv, mask, 2).shape == (2, 5, 32)
        assert attention._cross_attention(query, key_value, mask, 2).shape == (2, 5, 32)
        grads = attention._cross_attention_grad(query, query, key_value, mask, 2)
        assert [grad.shape for grad in grads] == [(2, 5, 32), (2, 7, 64)]
