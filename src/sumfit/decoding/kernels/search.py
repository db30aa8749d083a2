"""Compiled best-first search over prefixes (exact SeqMAP).

Owns the order in which prefixes are expanded. Children are made lazily: an expanded prefix puts
its best child on the frontier, and each child that leaves it puts its next sibling there, so no
child is ever cut.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple, cast

import numpy as np

from sumfit.compiled import INTERNAL, PUBLIC, Int64Array, njit
from sumfit.constraints.kernels.state import Rules
from sumfit.decoding.kernels.children import (
    Graph,
    Workspace,
    child_of,
    make_child,
    make_root,
    value_of,
)
from sumfit.decoding.kernels.frontier import Nodes, pop, push

__all__ = ["N_DONE", "N_EXPANDED", "N_NODES", "N_OPEN", "Ended", "Progress", "run"]


class Ended(IntEnum):
    """How a run of a search ended; compiled loops use the members as plain numbers."""

    DONE = 0
    """All results are found."""
    EMPTY = 1
    """Nothing is left to look at."""
    LIMIT = 2
    """The expansions are used up."""
    FULL = 3
    """The arrays have to grow."""
    LANDED = 4
    """A dive has finished a sequence."""
    CANNOT_CERTIFY = 5
    """The bound on sequences that leave the candidates is above all that is left."""


_DONE, _EMPTY, _LIMIT, _FULL, _LANDED, _CANNOT_CERTIFY = map(int, Ended)
N_NODES, N_OPEN, N_DONE, N_EXPANDED = range(4)  # fields of a tally
_FINISHED = cast(int, np.int64(-1))  # entry: a finished sequence, not a child to be made


class Progress(NamedTuple):
    """How far a search is.

    ``tally`` (4,) counts nodes, frontier entries, results and expansions, all 0 at the start.
    ``done`` (N,) receives the nodes of the results, best first, and ``out_of_candidates`` (N+1,)
    the greatest bound on sequences with a word outside the candidates, as it stood at each result
    (last: now).
    """

    tally: Any
    done: Any
    out_of_candidates: Any


@njit(**INTERNAL)
def _enter(nodes: Nodes, tally: Int64Array, f: float, node: int, word: int) -> None:
    """Enter a child that could be made of a prefix, or the end of one."""
    tally[N_OPEN] = push(nodes, tally[N_OPEN], f, node, word)


@njit(**INTERNAL)
def _note_out_of_candidates(progress: Progress, bound: float) -> None:
    last = progress.done.shape[0]
    progress.out_of_candidates[last] = max(progress.out_of_candidates[last], bound)


@njit(**INTERNAL)
def _start(
    rules: Rules, graph: Graph, nodes: Nodes, progress: Progress, high: int, workspace: Workspace
) -> None:
    """Make the empty prefix and enter its best child."""
    tally = progress.tally
    root = tally[N_NODES]
    _note_out_of_candidates(progress, make_root(rules, graph, nodes, root, high, workspace))
    tally[N_NODES] = 1
    tally[N_EXPANDED] = 1
    w = child_of(rules, graph, nodes, root, workspace)
    if w >= 0:
        _enter(nodes, tally, value_of(nodes, root, w), root, w)


@njit(**INTERNAL)
def _finish(nodes: Nodes, progress: Progress, top: int) -> bool:
    """Enter a finished sequence into the results; return whether there are enough.

    A sequence with a word outside the candidates is not a result; its score bounds all such
    sequences.
    """
    if nodes.out_of_candidates[top]:
        _note_out_of_candidates(progress, nodes.score[top])
        return False
    n_done, last = progress.tally[N_DONE], progress.done.shape[0]
    progress.done[n_done] = top
    progress.out_of_candidates[n_done] = progress.out_of_candidates[last]
    progress.tally[N_DONE] += 1
    return n_done + 1 == last


@njit(**INTERNAL)
def _expand_next(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    progress: Progress,
    top: int,
    w: int,
    slack: int,
    workspace: Workspace,
) -> int:
    """Make a child and return its best child; enter its next sibling and the end it may make."""
    tally = progress.tally
    nodes.bounds[top, w] = 0.0
    sibling = child_of(rules, graph, nodes, top, workspace)
    if sibling >= 0:
        _enter(nodes, tally, value_of(nodes, top, sibling), top, sibling)
    node = tally[N_NODES]
    tally[N_NODES] += 1
    tally[N_EXPANDED] += 1
    _note_out_of_candidates(
        progress, make_child(rules, graph, nodes, top, w, node, slack, workspace)
    )
    if nodes.score[node] > -math.inf:
        _enter(nodes, tally, nodes.score[node], node, _FINISHED)
    return child_of(rules, graph, nodes, node, workspace)


@njit(**PUBLIC)
def run(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    progress: Progress,
    high: int,
    slack: int,
    limit: int,
    before_giving_up: int,
    is_dive: bool,
    workspace: Workspace,
) -> int:
    """Go on with a search until it is done, empty, at its limit or out of room.

    Returns a value of `Ended`; `Ended.CANNOT_CERTIFY` only after ``before_giving_up`` expansions.
    A dive follows the best child of the best prefix down to a finished sequence.
    """
    tally, out_of_candidates = progress.tally, progress.out_of_candidates
    if tally[N_NODES] == 0:
        _start(rules, graph, nodes, progress, high, workspace)
    diving, top, w = False, 0, 0
    while tally[N_OPEN] > 0 or diving:
        if not diving:
            top, w = nodes.heap_node[0], nodes.heap_word[0]
        if w == _FINISHED:
            if is_dive:
                return _LANDED
            tally[N_OPEN] = pop(nodes, tally[N_OPEN])
            if _finish(nodes, progress, top):
                return _DONE
            continue
        is_led = out_of_candidates[out_of_candidates.shape[0] - 1] > nodes.heap_f[0] + 1e-9
        if tally[N_EXPANDED] >= before_giving_up and is_led and not is_dive:
            return _CANNOT_CERTIFY
        is_full = (
            tally[N_NODES] == nodes.parent.shape[0] or tally[N_OPEN] + 4 > nodes.heap_f.shape[0]
        )
        if is_full or tally[N_EXPANDED] >= limit:
            if diving:
                _enter(nodes, tally, value_of(nodes, top, w), top, w)
            return _FULL if is_full and tally[N_EXPANDED] < limit else _LIMIT
        if not diving:
            tally[N_OPEN] = pop(nodes, tally[N_OPEN])
        node, diving = tally[N_NODES], False
        child = _expand_next(rules, graph, nodes, progress, top, w, slack, workspace)
        if child >= 0:
            f = value_of(nodes, node, child)
            diving = is_dive and nodes.score[node] < f
            if diving:
                top, w = node, child
            else:
                _enter(nodes, tally, f, node, child)
        if is_dive and not diving and nodes.score[node] > -math.inf:
            return _LANDED
    return _EMPTY
