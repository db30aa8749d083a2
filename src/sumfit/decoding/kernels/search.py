"""Compiled best-first search over prefixes (exact SeqMAP).

Owns the order in which prefixes are expanded. Children are made lazily: an expanded prefix puts
its best child on the frontier, and each child that leaves it puts its next sibling there, so no
child is ever cut.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np

from sumfit.compiled import ENTRY, INNER, njit
from sumfit.constraints.kernels.state import Rules
from sumfit.decoding.kernels.children import Graph, Room, child_of, make_child, make_root, value_of
from sumfit.decoding.kernels.frontier import Nodes, pop, push

__all__ = ["DONE", "EMPTY", "FULL", "HOPELESS", "LANDED", "LIMIT", "Progress", "run"]

DONE, EMPTY, LIMIT, FULL, LANDED, HOPELESS = 0, 1, 2, 3, 4, 5  # why `run` returned

_FINISHED = cast(
    int, np.int64(-1)
)  # frontier entry: a finished sequence rather than a child to be made


class Progress(NamedTuple):
    """How far a search is.

    ``count`` holds the number of nodes, frontier entries, finished results and expansions, all 0
    at the start. ``done`` (N,) receives the nodes of the results, best first, and ``outside``
    (N+1,) the greatest bound on sequences with a word outside the candidates, as it stood at each
    result (last: now).
    """

    count: Any
    done: Any
    outside: Any


@njit(**INNER)
def _note_outside(progress: Progress, bound: float) -> None:
    last = progress.done.shape[0]
    progress.outside[last] = max(progress.outside[last], bound)


@njit(**INNER)
def _start(
    rules: Rules, graph: Graph, nodes: Nodes, progress: Progress, high: int, room: Room
) -> None:
    """Make the empty prefix and enter its best child."""
    count = progress.count
    root = count[0]
    _note_outside(progress, make_root(rules, graph, nodes, root, high, room))
    count[0] = 1
    count[3] = 1
    w = child_of(rules, graph, nodes, root, room)
    if w >= 0:
        count[1] = push(nodes, count[1], value_of(nodes, root, w), root, w)


@njit(**INNER)
def _finish(nodes: Nodes, progress: Progress, top: int) -> bool:
    """Enter a finished sequence into the results; return whether there are enough.

    A sequence with a word outside the candidates is not a result; its score bounds all such
    sequences.
    """
    if nodes.left[top]:
        _note_outside(progress, nodes.score[top])
        return False
    n_done, last = progress.count[2], progress.done.shape[0]
    progress.done[n_done] = top
    progress.outside[n_done] = progress.outside[last]
    progress.count[2] += 1
    return n_done + 1 == last


@njit(**INNER)
def _expand_next(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    progress: Progress,
    top: int,
    w: int,
    slack: int,
    room: Room,
) -> int:
    """Make a child and return its best child; enter its next sibling and the end it may make."""
    count = progress.count
    nodes.bounds[top, w] = 0.0
    sibling = child_of(rules, graph, nodes, top, room)
    if sibling >= 0:
        count[1] = push(nodes, count[1], value_of(nodes, top, sibling), top, sibling)
    node = count[0]
    count[0] += 1
    count[3] += 1
    _note_outside(progress, make_child(rules, graph, nodes, top, w, node, slack, room))
    if nodes.score[node] > -math.inf:
        count[1] = push(nodes, count[1], nodes.score[node], node, _FINISHED)
    return child_of(rules, graph, nodes, node, room)


@njit(**ENTRY)
def run(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    progress: Progress,
    high: int,
    slack: int,
    limit: int,
    patience: int,
    is_dive: bool,
    room: Room,
) -> int:
    """Go on with a search until it is done, empty, at its limit or out of room.

    After ``patience`` expansions it also returns, as `HOPELESS`, once the bound on sequences that
    leave the candidates is above all that is left, so nothing more can be proved. A dive follows
    the best child of the best prefix down to a finished sequence and returns there.
    """
    count, outside = progress.count, progress.outside
    if count[0] == 0:
        _start(rules, graph, nodes, progress, high, room)
    diving, top, w = False, 0, 0
    while count[1] > 0 or diving:
        if not diving:
            top, w = nodes.heap_node[0], nodes.heap_word[0]
        if w == _FINISHED:
            if is_dive:
                return LANDED
            count[1] = pop(nodes, count[1])
            if _finish(nodes, progress, top):
                return DONE
            continue
        is_led = outside[outside.shape[0] - 1] > nodes.heap_f[0] + 1e-9
        if count[3] >= patience and is_led and not is_dive:
            return HOPELESS
        is_full = count[0] == nodes.parent.shape[0] or count[1] + 4 > nodes.heap_f.shape[0]
        if is_full or count[3] >= limit:
            if diving:
                count[1] = push(nodes, count[1], value_of(nodes, top, w), top, w)
            return FULL if is_full and count[3] < limit else LIMIT
        if not diving:
            count[1] = pop(nodes, count[1])
        node, diving = count[0], False
        child = _expand_next(rules, graph, nodes, progress, top, w, slack, room)
        if child >= 0:
            f = value_of(nodes, node, child)
            diving = is_dive and nodes.score[node] < f
            if diving:
                top, w = node, child
            else:
                count[1] = push(nodes, count[1], f, node, child)
        if is_dive and not diving and nodes.score[node] > -math.inf:
            return LANDED
    return EMPTY
