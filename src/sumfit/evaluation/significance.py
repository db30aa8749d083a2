"""Seeded bootstrap: intervals of a mean, and of the difference of two systems.

All metrics here are means over items, so one matrix of resampling counts serves every metric:
``means = counts @ items / n``, with ``counts`` drawn from a multinomial distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.errors import ConfigError, InputError

__all__ = ["BootstrapOptions", "Interval", "PairedResult", "bootstrap_interval", "paired_bootstrap"]

FloatArray = npt.NDArray[np.float64]

_CELLS_AT_ONCE = 4_000_000  # of the resampling matrix, 32 MB


@dataclass(frozen=True, slots=True)
class BootstrapOptions:
    """How intervals are drawn.

    Attributes:
        n_samples: Resamples of the items.
        confidence: Share of resampled means inside the interval.
        seed: Seed of the random generator; the same seed gives the same interval.
    """

    n_samples: int = 1000
    confidence: float = 0.95
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.n_samples < 1:
            raise ConfigError(f"n_samples must be at least 1, was {self.n_samples}")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"confidence must lie between 0 and 1, was {self.confidence}")


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its bootstrap percentile interval.

    Attributes:
        value: Plain mean over the items, not the mean of the resamples.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedResult:
    """Difference of two systems on the same items.

    Attributes:
        delta: Mean of system minus mean of the other.
        low: Lower end of the interval of the difference.
        high: Upper end.
        p_value: Two-sided bootstrap p-value: twice the share of resampled differences on the
            far side of 0, with one added to numerator and denominator.
        n: Items.
    """

    delta: float
    low: float
    high: float
    p_value: float
    n: int

    @property
    def is_significant(self) -> bool:
        """The interval leaves out 0."""
        return self.low > 0 or self.high < 0


def bootstrap_interval(
    items: npt.ArrayLike, options: BootstrapOptions | None = None
) -> tuple[Interval, ...]:
    """Compute the mean of each column and its percentile interval.

    Time O(n_samples · n · columns), vectorised.

    Args:
        items: ``(n, columns)`` score of each item under each metric.
        options: Resampling options.

    Returns:
        One interval per column; all columns share the same resamples.

    Raises:
        InputError: If there are no items or a score is not finite.
    """
    options = options or BootstrapOptions()
    scores = _as_items(items)
    means = _resampled_means(scores, options)
    low, high = _percentiles(means, options.confidence)
    centre = scores.mean(axis=0)
    return tuple(
        Interval(float(c), float(a), float(b)) for c, a, b in zip(centre, low, high, strict=True)
    )


def paired_bootstrap(
    items: npt.ArrayLike, other_items: npt.ArrayLike, options: BootstrapOptions | None = None
) -> tuple[PairedResult, ...]:
    """Test each metric's difference between two systems on the same items.

    Args:
        items: ``(n, columns)`` scores of the system.
        other_items: ``(n, columns)`` scores of the other system, in the same item order.
        options: Resampling options.

    Returns:
        One result per column.

    Raises:
        InputError: If the shapes differ, there are no items, or a score is not finite.
    """
    options = options or BootstrapOptions()
    ours, theirs = _as_items(items), _as_items(other_items)
    if ours.shape != theirs.shape:
        raise InputError(
            f"paired scores must have one shape, were {ours.shape} and {theirs.shape}; "
            "score both systems on the same items"
        )
    difference = ours - theirs
    means = _resampled_means(difference, options)
    low, high = _percentiles(means, options.confidence)
    n_samples = means.shape[0]
    results = []
    for column in range(difference.shape[1]):
        tail = min(int((means[:, column] <= 0).sum()), int((means[:, column] >= 0).sum()))
        results.append(
            PairedResult(
                delta=float(difference[:, column].mean()),
                low=float(low[column]),
                high=float(high[column]),
                p_value=min(1.0, 2 * (tail + 1) / (n_samples + 1)),
                n=difference.shape[0],
            )
        )
    return tuple(results)


def _as_items(items: npt.ArrayLike) -> FloatArray:
    scores = np.asarray(items, dtype=np.float64)
    if scores.ndim == 1:
        scores = scores[:, None]
    if scores.ndim != 2 or scores.shape[0] == 0:
        raise InputError(f"scores must be (n, metrics) with n at least 1, were {scores.shape}")
    bad = np.argwhere(~np.isfinite(scores))
    if bad.size:
        row, column = (int(i) for i in bad[0])
        raise InputError(
            f"score of item {row + 1}, metric {column + 1} is {scores[row, column]}; "
            "scores must be finite"
        )
    return scores


def _chunks(n_items: int, options: BootstrapOptions) -> Iterator[npt.NDArray[np.int64]]:
    generator = np.random.default_rng(options.seed)
    step = max(1, _CELLS_AT_ONCE // n_items)
    share = np.full(n_items, 1.0 / n_items)
    for start in range(0, options.n_samples, step):
        size = min(step, options.n_samples - start)
        yield generator.multinomial(n_items, share, size=size)


def _resampled_means(scores: FloatArray, options: BootstrapOptions) -> FloatArray:
    n_items = scores.shape[0]
    parts = [counts @ scores / n_items for counts in _chunks(n_items, options)]
    return np.concatenate(parts)


def _percentiles(means: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(means, [tail, 100 - tail], axis=0)
    return low, high
