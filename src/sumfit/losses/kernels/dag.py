"""The recursions of `sumfit.losses.dag_loss` as Triton kernels, exact in logs.

One program walks through the target words of one item; links are read in tiles of the upper
triangle, tables of all words go to memory once. Link posteriors are then independent tiles.
Notation as there: ``alpha`` and ``beta`` are ``(B, U+1, S)``, all tensors contiguous float32.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["best_alignment", "sweep"]


def sweep(
    match: Tensor, link: Tensor, n_vertices: Tensor, n_targets: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log-probabilities and posteriors; see `sumfit.losses.dag_loss`.

    Args:
        match: ``(B, S, U)`` float32 word scores.
        link: ``(B, S, S)`` float32 link scores.
        n_vertices: ``(B,)`` real vertices.
        n_targets: ``(B,)`` target words.

    Returns:
        ``(B,)`` log P, ``(B, S, U)`` posteriors of words and ``(B, S, S)`` of links.
    """
    n_items, size, n_words = match.shape
    match, link = match.contiguous(), link.contiguous()
    sizes, lengths = n_vertices.int().contiguous(), n_targets.int().contiguous()
    alpha = match.new_empty(n_items, n_words + 1, size)
    beta = torch.empty_like(alpha)
    logp = match.new_empty(n_items)
    posterior = torch.zeros_like(match)
    link_posterior = torch.empty_like(link)
    block, n_warps = _tile(size)
    shape = {"S": size, "U": n_words, "BLOCK": block}
    scores = (match, link, sizes, lengths)
    _alpha[(n_items,)](*scores, alpha, logp, **shape, num_warps=n_warps)
    _beta[(n_items,)](*scores, alpha, logp, beta, posterior, **shape, num_warps=n_warps)
    n_tiles = triton.cdiv(size, block)
    _link_posterior[(n_items, n_tiles, n_tiles)](
        *scores, alpha, logp, beta, link_posterior, **shape, num_warps=4
    )
    return logp, posterior, link_posterior


def best_alignment(match: Tensor, link: Tensor, n_vertices: Tensor, n_targets: Tensor) -> Tensor:
    """Return the target word of each vertex on the best path, -1 elsewhere.

    Args:
        match: ``(B, S, U)`` float32 word scores.
        link: ``(B, S, S)`` float32 link scores.
        n_vertices: ``(B,)`` real vertices.
        n_targets: ``(B,)`` target words.

    Returns:
        ``(B, S)`` int64.
    """
    n_items, size, n_words = match.shape
    match, link = match.contiguous(), link.contiguous()
    sizes, lengths = n_vertices.int().contiguous(), n_targets.int().contiguous()
    alpha = match.new_empty(n_items, n_words + 1, size)
    origin = torch.empty(n_items, n_words + 1, size, dtype=torch.int32, device=match.device)
    alignment = torch.full((n_items, size), -1, dtype=torch.int64, device=match.device)
    block, n_warps = _tile(size)
    _best[(n_items,)](
        match, link, sizes, lengths, alpha, origin, alignment,
        S=size, U=n_words, BLOCK=block, num_warps=n_warps,
    )  # fmt: skip
    return alignment


def _tile(size: int) -> tuple[int, int]:
    """Return tile side and warps per program."""
    if size <= 64:
        return max(16, triton.next_power_of_2(size)), 4
    return 64, 8


@triton.jit
def _column_total(alpha, link, row, column, end_block, S, BLOCK: tl.constexpr):
    """Log-sum-exp over i of alpha[i] + link[i, column], tile by tile."""
    peak = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for block in range(0, end_block):
        i = block * BLOCK + row
        mass = tl.load(alpha + i, mask=i < S, other=float("-inf"))
        inside = (i < S)[:, None] & (column < S)[None, :]
        step = tl.load(link + i[:, None] * S + column[None, :], mask=inside, other=float("-inf"))
        joint = step + mass[:, None]
        higher = tl.maximum(peak, tl.max(joint, axis=0))
        level = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - level) + tl.sum(tl.exp(joint - level[None, :]), axis=0)
        peak = higher
    return tl.where(peak == float("-inf"), 0.0, peak) + tl.log(total)


@triton.jit
def _alpha(
    match, link, sizes, lengths, alpha, logp, S, U, BLOCK: tl.constexpr
):  # fmt: skip
    item = tl.program_id(0).to(tl.int64)
    match += item * S * U
    link += item * S * S
    alpha += item * (U + 1) * S
    n_words = tl.load(lengths + item)
    end = tl.load(sizes + item) - 1
    lane = tl.arange(0, BLOCK)
    n_blocks = tl.cdiv(S, BLOCK)
    for block in range(0, n_blocks):
        j = block * BLOCK + lane
        tl.store(alpha + j, tl.where(j == 0, 0.0, float("-inf")), mask=j < S)
    tl.debug_barrier()
    for word in range(0, n_words):
        before = alpha + word * S
        for block in range(0, n_blocks):
            j = block * BLOCK + lane
            incoming = _column_total(before, link, lane, j, block + 1, S, BLOCK)
            score = tl.load(match + j * U + word, mask=j < S, other=float("-inf"))
            tl.store(before + S + j, incoming + score, mask=j < S)
        tl.debug_barrier()
    last = alpha + n_words * S
    peak = float("-inf")
    total = 0.0
    for block in range(0, n_blocks):
        i = block * BLOCK + lane
        mass = tl.load(last + i, mask=i < S, other=float("-inf"))
        close = tl.load(link + i * S + end, mask=i < S, other=float("-inf"))
        joint = mass + close
        higher = tl.maximum(peak, tl.max(joint, axis=0))
        level = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - level) + tl.sum(tl.exp(joint - level), axis=0)
        peak = higher
    result = tl.where(peak == float("-inf"), 0.0, peak) + tl.log(total)
    tl.store(logp + item, result)


@triton.jit
def _beta(
    match, link, sizes, lengths, alpha, logp, beta, posterior, S, U, BLOCK: tl.constexpr
):  # fmt: skip
    item = tl.program_id(0).to(tl.int64)
    match += item * S * U
    link += item * S * S
    alpha += item * (U + 1) * S
    beta += item * (U + 1) * S
    posterior += item * S * U
    n_words = tl.load(lengths + item)
    end = tl.load(sizes + item) - 1
    whole = tl.load(logp + item)
    is_finite = (whole > float("-inf")) & (whole < float("inf"))
    lane = tl.arange(0, BLOCK)
    n_blocks = tl.cdiv(S, BLOCK)
    for back in range(0, n_words):
        word = n_words - back  # 1-based: beta_word is the mass that follows it
        after = beta + (word + 1) * S
        for block in range(0, n_blocks):
            i = block * BLOCK + lane
            if back == 0:
                onward = tl.load(link + i * S + end, mask=i < S, other=float("-inf"))
            else:
                peak = tl.full((BLOCK,), float("-inf"), tl.float32)
                total = tl.zeros((BLOCK,), tl.float32)
                for other in range(block, n_blocks):
                    j = other * BLOCK + lane
                    score = tl.load(match + j * U + word, mask=j < S, other=float("-inf"))
                    rest = tl.load(after + j, mask=j < S, other=float("-inf"))
                    inside = (i < S)[:, None] & (j < S)[None, :]
                    step = tl.load(
                        link + i[:, None] * S + j[None, :], mask=inside, other=float("-inf")
                    )
                    joint = step + (score + rest)[None, :]
                    higher = tl.maximum(peak, tl.max(joint, axis=1))
                    level = tl.where(higher == float("-inf"), 0.0, higher)
                    gained = tl.sum(tl.exp(joint - level[:, None]), axis=1)
                    total = total * tl.exp(peak - level) + gained
                    peak = higher
                onward = tl.where(peak == float("-inf"), 0.0, peak) + tl.log(total)
            tl.store(beta + word * S + i, onward, mask=i < S)
            mass = tl.load(alpha + word * S + i, mask=i < S, other=float("-inf"))
            share = tl.where(is_finite, tl.exp(mass + onward - whole), 0.0)
            tl.store(posterior + i * U + word - 1, share, mask=i < S)
        tl.debug_barrier()


@triton.jit
def _link_posterior(
    match, link, sizes, lengths, alpha, logp, beta, link_posterior, S, U, BLOCK: tl.constexpr
):  # fmt: skip
    item = tl.program_id(0).to(tl.int64)
    match += item * S * U
    link += item * S * S
    alpha += item * (U + 1) * S
    beta += item * (U + 1) * S
    link_posterior += item * S * S
    n_words = tl.load(lengths + item)
    end = tl.load(sizes + item) - 1
    whole = tl.load(logp + item)
    is_finite = (whole > float("-inf")) & (whole < float("inf"))
    lane = tl.arange(0, BLOCK)
    i = tl.program_id(1) * BLOCK + lane
    j = tl.program_id(2) * BLOCK + lane
    inside = (i < S)[:, None] & (j < S)[None, :]
    share = tl.zeros((BLOCK, BLOCK), tl.float32)
    if (tl.program_id(2) >= tl.program_id(1)) & is_finite:
        step = tl.load(link + i[:, None] * S + j[None, :], mask=inside, other=float("-inf"))
        step -= whole
        for word in range(0, n_words):
            mass = tl.load(alpha + word * S + i, mask=i < S, other=float("-inf"))
            score = tl.load(match + j * U + word, mask=j < S, other=float("-inf"))
            rest = tl.load(beta + (word + 1) * S + j, mask=j < S, other=float("-inf"))
            share += tl.exp(step + mass[:, None] + (score + rest)[None, :])
        mass = tl.load(alpha + n_words * S + i, mask=i < S, other=float("-inf"))
        closing = tl.exp(step + mass[:, None])
        share += tl.where((j == end)[None, :], closing, 0.0)
    tl.store(link_posterior + i[:, None] * S + j[None, :], share, mask=inside)


@triton.jit
def _best(
    match, link, sizes, lengths, alpha, origin, alignment, S, U, BLOCK: tl.constexpr
):  # fmt: skip
    item = tl.program_id(0).to(tl.int64)
    match += item * S * U
    link += item * S * S
    alpha += item * (U + 1) * S
    origin += item * (U + 1) * S
    alignment += item * S
    n_words = tl.load(lengths + item)
    end = tl.load(sizes + item) - 1
    lane = tl.arange(0, BLOCK)
    n_blocks = tl.cdiv(S, BLOCK)
    for block in range(0, n_blocks):
        j = block * BLOCK + lane
        tl.store(alpha + j, tl.where(j == 0, 0.0, float("-inf")), mask=j < S)
    tl.debug_barrier()
    for word in range(0, n_words):
        before = alpha + word * S
        for block in range(0, n_blocks):
            j = block * BLOCK + lane
            peak = tl.full((BLOCK,), float("-inf"), tl.float32)
            source = tl.zeros((BLOCK,), tl.int32)
            for other in range(0, block + 1):
                i = other * BLOCK + lane
                mass = tl.load(before + i, mask=i < S, other=float("-inf"))
                inside = (i < S)[:, None] & (j < S)[None, :]
                step = tl.load(link + i[:, None] * S + j[None, :], mask=inside, other=float("-inf"))
                highest, where = tl.max(step + mass[:, None], axis=0, return_indices=True)
                source = tl.where(highest > peak, other * BLOCK + where, source)
                peak = tl.maximum(peak, highest)
            score = tl.load(match + j * U + word, mask=j < S, other=float("-inf"))
            tl.store(before + S + j, peak + score, mask=j < S)
            tl.store(origin + (word + 1) * S + j, source, mask=j < S)
        tl.debug_barrier()
    last = alpha + n_words * S
    summit = float("-inf")
    vertex = 0
    for block in range(0, n_blocks):
        i = block * BLOCK + lane
        mass = tl.load(last + i, mask=i < S, other=float("-inf"))
        close = tl.load(link + i * S + end, mask=i < S, other=float("-inf"))
        highest, where = tl.max(mass + close, axis=0, return_indices=True)
        vertex = tl.where(highest > summit, block * BLOCK + where, vertex)
        summit = tl.maximum(summit, highest)
    if summit > float("-inf"):
        for back in range(0, n_words):
            word = n_words - back
            tl.store(alignment + vertex, (word - 1).to(tl.int64))
            vertex = tl.load(origin + word * S + vertex)
