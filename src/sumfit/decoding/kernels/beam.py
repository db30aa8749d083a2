"""Compiled prefix beam, ranked by what each prefix can still become.

Owns the choice of the K best prefixes per length. How a prefix is made and its children are
bounded is exact search's, `kernels.search`.
"""

from __future__ import annotations

import math

import numpy as np

from sumfit.decoding.kernels.compiled import njit
from sumfit.decoding.kernels.search import child_of, make_child, make_root, value_of
from sumfit.decoding.kernels.state import INNER

__all__ = ["run_beam"]


@njit(**INNER)
def _copy(source, target):  # type: ignore[no-untyped-def]
    for i in range(target.shape[0]):
        target[i] = source[i]


@njit(**INNER)
def _record(  # type: ignore[no-untyped-def]
    found, found_score, found_rest, n_found, score, rest, columns
):
    """Enter a finished sequence into the n-best list, if it is good enough."""
    n_best = found_score.shape[0]
    if score <= found_score[n_best - 1]:
        return n_found
    at = min(n_found, n_best - 1)
    while at > 0 and score > found_score[at - 1]:
        found_score[at] = found_score[at - 1]
        found_rest[at] = found_rest[at - 1]
        _copy(found[at - 1], found[at])
        at -= 1
    found_score[at] = score
    found_rest[at] = rest
    _copy(columns, found[at])
    return min(n_found + 1, n_best)


@njit(**INNER)
def _best_children(  # type: ignore[no-untyped-def]
    rules, graph, nodes, begin, end, scratch, child, worth
):
    """Find the best child of every active prefix, and the bound on what it can become."""
    for node in range(begin, end):
        child[node] = child_of(rules, graph, nodes, node, scratch)
        worth[node] = value_of(nodes, node, child[node]) if child[node] >= 0 else -math.inf


@njit(**INNER)
def _best_parent(worth, begin, end):  # type: ignore[no-untyped-def]
    best = begin
    for node in range(begin + 1, end):
        if worth[node] > worth[best]:
            best = node
    return best


@njit(**INNER)
def _dive(  # type: ignore[no-untyped-def]
    rules, graph, nodes, columns, found, found_score, found_rest, slack, mass, scratch
):
    """Follow the best child to the end: a first result, which spares the beam what is below it.

    Returns how many prefixes were made. The beam makes again those of them that may still lead
    to more, and counts then what they can become outside the candidates.
    """
    top = 0
    for length in range(found.shape[1]):
        w = child_of(rules, graph, nodes, top, scratch)
        if w < 0 or value_of(nodes, top, w) <= found_score[0]:
            return length
        node = 1 + length % 2
        make_child(rules, graph, nodes, top, w, node, slack, mass)
        _copy(columns[top], columns[node])
        columns[node, length] = w
        score, rest = nodes.score[node], nodes.rest[node]
        _record(found, found_score, found_rest, 0, score, rest, columns[node])
        top = node
    return found.shape[1]


@njit(**INNER)
def _search(  # type: ignore[no-untyped-def]
    rules,
    graph,
    nodes,
    columns,
    found,
    found_score,
    found_rest,
    high,
    slack,
    mass,
    scratch,
    child,
    worth,
):
    """`run_beam`, with room for sums."""
    n_best, n = found.shape
    beam_size = (columns.shape[0] - 1) // 2
    found_score[:] = -math.inf
    found[:] = -1
    columns[:] = -1
    pruned = -math.inf
    outside = make_root(rules, graph, nodes, high, mass)
    n_found, n_made = 0, 1
    if n_best == 1:
        n_made += _dive(
            rules, graph, nodes, columns, found, found_score, found_rest, slack, mass, scratch
        )
        n_found = int(found_score[0] > -math.inf)
    begin, end = 0, 1
    for length in range(n):
        _best_children(rules, graph, nodes, begin, end, scratch, child, worth)
        first = 1 if length % 2 == 0 else 1 + beam_size
        node = first
        while True:
            top = _best_parent(worth, begin, end)
            if worth[top] <= found_score[n_best - 1]:
                break
            if node == first + beam_size:
                pruned = max(pruned, worth[top])
                break
            w = child[top]
            outside = max(outside, make_child(rules, graph, nodes, top, w, node, slack, mass))
            _copy(columns[top], columns[node])
            columns[node, length] = w
            score, rest = nodes.score[node], nodes.rest[node]
            n_found = _record(found, found_score, found_rest, n_found, score, rest, columns[node])
            nodes.bounds[top, w] = 0.0
            _best_children(rules, graph, nodes, top, top + 1, scratch, child, worth)
            node += 1
        n_made += node - first
        begin, end = first, node
        if begin == end:
            break
    return n_found, pruned, outside, n_made


@njit(cache=True, nogil=True)
def run_beam(  # type: ignore[no-untyped-def]
    rules, graph, nodes, columns, found, found_score, found_rest, high, slack
):
    """Search prefixes piece by piece (Eq. A10); row 0 is the empty prefix.

    ``nodes`` has 1 + 2K rows, used by turns for one length and the next; ``columns`` (1 + 2K, n)
    their words; ``found`` (N, n) receives the best finished sequences, padded with -1,
    ``found_score`` and ``found_rest`` (N,) their scores and what they leave unspent. Children
    that cannot enter the list any more are left unmade. Returns how many sequences were found,
    the bound on every prefix left out, the bound on every sequence with a word outside the
    candidates, and how many prefixes were made.
    """
    return _search(
        rules,
        graph,
        nodes,
        columns,
        found,
        found_score,
        found_rest,
        high,
        slack,
        np.empty(found.shape[1]),
        np.empty(nodes.state.shape[1], dtype=np.int64),
        np.empty(columns.shape[0], dtype=np.int64),
        np.empty(columns.shape[0]),
    )
