"""Compiled frontier of best-first search: prefixes as rows, and a heap of what to make next.

Owns `Nodes` and the heap. What is entered, and with what worth, is `kernels.search`'s business.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import INTERNAL, Int, njit

__all__ = ["Nodes", "pop", "push"]


class Nodes(NamedTuple):
    """Prefixes, one a row, and the frontier.

    ``parent`` and ``word`` spell the prefix; ``rest`` is what it may still spend; ``reach`` (n,)
    the mass that arrives at each vertex before it emits, over ``exp(log_mass)``; ``bounds`` (W,)
    the children not yet made, over ``exp(log_mass + base)``; ``score`` that of ending here;
    ``state`` and ``context`` what the rules know; ``used_once`` the words that are used up, as
    bits; ``out_of_candidates`` whether any of its words is not a candidate.
    """

    parent: Any
    word: Any
    rest: Any
    log_mass: Any
    base: Any
    score: Any
    context: Any
    used_once: Any
    out_of_candidates: Any
    reach: Any
    bounds: Any
    state: Any
    heap_f: Any
    heap_node: Any
    heap_word: Any


@njit(**INTERNAL)
def _before(nodes: Nodes, a: Int, b: Int) -> bool:
    if nodes.heap_f[a] != nodes.heap_f[b]:
        return nodes.heap_f[a] > nodes.heap_f[b]
    if nodes.heap_node[a] != nodes.heap_node[b]:
        return nodes.heap_node[a] < nodes.heap_node[b]
    return nodes.heap_word[a] < nodes.heap_word[b]


@njit(**INTERNAL)
def _swap(nodes: Nodes, a: Int, b: Int) -> None:
    for heap in (nodes.heap_node, nodes.heap_word):
        heap[a], heap[b] = heap[b], heap[a]
    nodes.heap_f[a], nodes.heap_f[b] = nodes.heap_f[b], nodes.heap_f[a]


@njit(**INTERNAL)
def push(nodes: Nodes, size: int, f: float, node: int, word: int) -> int:
    """Enter a child that could be made of a prefix; return the new number of entries."""
    nodes.heap_f[size] = f
    nodes.heap_node[size] = node
    nodes.heap_word[size] = word
    at = size
    while at > 0:
        up = (at - 1) // 2
        if not _before(nodes, at, up):
            break
        _swap(nodes, at, up)
        at = up
    return size + 1


@njit(**INTERNAL)
def pop(nodes: Nodes, size: int) -> int:
    """Take out the entry of most worth; return the new number of entries."""
    size -= 1
    at = np.int64(0)
    _swap(nodes, at, size)
    while True:
        left = 2 * at + 1
        if left >= size:
            return size
        best = left
        if left + 1 < size and _before(nodes, left + 1, left):
            best = left + 1
        if not _before(nodes, best, at):
            return size
        _swap(nodes, best, at)
        at = best
