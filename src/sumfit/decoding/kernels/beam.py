"""Compiled prefix beam, ranked by what each prefix can still become."""

from __future__ import annotations

import math

import numpy as np

from sumfit.decoding.kernels.compiled import njit

__all__ = ["run_beam"]

_TINY = 1e-18  # share of a prefix's worth below which a vertex enters its children by its bound


@njit(cache=True, nogil=True)
def _insert(rank, parent, word, count, new_rank, new_parent, new_word):  # type: ignore[no-untyped-def]
    """Insert one child, best rank first, ties in order of arrival; return how many there are."""
    if count == rank.shape[0]:
        count -= 1
    at = count
    while at > 0 and new_rank > rank[at - 1]:
        rank[at] = rank[at - 1]
        parent[at] = parent[at - 1]
        word[at] = word[at - 1]
        at -= 1
    rank[at], parent[at], word[at] = new_rank, new_parent, new_word
    return count + 1


@njit(cache=True, nogil=True)
def _step_over_links(mass, link, reach):  # type: ignore[no-untyped-def]
    """Set ``reach[j] = sum_i mass[i] * link[i, j]``."""
    n = reach.shape[0]
    reach[:] = 0.0
    for i in range(n):
        here = mass[i]
        if here > 0.0:
            for j in range(i + 1, n):
                reach[j] += here * link[i, j]


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _weigh_words(reach, weight, prob, most, worth):  # type: ignore[no-untyped-def]
    """Set ``worth[v] = sum_j reach[j] * weight[j] * prob[j, v]``.

    Vertices that add less than a share of 1e-18 are added as if they emitted each word with
    probability `most`, so that the result stays an upper bound.
    """
    n = reach.shape[0]
    peak = 0.0
    for j in range(n):
        peak = max(peak, reach[j] * weight[j])
    least = _TINY * peak
    rest = 0.0
    for j in range(n):
        share = reach[j] * weight[j]
        if share < least:
            rest += share
    worth[:] = rest * most
    for j in range(n):
        share = reach[j] * weight[j]
        if share >= least and share > 0.0:
            row = prob[j]
            for v in range(worth.shape[0]):
                worth[v] += share * row[v]


@njit(cache=True, nogil=True)
def _rank_base(n_active, rest, log_mass, scale, class_cost):  # type: ignore[no-untyped-def]
    """Natural log of the one scale in which all children of a step are ranked."""
    base = -np.inf
    for k in range(n_active):
        for d in range(class_cost.shape[0]):
            if class_cost[d] <= rest[k]:
                base = max(base, log_mass[k] + scale[rest[k] - class_cost[d]])
    return base


@njit(cache=True, nogil=True)
def _rank_children(  # type: ignore[no-untyped-def]
    n_active,
    rest,
    log_mass,
    reach,
    prob,
    class_cost,
    class_start,
    table,
    scale,
    base,
    floor,
    most,
    worth,
    rank,
    parent,
    word,
):
    """Choose the K best children above the floor; return how many, and the best one left out."""
    count, left_out = 0, 0.0
    cutoff = floor
    for k in range(n_active):
        for d in range(class_cost.shape[0]):
            r = rest[k] - class_cost[d]
            if r < 0:
                break
            start, stop = class_start[d], class_start[d + 1]
            block = worth[: stop - start]
            _weigh_words(reach[k], table[r], prob[:, start:stop], most, block)
            factor = math.exp(log_mass[k] + scale[r] - base)
            for v in range(block.shape[0]):
                value = block[v] * factor
                if value > cutoff:
                    if count == rank.shape[0]:
                        left_out = max(left_out, rank[count - 1])
                    count = _insert(rank, parent, word, count, value, k, start + v)
                    if count == rank.shape[0]:
                        cutoff = max(floor, rank[count - 1])
                elif value > left_out and value > floor:
                    left_out = value
    return count, left_out


@njit(cache=True, nogil=True)
def _bound_outside(  # type: ignore[no-untyped-def]
    n_active, rest, log_mass, reach, other, costs, table, scale
):
    """Bound every sequence that goes on from a prefix of the beam with an outside word."""
    bound = -np.inf
    for k in range(n_active):
        for cost in costs:
            r = rest[k] - cost
            if r < 0:
                break
            value = 0.0
            for j in range(other.shape[0]):
                value += reach[k, j] * other[j] * table[r, j]
            if value > 0.0:
                bound = max(bound, math.log(value) + log_mass[k] + scale[r])
    return bound


@njit(cache=True, nogil=True)
def _record(found, found_score, n_found, score, columns):  # type: ignore[no-untyped-def]
    """Enter a finished sequence into the n-best list, if it is good enough."""
    n_best = found_score.shape[0]
    if score <= found_score[n_best - 1]:
        return n_found
    at = min(n_found, n_best - 1)
    while at > 0 and score > found_score[at - 1]:
        found_score[at] = found_score[at - 1]
        found[at] = found[at - 1]
        at -= 1
    found_score[at] = score
    found[at] = columns
    return min(n_found + 1, n_best)


@njit(cache=True, nogil=True)
def run_beam(  # type: ignore[no-untyped-def]
    prob,
    link,
    first_link,
    end,
    order,
    class_cost,
    class_start,
    first_order,
    first_class_cost,
    first_class_start,
    other,
    other_costs,
    other_first_costs,
    table,
    scale,
    high,
    slack,
    beam_size,
    n_best,
):
    """Search prefixes piece by piece (Eq. A10).

    ``prob`` (W, n); ``order`` the columns in order of cost, cut into classes of one cost each by
    ``class_start`` (D+1,); ``first_order`` the same for first costs; ``other_costs`` the
    distinct costs of words outside the candidates, ascending; ``table`` (R, n) bounds times
    ``exp(-scale)``. Returns the finished columns ``(N, n)`` padded with -1, the bound on
    everything pruned, the bound on every sequence with a word outside the candidates, and the
    prefixes expanded.
    """
    n_words, n = prob.shape
    most = 0.0
    for v in range(n_words):
        for j in range(n):
            most = max(most, prob[v, j])
    by_cost = np.empty((n, order.shape[0]))
    by_first_cost = np.empty((n, first_order.shape[0]))
    for j in range(n):
        for at in range(order.shape[0]):
            by_cost[j, at] = prob[order[at], j]
        for at in range(first_order.shape[0]):
            by_first_cost[j, at] = prob[first_order[at], j]
    mass = np.zeros(n)
    reach, new_reach = np.zeros((beam_size, n)), np.zeros((beam_size, n))
    log_mass, new_log = np.zeros(beam_size), np.zeros(beam_size)
    rest, new_rest = np.zeros(beam_size, dtype=np.int64), np.zeros(beam_size, dtype=np.int64)
    column = np.full((beam_size, n), -1, dtype=np.int64)
    new_column = np.full((beam_size, n), -1, dtype=np.int64)
    rank = np.empty(beam_size)
    parent, word = np.empty(beam_size, dtype=np.int64), np.empty(beam_size, dtype=np.int64)
    worth = np.empty(n_words)
    found = np.full((n_best, n), -1, dtype=np.int64)
    found_score = np.full(n_best, -np.inf)
    n_found, n_expanded, n_active = 0, 0, 1
    pruned, outside = -np.inf, -np.inf
    rest[0], reach[0] = high, first_link
    costs, starts, source, place = first_class_cost, first_class_start, by_first_cost, first_order
    for step in range(n):
        n_expanded += n_active
        outside = max(
            outside,
            _bound_outside(
                n_active,
                rest,
                log_mass,
                reach,
                other,
                other_first_costs if step == 0 else other_costs,
                table,
                scale,
            ),
        )
        base = _rank_base(n_active, rest, log_mass, scale, costs)
        if base == -np.inf:
            break
        floor = math.exp(found_score[n_best - 1] - base)
        count, left_out = _rank_children(
            n_active,
            rest,
            log_mass,
            reach,
            source,
            costs,
            starts,
            table,
            scale,
            base,
            floor,
            most,
            worth,
            rank,
            parent,
            word,
        )
        if left_out > 0.0:
            pruned = max(pruned, math.log(left_out) + base)
        n_active = 0
        for k in range(count):
            v, above = place[word[k]], parent[k]
            d = 0
            while starts[d + 1] <= word[k]:
                d += 1
            peak = 0.0
            for j in range(n):
                mass[j] = reach[above, j] * prob[v, j]
                peak = max(peak, mass[j])
            if peak == 0.0:
                continue
            closed = 0.0
            for j in range(n):
                mass[j] /= peak
                closed += mass[j] * end[j]
            new_log[n_active] = log_mass[above] + math.log(peak)
            new_rest[n_active] = rest[above] - costs[d]
            new_column[n_active] = column[above]
            new_column[n_active, step] = v
            _step_over_links(mass, link, new_reach[n_active])
            if new_rest[n_active] <= slack and closed > 0.0:
                score = new_log[n_active] + math.log(closed)
                n_found = _record(found, found_score, n_found, score, new_column[n_active])
            n_active += 1
        if n_active == 0:
            break
        reach, new_reach = new_reach, reach
        log_mass, new_log = new_log, log_mass
        rest, new_rest = new_rest, rest
        column, new_column = new_column, column
        costs, starts, source, place = class_cost, class_start, by_cost, order
    return found[:n_found], pruned, outside, n_expanded
