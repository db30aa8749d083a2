"""Compiled best-first search over prefixes (exact SeqMAP).

Owns the frontier and the expansion of prefixes. Children are made lazily: an expanded prefix
puts its best child on the frontier, and each child that leaves it puts its next sibling there,
so no child is ever cut.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sumfit.decoding.kernels.compiled import njit
from sumfit.decoding.kernels.frontier import pop, push
from sumfit.decoding.kernels.rules import is_repeat, step
from sumfit.decoding.kernels.state import (
    ENDABLE,
    FIELDS,
    HASH,
    INNER,
    IS_CLOSABLE,
    N_ATOMS,
    OPEN,
    REJECTED,
    SET_NOW,
    start_state,
)
from sumfit.decoding.kernels.steps import Steps

__all__ = [
    "DONE",
    "EMPTY",
    "FULL",
    "HOPELESS",
    "LANDED",
    "LIMIT",
    "Graph",
    "child_of",
    "expand",
    "make_child",
    "make_root",
    "run",
    "value_of",
]

DONE, EMPTY, LIMIT, FULL, LANDED, HOPELESS = 0, 1, 2, 3, 4, 5  # why `run` returned

_FINISHED = -1  # frontier entry: a finished sequence rather than a child still to be made
_SLACK = 1e-10  # lift of unfinished entries in nats, above the rounding of the bounds
_FAST = {"reassoc", "contract", "nsz", "arcp"}


class Graph(NamedTuple):
    """What does not change during a search; fields as in `sumfit.decoding.bound.SearchTables`."""

    link: Any
    first_link: Any
    end: Any
    prob: Any
    other: Any
    other_costs: Any
    other_first_costs: Any
    ids: Any
    cost: Any
    first_cost: Any
    steps: Steps
    first_steps: Steps
    joins: Any
    table: Any
    scale: Any
    needed: int
    spent: Any
    spent_bit: Any
    n_repeats: Any


@njit(**INNER, fastmath=_FAST)
def _dot(a, b, c):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j] * c[j]
    return total


@njit(**INNER, fastmath=_FAST)
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


@njit(**INNER, fastmath=_FAST)
def _dot_of_two(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@njit(**INNER)
def _weigh(reach, layer, factor, worth):  # type: ignore[no-untyped-def]
    for j in range(worth.shape[0]):
        worth[j] = reach[j] * layer[j] * factor


@njit(**INNER)
def expand(  # type: ignore[no-untyped-def]
    graph, steps, reach, rest, kind, on_join, on_new, bounds, worth
):
    """Bound every child of a prefix; return the log of the bounds' common scale.

    ``reach`` (n,) is the mass that arrives at each vertex before it emits; ``kind`` the context
    the prefix leaves; ``on_join`` and ``on_new`` the bits that are on for a child that continues
    its last word and for one that does not. ``bounds`` (W,) is filled, with 0 for a child that
    cannot be finished within ``rest``.
    """
    bounds[:] = 0.0
    base = -math.inf
    n_runs = steps.joins.shape[0]
    for g in range(n_runs):
        c = steps.cost[steps.run[g]]
        if c > rest:
            n_runs = g
            break
        base = max(base, graph.scale[rest - c])
    for g in range(n_runs):
        p = steps.run[g]
        joins = steps.joins[g]
        on = on_join if joins else on_new
        if (kind == 2 and not joins) or (kind > 2 and joins) or on & steps.blocked[p]:
            continue
        left = rest - steps.cost[p]
        layer = graph.table[on | steps.gain[p], steps.kind[p], left]
        _weigh(reach, layer, math.exp(graph.scale[left] - base), worth)
        for q in range(p, steps.run[g + 1]):
            w = steps.word[q]
            bounds[w] = max(bounds[w], _dot_of_two(worth, graph.prob[w]))
    return base


@njit(**INNER)
def _best_child(bounds):  # type: ignore[no-untyped-def]
    best = -1
    peak = 0.0
    for w in range(bounds.shape[0]):
        if bounds[w] > peak:
            peak = bounds[w]
            best = w
    return best


@njit(**INNER)
def _bits(graph, spent, state):  # type: ignore[no-untyped-def]
    """Bits that are on after a step: phrases written, and words used up by closed atoms."""
    on = spent | (state[SET_NOW] & graph.needed)
    for a in range(max(state[N_ATOMS] - 2, 0), state[N_ATOMS]):
        for b in range(graph.spent.shape[0]):
            if state[FIELDS + a] == graph.spent[b]:
                on |= graph.spent_bit[b]
    return on


@njit(**INNER)
def _open_bit(graph, state):  # type: ignore[no-untyped-def]
    """Bit of the word that is used up if the open word closes here, or 0."""
    if state[OPEN] == 1 and state[IS_CLOSABLE]:
        for b in range(graph.spent.shape[0]):
            if state[HASH] == graph.spent[b]:
                return graph.spent_bit[b]
    return 0


@njit(**INNER)
def child_of(rules, graph, nodes, node, scratch):  # type: ignore[no-untyped-def]
    """Find the best child of a prefix, or -1; children that break a rule are struck out.

    A child's bound is first that of its word in any context. Only the child that looks best is
    checked against the rules, and its bound lowered to what its own context allows.
    """
    bounds = nodes.bounds[node]
    while True:
        w = _best_child(bounds)
        if w < 0 or not rules.is_on:
            return w
        kind = step(rules, nodes.state[node], graph.ids[w], scratch)
        if (kind == REJECTED or kind == 2) and is_repeat(rules, scratch):
            graph.n_repeats[w] += 1
        if kind == REJECTED:
            bounds[w] = 0.0
            continue
        left = nodes.rest[node] - (graph.first_cost[w] if node == 0 else graph.cost[w])
        on = _bits(graph, nodes.spent[node], scratch)
        bit = _open_bit(graph, scratch)
        layer = graph.table[on | bit, kind, left]
        longer = layer
        if bit != 0 and kind < 2:
            layer = graph.table[on | bit, kind + 3, left]
            longer = graph.table[on, 2, left]
        factor = math.exp(graph.scale[left] - nodes.base[node])
        bound = factor * max(
            _dot(nodes.reach[node], graph.prob[w], layer),
            _dot(nodes.reach[node], graph.prob[w], longer),
        )
        if bound >= bounds[w] * (1.0 - 1e-9):
            return w
        bounds[w] = bound


@njit(**INNER)
def value_of(nodes, node, w):  # type: ignore[no-untyped-def]
    """Log of the bound of a child, lifted above rounding."""
    return nodes.log_mass[node] + nodes.base[node] + math.log(nodes.bounds[node, w]) + _SLACK


@njit(**INNER)
def _outside(graph, nodes, node, on, costs):  # type: ignore[no-untyped-def]
    """Log of the bound on completions whose next word is no candidate and costs one of these."""
    best = -math.inf
    for q in range(costs.shape[0]):
        left = nodes.rest[node] - costs[q]
        if left < 0:
            break
        layer = graph.table[on | graph.needed, 0, left]
        value = _dot(nodes.reach[node], graph.other, layer)
        if value > 0.0:
            best = max(best, nodes.log_mass[node] + graph.scale[left] + math.log(value))
    return best


@njit(**INNER)
def make_root(rules, graph, nodes, high, mass):  # type: ignore[no-untyped-def]
    """Make the empty prefix, node 0; return the bound on sequences that leave the candidates."""
    reach = nodes.reach[0]
    peak = 0.0
    for j in range(reach.shape[0]):
        peak = max(peak, graph.first_link[j])
    if peak == 0.0:
        nodes.bounds[0] = 0.0
        return -math.inf
    for j in range(reach.shape[0]):
        reach[j] = graph.first_link[j] / peak
    nodes.parent[0] = -1
    nodes.word[0] = -1
    nodes.rest[0] = high
    nodes.log_mass[0] = math.log(peak)
    nodes.score[0] = -math.inf
    nodes.kind[0] = 0
    nodes.spent[0] = 0
    if rules.is_on:
        start_state(nodes.state[0])
    nodes.base[0] = expand(graph, graph.first_steps, reach, high, 0, 0, 0, nodes.bounds[0], mass)
    return _outside(graph, nodes, 0, 0, graph.other_first_costs)


@njit(**INNER)
def make_child(rules, graph, nodes, top, w, node, slack, mass):  # type: ignore[no-untyped-def]
    """Make and expand the child of ``top`` by word w; return the bound on leaving candidates."""
    nodes.parent[node] = top
    nodes.word[node] = w
    left = nodes.rest[top] - (graph.first_cost[w] if top == 0 else graph.cost[w])
    nodes.rest[node] = left
    kind = 0
    on = 0
    bit = 0
    may_end = left <= slack
    if rules.is_on:
        state = nodes.state[node]
        kind = step(rules, nodes.state[top], graph.ids[w], state)
        on = _bits(graph, nodes.spent[top], state)
        bit = _open_bit(graph, state)
        may_end = may_end and state[ENDABLE] == 1
    nodes.kind[node] = kind
    nodes.spent[node] = on & ~graph.needed
    final = 0.0
    for j in range(mass.shape[0]):
        mass[j] = nodes.reach[top, j] * graph.prob[w, j]
        final += mass[j] * graph.end[j]
    nodes.score[node] = -math.inf
    if may_end and final > 0.0:
        nodes.score[node] = nodes.log_mass[top] + math.log(final)
    peak = _advance(graph.link, mass, nodes.reach[node])
    if peak == 0.0:
        nodes.bounds[node] = 0.0
        return -math.inf
    nodes.log_mass[node] = nodes.log_mass[top] + math.log(peak)
    nodes.base[node] = expand(
        graph, graph.steps, nodes.reach[node], left, kind, on, on | bit, nodes.bounds[node], mass
    )
    return _outside(graph, nodes, node, on, graph.other_costs)


@njit(**INNER)
def _start(rules, graph, nodes, count, outside_best, high, scratch, mass):  # type: ignore[no-untyped-def]
    """Make the empty prefix and enter its best child."""
    last = outside_best.shape[0] - 1
    outside_best[last] = max(outside_best[last], make_root(rules, graph, nodes, high, mass))
    count[0] = 1
    count[3] = 1
    w = child_of(rules, graph, nodes, 0, scratch)
    if w >= 0:
        count[1] = push(nodes, count[1], value_of(nodes, 0, w), 0, w)


@njit(**INNER)
def _finish(count, outside_best, done, top):  # type: ignore[no-untyped-def]
    """Enter a finished sequence into the results; whether there are enough."""
    done[count[2]] = top
    outside_best[count[2]] = outside_best[done.shape[0]]
    count[2] += 1
    return count[2] == done.shape[0]


@njit(**INNER)
def _expand_next(rules, graph, nodes, count, outside_best, top, w, slack, scratch, mass):  # type: ignore[no-untyped-def]
    """Make a child and return its best child; enter its next sibling and the end it may make."""
    nodes.bounds[top, w] = 0.0
    sibling = child_of(rules, graph, nodes, top, scratch)
    if sibling >= 0:
        count[1] = push(nodes, count[1], value_of(nodes, top, sibling), top, sibling)
    node = count[0]
    count[0] += 1
    count[3] += 1
    outside = make_child(rules, graph, nodes, top, w, node, slack, mass)
    last = outside_best.shape[0] - 1
    outside_best[last] = max(outside_best[last], outside)
    if nodes.score[node] > -math.inf:
        count[1] = push(nodes, count[1], nodes.score[node], node, _FINISHED)
    return child_of(rules, graph, nodes, node, scratch)


@njit(**INNER)
def _search(  # type: ignore[no-untyped-def]
    rules,
    graph,
    nodes,
    count,
    outside_best,
    done,
    slack,
    limit,
    patience,
    is_dive,
    scratch,
    mass,
):
    diving = False
    top = 0
    w = 0
    while count[1] > 0 or diving:
        if not diving:
            top = nodes.heap_node[0]
            w = nodes.heap_word[0]
        if w == _FINISHED:
            if is_dive:
                return LANDED
            count[1] = pop(nodes, count[1])
            if _finish(count, outside_best, done, top):
                return DONE
            continue
        outside = outside_best[done.shape[0]]
        if count[3] >= patience and outside > nodes.heap_f[0] + 1e-9 and not is_dive:
            return HOPELESS
        is_full = count[0] == nodes.parent.shape[0] or count[1] + 4 > nodes.heap_f.shape[0]
        if is_full or count[3] >= limit:
            if diving:
                count[1] = push(nodes, count[1], value_of(nodes, top, w), top, w)
            return FULL if is_full and count[3] < limit else LIMIT
        if not diving:
            count[1] = pop(nodes, count[1])
        diving = False
        node = count[0]
        child = _expand_next(rules, graph, nodes, count, outside_best, top, w, slack, scratch, mass)
        if child >= 0:
            f = value_of(nodes, node, child)
            if is_dive and nodes.score[node] < f:
                diving = True
                top = node
                w = child
            else:
                count[1] = push(nodes, count[1], f, node, child)
        if is_dive and not diving and nodes.score[node] > -math.inf:
            return LANDED
    return EMPTY


@njit(cache=True, nogil=True)
def run(  # type: ignore[no-untyped-def]
    rules, graph, nodes, count, outside_best, done, high, slack, limit, patience, is_dive
):
    """Go on with a search until it is done, empty, at its limit or out of room.

    ``count`` holds the number of nodes, frontier entries, finished results and expansions, and
    is 0 at the start. ``done`` (N,) receives the nodes of the results, best first, and
    ``outside_best`` (N+1,) the greatest bound on sequences with a word outside the candidates,
    as it stood at each result (last: now). After ``patience`` expansions it also returns, as
    `HOPELESS`, once that bound is above all that is left, so nothing more can be proved. A dive
    follows the best child of the best prefix down to a finished sequence and returns there.
    """
    mass = np.empty(graph.end.shape[0])
    scratch = np.empty(nodes.state.shape[1], dtype=np.int64)
    if count[0] == 0:
        _start(rules, graph, nodes, count, outside_best, high, scratch, mass)
    return _search(
        rules,
        graph,
        nodes,
        count,
        outside_best,
        done,
        slack,
        limit,
        patience,
        is_dive,
        scratch,
        mass,
    )
