"""Compiled prefix search in a sorted word list.

Owns the narrowing of a range of words by further bytes. The list is one block of bytes and the
offsets at which words begin (`sumfit.constraints.lexicon`).
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sumfit.compiled import Int64Array, UInt8Array, njit

__all__ = ["is_word", "narrow", "prefix_ranges"]

_ZERO = cast(int, np.int64(0))  # not a Python constant, for which numba would compile again


@njit(cache=True, nogil=True)
def narrow(
    text: UInt8Array,
    start: Int64Array,
    low: int,
    high: int,
    depth: int,
    piece: UInt8Array,
    begin: int,
    end: int,
) -> tuple[int, int]:
    """Keep, of words ``low..high-1`` that share ``depth`` bytes, those that go on with a piece.

    The piece is ``piece[begin:end]``; the words are sorted, so the answer is a range again.
    """
    for p in range(begin, end):
        byte = piece[p]
        at = depth + p - begin
        # first word whose byte at this place is >= byte; an ended word sorts first
        first, last = low, high
        while first < last:
            middle = (first + last) // 2
            here = start[middle] + at
            if here < start[middle + 1] and text[here] >= byte:
                last = middle
            else:
                first = middle + 1
        low = first
        last = high
        while first < last:
            middle = (first + last) // 2
            here = start[middle] + at
            if here < start[middle + 1] and text[here] > byte:
                last = middle
            else:
                first = middle + 1
        high = first
        if low >= high:
            return low, low
    return low, high


@njit(cache=True, nogil=True)
def is_word(start: Int64Array, low: int, high: int, depth: int) -> bool:
    """Return whether the first word of a prefix range is the prefix itself."""
    return low < high and start[low + 1] - start[low] == depth


@njit(cache=True, nogil=True)
def prefix_ranges(
    text: UInt8Array,
    start: Int64Array,
    pieces: UInt8Array,
    piece_start: Int64Array,
    low: Int64Array,
    high: Int64Array,
) -> None:
    """Fill ``low`` and ``high`` (V,) with the range of words that begin with each piece."""
    n_words = start.shape[0] - 1
    for v in range(piece_start.shape[0] - 1):
        low[v], high[v] = narrow(
            text, start, _ZERO, n_words, _ZERO, pieces, piece_start[v], piece_start[v + 1]
        )
