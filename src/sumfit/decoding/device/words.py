"""The best words of every vertex, from the scores of a whole vocabulary on a torch device.

Owns the choice between torch and the kernel that reads the scores once.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import torch
from torch import Tensor

__all__ = ["best_words", "has_kernels", "in_one_reading"]

_HAS_TRITON = find_spec("triton") is not None and os.environ.get("SUMFIT_KERNELS") != "0"
_MOST_WORDS = 1 << 15  # as many scores as a program can hold in registers


def has_kernels(values: Tensor) -> bool:
    """Return whether decoding's kernels can take a tensor.

    Args:
        values: Any tensor of the batch.

    Returns:
        ``True`` on CUDA with triton.
    """
    return _HAS_TRITON and values.is_cuda


def best_words(
    scores: Tensor, n_vertices: Tensor, *, words_per_vertex: int, n_special: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best words of every inner vertex and the log-sum-exp of all its words.

    Args:
        scores: ``(B, S, V)`` log-probabilities or logits, any float type.
        n_vertices: ``(B,)`` vertices of each graph; rows of the rest may hold anything.
        words_per_vertex: ``M``.
        n_special: Ids below this are left out.

    Returns:
        ``(B, S - 2, M)`` float32 scores, descending, and int64 ids; ``(B, S - 2)`` sums.
    """
    if has_kernels(scores) and scores.shape[2] <= _MOST_WORDS:
        return in_one_reading(scores, n_vertices, words_per_vertex, n_special)
    words = scores[:, 1:-1, n_special:].float()
    top, ids = words.topk(words_per_vertex, dim=2)
    return top, ids + n_special, words.logsumexp(dim=2)


def in_one_reading(
    scores: Tensor, n_vertices: Tensor, words_per_vertex: int, n_special: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Do the same in one kernel, 0 where padded; see `best_words`.

    Args:
        scores: ``(B, S, V)``.
        n_vertices: ``(B,)``.
        words_per_vertex: ``M``.
        n_special: Ids below this are left out.

    Returns:
        Scores, ids and sums.
    """
    from sumfit.decoding.device import kernels as kernels

    size, n, n_words = scores.shape
    top = scores.new_zeros(size, n - 2, words_per_vertex, dtype=torch.float32)
    ids = torch.zeros_like(top, dtype=torch.int64)
    total = scores.new_zeros(size, n - 2, dtype=torch.float32)
    kernels.best_words[(size * (n - 2),)](
        scores.contiguous(), n_vertices, top, ids, total, n, n_words,
        N_SPECIAL=n_special, M=words_per_vertex,
        LANES=1 << (words_per_vertex - 1).bit_length(),
        BLOCK=1 << (n_words - 1).bit_length(), num_warps=8,
    )  # fmt: skip
    return top, ids, total
