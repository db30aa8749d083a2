"""Compiled table of upper bounds for exact search (Eq. A8 of ``docs/algorithms.md``).

Owns the recursion alone: plain arrays in, plain arrays out. What the arrays mean is written in
`sumfit.decoding.bound`, which builds them.

The bound at a vertex is a maximum over the *next word* of a sum over vertices. What may follow a
word depends on its kind, so each layer keeps one vector per kind of context:

====  =====================================================================
kind  what may come next
====  =====================================================================
0     anything: an end, a new word, a continuation of the word begun
1     no end
2     a continuation only (the word begun is not one yet)
3     no continuation (nothing longer begins with these letters)
4     neither an end nor a continuation
====  =====================================================================
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sumfit.decoding.kernels.compiled import njit

__all__ = ["KINDS", "Steps", "by_vertex", "costs_outside", "fill_bounds", "sparse_columns"]

KINDS = 5


class Steps(NamedTuple):
    """Ways to go on, ascending cost; a word has one, or one for each context it can leave.

    Each an int64 array ``(P,)``: the candidate, its cost, the kind of context it leaves, the bits
    it turns on, the bits that forbid it.
    """

    word: Any
    cost: Any
    kind: Any
    gain: Any
    blocked: Any


@njit(cache=True, nogil=True)
def _cost_bits(cost, begin, end, high):  # type: ignore[no-untyped-def]
    """Bit c of the result tells whether some ``cost[begin:end]`` is c; for ``high`` below 62."""
    bits = np.int64(0)
    for v in range(begin, end):
        bits |= np.int64(1) << np.int64(min(cost[v], high + 1))
    return bits


@njit(cache=True, nogil=True)
def costs_outside(cost, ids, high):  # type: ignore[no-untyped-def]
    """List the distinct costs up to ``high`` of the words that are not among ascending ``ids``."""
    seen = np.zeros(high + 2, dtype=np.bool_)
    bits = np.int64(0)
    begin = 0
    for at in range(ids.shape[0] + 1):
        end = ids[at] if at < ids.shape[0] else cost.shape[0]
        if high < 62:
            bits |= _cost_bits(cost, begin, end, high)
        else:
            for v in range(begin, end):
                seen[min(cost[v], high + 1)] = True
        begin = end + 1
    if high < 62:
        for c in range(high + 1):
            seen[c] = (bits >> c) & 1
    return np.flatnonzero(seen[: high + 1])


@njit(cache=True, nogil=True)
def sparse_columns(prob, active, share, start, vertex, value, dropped):  # type: ignore[no-untyped-def]
    """Keep the entries above a share of their vertex's best, and the largest of the rest.

    ``prob`` (W, n); fills ``start`` (W+1,), ``vertex`` and ``value`` (W*n,), ``dropped`` (n,).
    """
    n_words, n = prob.shape
    dropped[:] = 0.0
    least = np.zeros(n)
    for w in range(n_words):
        if active[w]:
            for j in range(n):
                least[j] = max(least[j], prob[w, j])
    for j in range(n):
        least[j] *= share
    filled = 0
    for w in range(n_words):
        start[w] = filled
        if not active[w]:
            continue
        for j in range(n):
            p = prob[w, j]
            if p >= least[j] and p > 0.0:
                vertex[filled] = j
                value[filled] = p
                filled += 1
            elif p > dropped[j]:
                dropped[j] = p
    start[n_words] = filled


@njit(cache=True, nogil=True)
def by_vertex(steps, start, vertex, value, first, step, mass):  # type: ignore[no-untyped-def]
    """Sort the entries of the steps that cost nothing by vertex.

    Fills ``first`` (n+1,), and ``step`` and ``mass`` with the entries of each vertex.
    """
    n = first.shape[0] - 1
    first[:] = 0
    n_free = 0
    while n_free < steps.word.shape[0] and steps.cost[n_free] == 0:
        w = steps.word[n_free]
        for q in range(start[w], start[w + 1]):
            first[vertex[q] + 1] += 1
        n_free += 1
    for j in range(n):
        first[j + 1] += first[j]
    filled = first.copy()
    for v in range(n_free):
        w = steps.word[v]
        for q in range(start[w], start[w + 1]):
            at = filled[vertex[q]]
            step[at] = v
            mass[at] = value[q]
            filled[vertex[q]] += 1


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _push_back(link_up, weight, source, out):  # type: ignore[no-untyped-def]
    """Set ``out[j] = sum_{i>j} L[j, i] * weight[i] * source[i]``."""
    n = out.shape[0]
    out[:] = 0.0
    for i in range(n):
        a = weight[i] * source[i]
        if a != 0.0:
            for j in range(i):
                out[j] += a * link_up[i, j]


@njit(cache=True, nogil=True)
def _join(kind, is_end, end, going_on, new_word):  # type: ignore[no-untyped-def]
    """Upper bound in one context from those of an end, a continuation and a new word."""
    best = 0.0
    if kind != 3 and kind != 4:
        best = going_on
    if kind != 2 and new_word > best:
        best = new_word
    if is_end and (kind == 0 or kind == 3) and end > best:
        best = end
    return best


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def fill_bounds(  # type: ignore[no-untyped-def]
    link,
    link_up,
    end,
    steps,
    joins,
    start,
    vertex,
    value,
    dropped,
    free_start,
    free_step,
    free_value,
    other,
    other_costs,
    slack,
    needed,
    table,
    padding,
    outside,
    scale,
):
    """Fill ``table`` (A, K, R, n), ``padding`` (same), ``outside`` (A, R, n), ``scale`` (R,).

    ``table[a, k, r, j] * exp(scale[r])`` bounds the mass that one string can still collect from
    vertex j with r to spend, in context k, when the bits of set a are on. Bits in ``needed`` must
    be on at the end; a step whose ``blocked`` bit is on may not be taken; a step turns the bits
    of its ``gain`` on. Words outside the candidates cost one of ``other_costs`` (ascending).
    """
    n_sets, n_kinds, n_layers, n = table.shape
    n_steps = steps.word.shape[0]
    n_free = 0
    while n_free < n_steps and steps.cost[n_free] == 0:
        n_free += 1
    y = np.empty(n)
    going_on = np.empty(n)
    new_word = np.empty(n)
    most = 0
    has_free_other = False
    for q in range(other_costs.shape[0]):
        most = max(most, other_costs[q])
        has_free_other = has_free_other or other_costs[q] == 0
    for p in range(n_steps):
        most = max(most, steps.cost[p])
    has_cost = np.zeros(most + 1, dtype=np.bool_)
    for p in range(n_steps):
        has_cost[steps.cost[p]] = True
    for q in range(other_costs.shape[0]):
        has_cost[other_costs[q]] = True
    factor = np.zeros(most + 1)
    is_live = np.zeros(n_layers, dtype=np.bool_)
    free_sum = np.empty((n_free, n))
    for r in range(n_layers):
        base = -math.inf
        if r <= slack:
            base = 0.0
        for c in range(1, min(most, r) + 1):
            if has_cost[c] and is_live[r - c]:
                base = max(base, scale[r - c])
        if base == -math.inf:
            base = 0.0
        for c in range(1, min(most, r) + 1):
            factor[c] = 0.0
            if has_cost[c] and is_live[r - c]:
                factor[c] = math.exp(scale[r - c] - base)
        end_factor = math.exp(-base)
        peak = 0.0
        for a in range(n_sets - 1, -1, -1):
            going_on[:] = 0.0
            new_word[:] = 0.0
            for p in range(n_free, n_steps):
                c = steps.cost[p]
                if c > r:
                    break
                w = steps.word[p]
                if factor[c] == 0.0 or a & steps.blocked[p]:
                    continue
                after = a | steps.gain[p]
                source = table[after, steps.kind[p], r - c]
                extra = padding[after, steps.kind[p], r - c]
                for j in range(n):
                    y[j] = extra[j]
                for q in range(start[w], start[w + 1]):
                    i = vertex[q]
                    mass = value[q] * source[i]
                    for j in range(i):
                        y[j] += mass * link_up[i, j]
                target = going_on if joins[w] else new_word
                weight = factor[c]
                for j in range(n):
                    target[j] = max(target[j], y[j] * weight)
            for q in range(other_costs.shape[0]):
                c = other_costs[q]
                if c == 0 or c > r:
                    continue
                for j in range(n):
                    bound = outside[a | needed, r - c, j] * factor[c]
                    going_on[j] = max(going_on[j], bound)
                    new_word[j] = max(new_word[j], bound)
            is_end = r <= slack and (a & needed) == needed
            for v in range(n_free):
                for j in range(n):
                    free_sum[v, j] = 0.0
            for j in range(n - 1, -1, -1):
                if n_free > 0:
                    for k in range(n_kinds):
                        pad = 0.0
                        for i in range(j + 1, n):
                            pad += link[j, i] * dropped[i] * table[a, k, r, i]
                        padding[a, k, r, j] = pad
                for v in range(n_free):
                    if not a & steps.blocked[v]:
                        bound = free_sum[v, j] + padding[a | steps.gain[v], steps.kind[v], r, j]
                        if joins[steps.word[v]]:
                            going_on[j] = max(going_on[j], bound)
                        else:
                            new_word[j] = max(new_word[j], bound)
                if has_free_other:
                    bound = 0.0
                    for i in range(j + 1, n):
                        bound += link[j, i] * other[i] * table[a | needed, 0, r, i]
                    going_on[j] = max(going_on[j], bound)
                    new_word[j] = max(new_word[j], bound)
                for k in range(n_kinds):
                    bound = _join(k, is_end, end[j] * end_factor, going_on[j], new_word[j])
                    table[a, k, r, j] = bound
                    peak = max(peak, bound)
                for q in range(free_start[j], free_start[j + 1]):
                    v = free_step[q]
                    mass = free_value[q] * table[a | steps.gain[v], steps.kind[v], r, j]
                    for i in range(j):
                        free_sum[v, i] += mass * link_up[j, i]
            for k in range(n_kinds):
                _push_back(link_up, dropped, table[a, k, r], padding[a, k, r])
        is_live[r] = peak > 0.0
        scale[r] = base
        if peak > 0.0 and not 1e-60 < peak < 1e60:
            for a in range(n_sets):
                for k in range(n_kinds):
                    for j in range(n):
                        table[a, k, r, j] /= peak
                        padding[a, k, r, j] /= peak
            scale[r] = base + math.log(peak)
        if other_costs.shape[0] > 0:
            for a in range(n_sets):
                _push_back(link_up, other, table[a, 0, r], outside[a, r])
