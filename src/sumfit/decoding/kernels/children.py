"""Compiled making of prefixes: what one may go on with, and what it can still become.

Owns the expansion of a prefix and its children's bounds (Eq. A9), for best-first search
(`kernels.search`) and for the beam (`kernels.beam`). In which order children are made is theirs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from sumfit.compiled import INTERNAL, Float64Array, Int64Array, njit
from sumfit.constraints.kernels.contexts import (
    ANY,
    JOIN_ONLY,
    WITHOUT_JOIN,
    allows,
    may_close_or_join,
)
from sumfit.constraints.kernels.rules import is_repeat, step, step_out_of_candidates, step_within
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

__all__ = ["Graph", "Workspace", "child_of", "expand", "make_child", "make_root", "value_of"]

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
    used_once: Any
    used_once_bit: Any
    n_repeats: Any
    unit_bonus: float
    n_inside: int
    members: Any
    member_start: Any
    n_same_class: int


class Workspace(NamedTuple):
    """A state in ``scratch`` and one in ``other``, sums over vertices in ``mass`` (n,).

    ``known`` (N, 8) remembers which groups of words outside the candidates spell nothing where.
    """

    scratch: Any
    other: Any
    known: Any
    mass: Any


@njit(**INTERNAL, fastmath=_FAST)
def _dot(a: Float64Array, b: Float64Array, c: Float64Array) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j] * c[j]
    return total


@njit(**INTERNAL, fastmath=_FAST)
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


@njit(**INTERNAL, fastmath=_FAST)
def _dot_of_two(a: Float64Array, b: Float64Array) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@njit(**INTERNAL, fastmath=_FAST)
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


@njit(**INTERNAL)
def _weigh(reach: Float64Array, layer: Float64Array, factor: float, worth: Float64Array) -> None:
    for j in range(worth.shape[0]):
        worth[j] = reach[j] * layer[j] * factor


@njit(**INTERNAL)
def expand(
    graph: Graph,
    steps: Steps,
    reach: Float64Array,
    rest: int,
    context: int,
    on_join: int,
    on_new: int,
    bounds: Float64Array,
    worth: Float64Array,
) -> float:
    """Bound every child of a prefix; return the log of the bounds' common scale.

    ``reach`` (n,) is the mass that arrives at each vertex before it emits; ``context`` the context
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
        if not allows(context, joins) or on & steps.blocked[p]:
            continue
        c = steps.cost[p]
        layer = graph.table[on | steps.gain[p], steps.context[p], rest - c]
        lift = graph.scale[rest - c] + graph.unit_bonus * c - base
        _weigh(reach, layer, math.exp(lift), worth)
        _raise_bounds(worth, graph.prob, steps.word[p : steps.run[g + 1]], bounds)
    return base


@njit(**INTERNAL)
def _best_child(bounds: Float64Array) -> int:
    best = -1
    peak = 0.0
    for w in range(bounds.shape[0]):
        if bounds[w] > peak:
            peak = bounds[w]
            best = w
    return best


@njit(**INTERNAL)
def _bits(graph: Graph, used_once: int, state: Int64Array) -> int:
    """Bits that are on after a step: phrases written, and words used up by closed atoms."""
    on = used_once | (state[SET_NOW] & graph.needed)
    for a in range(max(state[N_ATOMS] - 2, 0), state[N_ATOMS]):
        for b in range(graph.used_once.shape[0]):
            if state[FIELDS + a] == graph.used_once[b]:
                on |= graph.used_once_bit[b]
    return on


@njit(**INTERNAL)
def _open_bit(graph: Graph, state: Int64Array) -> int:
    """Bit of the word that is used up if the open word closes here, or 0."""
    if state[OPEN] == 1 and state[IS_CLOSABLE]:
        for b in range(graph.used_once.shape[0]):
            if state[HASH] == graph.used_once[b]:
                return graph.used_once_bit[b]
    return 0


@njit(**INTERNAL)
def _step_by(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    node: int,
    w: int,
    workspace: Workspace,
    state: Int64Array,
) -> int:
    """Write the state after a candidate, or after any word of a group outside the candidates."""
    before, v = nodes.state[node], graph.ids[w]
    if v < 0:
        members = graph.members[graph.member_start[-1 - v] : graph.member_start[-v]]
        return step_out_of_candidates(rules, before, members, -1 - v, workspace.known, state)
    if node > 0 and graph.joins[w] and graph.ids[nodes.word[node]] < 0:
        last = graph.ids[nodes.word[node]]
        members = graph.members[graph.member_start[-1 - last] : graph.member_start[-last]]
        before_them = nodes.state[nodes.parent[node]]
        args = (members, -1 - last, workspace.known, v, state, workspace.other)
        if not step_within(rules, before_them, *args):
            return REJECTED
    return step(rules, before, v, state)


@njit(**INTERNAL)
def _open_group(
    rules: Rules, graph: Graph, nodes: Nodes, node: int, w: int, workspace: Workspace
) -> None:
    """Put the pieces of a group that go on differently in its place, those that may come."""
    bounds, group = nodes.bounds[node], -1 - graph.ids[w]
    first = graph.member_start[graph.n_same_class]
    rows = graph.n_inside + graph.member_start.shape[0] - 1 - first
    for m in range(graph.member_start[group], graph.member_start[group + 1]):
        if _step_by(rules, graph, nodes, node, rows + m, workspace, workspace.scratch) != REJECTED:
            bounds[rows + m] = bounds[w]
    bounds[w] = 0.0


@njit(**INTERNAL)
def child_of(rules: Rules, graph: Graph, nodes: Nodes, node: int, workspace: Workspace) -> int:
    """Find the best child of a prefix, or -1; children that break a rule are struck out.

    A child's bound is first that of its word in any context. Only the child that looks best is
    checked against the rules, and its bound lowered to what its own context allows.
    """
    bounds, scratch = nodes.bounds[node], workspace.scratch
    while True:
        w = _best_child(bounds)
        if w < 0 or not rules.is_on:
            return w
        if graph.ids[w] < -graph.n_same_class:
            _open_group(rules, graph, nodes, node, w, workspace)
            continue
        context = _step_by(rules, graph, nodes, node, w, workspace, scratch)
        if (context == REJECTED or context == JOIN_ONLY) and is_repeat(rules, scratch):
            graph.n_repeats[w] += 1
        if context == REJECTED:
            bounds[w] = 0.0
            continue
        cost = graph.first_cost[w] if node == 0 else graph.cost[w]
        left = nodes.rest[node] - cost
        on = _bits(graph, nodes.used_once[node], scratch)
        bit = _open_bit(graph, scratch)
        layer = graph.table[on | bit, context, left]
        longer = layer
        if bit != 0 and may_close_or_join(context):
            layer = graph.table[on | bit, WITHOUT_JOIN[context], left]
            longer = graph.table[on, JOIN_ONLY, left]
        factor = math.exp(graph.scale[left] + graph.unit_bonus * cost - nodes.base[node])
        bound = factor * max(
            _dot(nodes.reach[node], graph.prob[w], layer),
            _dot(nodes.reach[node], graph.prob[w], longer),
        )
        if bound >= bounds[w] * (1.0 - 1e-9):
            return w
        bounds[w] = bound


@njit(**INTERNAL)
def value_of(nodes: Nodes, node: int, w: int) -> float:
    """Log of the bound of a child, lifted above rounding."""
    return nodes.log_mass[node] + nodes.base[node] + math.log(nodes.bounds[node, w]) + _SLACK


@njit(**INTERNAL)
def _out_of_candidates(graph: Graph, nodes: Nodes, node: int, on: int, costs: Int64Array) -> float:
    """Log of the bound on completions whose next word is no candidate and costs one of these."""
    best = -math.inf
    if graph.member_start.shape[0] > 0:
        return best  # they are children as well
    for q in range(costs.shape[0]):
        left = nodes.rest[node] - costs[q]
        if left < 0:
            break
        layer = graph.table[on | graph.needed, ANY, left]
        value = _dot(nodes.reach[node], graph.other, layer)
        if value > 0.0:
            lift = graph.scale[left] + graph.unit_bonus * costs[q]
            best = max(best, nodes.log_mass[node] + lift + math.log(value))
    return best


@njit(**INTERNAL)
def make_root(
    rules: Rules, graph: Graph, nodes: Nodes, root: int, high: int, workspace: Workspace
) -> float:
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
    nodes.context[root] = ANY
    nodes.used_once[root] = 0
    nodes.out_of_candidates[root] = 0
    if rules.is_on:
        start_state(nodes.state[root])
    context, on = nodes.context[root], nodes.used_once[root]
    bounds = nodes.bounds[root]
    nodes.base[root] = expand(
        graph, graph.first_steps, reach, high, context, on, on, bounds, workspace.mass
    )
    return _out_of_candidates(graph, nodes, root, on, graph.other_first_costs)


@njit(**INTERNAL)
def make_child(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    top: int,
    w: int,
    node: int,
    slack: int,
    workspace: Workspace,
) -> float:
    """Make and expand the child of ``top`` by word w; return the bound on leaving candidates."""
    nodes.parent[node] = top
    nodes.word[node] = w
    nodes.out_of_candidates[node] = int(nodes.out_of_candidates[top] or w >= graph.n_inside)
    cost = graph.first_cost[w] if top == 0 else graph.cost[w]
    left = nodes.rest[top] - cost
    log_mass = nodes.log_mass[top] + graph.unit_bonus * cost
    nodes.rest[node] = left
    context = ANY
    on = 0
    bit = 0
    may_end = left <= slack
    if rules.is_on:
        state = nodes.state[node]
        context = _step_by(rules, graph, nodes, top, w, workspace, state)
        on = _bits(graph, nodes.used_once[top], state)
        bit = _open_bit(graph, state)
        may_end = may_end and state[ENDABLE] == 1
    nodes.context[node] = context
    nodes.used_once[node] = on & ~graph.needed
    final = 0.0
    mass = workspace.mass
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
        graph, graph.steps, nodes.reach[node], left, context, on, on | bit, nodes.bounds[node], mass
    )
    return _out_of_candidates(graph, nodes, node, on, graph.other_costs)
