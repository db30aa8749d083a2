"""The batched search of `sumfit.decoding.torch_beam` as three Triton kernels.

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

__all__ = ["arrange", "beam", "best_words", "bounds", "marginals"]


@triton.jit
def _reach_tile(left, by_word, chunk, column, row, N: tl.constexpr, CHUNK: tl.constexpr,
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


@triton.jit(do_not_specialize=["n_layers", "n_kinds", "max_chunks"])
def bounds(
    by_word, links, ends, other, cost_values, chunk_kind, n_chunks, n_free, low, high,
    table, scale, gains, n_layers, n_kinds, max_chunks,
    N: tl.constexpr, CHUNK: tl.constexpr, ONE_KIND: tl.constexpr, HAS_OTHER: tl.constexpr,
    HAS_FREE: tl.constexpr, TINY: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill the bounds of one graph, layer by layer (Eq. A8)."""
    item = tl.program_id(0).to(tl.int64)
    by_word += item * max_chunks * CHUNK * N
    chunk_kind += item * max_chunks
    table += item * n_layers * N
    scale += item * n_layers
    gains += item * n_layers * n_kinds * N
    row = tl.arange(0, N)
    column = tl.arange(0, CHUNK)
    link = tl.load(links + item * N * N + row[:, None] * N + row[None, :])
    end = tl.load(ends + item * N + row)
    beyond = tl.load(other + item * N + row)
    own_chunks = tl.load(n_chunks + item)
    most = tl.load(high + item).to(tl.int32)
    slack = most - tl.load(low + item).to(tl.int32)
    for r in range(0, most + 1):
        base = tl.where(r <= slack, 0.0, float("-inf"))
        for d in range(0, n_kinds):
            cost = tl.load(cost_values + d).to(tl.int32)
            is_before = (cost > 0) & (cost <= r)
            earlier = tl.load(scale + r - cost, mask=is_before, other=float("-inf"))
            base = tl.maximum(base, earlier)
        level = tl.where(base == float("-inf"), 0.0, base)
        layer = tl.where(r <= slack, end * tl.exp(-level), tl.zeros_like(end))
        for d in range(0, n_kinds):
            cost = tl.load(cost_values + d).to(tl.int32)
            is_before = (cost > 0) & (cost <= r)
            factor = tl.exp(tl.load(scale + r - cost, mask=is_before, other=float("-inf")) - level)
            gain = tl.load(
                gains + ((r - cost) * n_kinds + d) * N + row, mask=(row < N) & is_before, other=0.0
            )
            layer = tl.maximum(layer, gain * factor)
        if HAS_FREE:
            free_chunks = tl.load(n_free + item)
            start = layer
            n_changed = 1
            while n_changed > 0:
                before = layer
                onward = link * before[None, :]
                best = tl.zeros_like(end)
                if HAS_OTHER:
                    best = tl.sum(onward * beyond[None, :], axis=1)
                for chunk in range(0, free_chunks):
                    tile = _reach_tile(onward, by_word, chunk, column, row, N, CHUNK, PRECISION)
                    best = tl.maximum(best, tl.max(tile, axis=1))
                layer = tl.maximum(start, best)
                n_changed = tl.sum((layer > before).to(tl.int32), axis=0)
        peak = tl.max(layer, axis=0)
        layer = layer / tl.where(peak > 0.0, peak, 1.0)
        layer = tl.where(layer > 0.0, tl.maximum(layer, TINY), layer)
        tl.store(table + r * N + row, layer)
        tl.store(scale + r, tl.where(peak > 0.0, level + tl.log(peak), float("-inf")))
        onward = link * layer[None, :]
        least = tl.zeros_like(end)
        if HAS_OTHER:
            least = tl.sum(onward * beyond[None, :], axis=1)
        best = least
        if ONE_KIND:
            for chunk in range(0, own_chunks):
                tile = _reach_tile(onward, by_word, chunk, column, row, N, CHUNK, PRECISION)
                best = tl.maximum(best, tl.max(tile, axis=1))
            tl.store(gains + r * N + row, best)
        else:
            for d in range(0, n_kinds):
                tl.store(gains + (r * n_kinds + d) * N + row, least)
            tl.debug_barrier()
            for chunk in range(0, own_chunks):
                tile = _reach_tile(onward, by_word, chunk, column, row, N, CHUNK, PRECISION)
                best = tl.maximum(best, tl.max(tile, axis=1))
                kind = tl.load(chunk_kind + chunk)
                is_next = chunk + 1 < own_chunks
                following = tl.load(chunk_kind + chunk + 1, mask=is_next, other=-1)
                is_last = following != kind
                place = gains + (r * n_kinds + kind) * N + row
                tl.store(place, best, mask=(row < N) & is_last)
                best = tl.where(is_last, least, best)
        tl.debug_barrier()


@triton.jit
def _packed(value, order):
    """Key that sorts by value (not negative), then by lower order."""
    bits = value.to(tl.int32, bitcast=True).to(tl.int64)
    return (bits << 32) | (2147483647 - order).to(tl.int64)


@triton.jit
def _value_of(key):
    return (key >> 32).to(tl.int32).to(tl.float32, bitcast=True)


@triton.jit
def _order_of(key):
    return 2147483647 - (key & 2147483647).to(tl.int32)


@triton.jit
def _largest(keys, lane, N_TAKEN: tl.constexpr, BY_SORT: tl.constexpr, SIZE: tl.constexpr):
    """The greatest of distinct keys, descending, ``(N_TAKEN,)``."""
    if BY_SORT:
        found = tl.topk(keys, N_TAKEN)
    else:
        found = tl.zeros((N_TAKEN,), tl.int64)
        for k in range(0, SIZE):
            best = tl.max(keys, axis=0)
            found = tl.where(lane == k, best, found)
            keys = tl.where(keys == best, -1, keys)
    return found


@triton.jit
def _weigh_first(
    by_word, begin, beyond, table, scale, first_cost, first_cost_values, worth, peaks,
    budget, all_chunks, n_first_kinds,
    N: tl.constexpr, CHUNK: tl.constexpr, HAS_OTHER: tl.constexpr,
):  # fmt: skip
    """Bound every first word, relative to the base that is returned."""
    row = tl.arange(0, N)
    column = tl.arange(0, CHUNK)
    base = tl.full((), float("-inf"), tl.float32)
    for d in range(0, n_first_kinds):
        left = budget - tl.load(first_cost_values + d).to(tl.int32)
        base = tl.maximum(base, tl.load(scale + left, mask=left >= 0, other=float("-inf")))
    base = tl.where(base == float("-inf"), 0.0, base)
    outside = tl.full((), 0.0, tl.float32)
    if HAS_OTHER:
        for d in range(0, n_first_kinds):
            left = budget - tl.load(first_cost_values + d).to(tl.int32)
            level = tl.load(scale + left, mask=left >= 0, other=float("-inf"))
            onward = tl.load(table + left * N + row, mask=(row < N) & (left >= 0), other=0.0)
            leak = tl.sum(begin * onward * beyond, axis=0) * tl.exp(level - base)
            outside = tl.maximum(outside, leak)
    for chunk in range(0, all_chunks):
        place = chunk * CHUNK + column
        layer = budget - tl.load(first_cost + place)
        is_within = layer >= 0
        levels = tl.load(scale + layer, mask=is_within, other=float("-inf"))
        onwards = tl.load(
            table + layer[:, None] * N + row[None, :], mask=is_within[:, None], other=0.0
        )
        words = tl.load(by_word + place[:, None] * N + row[None, :])
        value = tl.sum(words * onwards * begin[None, :], axis=1) * tl.exp(levels - base)
        tl.store(worth + place, value)
        tl.store(peaks + place, value)
    return base, outside


@triton.jit
def _share(reach, mass, rest, cost, table, scale, base, N: tl.constexpr):
    """What each prefix brings to each vertex, times the bound of what follows there."""
    row = tl.arange(0, N)
    layer = rest - cost
    is_within = layer >= 0
    level = tl.load(scale + layer, mask=is_within, other=float("-inf"))
    onward = tl.load(table + layer[:, None] * N + row[None, :], mask=is_within[:, None], other=0.0)
    return reach * onward * tl.exp(level + mass - base)[:, None]


@triton.jit
def _weigh(
    by_word, reach, mass, rest, floor_log, beyond, table, scale, chunk_cost, cost_values,
    worth, peaks, own_chunks, n_columns, n_kinds,
    ROWS: tl.constexpr, N: tl.constexpr, CHUNK: tl.constexpr, ONE_KIND: tl.constexpr,
    HAS_OTHER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Bound every child, relative to the base that is returned."""
    row = tl.arange(0, N)
    lane = tl.arange(0, ROWS)
    column = tl.arange(0, CHUNK)
    base = tl.full((), float("-inf"), tl.float32)
    for d in range(0, n_kinds):
        layer = rest - tl.load(cost_values + d).to(tl.int32)
        level = tl.load(scale + layer, mask=layer >= 0, other=float("-inf"))
        base = tl.maximum(base, tl.max(level + mass, axis=0))
    base = tl.where(base == float("-inf"), 0.0, base)
    floor = tl.exp(floor_log - base)
    outside = tl.full((), 0.0, tl.float32)
    share = reach
    if HAS_OTHER:
        for d in range(0, n_kinds):
            cost = tl.load(cost_values + d).to(tl.int32)
            share = _share(reach, mass, rest, cost, table, scale, base, N)
            leak = tl.sum(share * beyond[None, :], axis=1)
            outside = tl.maximum(outside, tl.max(leak, axis=0))
    if ONE_KIND and not HAS_OTHER:
        cost = tl.load(cost_values).to(tl.int32)
        share = _share(reach, mass, rest, cost, table, scale, base, N)
    for chunk in range(0, own_chunks):
        if not ONE_KIND:
            cost = tl.load(chunk_cost + chunk).to(tl.int32)
            share = _share(reach, mass, rest, cost, table, scale, base, N)
        tile = _reach_tile(share, by_word, chunk, column, row, N, CHUNK, PRECISION)
        tile = tl.where(tile > floor, tile, 0.0)
        place = chunk * CHUNK + column
        tl.store(worth + lane[:, None] * n_columns + place[None, :], tile)
        tl.store(peaks + place, tl.max(tile, axis=0))
    return base, outside


@triton.jit(do_not_specialize=["n_layers", "n_kinds", "n_first_kinds", "max_chunks", "n_steps"])
def beam(
    by_word, links, ends, first, other, table, scale, chunk_cost, n_chunks, n_all_chunks, cost,
    first_cost, cost_values, first_cost_values, low, high,
    reach, log_mass, rest, worth, peaks,
    parents, places, found, found_at, pruned,
    n_layers, n_kinds, n_first_kinds, max_chunks, n_steps,
    K: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr, CHUNK: tl.constexpr, WIDTH: tl.constexpr,
    N_BEST: tl.constexpr, BEST_LANES: tl.constexpr, ONE_KIND: tl.constexpr,
    HAS_OTHER: tl.constexpr, BY_SORT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Grow the beam of one graph to its end (Eq. A9, A10)."""
    item = tl.program_id(0).to(tl.int64)
    n_items = tl.num_programs(0)
    n_columns = max_chunks * CHUNK
    by_word += item * n_columns * N
    cost += item * n_columns
    first_cost += item * n_columns
    chunk_cost += item * max_chunks
    table += item * n_layers * N
    scale += item * n_layers
    reach += item * ROWS * N
    log_mass += item * ROWS
    rest += item * ROWS
    worth += item * ROWS * n_columns
    peaks += item * n_columns
    row = tl.arange(0, N)
    lane = tl.arange(0, ROWS)
    wide = tl.arange(0, WIDTH)
    best_lane = tl.arange(0, BEST_LANES)
    link = tl.load(links + item * N * N + row[:, None] * N + row[None, :])
    end = tl.load(ends + item * N + row)
    beyond = tl.load(other + item * N + row)
    own_chunks = tl.load(n_chunks + item)
    all_chunks = tl.load(n_all_chunks + item)
    budget = tl.load(high + item).to(tl.int32)
    slack = budget - tl.load(low + item).to(tl.int32)

    begin = tl.load(first + item * N + row)
    tl.store(reach + lane[:, None] * N + row[None, :],
             tl.where((lane == 0)[:, None], begin[None, :], 0.0))  # fmt: skip
    tl.store(log_mass + lane, tl.where(lane == 0, 0.0, float("-inf")))
    tl.store(rest + lane, tl.full((ROWS,), 0, tl.int32) + budget)
    best_found = tl.full((BEST_LANES,), float("-inf"), tl.float32)
    best_at = tl.full((BEST_LANES,), -1, tl.int32)
    lost = tl.full((), float("-inf"), tl.float32)
    tl.debug_barrier()
    step = 0
    n_active = 1
    while (step < n_steps) & (n_active > 0):
        mass_here = tl.load(log_mass + lane)
        rest_here = tl.load(rest + lane)
        reach_here = tl.load(reach + lane[:, None] * N + row[None, :])
        floor_log = tl.min(tl.where(best_lane < N_BEST, best_found, float("inf")), axis=0)
        if step == 0:
            base, outside = _weigh_first(
                by_word, begin, beyond, table, scale, first_cost, first_cost_values, worth, peaks,
                budget, all_chunks, n_first_kinds, N, CHUNK, HAS_OTHER,
            )  # fmt: skip
            n_places = all_chunks * CHUNK
        else:
            base, outside = _weigh(
                by_word, reach_here, mass_here, rest_here, floor_log, beyond, table, scale,
                chunk_cost, cost_values, worth, peaks, own_chunks, n_columns, n_kinds,
                ROWS, N, CHUNK, ONE_KIND, HAS_OTHER, PRECISION,
            )  # fmt: skip
            n_places = own_chunks * CHUNK
        lost = tl.maximum(lost, tl.log(outside) + base)
        tl.debug_barrier()

        # The K + 1 best children lie in the K + 1 columns with the best peaks.
        peak = tl.load(peaks + wide, mask=wide < n_places, other=0.0)
        top = _order_of(_largest(_packed(peak, wide), lane, ROWS, BY_SORT, K + 1))
        top = tl.minimum(tl.maximum(top, 0), n_columns - 1)
        is_row = (lane == 0) | ((lane < K) & (step > 0))
        is_lane = lane < K + 1
        inside = is_row[:, None] & is_lane[None, :] & (top < n_places)[None, :]
        child = lane[:, None] * n_columns + top[None, :]
        value = tl.load(worth + child, mask=inside, other=0.0)
        keys = tl.where(inside, _packed(value, child), (lane[:, None] * ROWS + lane[None, :]))
        key = _largest(tl.reshape(keys, [ROWS * ROWS]), lane, ROWS, BY_SORT, K + 1)
        value = _value_of(key)
        child = _order_of(key)
        next_best = tl.max(tl.where(lane == K, value, 0.0), axis=0)
        lost = tl.maximum(lost, tl.log(next_best) + base)
        is_kept = (lane < K) & (value > 0.0)
        child = tl.where(is_kept, child, 0)
        parent, place = child // n_columns, child % n_columns
        words = tl.load(by_word + place[:, None] * N + row[None, :])
        mass = tl.load(reach + parent[:, None] * N + row[None, :]) * words
        mass = tl.where(is_kept[:, None], mass, 0.0)
        log_parent = tl.load(log_mass + parent)
        rest_parent = tl.load(rest + parent)
        if step == 0:
            spent = tl.load(first_cost + place)
        else:
            spent = tl.load(cost + place)
        peak = tl.max(mass, axis=1)
        mass = mass / tl.where(peak > 0.0, peak, 1.0)[:, None]
        log_child = log_parent + tl.log(peak)
        rest_child = rest_parent - spent
        closed = tl.log(tl.sum(mass * end[None, :], axis=1)) + log_child
        closed = tl.where(is_kept & (rest_child <= slack), closed, float("-inf"))
        tl.debug_barrier()
        tl.store(reach + lane[:, None] * N + row[None, :],
                 tl.dot(mass, link, input_precision=PRECISION))  # fmt: skip
        tl.store(log_mass + lane, log_child)
        tl.store(rest + lane, rest_child)
        past = (step * n_items + item) * ROWS + lane
        tl.store(parents + past, parent)
        tl.store(places + past, place)

        at = step * ROWS + lane
        old, old_at = best_found, best_at
        for n in range(0, N_BEST):
            of_old, of_new = tl.max(old, axis=0), tl.max(closed, axis=0)
            is_old = of_old >= of_new
            here = tl.min(tl.where(old == of_old, best_lane, BEST_LANES), axis=0)
            there = tl.min(tl.where(closed == of_new, lane, ROWS), axis=0)
            at_old = tl.max(tl.where(best_lane == here, old_at, -1), axis=0)
            at_new = tl.max(tl.where(lane == there, at, -1), axis=0)
            best = tl.maximum(of_old, of_new)
            best_found = tl.where(best_lane == n, best, best_found)
            at_best = tl.where(best == float("-inf"), -1, tl.where(is_old, at_old, at_new))
            best_at = tl.where(best_lane == n, at_best, best_at)
            here = tl.where(is_old, here, BEST_LANES)
            there = tl.where(is_old, ROWS, there)
            old = tl.where(best_lane == here, float("-inf"), old)
            closed = tl.where(lane == there, float("-inf"), closed)
        n_active = tl.sum(is_kept.to(tl.int32), axis=0)
        step += 1
        tl.debug_barrier()
    is_best = best_lane < N_BEST
    tl.store(found + item * N_BEST + best_lane, best_found, mask=is_best)
    tl.store(found_at + item * N_BEST + best_lane, best_at, mask=is_best)
    tl.store(pruned + item, lost)


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
    at = tl.load(found_at + sequence)
    length = tl.where(at >= 0, at // ROWS + 1, 0)
    lane = tl.where(at >= 0, at % ROWS, 0)
    out = columns + sequence * n_steps
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
