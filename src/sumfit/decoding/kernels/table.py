"""Compiled table of top-K sequences by cost and vertex (the paper's Algorithm 1, corrected)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import (
    ALLOCATES,
    INLINE,
    INTERNAL,
    Float32Array,
    Float64Array,
    Int64Array,
    njit,
)
from sumfit.decoding.kernels.prefix_tree import Tree, empty_tree, node_of, with_room

__all__ = ["empty_table", "fill_vertex", "sequences"]

_FAR = 600.0  # nats: beyond this a new share of mass makes the old ones vanish in float64


class _Cells(NamedTuple):
    """The column of the table: which prefixes each cost keeps, and their mass at each vertex.

    ``size`` (C+1,) is how many, ``node`` and ``slot`` (C+1, K) their nodes in the tree and the
    rows of ``mass`` (slots, S) that hold their mass, relative to ``exp(scale[c])``, from the
    vertex ``born`` on; ``total`` is the sum of each row; ``free`` the rows not used, the first
    ``n_free[0]`` of them.
    """

    size: Any
    node: Any
    slot: Any
    scale: Any
    mass: Any
    born: Any
    total: Any
    free: Any
    n_free: Any


class _Arrivals(NamedTuple):
    """What reaches the vertex in turn, and the words it may emit.

    ``reach`` (C+1, K) is the mass with which every kept prefix arrives, ``peak`` (C+1,) the most
    of each cell, on its scale, and ``log_peak`` the natural log of that, on none; ``root`` (1,) is
    that of the empty prefix. ``words``, ``probs`` and ``log_probs`` (M,) are the words,
    ``rank_of`` (W,) the place of each in them, or -1. ``factor[0, m]`` is the probability
    of word m on the scale of the cell in turn, ``factor[1, m]`` the mass that comes with it from
    the empty prefix; ``used`` (2, M, K) says for which cell an expansion was merged already.
    """

    reach: Any
    peak: Any
    log_peak: Any
    root: Any
    words: Any
    probs: Any
    log_probs: Any
    rank_of: Any
    factor: Any
    used: Any


class _Choice(NamedTuple):
    """What the cells hold next: ``size`` (C+1,) prefixes with ``rank`` and ``code`` (C+1, K).

    A code below K is an old place, whose mass grows by its ``gain``; code ``(m + 1) * K + k``
    appends word m to place k of cell ``c - cost``, code ``-(m + 1)`` to the empty prefix. Scales
    become ``lifted``, so old masses are multiplied by ``ratio``. ``old_node`` and ``old_slot``
    are copies of the cells'.
    """

    size: Any
    rank: Any
    code: Any
    gain: Any
    lifted: Any
    ratio: Any
    old_node: Any
    old_slot: Any


@njit(**INTERNAL, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _dot(a: Float64Array, b: Float64Array) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(**INTERNAL)
def _arrive(
    s: int,
    links_in: Float64Array,
    word_logp: Float32Array,
    top: Int64Array,
    bonus: float,
    cells: _Cells,
    arrivals: _Arrivals,
) -> int:
    """Set what reaches vertex s and what it may emit; return the number of words."""
    for c in range(cells.size.shape[0]):
        arrivals.peak[c] = 0.0
        for k in range(cells.size[c]):
            row = cells.slot[c, k]
            born = cells.born[row]
            arrivals.reach[c, k] = _dot(cells.mass[row, born:s], links_in[born:s])
            arrivals.peak[c] = max(arrivals.peak[c], arrivals.reach[c, k])
        arrivals.log_peak[c] = -np.inf
        if arrivals.peak[c] > 0.0:
            arrivals.log_peak[c] = math.log(arrivals.peak[c]) + cells.scale[c]
    arrivals.root[0] = links_in[0]
    arrivals.used[:] = -1
    n_words = 0
    while n_words < top.shape[0] and top[n_words] >= 0:
        w = top[n_words]
        arrivals.rank_of[w] = n_words
        arrivals.words[n_words] = w
        arrivals.log_probs[n_words] = np.float64(word_logp[w]) + bonus
        arrivals.probs[n_words] = math.exp(arrivals.log_probs[n_words])
        n_words += 1
    return n_words


@njit(**INLINE)
def _lift(
    c: int,
    n_words: int,
    cost: Int64Array,
    first: Int64Array,
    scale: Float64Array,
    is_empty: bool,
    arrivals: _Arrivals,
) -> float:
    """Bring the shares of mass that come into a cell to one scale; return that scale."""
    log_root = math.log(arrivals.root[0]) if arrivals.root[0] > 0.0 else -np.inf
    most = -np.inf
    for m in range(n_words):
        w = arrivals.words[m]
        source = c - cost[w]
        if source >= 0:
            most = max(most, arrivals.log_peak[source] + arrivals.log_probs[m])
        if first[w] == c:
            most = max(most, log_root + arrivals.log_probs[m])
    lifted = most if is_empty or most - scale[c] > _FAR else scale[c]
    last, ratio = -1, 0.0
    for m in range(n_words):
        w = arrivals.words[m]
        source = c - cost[w]
        arrivals.factor[0, m] = 0.0
        arrivals.factor[1, m] = 0.0
        if source >= 0 and arrivals.peak[source] > 0.0:
            if source != last:
                last, ratio = source, math.exp(scale[source] - lifted)
            arrivals.factor[0, m] = arrivals.probs[m] * ratio
        if first[w] == c and lifted > -np.inf:
            arrivals.factor[1, m] = arrivals.root[0] * arrivals.probs[m] * math.exp(-lifted)
    return lifted


@njit(**INLINE)
def _insert(
    rank: Float64Array, code: Int64Array, count: int, new_rank: float, new_code: int
) -> int:
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


@njit(**INLINE)
def _merge(
    c: int,
    cost: Int64Array,
    ratio: float,
    cells: _Cells,
    arrivals: _Arrivals,
    tree: Tree,
    gain: Float64Array,
    rank: Float64Array,
    code: Int64Array,
) -> int:
    """Enter what a cell holds already, each prefix with the mass that it gains at this vertex."""
    count = 0
    for k in range(cells.size[c]):
        here = cells.node[c, k]
        m = arrivals.rank_of[tree.word[here]]
        before = tree.parent[here]
        gain[k] = 0.0
        if m >= 0 and before == 0:
            gain[k] = arrivals.factor[1, m]
            arrivals.used[1, m, 0] = c
        elif m >= 0 and tree.place[before] >= 0:
            at = tree.place[before]
            gain[k] = arrivals.reach[c - cost[tree.word[here]], at] * arrivals.factor[0, m]
            arrivals.used[0, m, at] = c
        count = _insert(rank, code, count, cells.total[cells.slot[c, k]] * ratio + gain[k], k)
    return count


@njit(**INLINE)
def _expand(
    c: int,
    n_words: int,
    cost: Int64Array,
    size: Int64Array,
    arrivals: _Arrivals,
    rank: Float64Array,
    code: Int64Array,
    count: int,
) -> int:
    """Enter the expansions that are good enough; return how many entries there are then."""
    n_most = rank.shape[0]
    reach, factor, used = arrivals.reach, arrivals.factor, arrivals.used
    for m in range(n_words):
        value = factor[1, m]
        if value > 0.0 and used[1, m, 0] != c and (count < n_most or value > rank[count - 1]):
            count = _insert(rank, code, count, value, -(m + 1))
        source = c - cost[arrivals.words[m]]
        most = arrivals.peak[source] * factor[0, m] if factor[0, m] > 0.0 else 0.0
        if most == 0.0 or (count == n_most and most <= rank[count - 1]):
            continue
        for k in range(size[source]):
            value = reach[source, k] * factor[0, m]
            if value > 0.0 and (count < n_most or value > rank[count - 1]) and used[0, m, k] != c:
                count = _insert(rank, code, count, value, (m + 1) * n_most + k)
    return count


@njit(**INLINE)
def _release(c: int, count: int, code: Int64Array, cells: _Cells, place: Int64Array) -> None:
    """Give back the rows of the prefixes that a cell no longer holds."""
    n_most = code.shape[0]
    n_free = cells.n_free[0]
    for k in range(cells.size[c]):
        place[cells.node[c, k]] = -1
    for k in range(count):
        if 0 <= code[k] < n_most:
            place[cells.node[c, code[k]]] = k
    for k in range(cells.size[c]):
        if place[cells.node[c, k]] < 0:
            cells.free[n_free] = cells.slot[c, k]
            n_free += 1
    cells.n_free[0] = n_free


@njit(**INLINE)
def _keep(c: int, s: int, chosen: int, k: int, cells: _Cells, choice: _Choice) -> None:
    """Keep an old prefix, with its mass on the new scale and the share it gains."""
    row = choice.old_slot[c, chosen]
    cells.node[c, k] = choice.old_node[c, chosen]
    cells.slot[c, k] = row
    if choice.ratio[c] != 1.0:
        for i in range(cells.born[row], s):
            cells.mass[row, i] *= choice.ratio[c]
    cells.mass[row, s] = choice.gain[c, chosen]
    cells.total[row] = choice.rank[c, k]


@njit(**INLINE)
def _enter(c: int, s: int, node: int, k: int, cells: _Cells, rank: float) -> None:
    """Put a new prefix into a cell."""
    cells.n_free[0] -= 1
    row = cells.free[cells.n_free[0]]
    cells.node[c, k] = node
    cells.slot[c, k] = row
    cells.born[row] = s
    cells.mass[row, s] = rank
    cells.total[row] = rank


@njit(**INTERNAL)
def _choose(
    n_words: int,
    cost: Int64Array,
    first: Int64Array,
    cells: _Cells,
    arrivals: _Arrivals,
    choice: _Choice,
    tree: Tree,
) -> None:
    """Choose what every cell holds next."""
    for c in range(cells.size.shape[0]):
        is_empty = cells.size[c] == 0
        lifted = _lift(c, n_words, cost, first, cells.scale, is_empty, arrivals)
        ratio = 1.0 if is_empty else math.exp(cells.scale[c] - lifted)
        rank, code, gain = choice.rank[c], choice.code[c], choice.gain[c]
        count = _merge(c, cost, ratio, cells, arrivals, tree, gain, rank, code)
        choice.size[c] = _expand(c, n_words, cost, cells.size, arrivals, rank, code, count)
        choice.lifted[c] = lifted
        choice.ratio[c] = ratio


@njit(**INTERNAL)
def _take(
    s: int,
    cost: Int64Array,
    cells: _Cells,
    arrivals: _Arrivals,
    choice: _Choice,
    tree: Tree,
    n_words: int,
) -> None:
    """Make the cells hold what was chosen."""
    n_most = choice.code.shape[1]
    for c in range(cells.size.shape[0]):
        cells.scale[c] = choice.lifted[c]
        for k in range(n_most):
            choice.old_node[c, k] = cells.node[c, k]
            choice.old_slot[c, k] = cells.slot[c, k]
    for c in range(cells.size.shape[0]):
        code = choice.code[c]
        _release(c, choice.size[c], code, cells, tree.place)
        for k in range(choice.size[c]):
            if 0 <= code[k] < n_most:
                _keep(c, s, code[k], k, cells, choice)
                continue
            w = arrivals.words[-code[k] - 1 if code[k] < 0 else code[k] // n_most - 1]
            before = 0 if code[k] < 0 else choice.old_node[c - cost[w], code[k] % n_most]
            node = node_of(tree, before, w, n_words)
            tree.place[node] = k
            _enter(c, s, node, k, cells, choice.rank[c, k])
        cells.size[c] = choice.size[c]


@njit(**ALLOCATES)
def _whole(n_rows: int, n_columns: int) -> Int64Array:
    return np.empty((n_rows, n_columns), dtype=np.int64)


@njit(**ALLOCATES)
def _collect(low: int, cells: _Cells, tree: Tree, n_vertices: int) -> tuple[Int64Array, Int64Array]:
    """Read the words of every prefix kept within the budget off the tree."""
    n_found = cells.size[low:].sum()
    columns = np.full((n_found, n_vertices), -1, dtype=np.int64)
    lengths = np.zeros(n_found, dtype=np.int64)
    at = 0
    for c in range(low, cells.size.shape[0]):
        for k in range(cells.size[c]):
            here = cells.node[c, k]
            lengths[at] = tree.depth[here]
            for position in range(tree.depth[here] - 1, -1, -1):
                columns[at, position] = tree.word[here]
                here = tree.parent[here]
            at += 1
    return columns, lengths


@njit(**ALLOCATES)
def _room(
    n_cells: int, n_most: int, n_vertices: int, n_words: int, n_top: int
) -> tuple[_Cells, _Arrivals, _Choice]:
    """Make the arrays."""
    n_slots = n_cells * n_most
    cells = _Cells(
        size=np.zeros(n_cells, dtype=np.int64),
        node=_whole(n_cells, n_most),
        slot=_whole(n_cells, n_most),
        scale=np.full(n_cells, -np.inf),
        mass=np.empty((n_slots, n_vertices)),
        born=np.empty(n_slots, dtype=np.int64),
        total=np.empty(n_slots),
        free=np.arange(n_slots),
        n_free=np.full(1, n_slots, dtype=np.int64),
    )
    arrivals = _Arrivals(
        reach=np.empty((n_cells, n_most)),
        peak=np.empty(n_cells),
        log_peak=np.empty(n_cells),
        root=np.empty(1),
        words=np.empty(n_top, dtype=np.int64),
        probs=np.empty(n_top),
        log_probs=np.empty(n_top),
        rank_of=np.full(n_words, -1, dtype=np.int64),
        factor=np.empty((2, n_top)),
        used=np.empty((2, n_top, n_most), dtype=np.int64),
    )
    choice = _Choice(
        size=np.zeros(n_cells, dtype=np.int64),
        rank=np.empty((n_cells, n_most)),
        code=_whole(n_cells, n_most),
        gain=np.empty((n_cells, n_most)),
        lifted=np.empty(n_cells),
        ratio=np.empty(n_cells),
        old_node=_whole(n_cells, n_most),
        old_slot=_whole(n_cells, n_most),
    )
    return cells, arrivals, choice


@njit(cache=True, nogil=True)
def empty_table(
    n_cells: int, beam_size: int, n_vertices: int, n_words: int, n_top: int
) -> tuple[_Cells, _Arrivals, _Choice, Tree]:
    """Make a table of which no vertex is filled yet: its cells, room to work in, prefixes."""
    cells, arrivals, choice = _room(n_cells, beam_size, n_vertices, n_words, n_top)
    return cells, arrivals, choice, empty_tree(4 * n_cells * beam_size)


@njit(cache=True, nogil=True)
def fill_vertex(
    s: int,
    link_prob_to: Float64Array,
    word_logp: Float32Array,
    top: Int64Array,
    cost: Int64Array,
    first: Int64Array,
    bonus: float,
    cells: _Cells,
    arrivals: _Arrivals,
    choice: _Choice,
    tree: Tree,
) -> Tree:
    """Fill ``A[c, s]`` of one vertex (Eq. A7), after all vertices before it.

    Only the column of the last vertex is kept. ``link_prob_to`` (S, S) holds link probabilities,
    ``[to, from]``, ``word_logp`` (S, W) natural-log words, ``top`` (S, M) the words to append at
    each vertex, -1 for none, ``cost`` and ``first`` (W,) what each costs after others and as the
    first; ``bonus`` is added to the score of each word. Returns the prefixes, which may have moved.
    """
    n_cells, beam_size = cells.node.shape
    n_words = word_logp.shape[1]
    tree = with_room(tree, n_cells * beam_size, n_words)
    n_top = _arrive(s, link_prob_to[s], word_logp[s], top[s], bonus, cells, arrivals)
    _choose(n_top, cost, first, cells, arrivals, choice, tree)
    _take(s, cost, cells, arrivals, choice, tree, n_words)
    for m in range(n_top):
        arrivals.rank_of[arrivals.words[m]] = -1
    return tree


@njit(cache=True, nogil=True)
def sequences(
    low: int, cells: _Cells, tree: Tree, n_vertices: int
) -> tuple[Int64Array, Int64Array]:
    """Read the sequences within the budget off the last column that was filled.

    Returns their columns (N, S), padded with -1, and their lengths (N,).
    """
    return _collect(low, cells, tree, n_vertices)
