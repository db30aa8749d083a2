"""Compiled tree of prefixes, in which the same words always are the same node.

Owns the hash table that finds a node by its parent and last word. Node 0 is the empty prefix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import ALLOCATES, INLINE, INTERNAL, njit

__all__ = ["Tree", "empty_tree", "node_of", "with_room"]


class Tree(NamedTuple):
    """Nodes, one a row, and the table of (parent, word) keys.

    ``size`` (1,) is the number of nodes; ``parent``, ``word`` and ``depth`` spell a node;
    ``place`` is for the user, -1 in a new node; ``keys`` and ``nodes`` are the hash table, -1
    where it is empty.
    """

    size: Any
    parent: Any
    word: Any
    depth: Any
    place: Any
    keys: Any
    nodes: Any


@njit(**ALLOCATES)
def empty_tree(room: int) -> Tree:
    """Make a tree of the empty prefix, with room for so many nodes."""
    n_keys = 4
    while n_keys < 2 * room:
        n_keys *= 2
    tree = Tree(
        size=np.ones(1, dtype=np.int64),
        parent=np.empty(room, dtype=np.int64),
        word=np.empty(room, dtype=np.int64),
        depth=np.empty(room, dtype=np.int64),
        place=np.empty(room, dtype=np.int64),
        keys=np.full(n_keys, -1, dtype=np.int64),
        nodes=np.empty(n_keys, dtype=np.int64),
    )
    tree.parent[0], tree.word[0], tree.depth[0], tree.place[0] = 0, 0, 0, -1
    return tree


@njit(**INLINE)
def _slot(tree: Tree, key: int) -> int:
    """Place of a key in the hash table, or the empty place where it belongs."""
    mask = tree.keys.shape[0] - 1
    at = ((key * 0x9E3779B97F4A7C1) >> 20) & mask
    while tree.keys[at] != -1 and tree.keys[at] != key:
        at = (at + 1) & mask
    return at


@njit(**INLINE)
def node_of(tree: Tree, before: int, word: int, n_words: int) -> int:
    """Find the node of a prefix and one more word, or enter it."""
    key = before * n_words + word
    at = _slot(tree, key)
    if tree.keys[at] == -1:
        here = tree.size[0]
        tree.size[0] += 1
        tree.keys[at] = key
        tree.nodes[at] = here
        tree.parent[here] = before
        tree.word[here] = word
        tree.depth[here] = tree.depth[before] + 1
        tree.place[here] = -1
    return tree.nodes[at]


@njit(**INTERNAL)
def _copy(tree: Tree, larger: Tree, n_words: int) -> None:
    for node in range(tree.size[0]):
        larger.parent[node] = tree.parent[node]
        larger.word[node] = tree.word[node]
        larger.depth[node] = tree.depth[node]
        larger.place[node] = tree.place[node]
        if node > 0:
            key = tree.parent[node] * n_words + tree.word[node]
            at = _slot(larger, key)
            larger.keys[at] = key
            larger.nodes[at] = node
    larger.size[0] = tree.size[0]


@njit(**ALLOCATES)
def with_room(tree: Tree, n_more: int, n_words: int) -> Tree:
    """Make sure that so many nodes can be entered; the tree itself where they can."""
    needed = tree.size[0] + n_more
    if needed <= tree.parent.shape[0]:
        return tree
    larger = empty_tree(2 * needed)
    _copy(tree, larger, n_words)
    return larger
