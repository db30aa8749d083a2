"""Rows of different lengths, end to end in one flat array.

Owns how rows become a padded array, without a loop over them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["gather_rows"]

IntArray = npt.NDArray[np.int64]


def gather_rows(
    flat: npt.NDArray[Any], starts: IntArray, lengths: IntArray, *, multiple: int = 1, pad: int = 0
) -> IntArray:
    """Gather rows of a flat array as one padded array.

    Args:
        flat: All rows, end to end.
        starts: ``(B,)`` where each row begins.
        lengths: ``(B,)`` how long it is.
        multiple: The width is padded to a multiple of this; it is never 0.
        pad: What comes after the end of a row.

    Returns:
        ``(B, U)`` int64.
    """
    width = -(-int(lengths.max(initial=1)) // multiple) * multiple
    column = np.arange(width)
    is_real = column < lengths[:, None]
    places = np.where(is_real, starts[:, None] + column, 0)
    return np.where(is_real, np.asarray(flat)[places], pad).astype(np.int64)
