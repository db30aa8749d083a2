"""Denoising pairs for pretraining: spans are taken out of a text, the graph rebuilds them.

Owns the corruption, vectorised over a batch. The source keeps one mask in place of each span; the
target is the text of the spans, in order. The number of pieces removed depends on the length
alone, so the cost of a batch is known before it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.errors import ConfigError

__all__ = ["DenoiseOptions", "denoise", "n_removed"]

_MASK = 3  # Tokenizer.MASK
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DenoiseOptions:
    """How a text is corrupted.

    Attributes:
        rate: Share of the pieces removed.
        mean_span: Average pieces of a span.
        max_target: Most pieces removed.
    """

    rate: float = 0.25
    mean_span: float = 6.0
    max_target: int = 28

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise ConfigError(f"rate must be above 0 and below 1, was {self.rate}")
        if self.mean_span < 1 or self.max_target < 1:
            raise ConfigError("mean_span and max_target must be at least 1")


def n_removed(n_source: IntArray, options: DenoiseOptions) -> IntArray:
    """Say how many pieces are removed from texts.

    Args:
        n_source: Pieces of each text.
        options: How texts are corrupted.

    Returns:
        At least 1, at most all but one, same shape; 0 for a text of one piece or none.
    """
    wanted = np.clip(np.rint(options.rate * n_source).astype(np.int64), 1, options.max_target)
    removed: IntArray = np.maximum(np.minimum(wanted, n_source - 1), 0)
    return removed


def denoise(
    source_ids: IntArray, n_source: IntArray, options: DenoiseOptions, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Remove random spans.

    Args:
        source_ids: ``(B, T)``, pad 0.
        n_source: ``(B,)`` real pieces.
        options: How texts are corrupted.
        rng: Randomness.

    Returns:
        ``(B, T')`` sources with a mask for each span and ``(B, U)`` removed pieces, both pad 0.
    """
    n_noise = n_removed(n_source, options)
    n_kept = n_source - n_noise
    n_spans = np.rint(n_noise / options.mean_span).astype(np.int64)
    n_spans = np.minimum(np.maximum(n_spans, np.minimum(n_noise, 1)), n_kept)
    noise = _segments(n_noise, n_spans, rng)
    kept = _segments(n_kept, np.minimum(n_spans + 1, n_kept), rng)
    n_columns = max(noise.shape[1], kept.shape[1])
    noise = np.pad(noise, ((0, 0), (0, n_columns - noise.shape[1])))
    kept = np.pad(kept, ((0, 0), (0, n_columns - kept.shape[1])))
    # kept, noise, kept, noise ...: an odd segment is a removed span.
    lengths = np.stack([kept, noise], axis=2).reshape(len(n_source), -1)
    ends = np.cumsum(lengths, axis=1)
    position = np.arange(source_ids.shape[1])
    segment = (position[None, :, None] >= ends[:, None, :]).sum(axis=2)
    real = position < n_source[:, None]
    is_noise = (segment % 2 == 1) & real
    follows_noise = np.pad(is_noise[:, :-1], ((0, 0), (1, 0)))
    corrupted = np.where(is_noise, _MASK, source_ids)
    return (
        _compact(corrupted, real & ~(is_noise & follows_noise)),
        _compact(source_ids, is_noise),
    )


def _segments(n_items: IntArray, n_parts: IntArray, rng: np.random.Generator) -> IntArray:
    """Split each ``n_items`` into ``n_parts`` random lengths of at least 1; ``(B, P)``, pad 0."""
    n_rows = n_items.shape[0]
    n_columns = max(1, int(n_items.max()))
    column = np.arange(n_columns)
    keys = rng.random((n_rows, n_columns))
    keys[(column == 0) | (column >= n_items[:, None])] = 2.0  # never a cut
    rank = keys.argsort(axis=1).argsort(axis=1)
    is_cut = rank < (n_parts - 1)[:, None]
    part = np.cumsum(is_cut, axis=1)
    lengths = np.zeros((n_rows, max(1, int(n_parts.max()))), dtype=np.int64)
    rows, columns = np.nonzero(column < n_items[:, None])
    np.add.at(lengths, (rows, part[rows, columns]), 1)
    return lengths


def _compact(ids: IntArray, keep: npt.NDArray[np.bool_]) -> IntArray:
    """Move the kept ids of each row to the left; ``(B, most kept)``, pad 0."""
    counts = keep.sum(axis=1)
    out = np.zeros((ids.shape[0], max(1, int(counts.max()))), dtype=np.int64)
    rows, columns = np.nonzero(keep)
    out[rows, (np.cumsum(keep, axis=1) - 1)[rows, columns]] = ids[rows, columns]
    return out
