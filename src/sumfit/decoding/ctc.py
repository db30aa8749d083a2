"""Length-controlled decoding of CTC outputs, for the CTC baseline.

Owns `ctc_decode` on a ``(T, V)`` array of frame log-probabilities: the best *alignment* under a
budget, exactly (Eq. A13), and a prefix beam that sums the alignments of each string (Eq. A14).
A string is read off an alignment by merging repeated neighbours and dropping blanks. The graph
decoders are not involved.
"""

from __future__ import annotations

import heapq
import itertools

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels.ctc import best_alignment, string_log_prob
from sumfit.decoding.options import DecodeOptions
from sumfit.errors import BudgetError, ConfigError, GraphError, InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest
from sumfit.length import LengthBudget

__all__ = ["CTC_METHODS", "ctc_decode", "ctc_log_prob"]

CTC_METHODS = ("alignment", "prefix-beam")
"""Ways to decode: the best single alignment, or strings summed over their alignments."""

_TOLERANCE = 1e-3  # how far above 1 a frame's probabilities may sum (float32 softmax noise)
_Prefixes = dict[tuple[int, ...], tuple[float, float]]


def ctc_decode(
    log_probs: npt.ArrayLike,
    *,
    blank: int,
    unit_cost: npt.ArrayLike,
    budget: LengthBudget,
    first_cost: npt.ArrayLike | None = None,
    method: str = "alignment",
    bonus: float = 0.0,
    beam_size: int = 20,
    labels_per_frame: int | None = None,
    n_best: int = 1,
) -> NBest:
    """Find strings of a CTC output whose total cost lies in the budget.

    ``"alignment"`` maximises the probability of one alignment, exactly: time O(T · C · V), memory
    O(T · C · V) bytes. ``"prefix-beam"`` keeps K prefixes per cost, each with the sum of its
    alignments: time O(T · C · K · M). The empty string is no result.

    Args:
        log_probs: ``(T, V)`` natural-log label probabilities of each frame.
        blank: Label that emits nothing.
        unit_cost: ``(V,)`` cost of each label; the blank's is not read.
        budget: Allowed totals.
        first_cost: ``(V,)`` cost of each label as the first; ``None`` for ``unit_cost``.
        method: One of `CTC_METHODS`.
        bonus: Score added per label emitted, nats.
        beam_size: ``K`` of the prefix beam.
        labels_per_frame: ``M``: use only labels among the M best of some frame (alignment) or of
            this frame (prefix beam); ``None`` for all.
        n_best: Most strings of the prefix beam; the alignment gives one.

    Returns:
        Hypotheses, best first: ``log_prob`` is the exact sum over alignments, ``path`` the labels
        of the best alignment for ``"alignment"``; ``optimal`` there if no better alignment exists.

    Raises:
        GraphError: If ``log_probs`` is not an array of log-probabilities or ``blank`` is no label.
        BudgetError: If there is not one cost per label.
        ConfigError: If the method is unknown.
        InfeasibleBudgetError: If no string meets the budget.
    """
    frames = _checked_frames(log_probs, blank)
    options = DecodeOptions(
        unit_cost=unit_cost,  # type: ignore[arg-type]
        budget=budget,
        first_cost=first_cost,  # type: ignore[arg-type]
        bonus=bonus,
        beam_size=beam_size,
        words_per_vertex=labels_per_frame,
        n_best=n_best,
    )
    if options.unit_cost.shape != (frames.shape[1],):
        raise BudgetError(
            f"unit_cost must be (V,) = ({frames.shape[1]},), was {options.unit_cost.shape}; "
            "give one cost per label"
        )
    if method == "alignment":
        found = _by_alignment(frames, blank, options)
    elif method == "prefix-beam":
        found = _by_prefix_beam(frames, blank, options)
    else:
        raise ConfigError(f"method must be one of {', '.join(CTC_METHODS)}, was {method!r}")
    if not found:
        raise InfeasibleBudgetError(
            f"no string of {frames.shape[0]} frames costs {budget.low} to {budget.high}; "
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
    frames = np.ascontiguousarray(log_probs, dtype=np.float64)
    return float(string_log_prob(frames, blank, np.asarray(words, dtype=np.int64)))


def _checked_frames(log_probs: npt.ArrayLike, blank: int) -> npt.NDArray[np.float64]:
    frames = np.ascontiguousarray(log_probs, dtype=np.float64)
    if frames.ndim != 2 or 0 in frames.shape:
        raise GraphError(f"log_probs must be (T, V) with T and V above 0, was {frames.shape}")
    if np.isnan(frames).any():
        raise GraphError("log_probs holds NaN; give natural logs")
    total = float(np.exp(np.logaddexp.reduce(frames, axis=1)).max())
    if total > 1 + _TOLERANCE:
        raise GraphError(
            f"a frame of log_probs sums to {total:.4g} as probabilities, more than 1; "
            "normalise it first"
        )
    if not 0 <= blank < frames.shape[1]:
        raise GraphError(f"blank must be a label 0..{frames.shape[1] - 1}, was {blank}")
    return frames


def _by_alignment(
    frames: npt.NDArray[np.float64], blank: int, options: DecodeOptions
) -> list[Hypothesis]:
    labels = _labels_kept(frames, blank, options.words_per_vertex)
    kept = np.ascontiguousarray(frames[:, labels])
    cost = options.unit_cost[labels].astype(np.int64)
    first = options.first_cost[labels].astype(np.int64)
    most = int(max(cost.max(), first.max())) * frames.shape[0]
    low, high = options.budget.low, min(options.budget.high, most)
    if low > high:
        return []
    score, alignment = best_alignment(
        kept, int(np.searchsorted(labels, blank)), cost, first, low, high, options.bonus
    )
    if score == -np.inf:
        return []
    path = tuple(labels[alignment].tolist())
    words = tuple(label for label, _ in itertools.groupby(path) if label != blank)
    is_optimal = labels.size == frames.shape[1]
    return [
        Hypothesis(
            words=words,
            log_prob=ctc_log_prob(frames, words, blank=blank),
            score=float(score),
            cost=_cost_of(words, options),
            path=path,
            optimal=is_optimal,
            gap=0.0 if is_optimal else float("inf"),
        )
    ]


def _labels_kept(
    frames: npt.NDArray[np.float64], blank: int, n_kept: int | None
) -> npt.NDArray[np.int64]:
    n_labels = frames.shape[1]
    if n_kept is None or n_kept >= n_labels:
        return np.arange(n_labels)
    top = np.argpartition(frames, n_labels - n_kept, axis=1)[:, -n_kept:]
    return np.union1d(top.ravel(), [blank]).astype(np.int64)


def _by_prefix_beam(
    frames: npt.NDArray[np.float64], blank: int, options: DecodeOptions
) -> list[Hypothesis]:
    """Sum alignments into prefixes, K per cost (Eq. A14): mass by "ends in blank" or "in label"."""
    beams: dict[int, _Prefixes] = {0: {(): (0.0, -np.inf)}}
    for frame in frames:
        labels = [v for v in _best_labels(frame, options.words_per_vertex) if v != blank]
        grown: dict[int, _Prefixes] = {}
        for spent, prefixes in beams.items():
            for words, (in_blank, in_label) in prefixes.items():
                whole = np.logaddexp(in_blank, in_label)
                stay = in_label + frame[words[-1]] if words else -np.inf
                _add(grown, spent, words, whole + frame[blank], stay)
                for v in labels:
                    total = spent + int((options.unit_cost if words else options.first_cost)[v])
                    before = in_blank if words and words[-1] == v else whole
                    if total <= options.budget.high:
                        _add(grown, total, (*words, v), -np.inf, before + frame[v])
        beams = {spent: _best_prefixes(prefixes, options) for spent, prefixes in grown.items()}
    found = []
    for spent, prefixes in beams.items():
        for words in prefixes:
            if words and spent >= options.budget.low:
                log_prob = ctc_log_prob(frames, words, blank=blank)
                score = log_prob + options.bonus * len(words)
                found.append(Hypothesis(words, log_prob, score, spent))
    found = [item for item in found if item.log_prob > -np.inf]
    return sorted(found, key=lambda item: (-item.score, item.words))[: options.n_best]


def _best_labels(frame: npt.NDArray[np.float64], n_kept: int | None) -> list[int]:
    chosen = np.arange(frame.size)
    if n_kept is not None and n_kept < frame.size:
        chosen = np.argpartition(frame, frame.size - n_kept)[-n_kept:]
    return [v for v in chosen.tolist() if frame[v] > -np.inf]


def _add(
    grown: dict[int, _Prefixes],
    spent: int,
    words: tuple[int, ...],
    in_blank: float,
    in_label: float,
) -> None:
    prefixes = grown.setdefault(spent, {})
    old_blank, old_label = prefixes.get(words, (-np.inf, -np.inf))
    prefixes[words] = (
        float(np.logaddexp(old_blank, in_blank)),
        float(np.logaddexp(old_label, in_label)),
    )


def _best_prefixes(prefixes: _Prefixes, options: DecodeOptions) -> _Prefixes:
    def rank(item: tuple[tuple[int, ...], tuple[float, float]]) -> tuple[float, tuple[int, ...]]:
        words, mass = item
        return (-float(np.logaddexp(*mass)) - options.bonus * len(words), words)

    return dict(heapq.nsmallest(options.beam_size, prefixes.items(), key=rank))


def _cost_of(words: tuple[int, ...], options: DecodeOptions) -> int:
    return int(options.first_cost[words[0]]) + sum(int(options.unit_cost[v]) for v in words[1:])
