"""Length-controlled decoding of CTC outputs, for the CTC baseline.

Owns `ctc_decode` on a ``(T, V)`` array of frame log-probabilities: the best *alignment* under a
budget, exactly (Eq. A13), and a prefix beam that sums the alignments of each string (Eq. A14).
A string is read off an alignment by merging repeated neighbours and dropping blanks. The graph
decoders are not involved.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.decoding.costs import check_room, most_spent
from sumfit.decoding.kernels.ctc import best_alignment, string_log_prob
from sumfit.decoding.kernels.ctc_beam import prefix_beam
from sumfit.decoding.options import DEFAULTS, DecodeOptions
from sumfit.errors import BudgetError, ConfigError, GraphError, InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest
from sumfit.length import LengthBudget

__all__ = ["CTC_METHODS", "ctc_decode", "ctc_log_prob"]

CTC_METHODS = ("alignment", "prefix-beam")
"""Ways to decode: the best single alignment, or strings summed over their alignments."""

_MORE_LABELS = 4  # times as many labels, where those looked at are not proved to be enough
_TOLERANCE = 1e-3  # how far above 1 a frame's probabilities may sum (float32 softmax noise)
Frames = npt.NDArray[np.floating[Any]]


def ctc_decode(
    log_probs: npt.ArrayLike,
    *,
    blank: int,
    unit_cost: npt.ArrayLike,
    budget: LengthBudget,
    first_cost: npt.ArrayLike | None = None,
    method: str = "alignment",
    bonus: float = DEFAULTS.bonus,
    beam_size: int = DEFAULTS.beam_size,
    labels_per_frame: int | None = None,
    n_best: int = DEFAULTS.n_best,
) -> NBest:
    """Find strings of a CTC output whose total cost lies in the budget.

    ``"alignment"`` maximises the probability of one alignment, exactly: time O(T · C · V), memory
    O(T · C · V) bytes. With ``labels_per_frame`` it finds the same among far fewer labels: for
    each pair of costs, two labels stand in for all that are left out, each as probable in a frame
    as the best of them, so an optimum that uses neither is the optimum of all labels; where one
    is used, more labels are looked at. ``"prefix-beam"`` keeps K prefixes per cost, each with the
    sum of its alignments: time O(T · C · K · M). The empty string is no result.

    Args:
        log_probs: ``(T, V)`` natural-log label probabilities of each frame.
        blank: Label that emits nothing.
        unit_cost: ``(V,)`` cost of each label; the blank's is not read.
        budget: Allowed totals.
        first_cost: ``(V,)`` cost of each label as the first; ``None`` for ``unit_cost``.
        method: One of `CTC_METHODS`.
        bonus: Score added per label emitted, nats.
        beam_size: ``K`` of the prefix beam.
        labels_per_frame: ``M``: look at the labels among the M best of some frame first
            (alignment, which never changes the result), or at no others than the M best of each
            frame (prefix beam); ``None`` for all.
        n_best: Most strings of the prefix beam; the alignment gives one.

    Returns:
        Hypotheses, best first: ``log_prob`` is the exact sum over alignments, ``path`` the labels
        of the best alignment for ``"alignment"``, where ``optimal`` says that no better alignment
        exists.

    Raises:
        GraphError: If ``log_probs`` is not an array of log-probabilities or ``blank`` is no label.
        BudgetError: If there is not one cost per label, or the budget takes too much memory.
        ConfigError: If the method is unknown.
        InfeasibleBudgetError: If no string meets the budget.
    """
    frames = _checked_frames(log_probs, blank)
    if method not in CTC_METHODS:
        raise ConfigError.of("method", method, f"must be one of {', '.join(CTC_METHODS)}")
    options = DecodeOptions(
        unit_cost=unit_cost,  # type: ignore[arg-type]
        budget=budget,
        first_cost=first_cost,  # type: ignore[arg-type]
        bonus=bonus,
        beam_size=beam_size,
        words_per_vertex=labels_per_frame,
        n_best=n_best,
    )
    _check_costs(frames, options)
    search = _by_alignment if method == "alignment" else _by_prefix_beam
    found = search(frames, blank, options)
    if not found:
        raise InfeasibleBudgetError(
            f"no string of {frames.shape[0]} frames costs {budget}; "
            "raise the limit, lower the minimum or ask for another unit"
        )
    return NBest(tuple(found), method=f"ctc-{method}", n_expanded=frames.shape[0])


def ctc_log_prob(log_probs: npt.ArrayLike, words: tuple[int, ...], *, blank: int) -> float:
    """Sum the probability of a string over all its alignments.

    Args:
        log_probs: ``(T, V)`` natural-log label probabilities of each frame.
        words: Labels of the string, without blanks.
        blank: Label that emits nothing.

    Returns:
        Natural-log probability; ``-inf`` if the string does not fit into the frames.
    """
    frames = np.asarray(log_probs)
    used, places = np.unique([blank, *words], return_inverse=True)
    kept = np.ascontiguousarray(frames[:, used], dtype=np.float64)
    return float(string_log_prob(kept, int(places[0]), places[1:].astype(np.int64)))


def _checked_frames(log_probs: npt.ArrayLike, blank: int) -> Frames:
    frames = np.asarray(log_probs)
    if frames.dtype not in (np.float32, np.float64):
        frames = frames.astype(np.float64)
    if frames.ndim != 2 or 0 in frames.shape:
        raise GraphError(f"log_probs must be (T, V) with T and V above 0, was {frames.shape}")
    # float64 sums of float32 powers: an array of many labels is not copied for this.
    total = float(np.exp(frames).sum(axis=1, dtype=np.float64).max())
    if np.isnan(total):
        raise GraphError("log_probs holds NaN; give natural logs")
    if total > 1 + _TOLERANCE:
        raise GraphError(
            f"a frame of log_probs sums to {total:.4g} as probabilities, more than 1; "
            "normalise it first"
        )
    if not 0 <= blank < frames.shape[1]:
        raise GraphError(f"blank must be a label 0..{frames.shape[1] - 1}, was {blank}")
    return frames


def _check_costs(frames: Frames, options: DecodeOptions) -> None:
    if options.unit_cost.shape != (frames.shape[1],):
        raise BudgetError(
            f"unit_cost must be (V,) = ({frames.shape[1]},), was {options.unit_cost.shape}; "
            "give one cost per label"
        )


def _by_alignment(frames: Frames, blank: int, options: DecodeOptions) -> list[Hypothesis]:
    n_labels = frames.shape[1]
    n_kept = options.words_per_vertex or n_labels
    while True:
        labels = _labels_kept(frames, blank, n_kept)
        kept = frames[:, labels].astype(np.float64)
        cost, first = options.unit_cost[labels], options.first_cost[labels]
        if labels.size < n_labels:
            others = _stand_ins(frames, labels, options)
            kept = np.concatenate([kept, others.log_probs], axis=1)
            cost = np.concatenate([cost, others.cost])
            first = np.concatenate([first, others.first_cost])
        score, alignment = _align(kept, labels, blank, cost, first, options)
        if score == -np.inf:
            return []
        if (alignment < labels.size).all():
            return [_hypothesis(frames, blank, options, labels[alignment], score)]
        n_kept *= _MORE_LABELS


def _align(
    log_probs: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int64],
    blank: int,
    cost: npt.NDArray[np.integer[Any]],
    first: npt.NDArray[np.integer[Any]],
    options: DecodeOptions,
) -> tuple[float, npt.NDArray[np.int64]]:
    """Run the kernel on some columns; ``labels`` finds the blank among the first of them."""
    n_frames, n_labels = log_probs.shape
    low, high = options.budget.low, most_spent(options.budget.high, n_frames, (cost,), (first,))
    if low > high:
        return -np.inf, np.empty(0, dtype=np.int64)
    check_room(high, n_frames * n_labels // 8)  # a byte each
    place = int(np.searchsorted(labels, blank))
    score, alignment = best_alignment(
        np.ascontiguousarray(log_probs),
        place,
        cost.astype(np.int64),
        first.astype(np.int64),
        low,
        high,
        options.bonus,
    )
    return float(score), alignment


def _hypothesis(
    frames: Frames,
    blank: int,
    options: DecodeOptions,
    alignment: npt.NDArray[np.int64],
    score: float,
) -> Hypothesis:
    path = tuple(alignment.tolist())
    words = tuple(label for label, _ in itertools.groupby(path) if label != blank)
    return Hypothesis(
        words=words,
        log_prob=ctc_log_prob(frames, words, blank=blank),
        score=score,
        cost=_cost_of(words, options),
        path=path,
        optimal=True,
        gap=0.0,
    )


def _labels_kept(frames: Frames, blank: int, n_kept: int) -> npt.NDArray[np.int64]:
    n_labels = frames.shape[1]
    if n_kept >= n_labels:
        return np.arange(n_labels)
    top = np.argpartition(frames, n_labels - n_kept, axis=1)[:, -n_kept:]
    return np.union1d(top.ravel(), [blank]).astype(np.int64)


class _StandIns(NamedTuple):
    """``(T, 2 P)`` log-probabilities and ``(2 P,)`` costs of the P pairs of costs left out."""

    log_probs: npt.NDArray[np.float64]
    cost: npt.NDArray[np.int64]
    first_cost: npt.NDArray[np.int64]


def _stand_ins(frames: Frames, labels: npt.NDArray[np.int64], options: DecodeOptions) -> _StandIns:
    """Make labels that are as good as any that were left out.

    Two of each kind, so that one may follow the other as two different labels may.
    """
    is_rest = np.ones(frames.shape[1], dtype=bool)
    is_rest[labels] = False
    rest = np.flatnonzero(is_rest)
    cost = options.unit_cost[rest].astype(np.int64)
    first = options.first_cost[rest].astype(np.int64)
    kind = cost * (1 + first.max()) + first
    if kind.max() < np.iinfo(np.int16).max:
        kind = kind.astype(np.int16)  # sorted by radix
    order = np.argsort(kind, kind="stable")
    starts = np.flatnonzero(np.diff(kind[order], prepend=-1))
    best = np.maximum.reduceat(frames[:, rest[order]], starts, axis=1).astype(np.float64)
    own = order[starts]
    return _StandIns(np.repeat(best, 2, axis=1), np.repeat(cost[own], 2), np.repeat(first[own], 2))


def _by_prefix_beam(frames: Frames, blank: int, options: DecodeOptions) -> list[Hypothesis]:
    """Sum alignments into prefixes, K per cost (Eq. A14)."""
    n_labels = frames.shape[1]
    n_kept = min(options.words_per_vertex or n_labels, n_labels)
    top = np.argpartition(frames, n_labels - n_kept, axis=1)[:, -n_kept:]
    labels = np.union1d(top, [blank])
    cost = options.unit_cost[labels].astype(np.int64)
    first = options.first_cost[labels].astype(np.int64)
    low, high = options.budget.low, most_spent(options.budget.high, len(frames), (cost,), (first,))
    if low > high:
        return []
    check_room(high, len(frames) * options.beam_size)
    scores, log_probs, costs, lengths, strings = prefix_beam(
        frames[:, labels].astype(np.float64),
        int(np.searchsorted(labels, blank)),
        np.searchsorted(labels, np.sort(top, axis=1)),
        cost,
        first,
        low,
        high,
        options.bonus,
        options.beam_size,
    )
    found = [
        Hypothesis(
            words=tuple(labels[strings[i, : lengths[i]]].tolist()),
            log_prob=float(log_probs[i]),
            score=float(scores[i]),
            cost=int(costs[i]),
        )
        for i in range(len(scores))
    ]
    return sorted(found, key=lambda item: (-item.score, item.words))[: options.n_best]


def _cost_of(words: tuple[int, ...], options: DecodeOptions) -> int:
    return int(options.first_cost[words[0]]) + sum(int(options.unit_cost[v]) for v in words[1:])
