"""The beam of `sumfit.decoding.device.beam` as one Triton kernel.

Owns weighing, choosing and growing the prefixes of a graph. Layout and notation are those of
`sumfit.decoding.device.kernels`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from sumfit.decoding.device.kernels import reach_tile

__all__ = ["beam"]


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
    unit_bonus, budget, all_chunks, n_first_kinds,
    N: tl.constexpr, CHUNK: tl.constexpr, HAS_OTHER: tl.constexpr,
):  # fmt: skip
    """Bound every first word, relative to the base that is returned."""
    row = tl.arange(0, N)
    column = tl.arange(0, CHUNK)
    base = tl.full((), float("-inf"), tl.float32)
    for d in range(0, n_first_kinds):
        cost = tl.load(first_cost_values + d).to(tl.int32)
        left = budget - cost
        level = tl.load(scale + left, mask=left >= 0, other=float("-inf"))
        base = tl.maximum(base, level + unit_bonus * cost)
    base = tl.where(base == float("-inf"), 0.0, base)
    outside = tl.full((), 0.0, tl.float32)
    if HAS_OTHER:
        for d in range(0, n_first_kinds):
            cost = tl.load(first_cost_values + d).to(tl.int32)
            left = budget - cost
            level = tl.load(scale + left, mask=left >= 0, other=float("-inf"))
            onward = tl.load(table + left * N + row, mask=(row < N) & (left >= 0), other=0.0)
            lift = tl.exp(level + unit_bonus * cost - base)
            outside = tl.maximum(outside, tl.sum(begin * onward * beyond, axis=0) * lift)
    for chunk in range(0, all_chunks):
        place = chunk * CHUNK + column
        costs = tl.load(first_cost + place)
        layer = budget - costs
        is_within = layer >= 0
        levels = tl.load(scale + layer, mask=is_within, other=float("-inf"))
        onwards = tl.load(
            table + layer[:, None] * N + row[None, :], mask=is_within[:, None], other=0.0
        )
        words = tl.load(by_word + place[:, None] * N + row[None, :])
        lifts = tl.exp(levels + unit_bonus * costs - base)
        value = tl.sum(words * onwards * begin[None, :], axis=1) * lifts
        tl.store(worth + place, value)
        tl.store(peaks + place, value)
    return base, outside


@triton.jit
def _share(reach, mass, rest, cost, table, scale, unit_bonus, base, N: tl.constexpr):
    """What each prefix brings to each vertex, times the bound of what follows there."""
    row = tl.arange(0, N)
    layer = rest - cost
    is_within = layer >= 0
    level = tl.load(scale + layer, mask=is_within, other=float("-inf"))
    onward = tl.load(table + layer[:, None] * N + row[None, :], mask=is_within[:, None], other=0.0)
    return reach * onward * tl.exp(level + unit_bonus * cost + mass - base)[:, None]


@triton.jit
def _weigh(
    by_word, reach, mass, rest, floor_log, beyond, table, scale, kind_end, cost_values,
    worth, peaks, unit_bonus, n_columns, n_kinds,
    ROWS: tl.constexpr, N: tl.constexpr, CHUNK: tl.constexpr,
    HAS_OTHER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Bound every child, relative to the base that is returned."""
    row = tl.arange(0, N)
    lane = tl.arange(0, ROWS)
    column = tl.arange(0, CHUNK)
    base = tl.full((), float("-inf"), tl.float32)
    for d in range(0, n_kinds):
        cost = tl.load(cost_values + d).to(tl.int32)
        layer = rest - cost
        level = tl.load(scale + layer, mask=layer >= 0, other=float("-inf"))
        base = tl.maximum(base, tl.max(level + unit_bonus * cost + mass, axis=0))
    base = tl.where(base == float("-inf"), 0.0, base)
    floor = tl.exp(floor_log - base)
    outside = tl.full((), 0.0, tl.float32)
    for d in range(0, n_kinds):
        cost = tl.load(cost_values + d).to(tl.int32)
        # Read, not carried on from the kind before: triton's passes make 0 of what is carried.
        begin, end = tl.load(kind_end + d - 1, mask=d > 0, other=0), tl.load(kind_end + d)
        share = _share(reach, mass, rest, cost, table, scale, unit_bonus, base, N)
        if HAS_OTHER:
            leak = tl.sum(share * beyond[None, :], axis=1)
            outside = tl.maximum(outside, tl.max(leak, axis=0))
        for chunk in range(begin, end):
            tile = reach_tile(share, by_word, chunk, column, row, N, CHUNK, PRECISION)
            tile = tl.where(tile > floor, tile, 0.0)
            place = chunk * CHUNK + column
            tl.store(worth + lane[:, None] * n_columns + place[None, :], tile)
            tl.store(peaks + place, tl.max(tile, axis=0))
    return base, outside


@triton.jit
def _choose(
    worth, peaks, n_places, n_columns, step,
    K: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, BY_SORT: tl.constexpr,
):  # fmt: skip
    """The K best children, as places in ``worth``, with their values, and the next best value.

    The K + 1 best children lie in the K + 1 columns with the best peaks.
    """
    lane, wide = tl.arange(0, ROWS), tl.arange(0, WIDTH)
    peak = tl.load(peaks + wide, mask=wide < n_places, other=0.0)
    top = _order_of(_largest(_packed(peak, wide), lane, ROWS, BY_SORT, K + 1))
    top = tl.minimum(tl.maximum(top, 0), n_columns - 1)
    is_row = (lane == 0) | ((lane < K) & (step > 0))
    inside = is_row[:, None] & (lane < K + 1)[None, :] & (top < n_places)[None, :]
    child = lane[:, None] * n_columns + top[None, :]
    value = tl.load(worth + child, mask=inside, other=0.0)
    keys = tl.where(inside, _packed(value, child), (lane[:, None] * ROWS + lane[None, :]))
    key = _largest(tl.reshape(keys, [ROWS * ROWS]), lane, ROWS, BY_SORT, K + 1)
    value = _value_of(key)
    next_best = tl.max(tl.where(lane == K, value, 0.0), axis=0)
    value = tl.where(lane < K, value, 0.0)
    return tl.where(value > 0.0, _order_of(key), 0), value, next_best


@triton.jit
def _record(
    best_found, best_at, closed, at, ROWS: tl.constexpr, N_BEST: tl.constexpr, LANES: tl.constexpr
):  # fmt: skip
    """Merge finished sequences into the list of the N best."""
    lane, best_lane = tl.arange(0, ROWS), tl.arange(0, LANES)
    old, old_at = best_found, best_at
    for n in range(0, N_BEST):
        of_old, of_new = tl.max(old, axis=0), tl.max(closed, axis=0)
        is_old = of_old >= of_new
        here = tl.min(tl.where(old == of_old, best_lane, LANES), axis=0)
        there = tl.min(tl.where(closed == of_new, lane, ROWS), axis=0)
        at_old = tl.max(tl.where(best_lane == here, old_at, -1), axis=0)
        at_new = tl.max(tl.where(lane == there, at, -1), axis=0)
        best = tl.maximum(of_old, of_new)
        best_found = tl.where(best_lane == n, best, best_found)
        at_best = tl.where(best == float("-inf"), -1, tl.where(is_old, at_old, at_new))
        best_at = tl.where(best_lane == n, at_best, best_at)
        here = tl.where(is_old, here, LANES)
        there = tl.where(is_old, ROWS, there)
        old = tl.where(best_lane == here, float("-inf"), old)
        closed = tl.where(lane == there, float("-inf"), closed)
    return best_found, best_at


@triton.jit
def _grow(
    by_word, link, end, child, value, step, slack, cost, first_cost, n_columns,
    reach, log_mass, rest, parents, places, unit_bonus,
    ROWS: tl.constexpr, N: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Make the children the prefixes of the next step; return the scores of those that may end."""
    lane, row = tl.arange(0, ROWS), tl.arange(0, N)
    is_kept = value > 0.0
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
    log_child = log_parent + tl.log(peak) + unit_bonus * spent
    rest_child = rest_parent - spent
    closed = tl.log(tl.sum(mass * end[None, :], axis=1)) + log_child
    closed = tl.where(is_kept & (rest_child <= slack), closed, float("-inf"))
    tl.debug_barrier()
    tl.store(reach + lane[:, None] * N + row[None, :],
             tl.dot(mass, link, input_precision=PRECISION))  # fmt: skip
    tl.store(log_mass + lane, log_child)
    tl.store(rest + lane, rest_child)
    tl.store(parents + lane, parent)
    tl.store(places + lane, place)
    return closed


@triton.jit(do_not_specialize=["n_layers", "n_kinds", "n_first_kinds", "max_chunks", "n_steps"])
def beam(
    by_word, links, ends, first, other, table, scale, kind_end, payable, n_all_chunks, cost,
    first_cost, cost_values, first_cost_values, low, high,
    reach, log_mass, rest, worth, peaks,
    parents, places, found_at, pruned,
    unit_bonus, n_layers, n_kinds, n_first_kinds, max_chunks, n_steps,
    K: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr, CHUNK: tl.constexpr, WIDTH: tl.constexpr,
    N_BEST: tl.constexpr, BEST_LANES: tl.constexpr, HAS_OTHER: tl.constexpr,
    BY_SORT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Grow the beam of one graph to its end (Eq. A9, A10)."""
    item = tl.program_id(0).to(tl.int64)
    n_items = tl.num_programs(0)
    n_columns = max_chunks * CHUNK
    by_word += item * n_columns * N
    cost += item * n_columns
    first_cost += item * n_columns
    kind_end += item * n_kinds
    table += item * n_layers * N
    scale += item * n_layers
    reach += item * ROWS * N
    log_mass += item * ROWS
    rest += item * ROWS
    worth += item * ROWS * n_columns
    peaks += item * n_columns
    row = tl.arange(0, N)
    lane = tl.arange(0, ROWS)
    best_lane = tl.arange(0, BEST_LANES)
    link = tl.load(links + item * N * N + row[:, None] * N + row[None, :])
    end = tl.load(ends + item * N + row)
    beyond = tl.load(other + item * N + row)
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
                unit_bonus, budget, all_chunks, n_first_kinds, N, CHUNK, HAS_OTHER,
            )  # fmt: skip
            n_places = all_chunks * CHUNK
        else:
            most_rest = tl.max(tl.where(mass_here > float("-inf"), rest_here, 0), axis=0)
            n_paid = tl.load(payable + most_rest)
            base, outside = _weigh(
                by_word, reach_here, mass_here, rest_here, floor_log, beyond, table, scale,
                kind_end, cost_values, worth, peaks, unit_bonus, n_columns, n_paid,
                ROWS, N, CHUNK, HAS_OTHER, PRECISION,
            )  # fmt: skip
            n_places = tl.load(kind_end + n_paid - 1, mask=n_paid > 0, other=0) * CHUNK
        lost = tl.maximum(lost, tl.log(outside) + base)
        tl.debug_barrier()

        child, value, next_best = _choose(
            worth, peaks, n_places, n_columns, step, K, ROWS, WIDTH, BY_SORT
        )  # fmt: skip
        lost = tl.maximum(lost, tl.log(next_best) + base)
        past = (step * n_items + item) * ROWS
        closed = _grow(
            by_word, link, end, child, value, step, slack, cost, first_cost, n_columns,
            reach, log_mass, rest, parents + past, places + past, unit_bonus, ROWS, N, PRECISION,
        )  # fmt: skip
        best_found, best_at = _record(
            best_found, best_at, closed, step * ROWS + lane, ROWS, N_BEST, BEST_LANES
        )  # fmt: skip
        n_active = tl.sum((value > 0.0).to(tl.int32), axis=0)
        step += 1
        tl.debug_barrier()
    is_best = best_lane < N_BEST
    tl.store(found_at + item * N_BEST + best_lane, best_at, mask=is_best)
    tl.store(pruned + item, lost)
