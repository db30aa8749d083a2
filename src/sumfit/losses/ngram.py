r"""Fuzzy n-gram alignment: how many of the target's n-grams a graph is expected to emit.

Owns the loss of FA-DAT (Ma et al. 2023), for a second stage of training: where the path sum wants
the target word by word, this one is content with its n-grams anywhere. Bos and eos take part, so
beginnings and endings count. With ``L = exp(l)``, ``W[i, u]`` the probability of the u-th word of
bos y eos at vertex i, and ``P[i]`` the probability that a path visits vertex i::

    P      = (I - L^T)^-1 e_0
    C[u]   = sum_{v1 < ... < vn}  P[v1] W[v1, u] L[v1, v2] W[v2, u+1] ... W[vn, u+n-1]
    E      = sum_{v1 < ... < vn}  P[v1] L[v1, v2] ... L[vn-1, vn]
    loss   = 1 - min(1, e^(1 - N / E)) * sum_g min(C[g], count of g in y) / E

``N`` is the number of n-grams of bos y eos, ``g`` runs over its distinct n-grams.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["ngram_loss"]

_BOS, _EOS, _NONE = -1, -2, -3  # no vocabulary id


def ngram_loss(
    match_logp: Tensor,
    link_logp: Tensor,
    target_ids: Tensor,
    *,
    n_vertices: Tensor,
    n_targets: Tensor,
    n: int = 2,
) -> Tensor:
    """Return one minus the expected n-gram precision, with a penalty for short outputs.

    Time O(n U S^2), memory O(U S + S^2).

    Args:
        match_logp: ``(B, S, U)`` log-probability of each target word at each vertex.
        link_logp: ``(B, S, S)`` link log-probabilities, ``[from, to]``; ``-inf`` = no link.
        target_ids: ``(B, U)`` target words.
        n_vertices: ``(B,)`` real vertices of each graph; the last one is the end.
        n_targets: ``(B,)`` target words of each item.
        n: Words of an n-gram, at least 2.

    Returns:
        ``(B,)`` in [0, 1]; 1 where the target has no n-gram.
    """
    with torch.autocast(match_logp.device.type, enabled=False):
        link = link_logp.float().exp()
        words = _emissions(match_logp.float(), n_vertices, n_targets)
        visited = _visits(link)
        grams, total = words * visited[..., None], visited[:, None]
        for order in range(1, n):
            grams = (link.transpose(1, 2) @ grams[..., :-1]) * words[..., order:]
            total = total @ link
        expected = grams.sum(dim=1)
        n_expected = total.sum(dim=(1, 2)).clamp(min=1e-6)
        counts = _counts(target_ids, n_targets, n)
        matched = torch.where(counts > 0, expected.minimum(counts) / counts.clamp(min=1), 0.0)
        n_wanted = (n_targets + 3 - n).clamp(min=0)
        brevity = (1 - n_wanted / n_expected).clamp(max=0).exp()
        return 1 - brevity * matched.sum(dim=1) / n_expected


def _emissions(match: Tensor, n_vertices: Tensor, n_targets: Tensor) -> Tensor:
    """Return ``(B, S, U + 2)`` probabilities of bos y eos at each vertex."""
    n_items, size, n_words = match.shape
    vertex = torch.arange(size, device=match.device)[:, None]
    word = torch.arange(n_words + 2, device=match.device) - 1
    last = (n_vertices - 1)[:, None, None]
    end = n_targets[:, None, None]
    is_inner = (vertex > 0) & (vertex < last) & (word >= 0) & (word < end)
    padded = torch.nn.functional.pad(match, (1, 1)).exp()
    at_ends = ((vertex == 0) & (word == -1)) | ((vertex == last) & (word == end))
    return torch.where(is_inner, padded, at_ends.to(padded.dtype).expand(n_items, -1, -1))


def _visits(link: Tensor) -> Tensor:
    """Return ``(B, S)`` probability that a path passes through each vertex."""
    size = link.shape[1]
    system = torch.eye(size, dtype=link.dtype, device=link.device) - link.transpose(1, 2)
    start = torch.zeros_like(link[:, :, :1])
    start[:, 0] = 1.0
    solved: Tensor = torch.linalg.solve_triangular(system, start, upper=False, unitriangular=True)
    return solved[..., 0]


def _counts(target_ids: Tensor, n_targets: Tensor, n: int) -> Tensor:
    """Return ``(B, U + 3 - n)`` how often the n-gram at each place occurs; 0 past the end."""
    n_items, n_words = target_ids.shape
    place = torch.arange(n_words + 2, device=target_ids.device)
    end = (n_targets + 1)[:, None]
    bos = target_ids.new_full((n_items, 1), _BOS)
    words = torch.cat([bos, target_ids, bos], dim=1)
    words = torch.where(place == end, _EOS, torch.where(place > end, _NONE, words))
    n_places = n_words + 3 - n
    if n_places < 1:
        return torch.zeros(n_items, 0, device=target_ids.device)
    grams = torch.stack([words[:, k : k + n_places] for k in range(n)], dim=-1)
    is_same = (grams[:, :, None] == grams[:, None]).all(dim=-1)
    is_real = grams[..., -1] != _NONE
    return (is_same & is_real[:, None] & is_real[:, :, None]).sum(dim=2).float()
