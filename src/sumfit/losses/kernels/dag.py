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

_RESIDENT = 128
TUNING: dict[str, int] = {}  # for measurements


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
    link = link.contiguous()
    match_t, link_t = match.transpose(1, 2).contiguous(), link.transpose(1, 2).contiguous()
    sizes, lengths = n_vertices.int().contiguous(), n_targets.int().contiguous()
    alpha = match_t.new_empty(n_items, n_words + 1, size)
    beta = torch.empty_like(alpha)
    logp = match_t.new_empty(n_items)
    posterior = torch.empty_like(match_t)
    link_posterior = torch.empty_like(link)
    scores = (match_t, link, link_t, sizes, lengths)
    is_resident, shape = _shape(size)
    _both[(2 * n_items,)](
        *scores, alpha, beta, logp, size, n_words, IS_RESIDENT=is_resident, **shape
    )
    tile = min(64, max(16, triton.next_power_of_2(size)))
    n_tiles = triton.cdiv(size, tile)
    _link_posterior[(n_items, n_tiles, n_tiles)](
        match_t, link, sizes, lengths, alpha, logp, beta, link_posterior, size, n_words,
        BLOCK=tile, num_warps=4,
    )  # fmt: skip
    _posterior[(n_items, n_words, triton.cdiv(size, 128))](
        match_t, lengths, alpha, logp, beta, posterior, size, n_words, BLOCK=128, num_warps=1
    )
    return logp, posterior.transpose(1, 2), link_posterior


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
    link = link.contiguous()
    match_t, link_t = match.transpose(1, 2).contiguous(), link.transpose(1, 2).contiguous()
    sizes, lengths = n_vertices.int().contiguous(), n_targets.int().contiguous()
    alpha = match_t.new_empty(n_items, 2, size)
    origin = torch.empty(n_items, n_words + 1, size, dtype=torch.int32, device=match.device)
    alignment = torch.full((n_items, size), -1, dtype=torch.int64, device=match.device)
    is_resident, shape = _shape(size)
    _best[(n_items,)](
        match_t, link, link_t, sizes, lengths, alpha, origin, alignment, size, n_words,
        IS_RESIDENT=is_resident, **shape,
    )  # fmt: skip
    return alignment


def _shape(size: int) -> tuple[bool, dict[str, int]]:
    """Return whether the links of a graph stay in registers, and the shape of a program."""
    if size <= _RESIDENT:
        block = max(16, triton.next_power_of_2(size))
        return True, {"DEPTH": 1, "GROUPS": 1, "BLOCK": block, "num_warps": 4 if block <= 64 else 8}
    n_warps = TUNING.get("warps", 4)
    depth, block = TUNING.get("depth", 16), TUNING.get("block", 128)
    return False, {"DEPTH": depth, "GROUPS": n_warps, "BLOCK": block, "num_warps": n_warps}


@triton.jit
def _log(peak, total):
    return tl.where(peak == float("-inf"), 0.0, peak) + tl.log(total)


@triton.jit
def _totals(
    vector, matrix, column, first, last, S,
    DEPTH: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Log-sum-exp over rows of vector[row] + matrix[row, column], rows in [first, last).

    Every group of threads has rows of its own and adds them up alone; groups meet at the end.
    """
    group = tl.arange(0, GROUPS)[:, None]
    depth = tl.arange(0, DEPTH)[None, :]
    peak = tl.full((GROUPS, BLOCK), float("-inf"), tl.float32)
    total = tl.zeros((GROUPS, BLOCK), tl.float32)
    is_column = (column < S)[None, None, :]
    for start in range(first, last, DEPTH * GROUPS):
        row = start + depth * GROUPS + group
        mass = tl.load(vector + row, mask=row < last, other=float("-inf"))
        inside = (row < last)[:, :, None] & is_column
        place = matrix + row[:, :, None] * S + column[None, None, :]
        joint = tl.load(place, mask=inside, other=float("-inf")) + mass[:, :, None]
        higher = tl.maximum(peak, tl.max(joint, axis=1))
        level = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - level) + tl.sum(tl.exp(joint - level[:, None, :]), axis=1)
        peak = higher
    higher = tl.max(peak, axis=0)
    level = tl.where(higher == float("-inf"), 0.0, higher)
    return _log(higher, tl.sum(total * tl.exp(peak - level[None, :]), axis=0))


@triton.jit
def _both(
    match, link, link_t, sizes, lengths, alpha, beta, logp, S, U,
    IS_RESIDENT: tl.constexpr, DEPTH: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Fill alpha of an item in one program and beta in another; neither needs the other."""
    item = (tl.program_id(0) // 2).to(tl.int64)
    match += item * S * U
    link += item * S * S
    link_t += item * S * S
    alpha += item * (U + 1) * S
    beta += item * (U + 1) * S
    n_words = tl.load(lengths + item)
    close = link_t + (tl.load(sizes + item) - 1) * S
    if tl.program_id(0) % 2 == 0:
        if IS_RESIDENT:
            result = _alpha_resident(match, link, close, alpha, n_words, S, BLOCK)
        else:
            result = _alpha(match, link, close, alpha, n_words, S, DEPTH, GROUPS, BLOCK)
        tl.store(logp + item, result)
    else:
        if IS_RESIDENT:
            _beta_resident(match, link_t, close, beta, n_words, S, BLOCK)
        else:
            _beta(match, link_t, close, beta, n_words, S, DEPTH, GROUPS, BLOCK)


@triton.jit
def _alpha(
    match, link, close, alpha, n_words, S,
    DEPTH: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    lane = tl.arange(0, BLOCK)
    for start in range(0, S, BLOCK):
        j = start + lane
        tl.store(alpha + j, tl.where(j == 0, 0.0, float("-inf")), mask=j < S)
    tl.debug_barrier()
    for word in range(0, n_words):
        before = alpha + word * S
        for start in range(0, S, BLOCK):
            j = start + lane
            last = tl.minimum(start + BLOCK - 1, S)
            incoming = _totals(before, link, j, word, last, S, DEPTH, GROUPS, BLOCK)
            score = tl.load(match + word * S + j, mask=j < S, other=float("-inf"))
            tl.store(before + S + j, incoming + score, mask=j < S)
        tl.debug_barrier()
    peak = float("-inf")
    total = 0.0
    for start in range(0, S, BLOCK):
        i = start + lane
        mass = tl.load(alpha + n_words * S + i, mask=i < S, other=float("-inf"))
        joint = mass + tl.load(close + i, mask=i < S, other=float("-inf"))
        higher = tl.maximum(peak, tl.max(joint, axis=0))
        level = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - level) + tl.sum(tl.exp(joint - level), axis=0)
        peak = higher
    return _log(peak, total)


@triton.jit
def _beta(
    match, link_t, close, beta, n_words, S,
    DEPTH: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Row u of beta becomes what is to come with word u: match_u + beta_u."""
    lane = tl.arange(0, BLOCK)
    for back in range(0, n_words):
        word = n_words - back
        after = beta + (word + 1) * S
        for start in range(0, S, BLOCK):
            i = start + lane
            if back == 0:
                onward = tl.load(close + i, mask=i < S, other=float("-inf"))
            else:
                onward = _totals(after, link_t, i, start + 1, S, S, DEPTH, GROUPS, BLOCK)
            score = tl.load(match + (word - 1) * S + i, mask=i < S, other=float("-inf"))
            tl.store(beta + word * S + i, onward + score, mask=i < S)
        tl.debug_barrier()


@triton.jit
def _square(matrix, S, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    column = tl.arange(0, BLOCK)
    inside = (row < S)[:, None] & (column < S)[None, :]
    return tl.load(matrix + row[:, None] * S + column[None, :], mask=inside, other=float("-inf"))


@triton.jit
def _column_totals(joint):
    peak = tl.max(joint, axis=0)
    level = tl.where(peak == float("-inf"), 0.0, peak)
    return _log(peak, tl.sum(tl.exp(joint - level[None, :]), axis=0))


@triton.jit
def _alpha_resident(match, link, close, alpha, n_words, S, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    inside = column < S
    step = _square(link, S, BLOCK)
    mass = tl.where(column == 0, 0.0, float("-inf"))
    tl.store(alpha + column, mass, mask=inside)
    for word in range(0, n_words):
        score = tl.load(match + word * S + column, mask=inside, other=float("-inf"))
        mass = _column_totals(step + mass[:, None]) + score
        tl.store(alpha + (word + 1) * S + column, mass, mask=inside)
    joint = mass + tl.load(close + column, mask=inside, other=float("-inf"))
    peak = tl.max(joint, axis=0)
    level = tl.where(peak == float("-inf"), 0.0, peak)
    return _log(peak, tl.sum(tl.exp(joint - level), axis=0))


@triton.jit
def _beta_resident(match, link_t, close, beta, n_words, S, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    inside = column < S
    step = _square(link_t, S, BLOCK)
    mass = tl.load(close + column, mask=inside, other=float("-inf"))
    for back in range(0, n_words):
        word = n_words - back
        mass += tl.load(match + (word - 1) * S + column, mask=inside, other=float("-inf"))
        tl.store(beta + word * S + column, mass, mask=inside)
        mass = _column_totals(step + mass[:, None])


@triton.jit
def _is_finite(value):
    return (value > float("-inf")) & (value < float("inf"))


@triton.jit
def _link_posterior(
    match, link, sizes, lengths, alpha, logp, beta, link_posterior, S, U, BLOCK: tl.constexpr
):  # fmt: skip
    item = tl.program_id(0).to(tl.int64)
    link += item * S * S
    alpha += item * (U + 1) * S
    beta += item * (U + 1) * S
    link_posterior += item * S * S
    n_words = tl.load(lengths + item)
    end = tl.load(sizes + item) - 1
    whole = tl.load(logp + item)
    lane = tl.arange(0, BLOCK)
    i = tl.program_id(1) * BLOCK + lane
    j = tl.program_id(2) * BLOCK + lane
    inside = (i < S)[:, None] & (j < S)[None, :]
    share = tl.zeros((BLOCK, BLOCK), tl.float32)
    if (tl.program_id(2) >= tl.program_id(1)) & _is_finite(whole):
        step = tl.load(link + i[:, None] * S + j[None, :], mask=inside, other=float("-inf"))
        step -= whole
        for word in range(0, n_words):
            mass = tl.load(alpha + word * S + i, mask=i < S, other=float("-inf"))
            rest = tl.load(beta + (word + 1) * S + j, mask=j < S, other=float("-inf"))
            share += tl.exp(step + mass[:, None] + rest[None, :])
        mass = tl.load(alpha + n_words * S + i, mask=i < S, other=float("-inf"))
        closing = tl.exp(step + mass[:, None])
        share += tl.where((j == end)[None, :], closing, 0.0)
    tl.store(link_posterior + i[:, None] * S + j[None, :], share, mask=inside)


@triton.jit
def _posterior(
    match, lengths, alpha, logp, beta, posterior, S, U, BLOCK: tl.constexpr
):  # fmt: skip
    item = tl.program_id(0).to(tl.int64)
    word = tl.program_id(1)
    j = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    n_words = tl.load(lengths + item)
    whole = tl.load(logp + item)
    is_used = (word < n_words) & _is_finite(whole)
    inside = (j < S) & is_used
    place = item * (U + 1) * S + (word + 1) * S + j
    score = tl.load(match + (item * U + word) * S + j, mask=inside, other=float("-inf"))
    before = tl.load(alpha + place, mask=inside, other=float("-inf"))
    rest = tl.load(beta + place, mask=inside, other=float("-inf"))
    # Both sides have counted the word.
    share = tl.where(score == float("-inf"), 0.0, tl.exp(before + rest - score - whole))
    tl.store(posterior + (item * U + word) * S + j, share, mask=j < S)


@triton.jit
def _peaks(
    vector, matrix, column, first, last, S,
    DEPTH: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Greatest vector[row] + matrix[row, column] over rows in [first, last), and the first row."""
    group = tl.arange(0, GROUPS)[:, None]
    depth = tl.arange(0, DEPTH)[None, :]
    peak = tl.full((GROUPS, BLOCK), float("-inf"), tl.float32)
    source = tl.zeros((GROUPS, BLOCK), tl.int32)
    is_column = (column < S)[None, None, :]
    for start in range(first, last, DEPTH * GROUPS):
        row = start + depth * GROUPS + group
        mass = tl.load(vector + row, mask=row < last, other=float("-inf"))
        inside = (row < last)[:, :, None] & is_column
        place = matrix + row[:, :, None] * S + column[None, None, :]
        joint = tl.load(place, mask=inside, other=float("-inf")) + mass[:, :, None]
        highest, where = tl.max(joint, axis=1, return_indices=True)
        source = tl.where(highest > peak, start + where * GROUPS + group, source)
        peak = tl.maximum(peak, highest)
    highest = tl.max(peak, axis=0)
    source = tl.min(tl.where(peak == highest[None, :], source, S), axis=0)
    return highest, source


@triton.jit
def _best(
    match, link, link_t, sizes, lengths, alpha, origin, alignment, S, U,
    IS_RESIDENT: tl.constexpr, DEPTH: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    item = tl.program_id(0).to(tl.int64)
    match += item * S * U
    link += item * S * S
    link_t += item * S * S
    alpha += item * 2 * S
    origin += item * (U + 1) * S
    alignment += item * S
    n_words = tl.load(lengths + item)
    end = tl.load(sizes + item) - 1
    lane = tl.arange(0, BLOCK)
    summit = tl.full((), float("-inf"), tl.float32)
    vertex = tl.zeros((), tl.int32)
    if IS_RESIDENT:
        row = tl.arange(0, BLOCK)
        inside = (row < S)[:, None] & (lane < S)[None, :]
        step = tl.load(link + row[:, None] * S + lane[None, :], mask=inside, other=float("-inf"))
        mass = tl.where(lane == 0, 0.0, float("-inf"))
        for word in range(0, n_words):
            score = tl.load(match + word * S + lane, mask=lane < S, other=float("-inf"))
            mass, source = tl.max(step + mass[:, None], axis=0, return_indices=True)
            mass += score
            tl.store(origin + (word + 1) * S + lane, source, mask=lane < S)
        close = tl.load(link_t + end * S + lane, mask=lane < S, other=float("-inf"))
        summit, vertex = tl.max(mass + close, axis=0, return_indices=True)
    else:
        for start in range(0, S, BLOCK):
            j = start + lane
            tl.store(alpha + j, tl.where(j == 0, 0.0, float("-inf")), mask=j < S)
        tl.debug_barrier()
        for word in range(0, n_words):
            before, after = alpha + (word % 2) * S, alpha + ((word + 1) % 2) * S
            for start in range(0, S, BLOCK):
                j = start + lane
                last = tl.minimum(start + BLOCK - 1, S)
                peak, source = _peaks(before, link, j, word, last, S, DEPTH, GROUPS, BLOCK)
                score = tl.load(match + word * S + j, mask=j < S, other=float("-inf"))
                tl.store(after + j, peak + score, mask=j < S)
                tl.store(origin + (word + 1) * S + j, source, mask=j < S)
            tl.debug_barrier()
        final = alpha + (n_words % 2) * S
        for start in range(0, S, BLOCK):
            i = start + lane
            mass = tl.load(final + i, mask=i < S, other=float("-inf"))
            close = tl.load(link_t + end * S + i, mask=i < S, other=float("-inf"))
            highest, where = tl.max(mass + close, axis=0, return_indices=True)
            vertex = tl.where(highest > summit, start + where, vertex)
            summit = tl.maximum(summit, highest)
    tl.debug_barrier()
    if summit > float("-inf"):
        for back in range(0, n_words):
            word = n_words - back
            tl.store(alignment + vertex, (word - 1).to(tl.int64))
            vertex = tl.load(origin + word * S + vertex)
