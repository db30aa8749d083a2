"""Triton kernels of the losses: whether they can run. Nothing here imports triton."""

from __future__ import annotations

from importlib.util import find_spec

from torch import Tensor

__all__ = ["has_kernels"]

_HAS_TRITON = find_spec("triton") is not None


def has_kernels(scores: Tensor) -> bool:
    """Return whether the fused kernels can take a tensor.

    Args:
        scores: Any tensor of the computation.

    Returns:
        ``True`` on CUDA with triton installed.
    """
    return _HAS_TRITON and scores.is_cuda
