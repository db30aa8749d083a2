"""Compiled lists of the ways to go on, and of the probabilities that matter to the bound.

Owns `Steps`, sorted so that steps which differ in nothing but their word stand side by side (a
*run*), and `Entries`, the words of each run with the vertices where they are not negligible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import ALLOCATES, INTERNAL, BoolArray, Float64Array, Int64Array, njit
from sumfit.constraints.kernels.state import REJECTED

__all__ = ["Entries", "Steps", "in_runs", "list_entries", "payable_steps"]

_BITS = 10  # of a set of phrases and words
_TINIEST = 1e-300  # what is below counts as 0 in the lists; the bound gets it with the rest


class Steps(NamedTuple):
    """Ways to go on, ascending cost; a word has one, or one for each context it can leave.

    Each an int64 array ``(P,)``: the candidate, its cost, the kind of context it leaves, the bits
    it turns on, the bits that forbid it. ``run`` (G+1,) is where each run of steps begins that
    differ only in the candidate, and the end; ``joins`` (G,) whether those continue a word.
    """

    word: Any
    cost: Any
    context: Any
    gain: Any
    blocked: Any
    run: Any
    joins: Any


class Entries(NamedTuple):
    """Probabilities that are not negligible, by run and word.

    ``run`` (G+1,) is where the words of each run begin, ``start`` (Q+1,) where the entries of
    each of those words begin, ``vertex`` and ``value`` the entries, ascending vertex. ``dropped``
    (n,) is the largest of the other probabilities at each vertex.
    """

    run: Any
    start: Any
    vertex: Any
    value: Any
    dropped: Any


@njit(**ALLOCATES)
def _whole(size: int) -> Int64Array:
    return np.empty(size, dtype=np.int64)


@njit(**INTERNAL)
def _key(steps: Steps, joins: BoolArray, p: int) -> int:
    """One number for all that a run has in common, cost first."""
    key = 2 * (8 * steps.cost[p] + steps.context[p]) + joins[steps.word[p]]
    return ((key << _BITS) + steps.gain[p] << _BITS) + steps.blocked[p]


@njit(**INTERNAL)
def _insert(keys: Int64Array, times: Int64Array, n_runs: int, key: int) -> int:
    """Count a key in the ascending list of keys; return how many there are then."""
    at = n_runs
    while at > 0 and keys[at - 1] >= key:
        at -= 1
    if at < n_runs and keys[at] == key:
        times[at] += 1
        return n_runs
    for later in range(n_runs, at, -1):
        keys[later] = keys[later - 1]
        times[later] = times[later - 1]
    keys[at] = key
    times[at] = 1
    return n_runs + 1


@njit(**INTERNAL)
def _sort_runs(
    steps: Steps,
    joins: BoolArray,
    keys: Int64Array,
    filled: Int64Array,
    run: Int64Array,
    sorted_steps: Steps,
) -> int:
    """Copy steps run by run, in their order within each; return the number of runs."""
    n_runs = 0
    for p in range(steps.word.shape[0]):
        n_runs = _insert(keys, filled, n_runs, _key(steps, joins, p))
    run[0] = 0
    for g in range(n_runs):
        run[g + 1] = run[g] + filled[g]
        filled[g] = run[g]
    for p in range(steps.word.shape[0]):
        key = _key(steps, joins, p)
        g = 0
        while keys[g] != key:
            g += 1
        at = filled[g]
        filled[g] += 1
        sorted_steps.word[at] = steps.word[p]
        sorted_steps.cost[at] = steps.cost[p]
        sorted_steps.context[at] = steps.context[p]
        sorted_steps.gain[at] = steps.gain[p]
        sorted_steps.blocked[at] = steps.blocked[p]
    return n_runs


@njit(cache=True, nogil=True)
def payable_steps(
    cost: Int64Array, high: int, contexts: Int64Array, joins: BoolArray, gains: Int64Array
) -> Steps:
    """Make one step, in runs, for each word that costs no more than ``high`` and may be written."""
    word = np.flatnonzero((cost <= high) & (contexts != REJECTED))
    return _in_runs(word, cost[word], contexts[word], gains[word], np.zeros_like(word), joins)


@njit(cache=True, nogil=True)
def in_runs(
    word: Int64Array,
    cost: Int64Array,
    context: Int64Array,
    gain: Int64Array,
    blocked: Int64Array,
    joins: BoolArray,
) -> tuple[Int64Array, ...]:
    """Sort steps by all but the word, ``joins`` (W,) included, and find the runs."""
    return _in_runs(word, cost, context, gain, blocked, joins)


@njit(**ALLOCATES)
def _in_runs(
    word: Int64Array,
    cost: Int64Array,
    context: Int64Array,
    gain: Int64Array,
    blocked: Int64Array,
    joins: BoolArray,
) -> Steps:
    n = word.shape[0]
    steps = Steps(word, cost, context, gain, blocked, word, joins)
    run = _whole(n + 1)
    found = Steps(_whole(n), _whole(n), _whole(n), _whole(n), _whole(n), run, joins)
    n_runs = _sort_runs(steps, joins, _whole(n + 1), _whole(n + 1), run, found)
    run = run[: n_runs + 1]
    run_joins = np.empty(n_runs, dtype=np.bool_)
    for g in range(n_runs):
        run_joins[g] = joins[found.word[run[g]]]
    return Steps(found.word, found.cost, found.context, found.gain, found.blocked, run, run_joins)


@njit(**INTERNAL)
def _thresholds(
    prob: Float64Array, word: Int64Array, share: float, least: Float64Array, dropped: Float64Array
) -> None:
    """Set the least probability at each vertex that is not negligible, and the most below it."""
    least[:] = 0.0
    dropped[:] = 0.0
    for w in word:
        for j in range(least.shape[0]):
            least[j] = max(least[j], prob[w, j])
    for j in range(least.shape[0]):
        least[j] = max(least[j] * share, _TINIEST)
    for w in word:
        for j in range(least.shape[0]):
            dropped[j] = max(dropped[j], prob[w, j] if prob[w, j] < least[j] else 0.0)


@njit(**INTERNAL)
def _append(
    prob: Float64Array, least: Float64Array, vertex: Int64Array, value: Float64Array, filled: int
) -> int:
    """List the entries of one word, a multiple of four; return how many entries there are then."""
    size = 0
    for j in range(prob.shape[0]):
        size += prob[j] >= least[j]
    for _ in range(-size % 4):
        vertex[filled] = 0
        value[filled] = 0.0
        filled += 1
    for j in range(prob.shape[0]):
        if prob[j] >= least[j]:
            vertex[filled] = j
            value[filled] = prob[j]
            filled += 1
    return filled


@njit(**INTERNAL)
def _is_dominated(
    vertex: Int64Array,
    value: Float64Array,
    begin: int,
    end: int,
    best: Int64Array,
    prob: Float64Array,
    w: int,
) -> bool:
    """Return whether the word that is best where w is most probable is above w everywhere."""
    top = begin
    for q in range(begin + 1, end):
        if value[q] > value[top]:
            top = q
    other = best[vertex[top]]
    if other == w:
        return False
    for q in range(begin, end):
        if value[q] > prob[other, vertex[q]]:
            return False
    return True


@njit(**INTERNAL)
def _list_run(
    prob: Float64Array,
    word: Int64Array,
    least: Float64Array,
    best: Int64Array,
    begin: Int64Array,
    start: Int64Array,
    vertex: Int64Array,
    value: Float64Array,
    n_kept: int,
) -> int:
    """List the entries of the words of one run; return how many words are listed then."""
    n_words = word.shape[0]
    filled = start[n_kept]
    at = filled  # the entries of all words, then moved up over those of words left out
    best[:] = -1
    for p in range(n_words):
        w = word[p]
        begin[p] = at
        at = _append(prob[w], least, vertex, value, at)
        for q in range(begin[p], at):
            j = vertex[q]
            if best[j] < 0 or prob[w, j] > prob[best[j], j]:
                best[j] = w
    begin[n_words] = at
    for p in range(n_words):
        one, end = begin[p], begin[p + 1]
        if one == end or _is_dominated(vertex, value, one, end, best, prob, word[p]):
            continue
        for q in range(one, end):
            vertex[filled] = vertex[q]
            value[filled] = value[q]
            filled += 1
        n_kept += 1
        start[n_kept] = filled
    return n_kept


@njit(**ALLOCATES)
def list_entries(prob: Float64Array, steps: Steps, share: float) -> Entries:
    """Keep the entries above a share of their vertex's best, and the largest of the rest.

    A word that another word of its run beats at every vertex is left out: the bound is a maximum
    over the words of a run.
    """
    n = prob.shape[1]
    n_steps, n_runs = steps.word.shape[0], steps.joins.shape[0]
    least, dropped = np.empty(n), np.empty(n)
    _thresholds(prob, steps.word, share, least, dropped)
    run, begin, best = _whole(n_runs + 1), _whole(n_steps + 1), _whole(n)
    start, vertex, value = (
        _whole(n_steps + 1),
        _whole(n_steps * (n + 3)),
        np.empty(n_steps * (n + 3)),
    )
    run[0], start[0] = 0, 0
    for g in range(n_runs):
        word = steps.word[steps.run[g] : steps.run[g + 1]]
        run[g + 1] = _list_run(prob, word, least, best, begin, start, vertex, value, run[g])
    return Entries(run, start, vertex, value, dropped)
