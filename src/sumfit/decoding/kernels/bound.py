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

__all__ = ["KINDS", "Steps", "costs_outside", "fill_bounds", "sparse_columns"]

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
def costs_outside(cost, ids, high):  # type: ignore[no-untyped-def]
    """List the distinct costs up to ``high`` of the words that are not among ascending ``ids``."""
    seen = np.zeros(high + 1, dtype=np.bool_)
    at = 0
    for v in range(cost.shape[0]):
        if at < ids.shape[0] and ids[at] == v:
            at += 1
        elif cost[v] <= high:
            seen[cost[v]] = True
    return np.flatnonzero(seen)


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
    steps,
    joins,
    start,
    vertex,
    value,
    dropped,
    free_prob,
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
    n_free = free_prob.shape[1]
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
    free_mass = np.zeros((n, n_free))
    free_sum = np.zeros(n_free)
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
            for j in range(n - 1, -1, -1):
                if n_free > 0 or has_free_other:
                    free_sum[:] = 0.0
                    other_sum = 0.0
                    for i in range(j + 1, n):
                        link = link_up[i, j]
                        if link != 0.0:
                            for v in range(n_free):
                                free_sum[v] += link * free_mass[i, v]
                            if has_free_other:
                                other_sum += link * other[i] * table[a | needed, 0, r, i]
                    for v in range(n_free):
                        if joins[steps.word[v]]:
                            going_on[j] = max(going_on[j], free_sum[v])
                        else:
                            new_word[j] = max(new_word[j], free_sum[v])
                    going_on[j] = max(going_on[j], other_sum)
                    new_word[j] = max(new_word[j], other_sum)
                for k in range(n_kinds):
                    bound = _join(k, is_end, end[j] * end_factor, going_on[j], new_word[j])
                    table[a, k, r, j] = bound
                    peak = max(peak, bound)
                for v in range(n_free):
                    free_mass[j, v] = 0.0
                    if not a & steps.blocked[v]:
                        after = a | steps.gain[v]
                        free_mass[j, v] = free_prob[j, v] * table[after, steps.kind[v], r, j]
        is_live[r] = peak > 0.0
        scale[r] = base
        if peak > 0.0 and not 1e-60 < peak < 1e60:
            for a in range(n_sets):
                for k in range(n_kinds):
                    for j in range(n):
                        table[a, k, r, j] /= peak
            scale[r] = base + math.log(peak)
        for a in range(n_sets):
            for k in range(n_kinds):
                _push_back(link_up, dropped, table[a, k, r], padding[a, k, r])
            if other_costs.shape[0] > 0:
                _push_back(link_up, other, table[a, 0, r], outside[a, r])
