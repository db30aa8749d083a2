"""Compiled prefix beam, ranked by what each prefix can still become.

Owns the choice of the K best prefixes per length. How a prefix is made and its children are
bounded is `kernels.children`'s business.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import INTERNAL, PUBLIC, Float64Array, Int64Array, njit
from sumfit.constraints.kernels.state import Rules
from sumfit.decoding.kernels.children import (
    Graph,
    Workspace,
    child_of,
    make_child,
    make_root,
    value_of,
)
from sumfit.decoding.kernels.frontier import Nodes

__all__ = ["Beam", "Found", "grow_beam", "rank_parents", "start_beam"]

_ZERO: Any = np.int64(0)  # not a Python constant, for which numba would compile again


class Beam(NamedTuple):
    """What the beam knows of each prefix beside `kernels.frontier.Nodes`.

    ``columns`` (1 + 2K, n) are its words, ``child`` (1 + 2K,) its best child and ``worth`` the
    bound on what that can become.
    """

    columns: Any
    child: Any
    worth: Any


class Found(NamedTuple):
    """The best finished sequences: ``columns`` (N, n), padded with -1, ``score`` and ``rest`` (N,).

    ``rest`` is what a sequence leaves unspent.
    """

    columns: Any
    score: Any
    rest: Any


@njit(**INTERNAL)
def _copy(source: Int64Array, target: Int64Array) -> None:
    for i in range(target.shape[0]):
        target[i] = source[i]


@njit(**INTERNAL)
def _record(found: Found, n_found: int, score: float, rest: int, columns: Int64Array) -> int:
    """Enter a finished sequence into the n-best list, if it is good enough."""
    n_best = found.score.shape[0]
    if score <= found.score[n_best - 1]:
        return n_found
    at = min(n_found, n_best - 1)
    while at > 0 and score > found.score[at - 1]:
        found.score[at] = found.score[at - 1]
        found.rest[at] = found.rest[at - 1]
        _copy(found.columns[at - 1], found.columns[at])
        at -= 1
    found.score[at] = score
    found.rest[at] = rest
    _copy(columns, found.columns[at])
    return min(n_found + 1, n_best)


@njit(**INTERNAL)
def _best_children(
    rules: Rules, graph: Graph, nodes: Nodes, beam: Beam, begin: int, end: int, workspace: Workspace
) -> None:
    """Find the best child of every active prefix, and the bound on what it can become."""
    for node in range(begin, end):
        w = child_of(rules, graph, nodes, node, workspace)
        beam.child[node] = w
        beam.worth[node] = value_of(nodes, node, w) if w >= 0 else -math.inf


@njit(**INTERNAL)
def _best_parent(worth: Float64Array, begin: int, end: int) -> int:
    best = begin
    for node in range(begin + 1, end):
        if worth[node] > worth[best]:
            best = node
    return best


@njit(**INTERNAL)
def _add(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    beam: Beam,
    found: Found,
    n_found: int,
    top: int,
    w: int,
    node: int,
    slack: int,
    workspace: Workspace,
) -> tuple[float, int]:
    """Make a child in a row of the beam, and enter it into the results if it may end.

    Returns the bound on leaving the candidates there, and the number of results.
    """
    out_of_candidates = make_child(rules, graph, nodes, top, w, node, slack, workspace)
    columns = beam.columns[node]
    _copy(beam.columns[top], columns)
    length = 0
    while columns[length] >= 0:
        length += 1
    columns[length] = w
    return out_of_candidates, _record(found, n_found, nodes.score[node], nodes.rest[node], columns)


@njit(**INTERNAL)
def _dive(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    beam: Beam,
    found: Found,
    n_found: int,
    slack: int,
    workspace: Workspace,
) -> int:
    """Follow the best child to the end: a first result, which spares the beam what is below it.

    Returns how many prefixes were made. The beam makes again those of them that may still lead
    to more, and counts then what they can become outside the candidates.
    """
    top = _ZERO
    for length in range(found.columns.shape[1]):
        w = child_of(rules, graph, nodes, top, workspace)
        if w < 0 or value_of(nodes, top, w) <= found.score[0]:
            return length
        node = 1 + length % 2
        _add(rules, graph, nodes, beam, found, n_found, top, w, node, slack, workspace)
        top = node
    return found.columns.shape[1]


@njit(**PUBLIC)
def start_beam(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    beam: Beam,
    found: Found,
    high: int,
    slack: int,
    workspace: Workspace,
) -> tuple[int, float, int]:
    """Make row 0, the empty prefix, and for a list of one follow its best children to an end.

    ``nodes`` and ``beam`` have 1 + 2K rows, used by turns for one length and the next. Returns how
    many sequences were found, the bound on every sequence with a word outside the candidates, and
    how many prefixes were made.
    """
    found.score[:] = -math.inf
    found.columns[:] = -1
    beam.columns[:] = -1
    out_of_candidates = make_root(rules, graph, nodes, _ZERO, high, workspace)
    n_found, n_made = _ZERO, 1
    if found.score.shape[0] == 1:
        n_made += _dive(rules, graph, nodes, beam, found, n_found, slack, workspace)
        n_found += found.score[0] > -math.inf
    return n_found, out_of_candidates, n_made


@njit(**PUBLIC)
def rank_parents(
    rules: Rules, graph: Graph, nodes: Nodes, beam: Beam, begin: int, end: int, workspace: Workspace
) -> None:
    """Find the best child of each of some prefixes, as `grow_beam` needs it of all its parents."""
    _best_children(rules, graph, nodes, beam, begin, end, workspace)


@njit(**PUBLIC)
def grow_beam(
    rules: Rules,
    graph: Graph,
    nodes: Nodes,
    beam: Beam,
    found: Found,
    begin: int,
    end: int,
    node: int,
    last: int,
    n_found: int,
    slack: int,
    workspace: Workspace,
) -> tuple[int, int, float, float]:
    """Make the best prefixes that are one piece longer than those of some rows (Eq. A10).

    They are entered from row ``node`` up to ``last``. Children that cannot enter the list any more
    are left unmade. Returns where the new rows end, how many sequences are found, the bound on
    every child that could follow, minus infinity if none can enter the list, and that on every
    sequence with a word outside the candidates.
    """
    n_best = found.score.shape[0]
    out_of_candidates = -math.inf
    while True:
        top = _best_parent(beam.worth, begin, end)
        if beam.worth[top] <= found.score[n_best - 1]:
            return node, n_found, -math.inf, out_of_candidates
        if node == last:
            return node, n_found, beam.worth[top], out_of_candidates
        w = beam.child[top]
        left, n_found = _add(
            rules, graph, nodes, beam, found, n_found, top, w, node, slack, workspace
        )
        out_of_candidates = max(out_of_candidates, left)
        nodes.bounds[top, w] = 0.0
        _best_children(rules, graph, nodes, beam, top, top + 1, workspace)
        node += 1
