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

import numpy as np
from numba import njit

__all__ = ["KINDS", "fill_bounds", "sparse_columns"]

KINDS = 5


@njit(cache=True, nogil=True)
def sparse_columns(prob, active, threshold, start, vertex, value, dropped):  # type: ignore[no-untyped-def]
    """Keep the entries above the threshold, and the largest of the rest at every vertex.

    ``prob`` (W, n); fills ``start`` (W+1,), ``vertex`` and ``value`` (W*n,), ``dropped`` (n,).
    """
    n_words, n = prob.shape
    dropped[:] = 0.0
    filled = 0
    for w in range(n_words):
        start[w] = filled
        if not active[w]:
            continue
        for j in range(n):
            p = prob[w, j]
            if p >= threshold:
                vertex[filled] = j
                value[filled] = p
                filled += 1
            elif p > dropped[j]:
                dropped[j] = p
    start[n_words] = filled


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
    link_up,
    end,
    order,
    cost,
    kind,
    gains,
    joins,
    start,
    vertex,
    value,
    dropped,
    free_words,
    free_prob,
    other,
    other_cost,
    slack,
    table,
    padding,
    outside,
    scale,
):
    """Fill ``table`` (A, K, R, n), ``padding`` (same), ``outside`` (R, n) and ``scale`` (R,).

    ``table[a, k, r, j] * exp(scale[r])`` bounds the mass that one string can still collect from
    vertex j with r to spend, in context k, with the required words in bit set a already written.
    """
    n_sets, n_kinds, n_layers, n = table.shape
    n_free = free_words.shape[0]
    full = n_sets - 1
    y = np.empty(n)
    going_on = np.empty(n)
    new_word = np.empty(n)
    n_costs = 0
    for p in range(order.shape[0]):
        n_costs = max(n_costs, cost[order[p]])
    n_costs = max(n_costs, other_cost)
    has_cost = np.zeros(n_costs + 1, dtype=np.bool_)
    for p in range(order.shape[0]):
        has_cost[cost[order[p]]] = True
    if other_cost > 0:
        has_cost[other_cost] = True
    factor = np.zeros(n_costs + 1)
    is_live = np.zeros(n_layers, dtype=np.bool_)
    free_mass = np.zeros((n, n_free))
    free_sum = np.zeros(n_free)
    for r in range(n_layers):
        base = -math.inf
        if r <= slack:
            base = 0.0
        for c in range(1, min(n_costs, r) + 1):
            if has_cost[c] and is_live[r - c]:
                base = max(base, scale[r - c])
        if base == -math.inf:
            base = 0.0
        for c in range(1, min(n_costs, r) + 1):
            factor[c] = math.exp(scale[r - c] - base) if is_live[r - c] else 0.0
        end_factor = math.exp(-base)
        peak = 0.0
        for a in range(n_sets - 1, -1, -1):
            going_on[:] = 0.0
            new_word[:] = 0.0
            for p in range(order.shape[0]):
                w = order[p]
                c = cost[w]
                if c > r:
                    break
                if factor[c] == 0.0 or start[w] == start[w + 1]:
                    continue
                source = table[a | gains[w], kind[w], r - c]
                y[:] = padding[a | gains[w], kind[w], r - c]
                for q in range(start[w], start[w + 1]):
                    i = vertex[q]
                    mass = value[q] * source[i]
                    for j in range(i):
                        y[j] += mass * link_up[i, j]
                target = going_on if joins[w] else new_word
                for j in range(n):
                    target[j] = max(target[j], y[j] * factor[c])
            if 0 < other_cost <= r:
                for j in range(n):
                    bound = outside[r - other_cost, j] * factor[other_cost]
                    going_on[j] = max(going_on[j], bound)
                    new_word[j] = max(new_word[j], bound)
            for j in range(n - 1, -1, -1):
                if n_free > 0 or other_cost == 0:
                    free_sum[:] = 0.0
                    other_sum = 0.0
                    for i in range(j + 1, n):
                        link = link_up[i, j]
                        if link != 0.0:
                            for v in range(n_free):
                                free_sum[v] += link * free_mass[i, v]
                            if other_cost == 0:
                                other_sum += link * other[i] * table[full, 0, r, i]
                    for v in range(n_free):
                        if joins[free_words[v]]:
                            going_on[j] = max(going_on[j], free_sum[v])
                        else:
                            new_word[j] = max(new_word[j], free_sum[v])
                    going_on[j] = max(going_on[j], other_sum)
                    new_word[j] = max(new_word[j], other_sum)
                is_end = r <= slack and a == full
                for k in range(n_kinds):
                    bound = _join(k, is_end, end[j] * end_factor, going_on[j], new_word[j])
                    table[a, k, r, j] = bound
                    peak = max(peak, bound)
                for v in range(n_free):
                    w = free_words[v]
                    free_mass[j, v] = free_prob[j, v] * table[a | gains[w], kind[w], r, j]
        is_live[r] = peak > 0.0
        scale[r] = base
        if peak > 0.0 and not 1e-60 < peak < 1e60:
            table[:, :, r] /= peak
            scale[r] = base + math.log(peak)
        for a in range(n_sets):
            for k in range(n_kinds):
                _push_back(link_up, dropped, table[a, k, r], padding[a, k, r])
        _push_back(link_up, other, table[full, 0, r], outside[r])
