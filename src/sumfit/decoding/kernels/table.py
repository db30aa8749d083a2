"""Compiled table of top-K sequences by cost and vertex (the paper's Algorithm 1, corrected)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels.compiled import njit

__all__ = ["fill_table"]

_FAR = 600.0  # nats: beyond this a new share of mass makes the old ones vanish in float64


@njit(cache=True, nogil=True)
def _node_of(
    keys: npt.NDArray[np.int64],
    nodes: npt.NDArray[np.int64],
    key: int,
    fresh: int,
) -> int:
    """Look a (parent, word) key up in an open hash table; enter it as `fresh` if unknown."""
    mask = keys.shape[0] - 1
    at = ((key * 0x9E3779B97F4A7C1) >> 20) & mask
    while keys[at] != -1:
        if keys[at] == key:
            return int(nodes[at])
        at = (at + 1) & mask
    keys[at] = key
    nodes[at] = fresh
    return fresh


@njit(cache=True, nogil=True)
def _doubled(
    keys: npt.NDArray[np.int64], nodes: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    new_keys = np.full(2 * keys.shape[0], -1, dtype=np.int64)
    new_nodes = np.zeros(2 * keys.shape[0], dtype=np.int64)
    for at in range(keys.shape[0]):
        if keys[at] != -1:
            _node_of(new_keys, new_nodes, keys[at], nodes[at])
    return new_keys, new_nodes


@njit(cache=True, nogil=True)
def _longer(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    longer = np.empty(2 * array.shape[0], dtype=np.int64)
    longer[: array.shape[0]] = array
    return longer


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _reach_vertex(s, links_in, size, slot, mass, reach, peak):  # type: ignore[no-untyped-def]
    """Mass with which every kept prefix reaches vertex s, and the most of each cell."""
    for c in range(size.shape[0]):
        peak[c] = 0.0
        for k in range(size[c]):
            held = mass[slot[c, k]]
            summed = 0.0
            for i in range(1, s):
                summed += held[i] * links_in[i]
            reach[c, k] = summed
            peak[c] = max(peak[c], summed)


@njit(cache=True, nogil=True)
def _factors(  # type: ignore[no-untyped-def]
    c, words, probs, cost, first, root_reach, is_empty, peak, scale, factor
):
    """Bring the shares of mass that come into a cell to one scale; return that scale.

    Sets ``factor[0, m]`` to the probability of word m times the ratio of scales, and
    ``factor[1, m]`` to the whole mass that comes from the empty prefix.
    """
    most = -np.inf
    for m in range(words.shape[0]):
        source = c - cost[words[m]]
        if source >= 0 and peak[source] > 0.0 and probs[m] > 0.0:
            most = max(most, math.log(peak[source]) + math.log(probs[m]) + scale[source])
        if first[words[m]] == c and root_reach * probs[m] > 0.0:
            most = max(most, math.log(root_reach) + math.log(probs[m]))
    lifted = most if is_empty or most - scale[c] > _FAR else scale[c]
    for m in range(words.shape[0]):
        source = c - cost[words[m]]
        factor[0, m] = 0.0
        factor[1, m] = 0.0
        if source >= 0 and peak[source] > 0.0:
            factor[0, m] = probs[m] * math.exp(scale[source] - lifted)
        if first[words[m]] == c and lifted > -np.inf:
            factor[1, m] = root_reach * probs[m] * math.exp(-lifted)
    return lifted


@njit(cache=True, nogil=True)
def _insert(rank, code, count, new_rank, new_code):  # type: ignore[no-untyped-def]
    """Insert one entry into a list, best rank first; return how many there are."""
    if count == rank.shape[0]:
        count -= 1
    at = count
    while at > 0 and new_rank > rank[at - 1]:
        rank[at] = rank[at - 1]
        code[at] = code[at - 1]
        at -= 1
    rank[at] = new_rank
    code[at] = new_code
    return count + 1


@njit(cache=True, nogil=True)
def _choose(  # type: ignore[no-untyped-def]
    c,
    words,
    cost,
    size,
    node,
    slot,
    total,
    ratio,
    reach,
    peak,
    parent,
    word,
    place,
    rank_of,
    factor,
    used,
    gain,
    rank,
    code,
):
    """Choose what a cell holds next: a code below K is an old place, others are expansions.

    Code ``(m + 1) * K + k`` appends word m to place k of cell ``c - cost``, and code
    ``-(m + 1)`` to the empty prefix.
    """
    n_most = rank.shape[0]
    count = 0
    for k in range(size[c]):  # MERGE
        here = node[c, k]
        m = rank_of[word[here]]
        gain[k] = 0.0
        if m >= 0 and parent[here] == 0:
            gain[k] = factor[1, m]
            used[1, m, 0] = c
        elif m >= 0 and place[parent[here]] >= 0:
            at = place[parent[here]]
            gain[k] = reach[c - cost[word[here]], at] * factor[0, m]
            used[0, m, at] = c
        count = _insert(rank, code, count, total[slot[c, k]] * ratio + gain[k], k)
    for m in range(words.shape[0]):  # EXPAND
        value = factor[1, m]
        if value > 0.0 and used[1, m, 0] != c and (count < n_most or value > rank[count - 1]):
            count = _insert(rank, code, count, value, -(m + 1))
        source = c - cost[words[m]]
        most = peak[source] * factor[0, m] if factor[0, m] > 0.0 else 0.0
        if most == 0.0 or (count == n_most and most <= rank[count - 1]):
            continue
        for k in range(size[source]):
            value = reach[source, k] * factor[0, m]
            if value > 0.0 and (count < n_most or value > rank[count - 1]) and used[0, m, k] != c:
                count = _insert(rank, code, count, value, (m + 1) * n_most + k)
    return count


@njit(cache=True, nogil=True)
def _release(  # type: ignore[no-untyped-def]
    c, size, count, code, node, slot, place, free, n_free
):
    """Give back the slots of the prefixes that a cell no longer holds."""
    n_most = code.shape[0]
    for k in range(size[c]):
        place[node[c, k]] = -1
    for k in range(count):
        if 0 <= code[k] < n_most:
            place[node[c, code[k]]] = k
    for k in range(size[c]):
        if place[node[c, k]] < 0:
            free[n_free] = slot[c, k]
            n_free += 1
    return n_free


@njit(cache=True, nogil=True)
def _collect(low, size, node, parent, word, depth, n_vertices):  # type: ignore[no-untyped-def]
    """Read the words of every prefix kept within the budget off the tree."""
    n_found = 0
    for c in range(low, size.shape[0]):
        n_found += size[c]
    columns = np.full((n_found, n_vertices), -1, dtype=np.int64)
    lengths = np.zeros(n_found, dtype=np.int64)
    at = 0
    for c in range(low, size.shape[0]):
        for k in range(size[c]):
            here = node[c, k]
            lengths[at] = depth[here]
            for position in range(depth[here] - 1, -1, -1):
                columns[at, position] = word[here]
                here = parent[here]
            at += 1
    return columns, lengths


@njit(cache=True, nogil=True)
def fill_table(
    link_prob_to: npt.NDArray[np.float64],
    word_logp: npt.NDArray[np.float32],
    top: npt.NDArray[np.int64],
    cost: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    low: int,
    high: int,
    beam_size: int,
    bonus: float,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Fill ``A[c, s]`` vertex by vertex (Eq. A7), keeping only the column of the last vertex.

    A prefix is a node of a tree, so that the same words always are the same node. The masses of
    a cell are stored relative to ``exp(scale[c])``, so that they do not underflow.

    Args:
        link_prob_to: ``(S, S)`` link probabilities, ``[to, from]``.
        word_logp: ``(S, W)`` natural-log words.
        top: ``(S, M)`` words to append at each vertex, -1 for none.
        cost: ``(W,)`` cost of each column.
        first: ``(W,)`` cost as the first word.
        low: Least allowed total.
        high: Most allowed total.
        beam_size: ``K``.
        bonus: Score added per word.

    Returns:
        ``(N, S)`` columns of the sequences within the budget, padded with -1, and their lengths
        ``(N,)``.
    """
    n_vertices, n_words = word_logp.shape
    n_cells, n_most = high + 1, beam_size
    # The tree of prefixes; node 0 is the empty one. `place` is -1 for a node not kept now.
    parent = np.zeros(1024, dtype=np.int64)
    word = np.zeros(1024, dtype=np.int64)
    depth = np.zeros(1024, dtype=np.int64)
    place = np.full(1024, -1, dtype=np.int64)
    n_nodes = 1
    keys = np.full(4096, -1, dtype=np.int64)
    key_nodes = np.zeros(4096, dtype=np.int64)
    # The cells: which nodes are kept per cost, and the slot that holds the mass of each.
    size = np.zeros(n_cells, dtype=np.int64)
    node = np.zeros((n_cells, n_most), dtype=np.int64)
    slot = np.zeros((n_cells, n_most), dtype=np.int64)
    scale = np.full(n_cells, -np.inf)
    mass = np.zeros((n_cells * n_most, n_vertices))
    total = np.zeros(n_cells * n_most)
    free = np.arange(n_cells * n_most)
    n_free = n_cells * n_most
    reach = np.empty((n_cells, n_most))
    peak = np.zeros(n_cells)
    # What each cell is to hold next.
    count = np.zeros(n_cells, dtype=np.int64)
    rank = np.empty((n_cells, n_most))
    code = np.empty((n_cells, n_most), dtype=np.int64)
    gain = np.empty((n_cells, n_most))
    lifted = np.empty(n_cells)
    ratio = np.ones(n_cells)
    factor = np.empty((2, top.shape[1]))
    used = np.empty((2, top.shape[1], n_most), dtype=np.int64)
    rank_of = np.full(n_words, -1, dtype=np.int64)
    old_node, old_slot = node.copy(), slot.copy()
    for s in range(1, n_vertices - 1):
        n_top = 0
        while n_top < top.shape[1] and top[s, n_top] >= 0:
            rank_of[top[s, n_top]] = n_top
            n_top += 1
        words = top[s, :n_top]
        probs = np.empty(n_top)
        for m in range(n_top):
            probs[m] = math.exp(np.float64(word_logp[s, words[m]]) + bonus)
        _reach_vertex(s, link_prob_to[s], size, slot, mass, reach, peak)
        used[:] = -1
        for c in range(n_cells):
            lifted[c] = _factors(
                c, words, probs, cost, first, link_prob_to[s, 0], size[c] == 0, peak, scale, factor
            )
            ratio[c] = math.exp(scale[c] - lifted[c]) if size[c] > 0 else 1.0
            count[c] = _choose(
                c,
                words,
                cost,
                size,
                node,
                slot,
                total,
                ratio[c],
                reach,
                peak,
                parent,
                word,
                place,
                rank_of,
                factor,
                used,
                gain[c],
                rank[c],
                code[c],
            )
        old_node[:], old_slot[:], scale[:] = node, slot, lifted
        for c in range(n_cells):
            n_free = _release(c, size, count[c], code[c], node, slot, place, free, n_free)
            for k in range(count[c]):
                chosen = code[c, k]
                if 0 <= chosen < n_most:
                    node[c, k], slot[c, k] = old_node[c, chosen], old_slot[c, chosen]
                    held = slot[c, k]
                    if ratio[c] != 1.0:
                        mass[held] *= ratio[c]
                    mass[held, s] = gain[c, chosen]
                    total[held] = rank[c, k]
                    continue
                m = -chosen - 1 if chosen < 0 else chosen // n_most - 1
                before = 0 if chosen < 0 else old_node[c - cost[words[m]], chosen % n_most]
                here = _node_of(keys, key_nodes, before * n_words + words[m], n_nodes)
                if here == n_nodes:
                    if n_nodes == parent.shape[0]:
                        parent, word = _longer(parent), _longer(word)
                        depth, place = _longer(depth), _longer(place)
                    parent[here], word[here], depth[here] = before, words[m], depth[before] + 1
                    n_nodes += 1
                    if 2 * n_nodes > keys.shape[0]:
                        keys, key_nodes = _doubled(keys, key_nodes)
                place[here] = k
                n_free -= 1
                node[c, k], slot[c, k] = here, free[n_free]
                held = slot[c, k]
                mass[held, :s] = 0.0
                mass[held, s] = rank[c, k]
                total[held] = rank[c, k]
            size[c] = count[c]
        for m in range(n_top):
            rank_of[words[m]] = -1
    return _collect(low, size, node, parent, word, depth, n_vertices)  # type: ignore[no-any-return]
