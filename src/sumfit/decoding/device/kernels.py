"""The batched search of `sumfit.decoding.device.beam` as Triton kernels: all but the beam.

One program owns one graph and walks through layers, steps or words on its own, so nothing waits
for the host and a graph that has finished costs nothing more. Candidates lie sorted by cost, in
chunks of one cost each (`Layout`): every product is one tile ``(rows, n) x (n, chunk)``. Notation
as there; all tensors contiguous, probabilities float32, padded entries 0. Sizes are no constants of
the compiled code but for the powers of two they are padded to: batches of other shapes need no
compiling.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["arrange", "best_words", "bounds", "marginals", "reach_tile"]


@triton.jit
def reach_tile(left, by_word, chunk, column, row, N: tl.constexpr, CHUNK: tl.constexpr,
                PRECISION: tl.constexpr):  # fmt: skip
    """Product of ``(rows, n)`` with the words of a chunk, ``(rows, CHUNK)``."""
    words = tl.load(by_word + (chunk * CHUNK + column)[:, None] * N + row[None, :])
    return tl.dot(left, tl.trans(words), input_precision=PRECISION)


@triton.jit(do_not_specialize=["S", "V"])
def best_words(
    scores, n_vertices, top, ids, total, S, V, N_SPECIAL: tl.constexpr, M: tl.constexpr,
    LANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Find the M best words of one inner vertex and the log-sum-exp of all, in one reading."""
    item = (tl.program_id(0) // (S - 2)).to(tl.int64)
    vertex = tl.program_id(0) % (S - 2) + 1
    if vertex < tl.load(n_vertices + item) - 1:
        word = tl.arange(0, BLOCK)
        lane = tl.arange(0, LANES)
        is_word = (word >= N_SPECIAL) & (word < V)
        place = (item * S + vertex) * V + word
        score = tl.load(scores + place, mask=is_word, other=float("-inf")).to(tl.float32)
        peak = tl.max(score, axis=0)
        level = tl.where(peak == float("-inf"), 0.0, peak)
        whole = level + tl.log(tl.sum(tl.exp(score - level), axis=0))
        best = tl.full((LANES,), float("-inf"), tl.float32)
        best_id = tl.zeros((LANES,), tl.int32)
        for m in range(0, M):
            highest = tl.max(score, axis=0)
            here = tl.min(tl.where(score == highest, word, BLOCK), axis=0)
            best = tl.where(lane == m, highest, best)
            best_id = tl.where(lane == m, here, best_id)
            score = tl.where(word == here, float("-inf"), score)
        out = (item * (S - 2) + vertex - 1) * M + lane
        tl.store(top + out, best, mask=lane < M)
        tl.store(ids + out, best_id.to(tl.int64), mask=lane < M)
        tl.store(total + item * (S - 2) + vertex - 1, whole)


@triton.jit(do_not_specialize=["n", "width", "n_columns"])
def arrange(
    word_logp, source, by_word, n, width, n_columns, N: tl.constexpr, CHUNK: tl.constexpr
):  # fmt: skip
    """Copy words, as probabilities, to where the layout has them: ``(B, columns, N)``."""
    item = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)
    row = tl.arange(0, N)
    column = tl.load(source + item * n_columns + place)
    inside = (column >= 0)[None, :] & (row < n)[:, None]
    at = (item * n + row[:, None]) * width + column[None, :]
    logp = tl.load(word_logp + at, mask=inside, other=float("-inf"))
    target = by_word + (item * n_columns + place)[:, None] * N + row[None, :]
    tl.store(target, tl.trans(tl.exp(logp)))


@triton.jit
def _paid_layer(
    r, slack, end, cost_values, scale, gains, unit_bonus, n_kinds, N: tl.constexpr
):  # fmt: skip
    """Bound of layer r from an end and from the layers that a word leads to; and its scale."""
    row = tl.arange(0, N)
    base = tl.where(r <= slack, 0.0, float("-inf"))
    for d in range(0, n_kinds):
        cost = tl.load(cost_values + d).to(tl.int32)
        is_before = (cost > 0) & (cost <= r)
        earlier = tl.load(scale + r - cost, mask=is_before, other=float("-inf"))
        base = tl.maximum(base, earlier + unit_bonus * cost)
    level = tl.where(base == float("-inf"), 0.0, base)
    layer = tl.where(r <= slack, end * tl.exp(-level), tl.zeros_like(end))
    for d in range(0, n_kinds):
        cost = tl.load(cost_values + d).to(tl.int32)
        is_before = (cost > 0) & (cost <= r)
        earlier = tl.load(scale + r - cost, mask=is_before, other=float("-inf"))
        factor = tl.exp(earlier + unit_bonus * cost - level)
        gain = tl.load(
            gains + ((r - cost) * n_kinds + d) * N + row, mask=(row < N) & is_before, other=0.0
        )
        layer = tl.maximum(layer, gain * factor)
    return layer, level


@triton.jit
def _settled(
    layer, link, by_word, beyond, free_chunks,
    N: tl.constexpr, CHUNK: tl.constexpr, HAS_OTHER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The layer with the words of cost 0, by which it refers to itself: at most n rounds."""
    row, column = tl.arange(0, N), tl.arange(0, CHUNK)
    start = layer
    n_changed = 1
    while n_changed > 0:
        before = layer
        onward = link * before[None, :]
        best = tl.zeros_like(start)
        if HAS_OTHER:
            best = tl.sum(onward * beyond[None, :], axis=1)
        for chunk in range(0, free_chunks):
            tile = reach_tile(onward, by_word, chunk, column, row, N, CHUNK, PRECISION)
            best = tl.maximum(best, tl.max(tile, axis=1))
        layer = tl.maximum(start, best)
        n_changed = tl.sum((layer > before).to(tl.int32), axis=0)
    return layer


@triton.jit
def _store_gains(
    onward, least, by_word, chunk_kind, gains, begin, end, n_kinds,
    N: tl.constexpr, CHUNK: tl.constexpr, ONE_KIND: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Store the most that a word of each cost brings into a layer; ``least`` for others' sake."""
    row, column = tl.arange(0, N), tl.arange(0, CHUNK)
    best = least
    if ONE_KIND:
        for chunk in range(begin, end):
            tile = reach_tile(onward, by_word, chunk, column, row, N, CHUNK, PRECISION)
            best = tl.maximum(best, tl.max(tile, axis=1))
        tl.store(gains + row, best)
    else:
        for d in range(0, n_kinds):
            tl.store(gains + d * N + row, least)
        tl.debug_barrier()
        for chunk in range(begin, end):
            tile = reach_tile(onward, by_word, chunk, column, row, N, CHUNK, PRECISION)
            best = tl.maximum(best, tl.max(tile, axis=1))
            kind = tl.load(chunk_kind + chunk)
            following = tl.load(chunk_kind + chunk + 1, mask=chunk + 1 < end, other=-1)
            is_last = following != kind
            tl.store(gains + kind * N + row, best, mask=(row < N) & is_last)
            best = tl.where(is_last, least, best)


@triton.jit(do_not_specialize=["n_layers", "n_kinds", "max_chunks"])
def bounds(
    by_word, links, ends, other, cost_values, chunk_kind, kind_end, payable, low, high,
    table, scale, gains, unit_bonus, n_layers, n_kinds, max_chunks,
    N: tl.constexpr, CHUNK: tl.constexpr, ONE_KIND: tl.constexpr, HAS_OTHER: tl.constexpr,
    HAS_FREE: tl.constexpr, TINY: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill the bounds of one graph, layer by layer (Eq. A8)."""
    item = tl.program_id(0).to(tl.int64)
    by_word += item * max_chunks * CHUNK * N
    chunk_kind += item * max_chunks
    kind_end += item * n_kinds
    table += item * n_layers * N
    scale += item * n_layers
    gains += item * n_layers * n_kinds * N
    row = tl.arange(0, N)
    link = tl.load(links + item * N * N + row[:, None] * N + row[None, :])
    end = tl.load(ends + item * N + row)
    beyond = tl.load(other + item * N + row)
    free_chunks = 0
    if HAS_FREE:
        free_chunks = tl.load(kind_end)
    most = tl.load(high + item).to(tl.int32)
    slack = most - tl.load(low + item).to(tl.int32)
    for r in range(0, most + 1):
        layer, level = _paid_layer(
            r, slack, end, cost_values, scale, gains, unit_bonus, n_kinds, N
        )  # fmt: skip
        if HAS_FREE:
            layer = _settled(
                layer, link, by_word, beyond, free_chunks, N, CHUNK, HAS_OTHER, PRECISION
            )  # fmt: skip
        peak = tl.max(layer, axis=0)
        layer = layer / tl.where(peak > 0.0, peak, 1.0)
        layer = tl.where(layer > 0.0, tl.maximum(layer, TINY), layer)
        tl.store(table + r * N + row, layer)
        tl.store(scale + r, tl.where(peak > 0.0, level + tl.log(peak), float("-inf")))
        onward = link * layer[None, :]
        least = tl.zeros_like(end)
        if HAS_OTHER:
            least = tl.sum(onward * beyond[None, :], axis=1)
        # What costs nothing is in the layer already; what costs more than is left leads nowhere.
        n_paid = tl.load(payable + most - r)
        own_chunks = tl.load(kind_end + n_paid - 1, mask=n_paid > 0, other=0)
        _store_gains(
            onward, least, by_word, chunk_kind, gains + r * n_kinds * N, free_chunks, own_chunks,
            n_kinds, N, CHUNK, ONE_KIND, PRECISION,
        )  # fmt: skip
        tl.debug_barrier()


@triton.jit
def _walk_back(
    parents, places, found_at, origin, cost, first_cost, out, item, sequence,
    n_columns, n_items, n_steps, ROWS: tl.constexpr,
):  # fmt: skip
    """Read the columns of one sequence off the history; return its length and its cost."""
    at = tl.load(found_at + sequence)
    length = tl.where(at >= 0, at // ROWS + 1, 0)
    lane = tl.where(at >= 0, at % ROWS, 0)
    spent = tl.zeros((), tl.int64)
    for back in range(0, n_steps):
        t = n_steps - 1 - back
        is_on = t < length
        past = (t * n_items + item) * ROWS + lane
        place = tl.load(places + past, mask=is_on, other=0)
        before = tl.load(parents + past, mask=is_on, other=0)
        lane = tl.where(is_on, before, lane)
        name = tl.load(origin + item * n_columns + place)
        tl.store(out + t, tl.where(is_on, name, -1))
        plain = tl.load(cost + item * n_columns + place)
        opening = tl.load(first_cost + item * n_columns + place)
        spent += tl.where(is_on, tl.where(t == 0, opening, plain), 0)
    return length, spent


@triton.jit(do_not_specialize=["n", "width", "n_columns", "n_items", "n_steps"])
def marginals(
    word_logp, link_logp, end_logp, first_logp, parents, places, found_at, origin, cost, first_cost,
    columns, log_prob, total_cost, n, width, n_columns, n_items, n_steps,
    ANY_ENDING: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr, N_BEST: tl.constexpr,
):  # fmt: skip
    """Read one sequence off the history and sum its paths in float64 (Eq. A1-A3)."""
    item = (tl.program_id(0) // N_BEST).to(tl.int64)
    sequence = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, N)
    out = columns + sequence * n_steps
    length, spent = _walk_back(
        parents, places, found_at, origin, cost, first_cost, out, item, sequence,
        n_columns, n_items, n_steps, ROWS,
    )  # fmt: skip
    tl.store(total_cost + sequence, spent)
    tl.debug_barrier()
    is_real = row < n
    at_link = (item * n + row[:, None]) * n + row[None, :]
    both = is_real[:, None] & is_real[None, :]
    link = tl.load(link_logp + at_link, mask=both, other=float("-inf")).to(tl.float64)
    link = tl.exp(link)
    begin = tl.load(first_logp + item * n + row, mask=is_real, other=float("-inf"))
    mass = tl.exp(begin.to(tl.float64))
    total = tl.zeros((), tl.float64)
    for t in range(0, length):
        word = tl.load(out + t)
        words = tl.load(
            word_logp + (item * n + row) * width + word, mask=is_real, other=float("-inf")
        )
        if t > 0:
            mass = tl.sum(mass[:, None] * link, axis=0)
        mass = mass * tl.exp(words.to(tl.float64))
        peak = tl.max(mass, axis=0)
        mass = mass / tl.where(peak > 0.0, peak, 1.0)
        total += tl.log(peak)
    if not ANY_ENDING:
        close = tl.load(end_logp + item * n + row, mask=is_real, other=float("-inf"))
        mass = mass * tl.exp(close.to(tl.float64))
    closed = tl.sum(mass, axis=0)
    result = tl.where(length > 0, total + tl.log(closed), float("-inf"))
    tl.store(log_prob + sequence, result)
