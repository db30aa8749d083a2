"""Compiled table of upper bounds for exact search (Eq. A8 of ``docs/algorithms.md``).

Owns the recursion alone: plain arrays in, plain arrays out. What the arrays mean is written in
`sumfit.decoding.bounds.tables`, which builds them.

The bound at a vertex is a maximum over the *next word* of a sum over vertices. What may come next
depends on the context that the last word leaves (`sumfit.constraints.kernels.contexts`), so each
layer keeps one vector per context.

A layer is filled in two passes. First the words that cost something, whose layers are known. Then
the vertices from the last to the first, for the words that cost nothing: as soon as a vertex is
known it adds its share to every sum that it takes part in, and the maximum over words is kept up
to date with the sums, which only grow.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import (
    ALLOCATES,
    INLINE,
    INTERNAL,
    BoolArray,
    Float32Array,
    Float64Array,
    Int64Array,
    njit,
)
from sumfit.constraints.kernels.contexts import ANY, allows, allows_end
from sumfit.decoding.kernels.steps import Entries, Steps, list_entries

__all__ = ["fill_bounds", "lay_out"]

_LEAST = 1e-200
_FAST = {"reassoc", "contract", "nsz", "arcp"}


class _Layers(NamedTuple):
    """What the layers are filled from and with, and room for sums.

    ``link_up`` (n, n) is ``[to, from]``; ``table`` (A, K, R, n) the result; ``padding`` (A, K, R,
    n) the share of negligible words in each sum over vertices, ``out_of_candidates`` (A, R, n) that
    of words outside the candidates. By cost: whether any word ``has_cost``, the ``bonus`` for it,
    and the ``factor``, that included, from the scale of its layer to that of the layer being
    filled; by layer, whether it ``is_live``; by context, whether any step leaves it (``is_left``).
    ``seed`` and ``pad`` (n,) are a layer and its padding on the scale of the one being filled,
    ``total`` (n,) the sum for one word, ``best`` (2, n) the maxima over new words and over
    continuations.
    """

    link_up: Any
    table: Any
    padding: Any
    out_of_candidates: Any
    has_cost: Any
    bonus: Any
    is_live: Any
    is_left: Any
    factor: Any
    seed: Any
    pad: Any
    total: Any
    best: Any


class _Free(NamedTuple):
    """Entries of the words that cost nothing, by vertex, and the sums over them.

    ``first`` (n+1,) is where the entries of each vertex begin, ``run`` and ``word`` what they
    belong to and ``value`` their probability; ``total`` (Q0, n) the sum of each such word so far,
    ``most`` (G0, n) the maximum over the words of each run.
    """

    first: Any
    run: Any
    word: Any
    value: Any
    total: Any
    most: Any


@njit(**INLINE)
def _up(n: int) -> int:
    """The multiple of eight that is at least n: loops that end there come out even."""
    return (n + 7) // 8 * 8


@njit(**ALLOCATES)
def _aligned(n_rows: int, n: int) -> Float64Array:
    """Room for rows of whole cache lines, n being a multiple of eight."""
    room = np.empty(n_rows * n + 8)
    skip = -(room.ctypes.data // 8) % 8
    return room[skip : skip + n_rows * n].reshape((n_rows, n))


@njit(**INTERNAL)
def _upwards(link: Float64Array, link_up: Float64Array) -> None:
    """Set ``link_up`` to the links ``[to, from]``, 0 unless ``from < to``."""
    link_up[:] = 0.0
    for i in range(link.shape[0]):
        for j in range(i):
            link_up[i, j] = link[j, i]


@njit(**INTERNAL)
def _sort_by_vertex(entries: Entries, n_runs: int, free: _Free) -> None:
    """Fill ``free`` with the entries of the first runs."""
    n = free.first.shape[0] - 1
    size = free.value.shape[0]
    free.first[:] = 0
    for q in range(size):
        free.first[entries.vertex[q] + 1] += 1
    for j in range(n):
        free.first[j + 1] += free.first[j]
    for g in range(n_runs):
        for m in range(entries.run[g], entries.run[g + 1]):
            for q in range(entries.start[m], entries.start[m + 1]):
                j = entries.vertex[q]
                at = free.first[j]
                free.first[j] += 1
                free.run[at] = g
                free.word[at] = m
                free.value[at] = entries.value[q]
    for j in range(n, 0, -1):
        free.first[j] = free.first[j - 1]
    free.first[0] = 0


@njit(**ALLOCATES)
def _free_entries(steps: Steps, entries: Entries) -> _Free:
    """Sort the entries of the steps that cost nothing by vertex."""
    n = entries.dropped.shape[0]
    n_runs = 0
    while n_runs < steps.joins.shape[0] and steps.cost[steps.run[n_runs]] == 0:
        n_runs += 1
    n_words = entries.run[n_runs]
    size = entries.start[n_words]
    free = _Free(
        first=np.empty(n + 1, dtype=np.int64),
        run=np.empty(size, dtype=np.int64),
        word=np.empty(size, dtype=np.int64),
        value=np.empty(size),
        total=np.empty((n_words, n)),
        most=np.empty((n_runs, n)),
    )
    _sort_by_vertex(entries, n_runs, free)
    return free


@njit(**INTERNAL)
def _note_costs(steps: Steps, other_costs: Int64Array, has_cost: BoolArray) -> None:
    """Flag the costs that a step has."""
    has_cost[:] = False
    for g in range(steps.joins.shape[0]):
        has_cost[steps.cost[steps.run[g]]] = True
    for c in other_costs:
        has_cost[c] = True


@njit(**INTERNAL)
def _common_scale(r: int, slack: int, scale: Float64Array, layers: _Layers) -> float:
    """Set the factor of each cost's layer to the scale of layer r; return the log of that."""
    is_live, has_cost, factor = layers.is_live, layers.has_cost, layers.factor
    base = 0.0 if r <= slack else -math.inf
    most = min(has_cost.shape[0] - 1, r)
    for c in range(1, most + 1):
        if has_cost[c] and is_live[r - c]:
            base = max(base, scale[r - c] + layers.bonus[c])
    if base == -math.inf:
        base = 0.0
    for c in range(1, most + 1):
        factor[c] = 0.0
        if has_cost[c] and is_live[r - c]:
            factor[c] = math.exp(scale[r - c] + layers.bonus[c] - base)
    return base


@njit(**INTERNAL, fastmath=_FAST)
def _raise(target: Float64Array, values: Float64Array, weight: float) -> None:
    """Set ``target[j] = max(target[j], values[j] * weight)``."""
    for j in range(target.shape[0]):
        target[j] = max(target[j], values[j] * weight)


@njit(**INLINE, fastmath=_FAST)
def _push(mass: float, row: Float64Array, i: int, out: Float64Array) -> None:
    """Add ``mass * row[j]``, 0 from i on, to ``out[j]``."""
    if mass != 0.0:
        for j in range(_up(i)):
            out[j] += mass * row[j]


@njit(**INLINE, fastmath=_FAST)
def _push_and_raise(
    mass: float, row: Float64Array, i: int, out: Float64Array, target: Float64Array
) -> None:
    """As `_push`, and raise ``target[j]`` to ``out[j]``."""
    if mass != 0.0:
        for j in range(_up(i)):
            out[j] += mass * row[j]
            target[j] = max(target[j], out[j])


@njit(**INLINE, fastmath=_FAST)
def _add_four(
    link_up: Float64Array,
    seed: Float64Array,
    vertex: Int64Array,
    value: Float64Array,
    source: Float64Array,
    total: Float64Array,
) -> None:
    """Set ``total`` to ``source`` plus the shares of four vertices."""
    a, b, c, d = link_up[vertex[0]], link_up[vertex[1]], link_up[vertex[2]], link_up[vertex[3]]
    from_a, from_b = value[0] * seed[vertex[0]], value[1] * seed[vertex[1]]
    from_c, from_d = value[2] * seed[vertex[2]], value[3] * seed[vertex[3]]
    for j in range(total.shape[0]):
        shares = from_a * a[j] + from_b * b[j] + from_c * c[j] + from_d * d[j]
        total[j] = source[j] + shares


@njit(**INLINE, fastmath=_FAST)
def _raise_by_four(
    link_up: Float64Array,
    seed: Float64Array,
    vertex: Int64Array,
    value: Float64Array,
    source: Float64Array,
    target: Float64Array,
) -> None:
    """Raise ``target`` to ``source`` plus the shares of four vertices."""
    a, b, c, d = link_up[vertex[0]], link_up[vertex[1]], link_up[vertex[2]], link_up[vertex[3]]
    from_a, from_b = value[0] * seed[vertex[0]], value[1] * seed[vertex[1]]
    from_c, from_d = value[2] * seed[vertex[2]], value[3] * seed[vertex[3]]
    for j in range(target.shape[0]):
        shares = from_a * a[j] + from_b * b[j] + from_c * c[j] + from_d * d[j]
        target[j] = max(target[j], source[j] + shares)


@njit(**INLINE, fastmath=_FAST)
def _raise_by_two(layers: _Layers, entries: Entries, p: int, target: Float64Array) -> None:
    """Raise ``target`` to the sums of two words of four entries each, those from p on."""
    link_up, pad = layers.link_up, layers.pad
    seed, vertex, value = layers.seed, entries.vertex, entries.value
    a, b, c, d = vertex[p], vertex[p + 1], vertex[p + 2], vertex[p + 3]
    e, f, g, h = vertex[p + 4], vertex[p + 5], vertex[p + 6], vertex[p + 7]
    of_a, of_b = value[p] * seed[a], value[p + 1] * seed[b]
    of_c, of_d = value[p + 2] * seed[c], value[p + 3] * seed[d]
    of_e, of_f = value[p + 4] * seed[e], value[p + 5] * seed[f]
    of_g, of_h = value[p + 6] * seed[g], value[p + 7] * seed[h]
    for j in range(_up(max(d, h))):
        one = of_a * link_up[a, j] + of_b * link_up[b, j] + of_c * link_up[c, j]
        two = of_e * link_up[e, j] + of_f * link_up[f, j] + of_g * link_up[g, j]
        more = max(one + of_d * link_up[d, j], two + of_h * link_up[h, j])
        target[j] = max(target[j], pad[j] + more)


@njit(**INLINE)
def _raise_by_word(layers: _Layers, entries: Entries, m: int, target: Float64Array) -> None:
    """Raise ``target`` to the sum over vertices of one word that costs something."""
    last = entries.start[m + 1] - 4
    top = _up(entries.vertex[last + 3])
    source, total = layers.pad, layers.total[:top]
    for q in range(entries.start[m], last, 4):
        vertex, value = entries.vertex[q : q + 4], entries.value[q : q + 4]
        _add_four(layers.link_up, layers.seed, vertex, value, source, total)
        source = layers.total
    vertex, value = entries.vertex[last : last + 4], entries.value[last : last + 4]
    _raise_by_four(layers.link_up, layers.seed, vertex, value, source, target[:top])


@njit(**INLINE, fastmath=_FAST)
def _paid_steps(
    layers: _Layers, steps: Steps, entries: Entries, n_free: int, a: int, r: int
) -> None:
    """Take the maximum over the words that cost something."""
    for g in range(n_free, steps.run.shape[0] - 1):
        p = steps.run[g]
        c = steps.cost[p]
        if c > r:
            return
        weight = layers.factor[c]
        if weight == 0.0 or a & steps.blocked[p]:
            continue
        after, context = a | steps.gain[p], steps.context[p]
        target = layers.best[1 if steps.joins[g] else 0]
        source, padding = layers.table[after, context, r - c], layers.padding[after, context, r - c]
        for j in range(target.shape[0]):
            layers.seed[j] = source[j] * weight
            layers.pad[j] = padding[j] * weight
            target[j] = max(target[j], layers.pad[j])
        m, end = entries.run[g], entries.run[g + 1]
        while m < end:
            if m + 1 < end and entries.start[m + 2] - entries.start[m] == 8:
                _raise_by_two(layers, entries, entries.start[m], target)
                m += 1
            else:
                _raise_by_word(layers, entries, m, target)
            m += 1


@njit(**INLINE)
def _join(context: int, end: float, continuation: float, new_word: float) -> float:
    """Upper bound in one context from those of an end, a continuation and a new word."""
    best = 0.0
    if allows(context, True):
        best = continuation
    if allows(context, False) and new_word > best:
        best = new_word
    if allows_end(context) and end > best:
        best = end
    return best


@njit(**INLINE)
def _known_at(
    layers: _Layers, steps: Steps, free: _Free, free_other: int, a: int, r: int, j: int
) -> tuple[float, float]:
    """Maxima at one vertex over new words and over continuations, those of cost 0 included."""
    new_word, continuation = layers.best[0, j], layers.best[1, j]
    for g in range(free.most.shape[0]):
        p = steps.run[g]
        if not a & steps.blocked[p]:
            padding = layers.padding[a | steps.gain[p], steps.context[p], r, j]
            if steps.joins[g]:
                continuation = max(continuation, free.most[g, j] + padding)
            else:
                new_word = max(new_word, free.most[g, j] + padding)
    if free_other >= 0:
        bound = layers.out_of_candidates[free_other, r, j]
        continuation, new_word = max(continuation, bound), max(new_word, bound)
    return new_word, continuation


@njit(**INLINE)
def _backwards(
    layers: _Layers,
    steps: Steps,
    entries: Entries,
    free: _Free,
    other: Float64Array,
    end: Float64Array,
    end_factor: float,
    free_other: int,
    a: int,
    r: int,
) -> float:
    """Fill one layer from its last vertex to its first; return its peak."""
    n_contexts, n = layers.table.shape[1], layers.table.shape[3]
    peak = 0.0
    free.total[:] = 0.0
    free.most[:] = 0.0
    layers.padding[a, :, r] = 0.0
    layers.out_of_candidates[a, r] = 0.0
    for j in range(n - 1, -1, -1):
        new_word, continuation = _known_at(layers, steps, free, free_other, a, r, j)
        row = layers.link_up[j]
        for k in range(n_contexts):
            bound = _join(k, end[j] * end_factor, continuation, new_word)
            if 0.0 < bound < _LEAST:
                bound = _LEAST  # so that no product loses it
            layers.table[a, k, r, j] = bound
            peak = max(peak, bound)
            if layers.is_left[k]:
                _push(entries.dropped[j] * bound, row, j, layers.padding[a, k, r])
        _push(other[j] * layers.table[a, ANY, r, j], row, j, layers.out_of_candidates[a, r])
        for q in range(free.first[j], free.first[j + 1]):
            g = free.run[q]
            p = steps.run[g]
            mass = free.value[q] * layers.table[a | steps.gain[p], steps.context[p], r, j]
            _push_and_raise(mass, row, j, free.total[free.word[q]], free.most[g])
    return peak


@njit(**INTERNAL)
def _scale(values: Float64Array, factor: float) -> None:
    for j in range(values.shape[0]):
        values[j] *= factor


@njit(**INTERNAL)
def _rescale(layers: _Layers, r: int, peak: float) -> None:
    for a in range(layers.table.shape[0]):
        for k in range(layers.table.shape[1]):
            _scale(layers.table[a, k, r], 1.0 / peak)
            _scale(layers.padding[a, k, r], 1.0 / peak)
        _scale(layers.out_of_candidates[a, r], 1.0 / peak)


@njit(**INTERNAL)
def _fill_layers(
    layers: _Layers,
    steps: Steps,
    entries: Entries,
    free: _Free,
    other: Float64Array,
    other_costs: Int64Array,
    end: Float64Array,
    slack: int,
    needed: int,
    scale: Float64Array,
) -> None:
    """Fill layer after layer, every set of bits after the larger ones."""
    n_sets, _, n_layers, _ = layers.table.shape
    has_free_other = other_costs.shape[0] > 0 and other_costs[0] == 0
    for r in range(n_layers):
        base = _common_scale(r, slack, scale, layers)
        peak = 0.0
        for a in range(n_sets - 1, -1, -1):
            layers.best[:] = 0.0
            _paid_steps(layers, steps, entries, free.most.shape[0], a, r)
            for c in other_costs:
                if 0 < c <= r:
                    _raise(
                        layers.best[0],
                        layers.out_of_candidates[a | needed, r - c],
                        layers.factor[c],
                    )
                    _raise(
                        layers.best[1],
                        layers.out_of_candidates[a | needed, r - c],
                        layers.factor[c],
                    )
            is_end = r <= slack and (a & needed) == needed
            end_factor = math.exp(-base) if is_end else 0.0
            free_other = (a | needed) if has_free_other else -1
            top = _backwards(layers, steps, entries, free, other, end, end_factor, free_other, a, r)
            peak = max(peak, top)
        layers.is_live[r] = peak > 0.0
        scale[r] = base
        if peak > 0.0 and not 1e-60 < peak < 1e60:
            _rescale(layers, r, peak)
            scale[r] = base + math.log(peak)


@njit(cache=True, nogil=True)
def lay_out(
    word_logp: Float32Array,
    link_logp: Float32Array,
    other_logp: Float32Array,
    any_ending: bool,
    rows: Float32Array,
) -> None:
    """Copy the natural logs of a graph to rows over its inner vertices, -inf behind the last.

    ``rows`` (W + n + 3, n) becomes: words, links ``[from, to]``, others, links from the start,
    closing links, which are 0 for any ending.
    """
    n_words, last = word_logp.shape[1], word_logp.shape[0] - 1
    links, single = rows[n_words : n_words + rows.shape[1]], rows[n_words + rows.shape[1] :]
    rows[:] = -np.inf
    for w in range(n_words):
        for j in range(1, last):
            rows[w, j - 1] = word_logp[j, w]
    for j in range(1, last):
        for i in range(1, j):
            links[i - 1, j - 1] = link_logp[i, j]
        single[0, j - 1] = other_logp[j]
        single[1, j - 1] = link_logp[0, j]
        single[2, j - 1] = 0.0 if any_ending else link_logp[j, last]


@njit(cache=True, nogil=True)
def fill_bounds(
    link: Float64Array,
    end: Float64Array,
    prob: Float64Array,
    share: float,
    steps: Steps,
    other: Float64Array,
    other_costs: Int64Array,
    slack: int,
    needed: int,
    unit_bonus: float,
    table: Float64Array,
    scale: Float64Array,
) -> None:
    """Fill ``table`` (A, K, R, n) and ``scale`` (R,).

    ``table[a, k, r, j] * exp(scale[r])`` bounds the mass that one string can still collect from
    vertex j with r to spend, in context k, when the bits of set a are on. Bits in ``needed`` must
    be on at the end; a step whose ``blocked`` bit is on may not be taken; a step turns the bits
    of its ``gain`` on. What is spent earns ``unit_bonus`` nats per unit. Words outside the
    candidates cost one of ``other_costs`` (ascending).
    Probabilities of candidates below a ``share`` of the best at their vertex all count as much
    as the greatest of them.
    """
    n_sets, n_contexts, n_layers, n = table.shape
    entries = list_entries(prob, steps, share)
    free = _free_entries(steps, entries)
    most = other_costs[-1] if other_costs.shape[0] > 0 else 0
    if steps.cost.shape[0] > 0:
        most = max(most, steps.cost[-1])
    layers = _Layers(
        link_up=_aligned(n, n),
        table=table,
        padding=_aligned(n_sets * n_contexts * n_layers, n).reshape(table.shape),
        out_of_candidates=_aligned(n_sets * n_layers, n).reshape((n_sets, n_layers, n)),
        has_cost=np.empty(most + 1, dtype=np.bool_),
        bonus=unit_bonus * np.arange(most + 1),
        is_live=np.empty(n_layers, dtype=np.bool_),
        is_left=np.zeros(n_contexts, dtype=np.bool_),
        factor=np.empty(most + 1),
        seed=_aligned(1, n)[0],
        pad=_aligned(1, n)[0],
        total=_aligned(1, n)[0],
        best=_aligned(2, n),
    )
    _upwards(link, layers.link_up)
    _note_costs(steps, other_costs, layers.has_cost)
    for k in steps.context:
        layers.is_left[k] = True
    leaving = other if other_costs.shape[0] > 0 else np.zeros(n)
    _fill_layers(layers, steps, entries, free, leaving, other_costs, end, slack, needed, scale)
