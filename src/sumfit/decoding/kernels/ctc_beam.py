"""Compiled prefix beam of CTC outputs: strings summed over their alignments, K per cost."""

from __future__ import annotations

import math

import numpy as np

from sumfit.compiled import Float64Array, Int64Array, njit
from sumfit.decoding.kernels.ctc import string_log_prob

__all__ = ["prefix_beam"]

_PARENT, _LABEL, _COST, _LENGTH, _CHILD, _SIBLING = 0, 1, 2, 3, 4, 5


@njit(cache=True, nogil=True)
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@njit(cache=True, nogil=True)
def _child(nodes: Int64Array, n_nodes: int, node: int, label: int, spent: int) -> tuple[int, int]:
    """Find or make the prefix that is longer by a label; returns its number and the new count."""
    child = nodes[node, _CHILD]
    while child >= 0 and nodes[child, _LABEL] != label:
        child = nodes[child, _SIBLING]
    if child >= 0:
        return child, n_nodes
    nodes[n_nodes, _PARENT] = node
    nodes[n_nodes, _LABEL] = label
    nodes[n_nodes, _COST] = spent
    nodes[n_nodes, _LENGTH] = nodes[node, _LENGTH] + 1
    nodes[n_nodes, _CHILD] = -1
    nodes[n_nodes, _SIBLING] = nodes[node, _CHILD]
    nodes[node, _CHILD] = n_nodes
    return n_nodes, n_nodes + 1


@njit(cache=True, nogil=True)
def _kept(
    nodes: Int64Array, reached: Int64Array, mass: Float64Array, bonus: float, beam_size: int
) -> Int64Array:
    """Choose, of the prefixes reached, the K of highest score at each cost."""
    n_reached = reached.shape[0]
    ranks = np.empty(n_reached)
    for i in range(n_reached):
        node = reached[i]
        whole = _log_add(mass[node, 0], mass[node, 1])
        ranks[i] = -(whole + bonus * nodes[node, _LENGTH])
    order = np.argsort(ranks, kind="mergesort")
    n_of_cost = np.zeros(nodes[reached, _COST].max() + 1, dtype=np.int64)
    kept = np.empty(n_reached, dtype=np.int64)
    n_kept = 0
    for i in order:
        spent = nodes[reached[i], _COST]
        if n_of_cost[spent] < beam_size and ranks[i] < np.inf:
            n_of_cost[spent] += 1
            kept[n_kept] = reached[i]
            n_kept += 1
    return kept[:n_kept]


@njit(cache=True, nogil=True)
def _room(size: int) -> tuple[Int64Array, Float64Array, Int64Array]:
    """Empty tables of prefixes: nodes, mass (by end), the frame that last reached each, from 1."""
    nodes = np.empty((size, 6), dtype=np.int64)
    return nodes, np.full((size, 2), -np.inf), np.zeros(size, dtype=np.int64)


@njit(cache=True, nogil=True)
def _step(
    frame: Float64Array,
    top: Int64Array,
    t: int,
    blank: int,
    cost: Int64Array,
    first: Int64Array,
    high: int,
    nodes: Int64Array,
    n_nodes: int,
    mass: Float64Array,
    seen: Int64Array,
    now: Int64Array,
    held: Float64Array,
) -> tuple[Int64Array, int]:
    """Read one frame: add up the mass of every prefix it leads to, making those that are new."""
    n_top = top.shape[0]
    reached = np.empty(now.shape[0] * (n_top + 1), dtype=np.int64)
    n_reached = 0
    for i in range(now.shape[0]):
        node = now[i]
        in_blank, in_label = held[i, 0], held[i, 1]
        whole = _log_add(in_blank, in_label)
        if seen[node] <= t:
            seen[node] = t + 1
            reached[n_reached] = node
            n_reached += 1
        mass[node, 0] = _log_add(mass[node, 0], whole + frame[blank])
        last = nodes[node, _LABEL]
        if node > 0:
            mass[node, 1] = _log_add(mass[node, 1], in_label + frame[last])
        for m in range(n_top):
            label = top[m]
            if label == blank or frame[label] == -np.inf:
                continue
            spent = nodes[node, _COST] + (cost[label] if node > 0 else first[label])
            before = in_blank if label == last else whole
            if spent > high or before == -np.inf:
                continue
            child, n_nodes = _child(nodes, n_nodes, node, label, spent)
            if seen[child] <= t:
                seen[child] = t + 1
                reached[n_reached] = child
                n_reached += 1
            mass[child, 1] = _log_add(mass[child, 1], before + frame[label])
    return reached[:n_reached], n_nodes


@njit(cache=True, nogil=True)
def prefix_beam(
    log_probs: Float64Array,
    blank: int,
    top: Int64Array,
    cost: Int64Array,
    first: Int64Array,
    low: int,
    high: int,
    bonus: float,
    beam_size: int,
) -> tuple[Float64Array, Float64Array, Int64Array, Int64Array, Int64Array]:
    """Find strings that cost low..high by a beam over prefixes (Eq. A14).

    ``log_probs`` (T, V); ``top`` (T, M) labels to try in each frame; ``cost`` and ``first`` (V,).
    A prefix carries its mass ending in a blank and in its last label. Prefixes are nodes of a
    tree, so two ways to one string meet in its node. Returns for each string found, best first,
    the score, the exact log-probability, the cost, the length, and the (padded) labels.
    """
    n_frames, n_top = top.shape
    nodes, mass, seen = _room(1024)
    nodes[0] = np.array([-1, -1, 0, 0, -1, -1])
    n_nodes = 1
    now = np.zeros(1, dtype=np.int64)
    held = np.zeros((1, 2))
    held[0, 1] = -np.inf
    for t in range(n_frames):
        need = n_nodes + now.shape[0] * n_top
        if need > nodes.shape[0]:
            before = nodes
            nodes, mass, seen = _room(max(need, 2 * before.shape[0]))
            nodes[:n_nodes] = before[:n_nodes]
        reached, n_nodes = _step(
            log_probs[t], top[t], t, blank, cost, first, high, nodes, n_nodes, mass, seen, now, held
        )
        now = _kept(nodes, reached, mass, bonus, beam_size)
        held = mass[now]
        for node in reached:
            mass[node, 0] = -np.inf
            mass[node, 1] = -np.inf
    return _strings(log_probs, blank, nodes, now, low, bonus)


@njit(cache=True, nogil=True)
def _strings(
    log_probs: Float64Array,
    blank: int,
    nodes: Int64Array,
    found: Int64Array,
    low: int,
    bonus: float,
) -> tuple[Float64Array, Float64Array, Int64Array, Int64Array, Int64Array]:
    n_frames = log_probs.shape[0]
    labels = np.full((found.shape[0], n_frames), -1, dtype=np.int64)
    scores = np.full(found.shape[0], -np.inf)
    exact = np.full(found.shape[0], -np.inf)
    for i in range(found.shape[0]):
        node = found[i]
        length = nodes[node, _LENGTH]
        if length == 0 or nodes[node, _COST] < low:
            continue
        at = node
        for place in range(length - 1, -1, -1):
            labels[i, place] = nodes[at, _LABEL]
            at = nodes[at, _PARENT]
        exact[i] = string_log_prob(log_probs, blank, labels[i, :length])
        scores[i] = exact[i] + bonus * length
    order = np.argsort(-scores, kind="mergesort")
    order = order[scores[order] > -np.inf]
    kept = found[order]
    return scores[order], exact[order], nodes[kept, _COST], nodes[kept, _LENGTH], labels[order]
