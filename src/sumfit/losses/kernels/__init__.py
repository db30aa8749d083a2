"""Triton kernels of the losses: whether they can run. Nothing here imports triton.

``SUMFIT_KERNELS=0`` in the environment turns these and the network's kernels off.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from torch import Tensor

__all__ = ["has_kernels"]

_HAS_TRITON = find_spec("triton") is not None and os.environ.get("SUMFIT_KERNELS") != "0"


def has_kernels(scores: Tensor) -> bool:
    """Return whether the fused kernels can take a tensor.

    Args:
        scores: Any tensor of the computation.

    Returns:
        ``True`` on CUDA with triton installed.
    """
    return _HAS_TRITON and scores.is_cuda
