"""Compiled making of prefixes: what one may go on with, and what it can still become.

Owns the expansion of a prefix and its children's bounds (Eq. A9), for best-first search
(`kernels.search`) and for the beam (`kernels.beam`). In which order children are made is theirs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from sumfit.compiled import INNER, Float64Array, Int64Array, njit
from sumfit.constraints.kernels.rules import is_repeat, step, step_outside, step_within
from sumfit.constraints.kernels.state import (
    ENDABLE,
    FIELDS,
    HASH,
    IS_CLOSABLE,
    N_ATOMS,
    OPEN,
    REJECTED,
    SET_NOW,
    Rules,
    start_state,
)
from sumfit.decoding.kernels.frontier import Nodes
from sumfit.decoding.kernels.steps import Steps

__all__ = ["Graph", "Room", "child_of", "expand", "make_child", "make_root", "value_of"]

_SLACK = 1e-10  # lift of unfinished entries in nats, above the rounding of the bounds
_FAST = {"reassoc", "contract", "nsz", "arcp"}


class Graph(NamedTuple):
    """What does not change during a search; fields as in `SearchTables`."""

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
    unit_bonus: float
    n_inside: int
    members: Any
    member_start: Any
    n_alike: int


class Room(NamedTuple):
    """Room: a state in ``scratch`` and one in ``other``, sums over vertices in ``mass`` (n,).

    ``known`` (N, 8) remembers which groups of words outside the candidates spell nothing where.
    """

    scratch: Any
    other: Any
    known: Any
    mass: Any


@njit(**INNER, fastmath=_FAST)
def _dot(a: Float64Array, b: Float64Array, c: Float64Array) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j] * c[j]
    return total


@njit(**INNER, fastmath=_FAST)
def _advance(link: Float64Array, mass: Float64Array, reach: Float64Array) -> float:
    """Set ``reach[j] = sum_{i<j} mass[i] * L[i, j]`` scaled to a peak of 1; return the peak."""
    n = mass.shape[0]
    reach[:] = 0.0
    for i in range(0, n, 4):  # n is a multiple of eight, and links back are 0
        a, b, c, d = mass[i], mass[i + 1], mass[i + 2], mass[i + 3]
        for j in range(i // 8 * 8, n):
            to_j = a * link[i, j] + b * link[i + 1, j] + c * link[i + 2, j] + d * link[i + 3, j]
            reach[j] += to_j
    peak = 0.0
    for j in range(n):
        peak = max(peak, reach[j])
    if peak > 0.0:
        for j in range(n):
            reach[j] /= peak
    return peak


@njit(**INNER, fastmath=_FAST)
def _dot_of_two(a: Float64Array, b: Float64Array) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@njit(**INNER, fastmath=_FAST)
def _raise_bounds(
    worth: Float64Array, prob: Float64Array, words: Int64Array, bounds: Float64Array
) -> None:
    """Raise the bound of each word to what it is worth, four words at a time."""
    n_words = words.shape[0]
    for q in range(0, n_words - 3, 4):
        v, w, x, y = words[q], words[q + 1], words[q + 2], words[q + 3]
        of_v, of_w, of_x, of_y = prob[v], prob[w], prob[x], prob[y]
        total_v, total_w, total_x, total_y = 0.0, 0.0, 0.0, 0.0
        for j in range(worth.shape[0]):
            total_v += worth[j] * of_v[j]
            total_w += worth[j] * of_w[j]
            total_x += worth[j] * of_x[j]
            total_y += worth[j] * of_y[j]
        bounds[v], bounds[w] = max(bounds[v], total_v), max(bounds[w], total_w)
        bounds[x], bounds[y] = max(bounds[x], total_x), max(bounds[y], total_y)
    for q in range(n_words - n_words % 4, n_words):
        bounds[words[q]] = max(bounds[words[q]], _dot_of_two(worth, prob[words[q]]))


@njit(**INNER)
def _weigh(reach: Float64Array, layer: Float64Array, factor: float, worth: Float64Array) -> None:
    for j in range(worth.shape[0]):
        worth[j] = reach[j] * layer[j] * factor


@njit(**INNER)
def expand(
    graph: Graph,
    steps: Steps,
    reach: Float64Array,
    rest: int,
    kind: int,
    on_join: int,
    on_new: int,
    bounds: Float64Array,
    worth: Float64Array,
) -> float:
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
        base = max(base, graph.scale[rest - c] + graph.unit_bonus * c)
    for g in range(n_runs):
        p = steps.run[g]
        joins = steps.joins[g]
        on = on_join if joins else on_new
        if (kind == 2 and not joins) or (kind > 2 and joins) or on & steps.blocked[p]:
            continue
        c = steps.cost[p]
        layer = graph.table[on | steps.gain[p], steps.kind[p], rest - c]
        lift = graph.scale[rest - c] + graph.unit_bonus * c - base
        _weigh(reach, layer, math.exp(lift), worth)
        _raise_bounds(worth, graph.prob, steps.word[p : steps.run[g + 1]], bounds)
    return base


@njit(**INNER)
def _best_child(bounds: Float64Array) -> int:
    best = -1
    peak = 0.0
    for w in range(bounds.shape[0]):
        if bounds[w] > peak:
            peak = bounds[w]
            best = w
    return best


@njit(**INNER)
def _bits(graph: Graph, spent: int, state: Int64Array) -> int:
    """Bits that are on after a step: phrases written, and words used up by closed atoms."""
    on = spent | (state[SET_NOW] & graph.needed)
    for a in range(max(state[N_ATOMS] - 2, 0), state[N_ATOMS]):
        for b in range(graph.spent.shape[0]):
            if state[FIELDS + a] == graph.spent[b]:
                on |= graph.spent_bit[b]
    return on


@njit(**INNER)
def _open_bit(graph: Graph, state: Int64Array) -> int:
    """Bit of the word that is used up if the open word closes here, or 0."""
    if state[OPEN] == 1 and state[IS_CLOSABLE]:
        for b in range(graph.spent.shape[0]):
            if state[HASH] == graph.spent[b]:
                return graph.spent_bit[b]
    return 0


@njit(**INNER)
def _step_by(
    rules: Rules, graph: Graph, nodes: Nodes, node: int, w: int, room: Room, state: Int64Array
) -> int:
    """Write the state after a candidate, or after any word of a group outside the candidates."""
    before, v = nodes.state[node], graph.ids[w]
    if v < 0:
        members = graph.members[graph.member_start[-1 - v] : graph.member_start[-v]]
        return step_outside(rules, before, members, -1 - v, room.known, state)
    if node > 0 and graph.joins[w] and graph.ids[nodes.word[node]] < 0:
        last = graph.ids[nodes.word[node]]
        members = graph.members[graph.member_start[-1 - last] : graph.member_start[-last]]
        before_them = nodes.state[nodes.parent[node]]
        args = (members, -1 - last, room.known, v, state, room.other)
        if not step_within(rules, before_them, *args):
            return REJECTED
    return step(rules, before, v, state)


@njit(**INNER)
def _open_group(rules: Rules, graph: Graph, nodes: Nodes, node: int, w: int, room: Room) -> None:
    """Put the pieces of a group that go on differently in its place, those that may come."""
    bounds, group = nodes.bounds[node], -1 - graph.ids[w]
    first = graph.member_start[graph.n_alike]
    rows = graph.n_inside + graph.member_start.shape[0] - 1 - first
    for m in range(graph.member_start[group], graph.member_start[group + 1]):
        if _step_by(rules, graph, nodes, node, rows + m, room, room.scratch) != REJECTED:
            bounds[rows + m] = bounds[w]
    bounds[w] = 0.0


@njit(**INNER)
def child_of(rules: Rules, graph: Graph, nodes: Nodes, node: int, room: Room) -> int:
    """Find the best child of a prefix, or -1; children that break a rule are struck out.

    A child's bound is first that of its word in any context. Only the child that looks best is
    checked against the rules, and its bound lowered to what its own context allows.
    """
    bounds, scratch = nodes.bounds[node], room.scratch
    while True:
        w = _best_child(bounds)
        if w < 0 or not rules.is_on:
            return w
        if graph.ids[w] < -graph.n_alike:
            _open_group(rules, graph, nodes, node, w, room)
            continue
        kind = _step_by(rules, graph, nodes, node, w, room, scratch)
        if (kind == REJECTED or kind == 2) and is_repeat(rules, scratch):
            graph.n_repeats[w] += 1
        if kind == REJECTED:
            bounds[w] = 0.0
            continue
        cost = graph.first_cost[w] if node == 0 else graph.cost[w]
        left = nodes.rest[node] - cost
        on = _bits(graph, nodes.spent[node], scratch)
        bit = _open_bit(graph, scratch)
        layer = graph.table[on | bit, kind, left]
        longer = layer
        if bit != 0 and kind < 2:
            layer = graph.table[on | bit, kind + 3, left]
            longer = graph.table[on, 2, left]
        factor = math.exp(graph.scale[left] + graph.unit_bonus * cost - nodes.base[node])
        bound = factor * max(
            _dot(nodes.reach[node], graph.prob[w], layer),
            _dot(nodes.reach[node], graph.prob[w], longer),
        )
        if bound >= bounds[w] * (1.0 - 1e-9):
            return w
        bounds[w] = bound


@njit(**INNER)
def value_of(nodes: Nodes, node: int, w: int) -> float:
    """Log of the bound of a child, lifted above rounding."""
    return nodes.log_mass[node] + nodes.base[node] + math.log(nodes.bounds[node, w]) + _SLACK


@njit(**INNER)
def _outside(graph: Graph, nodes: Nodes, node: int, on: int, costs: Int64Array) -> float:
    """Log of the bound on completions whose next word is no candidate and costs one of these."""
    best = -math.inf
    if graph.member_start.shape[0] > 0:
        return best  # they are children as well
    for q in range(costs.shape[0]):
        left = nodes.rest[node] - costs[q]
        if left < 0:
            break
        layer = graph.table[on | graph.needed, 0, left]
        value = _dot(nodes.reach[node], graph.other, layer)
        if value > 0.0:
            lift = graph.scale[left] + graph.unit_bonus * costs[q]
            best = max(best, nodes.log_mass[node] + lift + math.log(value))
    return best


@njit(**INNER)
def make_root(rules: Rules, graph: Graph, nodes: Nodes, root: int, high: int, room: Room) -> float:
    """Make the empty prefix, node 0; return the bound on sequences that leave the candidates."""
    reach = nodes.reach[root]
    peak = 0.0
    for j in range(reach.shape[0]):
        peak = max(peak, graph.first_link[j])
    if peak == 0.0:
        nodes.bounds[root] = 0.0
        return -math.inf
    for j in range(reach.shape[0]):
        reach[j] = graph.first_link[j] / peak
    nodes.parent[root] = -1
    nodes.word[root] = -1
    nodes.rest[root] = high
    nodes.log_mass[root] = math.log(peak)
    nodes.score[root] = -math.inf
    nodes.kind[root] = 0
    nodes.spent[root] = 0
    nodes.left[root] = 0
    if rules.is_on:
        start_state(nodes.state[root])
    kind, on = nodes.kind[root], nodes.spent[root]
    bounds = nodes.bounds[root]
    nodes.base[root] = expand(
        graph, graph.first_steps, reach, high, kind, on, on, bounds, room.mass
    )
    return _outside(graph, nodes, root, on, graph.other_first_costs)


@njit(**INNER)
def make_child(
    rules: Rules, graph: Graph, nodes: Nodes, top: int, w: int, node: int, slack: int, room: Room
) -> float:
    """Make and expand the child of ``top`` by word w; return the bound on leaving candidates."""
    nodes.parent[node] = top
    nodes.word[node] = w
    nodes.left[node] = int(nodes.left[top] or w >= graph.n_inside)
    cost = graph.first_cost[w] if top == 0 else graph.cost[w]
    left = nodes.rest[top] - cost
    log_mass = nodes.log_mass[top] + graph.unit_bonus * cost
    nodes.rest[node] = left
    kind = 0
    on = 0
    bit = 0
    may_end = left <= slack
    if rules.is_on:
        state = nodes.state[node]
        kind = _step_by(rules, graph, nodes, top, w, room, state)
        on = _bits(graph, nodes.spent[top], state)
        bit = _open_bit(graph, state)
        may_end = may_end and state[ENDABLE] == 1
    nodes.kind[node] = kind
    nodes.spent[node] = on & ~graph.needed
    final = 0.0
    mass = room.mass
    for j in range(mass.shape[0]):
        mass[j] = nodes.reach[top, j] * graph.prob[w, j]
        final += mass[j] * graph.end[j]
    nodes.score[node] = -math.inf
    if may_end and final > 0.0:
        nodes.score[node] = log_mass + math.log(final)
    peak = _advance(graph.link, mass, nodes.reach[node])
    if peak == 0.0:
        nodes.bounds[node] = 0.0
        return -math.inf
    nodes.log_mass[node] = log_mass + math.log(peak)
    nodes.base[node] = expand(
        graph, graph.steps, nodes.reach[node], left, kind, on, on | bit, nodes.bounds[node], mass
    )
    return _outside(graph, nodes, node, on, graph.other_costs)
