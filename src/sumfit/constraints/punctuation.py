"""Which marks may stand next to each other, and which writing systems pieces are in.

Owns the table of neighbours that the constraints keep to, and how a source widens it: what
touches in the source (``std::vector``, ``word ,``) may touch in its summary.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import regex

from sumfit.text.scripts import scripts_of

__all__ = ["Punctuation", "script_mask"]

_WORDY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_APART = (  # a character of the first string never touches one of the second
    (":;,!?)]}", _WORDY),
    (":;,!", ":;,."),
    ("?", ":;,."),
    (".", "."),
    ('"', '"'),
    (" ", ":;,.!?)]}"),
    ("([{", " :;,.!?"),
)
_BEHIND_A_SPACE = (  # a character of the first never stands before " " and one of the second
    (",;:-", ",;:.!?"),
    *((mark, mark) for mark in "-#*_=~|/+&<>@`"),
)
_QUESTION = ("?", "？", "؟")
_SPACED = regex.compile(r"(?<=\S) [,.](?:\s|$)")  # tokenised text
_MARKS_WITH_SPACES = (" ", ":;,.!?)]}"), ("([{", " ")
_BITS: dict[str, int] = {}


class Punctuation:
    """Which characters may touch, for the pieces of one tokenizer."""

    def __init__(self, texts: Sequence[str], symbols: Sequence[int]) -> None:
        """Find the pieces that hold a pair which should not touch.

        Args:
            texts: ``V`` texts of the pieces, without leading space.
            symbols: Ids of the pieces that are symbols.
        """
        self._follows = np.ones((128, 128), dtype=np.bool_)
        _set(self._follows, _APART, False)
        self._apart = np.ones((128, 128), dtype=np.bool_)
        _set(self._apart, _BEHIND_A_SPACE, False)
        self._questions = [v for v in symbols if any(mark in texts[v] for mark in _QUESTION)]
        self._odd = {v: texts[v] for v in symbols if self._is_odd(texts[v])}
        self._is_odd_piece = np.zeros(len(texts), dtype=np.bool_)
        self._is_odd_piece[list(self._odd)] = True

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """``(128, 128)`` flags: by the character before a space and the one behind it."""
        return self._apart

    def follows(self, source: str) -> npt.NDArray[np.bool_]:
        """Tell which ASCII characters may follow which in a summary of a source.

        Args:
            source: The source.

        Returns:
            ``(128, 128)`` flags by the first character, then the second. A colon or comma
            between two digits is for the caller to allow.
        """
        table = self._follows.copy()
        data = np.frombuffer(b" " + source.encode("utf-8", "replace") + b" ", dtype=np.uint8)
        first, second = data[:-1], data[1:]
        is_digit = (data >= ord("0")) & (data <= ord("9"))
        between = np.zeros(first.size, dtype=np.bool_)
        between[1:] = is_digit[:-2] & is_digit[2:]
        kept = (first < 128) & (second < 128) & ~between
        table[first[kept], second[kept]] = True
        if _SPACED.search(source):
            _set(table, _MARKS_WITH_SPACES, True)
        return table

    def odd_pieces(self, source: str) -> npt.NDArray[np.bool_]:
        """Tell which pieces are a heap of marks, or ask, where the source does not.

        Args:
            source: The source.

        Returns:
            ``(V,)`` flags.
        """
        flags = self._is_odd_piece.copy()
        for v, text in self._odd.items():
            if text in source:
                flags[v] = False
        if not any(mark in source for mark in _QUESTION):
            flags[self._questions] = True
        return flags

    def _is_odd(self, text: str) -> bool:
        if not text.strip("."):
            return len(text) == 2
        codes = [ord(character) for character in text]
        return any(
            a < 128 and b < 128 and not self._follows[a, b] for a, b in itertools.pairwise(codes)
        )


def script_mask(text: str) -> int:
    """Give the writing systems of a text as bits.

    Args:
        text: Any string.

    Returns:
        One bit per script, the same in every call of one process; 0 without letters.
    """
    mask = 0
    for script in scripts_of(text):
        mask |= 1 << min(_BITS.setdefault(script, len(_BITS)), 62)
    return mask


def _set(table: npt.NDArray[np.bool_], pairs: Sequence[tuple[str, str]], value: bool) -> None:
    for first, second in pairs:
        table[np.ix_([ord(c) for c in first], [ord(c) for c in second])] = value
