"""Compiled best-first search over prefixes (exact SeqMAP).

Owns the frontier and the expansion of prefixes. Children are made lazily: an expanded prefix
puts its best child on the frontier, and each child that leaves it puts its next sibling there,
so no child is ever cut.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["DONE", "EMPTY", "FULL", "LANDED", "LIMIT", "expand", "run"]

DONE, EMPTY, LIMIT, FULL, LANDED = 0, 1, 2, 3, 4  # why `run` returned

_FINISHED = -1  # frontier entry: a finished sequence rather than a child still to be made
_SLACK = 1e-10  # lift of unfinished entries in nats, above the rounding of the bounds


@njit(cache=True, nogil=True)
def _before(heap_f, heap_node, heap_word, a, b):  # type: ignore[no-untyped-def]
    if heap_f[a] != heap_f[b]:
        return heap_f[a] > heap_f[b]
    if heap_node[a] != heap_node[b]:
        return heap_node[a] < heap_node[b]
    return heap_word[a] < heap_word[b]


@njit(cache=True, nogil=True)
def _swap(heap_f, heap_node, heap_word, a, b):  # type: ignore[no-untyped-def]
    heap_f[a], heap_f[b] = heap_f[b], heap_f[a]
    heap_node[a], heap_node[b] = heap_node[b], heap_node[a]
    heap_word[a], heap_word[b] = heap_word[b], heap_word[a]


@njit(cache=True, nogil=True)
def _push(heap_f, heap_node, heap_word, size, f, node, word):  # type: ignore[no-untyped-def]
    heap_f[size] = f
    heap_node[size] = node
    heap_word[size] = word
    at = size
    while at > 0:
        up = (at - 1) // 2
        if not _before(heap_f, heap_node, heap_word, at, up):
            break
        _swap(heap_f, heap_node, heap_word, at, up)
        at = up
    return size + 1


@njit(cache=True, nogil=True)
def _pop(heap_f, heap_node, heap_word, size):  # type: ignore[no-untyped-def]
    size -= 1
    _swap(heap_f, heap_node, heap_word, 0, size)
    at = 0
    while True:
        left = 2 * at + 1
        if left >= size:
            return size
        best = left
        if left + 1 < size and _before(heap_f, heap_node, heap_word, left + 1, left):
            best = left + 1
        if not _before(heap_f, heap_node, heap_word, best, at):
            return size
        _swap(heap_f, heap_node, heap_word, best, at)
        at = best


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _dot(a, b, c):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j] * c[j]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _advance(link, mass, reach):  # type: ignore[no-untyped-def]
    """Set ``reach[j] = sum_{i<j} mass[i] * L[i, j]`` scaled to a peak of 1; return the peak."""
    n = mass.shape[0]
    reach[:] = 0.0
    for i in range(n):
        a = mass[i]
        if a != 0.0:
            for j in range(i + 1, n):
                reach[j] += a * link[i, j]
    peak = 0.0
    for j in range(n):
        peak = max(peak, reach[j])
    if peak > 0.0:
        for j in range(n):
            reach[j] /= peak
    return peak


@njit(cache=True, nogil=True)
def expand(reach, rest, words, cost, prob, table, scale, bounds):  # type: ignore[no-untyped-def]
    """Bound every child of a prefix; return the log of the bounds' common scale.

    ``reach`` (n,) is the mass that arrives at each vertex before it emits; ``bounds`` (W,) is
    filled with 0 for a child that cannot be finished within ``rest``.
    """
    bounds[:] = 0.0
    base = -math.inf
    for p in range(words.shape[0]):
        w = words[p]
        if cost[w] <= rest and scale[rest - cost[w]] > base:
            base = scale[rest - cost[w]]
    last_cost = -1
    factor = 0.0
    for p in range(words.shape[0]):
        w = words[p]
        c = cost[w]
        if c > rest:
            continue
        if c != last_cost:
            factor = math.exp(scale[rest - c] - base)
            last_cost = c
        bounds[w] = factor * _dot(reach, prob[w], table[rest - c])
    return base


@njit(cache=True, nogil=True)
def _best_child(bounds):  # type: ignore[no-untyped-def]
    best = -1
    peak = 0.0
    for w in range(bounds.shape[0]):
        if bounds[w] > peak:
            peak = bounds[w]
            best = w
    return best


@njit(cache=True, nogil=True)
def run(  # type: ignore[no-untyped-def]
    count,
    outside_best,
    heap_f,
    heap_node,
    heap_word,
    parent,
    word,
    rest,
    log_mass,
    base,
    score,
    reach,
    bounds,
    done,
    link,
    first_link,
    end,
    words,
    cost,
    first_words,
    first_cost,
    prob,
    other,
    other_cost,
    other_first_cost,
    table,
    scale,
    high,
    slack,
    n_best,
    limit,
    is_dive,
):
    """Go on with a search until it is done, empty, at its limit or out of room.

    ``count`` holds the number of nodes, frontier entries, finished results and expansions, and
    is 0 at the start. Nodes are rows of ``parent`` ... ``bounds``; ``done`` (N,) receives the
    nodes of the results, best first, and ``outside_best`` (N+1,) the greatest bound on sequences
    with a word outside the candidates, as it stood at each result (last: now). A dive follows
    the best child of the best prefix down to a finished sequence and returns there.
    """
    n = end.shape[0]
    n_results = done.shape[0]
    mass = np.empty(n)
    if count[0] == 0:
        peak = 0.0
        for j in range(n):
            peak = max(peak, first_link[j])
        if peak == 0.0:
            return EMPTY
        for j in range(n):
            reach[0, j] = first_link[j] / peak
        parent[0] = -1
        word[0] = -1
        rest[0] = high
        log_mass[0] = math.log(peak)
        score[0] = -math.inf
        base[0] = expand(reach[0], high, first_words, first_cost, prob, table, scale, bounds[0])
        if other_first_cost <= high:
            r = high - other_first_cost
            value = _dot(reach[0], other, table[r])
            if value > 0.0:
                outside_best[n_results] = log_mass[0] + scale[r] + math.log(value)
        count[0] = 1
        count[3] = 1
        w = _best_child(bounds[0])
        if w >= 0:
            f = log_mass[0] + base[0] + math.log(bounds[0, w]) + _SLACK
            count[1] = _push(heap_f, heap_node, heap_word, count[1], f, 0, w)
    diving = False
    top = 0
    w = 0
    while count[1] > 0 or diving:
        if not diving:
            top = heap_node[0]
            w = heap_word[0]
        if w == _FINISHED:
            if is_dive:
                return LANDED
            done[count[2]] = top
            outside_best[count[2]] = outside_best[n_results]
            count[1] = _pop(heap_f, heap_node, heap_word, count[1])
            count[2] += 1
            if count[2] == n_best:
                return DONE
            continue
        if count[3] >= limit:
            if diving:
                f = log_mass[top] + base[top] + math.log(bounds[top, w]) + _SLACK
                count[1] = _push(heap_f, heap_node, heap_word, count[1], f, top, w)
            return LIMIT
        if count[0] == parent.shape[0] or count[1] + 4 > heap_f.shape[0]:
            if diving:
                f = log_mass[top] + base[top] + math.log(bounds[top, w]) + _SLACK
                count[1] = _push(heap_f, heap_node, heap_word, count[1], f, top, w)
            return FULL
        if not diving:
            count[1] = _pop(heap_f, heap_node, heap_word, count[1])
        diving = False
        bounds[top, w] = 0.0
        sibling = _best_child(bounds[top])
        if sibling >= 0:
            f = log_mass[top] + base[top] + math.log(bounds[top, sibling]) + _SLACK
            count[1] = _push(heap_f, heap_node, heap_word, count[1], f, top, sibling)
        node = count[0]
        count[0] += 1
        count[3] += 1
        parent[node] = top
        word[node] = w
        left = rest[top] - (first_cost[w] if top == 0 else cost[w])
        rest[node] = left
        final = 0.0
        for j in range(n):
            mass[j] = reach[top, j] * prob[w, j]
            final += mass[j] * end[j]
        score[node] = -math.inf
        if left <= slack and final > 0.0:
            score[node] = log_mass[top] + math.log(final)
            count[1] = _push(heap_f, heap_node, heap_word, count[1], score[node], node, _FINISHED)
        peak = _advance(link, mass, reach[node])
        if peak == 0.0:
            continue
        log_mass[node] = log_mass[top] + math.log(peak)
        base[node] = expand(reach[node], left, words, cost, prob, table, scale, bounds[node])
        if other_cost <= left:
            r = left - other_cost
            value = _dot(reach[node], other, table[r])
            if value > 0.0:
                outside = log_mass[node] + scale[r] + math.log(value)
                outside_best[n_results] = max(outside_best[n_results], outside)
        child = _best_child(bounds[node])
        if child >= 0:
            f = log_mass[node] + base[node] + math.log(bounds[node, child]) + _SLACK
            if is_dive and score[node] < f:
                diving = True
                top = node
                w = child
            else:
                count[1] = _push(heap_f, heap_node, heap_word, count[1], f, node, child)
        if is_dive and not diving and score[node] > -math.inf:
            return LANDED
    return EMPTY
