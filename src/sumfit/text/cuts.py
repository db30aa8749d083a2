"""Cutting a text between words.

Owns where a cut may be and what goes with it. Does not own what fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["longest_head"]

_LOOSE_END = " ,;:-–—(["


def longest_head(words: Sequence[str], fits: Callable[[str], bool]) -> str:
    """Find the longest run of first words that fits; loose commas and dashes at its end go.

    Args:
        words: The words.
        fits: Whether a text fits; what is longer than one that does not fit does not either.

    Returns:
        The words joined by spaces; empty if not even the first one fits.
    """
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_head(words, middle)):
            low = middle
        else:
            high = middle - 1
    return _head(words, low)


def _head(words: Sequence[str], n_words: int) -> str:
    return " ".join(words[:n_words]).rstrip(_LOOSE_END)
