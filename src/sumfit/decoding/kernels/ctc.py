"""Compiled length-controlled decoding of CTC outputs."""

from __future__ import annotations

import math

import numpy as np

from sumfit.compiled import INTERNAL, Float64Array, Int32Array, Int64Array, UInt8Array, njit

__all__ = ["best_alignment", "string_log_prob"]

_NONE, _STAY, _AFTER_BEST, _AFTER_SECOND, _FIRST, _BLANK = 0, 1, 2, 3, 4, 5


@njit(**INTERNAL)
def _best_two(scores: Float64Array) -> tuple[float, float, int, int]:
    """Find the best and the second best score, and their labels; ties go to the smaller label."""
    best, second, label, other = -np.inf, -np.inf, 0, 0
    for v in range(scores.shape[0]):
        if scores[v] > best:
            second, other = best, label
            best, label = scores[v], v
        elif scores[v] > second:
            second, other = scores[v], v
    return best, second, label, other


@njit(**INTERNAL)
def _extend(
    c: int,
    frame: Float64Array,
    blank: int,
    cost: Int64Array,
    bonus: float,
    scores: Float64Array,
    best: float,
    second: float,
    label: int,
    following: Float64Array,
    came: UInt8Array,
) -> None:
    """Enter what one more frame makes of the alignments that cost c."""
    n_costs = following.shape[0]
    for v in range(frame.shape[0]):
        if v == blank:
            following[c, v] = best + frame[v]
            came[c, v] = _BLANK
            continue
        value = scores[v] + frame[v]
        if value > following[c, v]:
            following[c, v] = value
            came[c, v] = _STAY
        spent = c + cost[v]
        if spent < n_costs:
            value = (second if label == v else best) + frame[v] + bonus
            if value > following[spent, v]:
                following[spent, v] = value
                came[spent, v] = _AFTER_SECOND if label == v else _AFTER_BEST


@njit(**INTERNAL)
def _begin(
    frame: Float64Array,
    blank: int,
    first: Int64Array,
    bonus: float,
    silent: float,
    following: Float64Array,
    came: UInt8Array,
) -> None:
    """Enter the alignments whose first label comes now, after blanks of score ``silent``."""
    for v in range(frame.shape[0]):
        if v != blank and first[v] < following.shape[0]:
            value = silent + frame[v] + bonus
            if value > following[first[v], v]:
                following[first[v], v] = value
                came[first[v], v] = _FIRST


@njit(**INTERNAL)
def _best_end(scores: Float64Array, low: int) -> tuple[float, int, int]:
    """Find the best score of at least the least cost, that cost and the last label."""
    score, spent, label = -np.inf, 0, 0
    for c in range(low, scores.shape[0]):
        for v in range(scores.shape[1]):
            if scores[c, v] > score:
                score, spent, label = scores[c, v], c, v
    return score, spent, label


@njit(**INTERNAL)
def _trace(
    came: UInt8Array,
    best_label: Int32Array,
    second_label: Int32Array,
    cost: Int64Array,
    spent: int,
    label: int,
    labels: Int64Array,
) -> None:
    """Read the labels of an alignment off the table, from its end."""
    for t in range(labels.shape[0] - 1, -1, -1):
        labels[t] = label
        how = came[t, spent, label]
        if how == _FIRST:
            break
        if how == _BLANK:
            label = best_label[t, spent]
        elif how == _AFTER_BEST:
            spent -= cost[label]
            label = best_label[t, spent]
        elif how == _AFTER_SECOND:
            spent -= cost[label]
            label = second_label[t, spent]


@njit(cache=True, nogil=True)
def best_alignment(
    log_probs: Float64Array,
    blank: int,
    cost: Int64Array,
    first: Int64Array,
    low: int,
    high: int,
    bonus: float,
) -> tuple[float, Int64Array]:
    """Find the best alignment whose collapsed string costs low..high (Eq. A13).

    ``log_probs`` (T, V); ``cost`` and ``first`` (V,), of which the blank's entry is not read.
    The state is (cost so far, last label); the best and second best label of a cost answer
    "the best whose last label is not v". Time and memory O(T · C · V), one byte a state. Returns
    the score and the (T,) labels; ``-inf`` if there is none.
    """
    n_frames, n_labels = log_probs.shape
    n_costs = high + 1
    now = np.full((n_costs, n_labels), -np.inf)
    following = np.full((n_costs, n_labels), -np.inf)
    came = np.zeros((n_frames, n_costs, n_labels), dtype=np.uint8)
    best_label = np.zeros((n_frames, n_costs), dtype=np.int32)
    second_label = np.zeros((n_frames, n_costs), dtype=np.int32)
    silent = 0.0  # all blanks so far: nothing is emitted yet
    for t in range(n_frames):
        frame = log_probs[t]
        following[:] = -np.inf
        for c in range(n_costs):
            best, second, label, other = _best_two(now[c])
            best_label[t, c], second_label[t, c] = label, other
            if best > -np.inf:
                _extend(
                    c, frame, blank, cost, bonus, now[c], best, second, label, following, came[t]
                )
        _begin(frame, blank, first, bonus, silent, following, came[t])
        silent += frame[blank]
        now, following = following, now
    score, spent, label = _best_end(now, low)
    labels = np.full(n_frames, blank, dtype=np.int64)
    if score > -np.inf:
        _trace(came, best_label, second_label, cost, spent, label, labels)
    return score, labels


@njit(cache=True, nogil=True)
def string_log_prob(log_probs: Float64Array, blank: int, words: Int64Array) -> float:
    """Sum the alignments of a string (the CTC forward recursion), in logs."""
    n_frames = log_probs.shape[0]
    n = words.shape[0]
    size = 2 * n + 1
    alpha = np.full(size, -np.inf)
    following = np.empty(size)
    alpha[0] = 0.0  # before the first frame: at the leading blank, nothing consumed
    for t in range(n_frames):
        for at in range(size):
            label = blank if at % 2 == 0 else words[at // 2]
            peak = alpha[at]
            if at >= 1:
                peak = max(peak, alpha[at - 1])
            skips = at % 2 == 1 and at >= 3 and words[at // 2] != words[at // 2 - 1]
            if skips:
                peak = max(peak, alpha[at - 2])
            total = 0.0
            if peak > -np.inf:
                total = math.exp(alpha[at] - peak)
                if at >= 1:
                    total += math.exp(alpha[at - 1] - peak)
                if skips:
                    total += math.exp(alpha[at - 2] - peak)
            following[at] = (
                peak + math.log(total) + log_probs[t, label] if peak > -np.inf else -np.inf
            )
        alpha, following = following, alpha
    if n == 0:
        return alpha[0]
    peak = max(alpha[size - 1], alpha[size - 2])
    if peak == -np.inf:
        return peak
    return peak + math.log(math.exp(alpha[size - 1] - peak) + math.exp(alpha[size - 2] - peak))
