"""Ways in which vocabulary pieces cost: by byte, by character, by word, by piece.

Owns the arithmetic over a whole vocabulary. Does not own which unit costs in which way
(`sumfit.length.units`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    "FORBIDDEN",
    "IntArray",
    "PerByte",
    "PerCharacter",
    "PerPiece",
    "PerWord",
    "PieceCost",
    "Pieces",
]

FORBIDDEN = 2**31 - 1
"""Cost of a piece that no limit can pay for, such as one outside the SMS alphabet."""

IntArray = npt.NDArray[np.int32]
_SPACE = 0x20


class Pieces:
    """The vocabulary as one byte array, so that counting needs no loop over pieces."""

    def __init__(self, pieces: tuple[bytes, ...]) -> None:
        self.pieces = pieces
        self.data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
        self.ends = np.cumsum([len(piece) for piece in pieces])
        self.starts = self.ends - [len(piece) for piece in pieces]
        self.is_real = self.ends > self.starts
        self.has_space = np.zeros(len(pieces), dtype=bool)
        self.has_space[self.is_real] = self.data[self.starts[self.is_real]] == _SPACE

    def total(self, per_byte: npt.NDArray[np.generic]) -> IntArray:
        """Sum a value of each byte over each piece.

        Args:
            per_byte: A value of each byte of `data`.

        Returns:
            ``(V,)`` sums, at most `FORBIDDEN`.
        """
        running = np.concatenate(([0], np.cumsum(per_byte, dtype=np.int64)))
        total = np.minimum(running[self.ends] - running[self.starts], FORBIDDEN)
        return total.astype(np.int32)  # type: ignore[no-any-return]

    def without_space(self, cost: IntArray, space_cost: int) -> IntArray:
        """Take the leading space out of what pieces cost.

        Args:
            cost: ``(V,)`` with it.
            space_cost: What the space costs.

        Returns:
            ``(V,)`` without it; what is forbidden stays so.
        """
        opened = np.where(cost < FORBIDDEN, cost - space_cost * self.has_space, cost)
        return opened.astype(np.int32)


class PieceCost(Protocol):
    """A rule for what a piece costs."""

    def of(self, pieces: Pieces, space_cost: int) -> tuple[IntArray, IntArray]:
        """Compute the cost of every piece.

        Args:
            pieces: The vocabulary.
            space_cost: What the space before a word costs.

        Returns:
            ``(V,)`` costs after other pieces, and ``(V,)`` costs at the beginning of a text.
        """
        ...


@dataclass(frozen=True, slots=True)
class PerPiece:
    """Every piece costs 1."""

    def of(self, pieces: Pieces, space_cost: int) -> tuple[IntArray, IntArray]:
        """See `PieceCost.of`."""
        ones = pieces.is_real.astype(np.int32)
        return ones, ones.copy()


@dataclass(frozen=True, slots=True)
class PerWord:
    """A piece that opens a word costs 1."""

    def of(self, pieces: Pieces, space_cost: int) -> tuple[IntArray, IntArray]:
        """See `PieceCost.of`."""
        return pieces.has_space.astype(np.int32), pieces.is_real.astype(np.int32)


@dataclass(frozen=True, slots=True)
class PerByte:
    """A character costs by the number of its bytes in UTF-8.

    Attributes:
        one: Cost of a character of one byte, ASCII.
        two: Of two.
        three: Of three.
        four: Of four.
        inner: Cost of each further byte beside.
    """

    one: int = 1
    two: int = 1
    three: int = 1
    four: int = 1
    inner: int = 0

    def of(self, pieces: Pieces, space_cost: int) -> tuple[IntArray, IntArray]:
        """See `PieceCost.of`."""
        table = np.full(256, self.inner, dtype=np.int32)
        table[:0x80] = self.one
        table[0xC2:0xE0], table[0xE0:0xF0], table[0xF0:] = self.two, self.three, self.four
        table[_SPACE] = space_cost
        cost = pieces.total(table[pieces.data])
        return cost, pieces.without_space(cost, space_cost)


@dataclass(frozen=True, slots=True)
class PerCharacter:
    """A character costs what a function says.

    Attributes:
        function: From a character to its cost.
        two: Cost of a character of two bytes of which a piece holds only a part.
        three: Of three bytes.
        four: Of four bytes.
    """

    function: Callable[[str], int]
    two: int = 1
    three: int = 1
    four: int = 1

    def of(self, pieces: Pieces, space_cost: int) -> tuple[IntArray, IntArray]:
        """See `PieceCost.of`."""
        table = np.zeros(256, dtype=np.int32)
        table[:0x80] = [self.function(chr(point)) for point in range(0x80)]
        table[0xC2:0xE0], table[0xE0:0xF0], table[0xF0:] = self.two, self.three, self.four
        table[_SPACE] = space_cost
        cost = pieces.total(table[pieces.data])
        for i in np.flatnonzero(pieces.total(pieces.data >= 0x80)):
            piece = pieces.pieces[i]
            text = piece.decode("utf-8", "ignore")
            if len(text.encode("utf-8")) == len(piece):
                total = sum(space_cost if c == " " else self.function(c) for c in text)
                cost[i] = min(total, FORBIDDEN)
        return cost, pieces.without_space(cost, space_cost)
