"""What each vocabulary piece costs in each unit.

Owns `UnitCosts`, `unit_costs` and `longest_pieces`. Decoders add these costs up; whoever returns a
string measures it again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sumfit.length.sms import GSM7
from sumfit.length.tweet import weight_of_character
from sumfit.length.units import UNITS, Unit, UnitLike, counted, get_unit

__all__ = ["FORBIDDEN", "PieceTable", "UnitCosts", "longest_pieces", "unit_costs"]

FORBIDDEN = 2**31 - 1
"""Cost of a piece that no limit can pay for, such as one outside the SMS alphabet."""

IntArray = npt.NDArray[np.int32]


class PieceTable(Protocol):
    """What `unit_costs` needs of a tokenizer."""

    @property
    def piece_bytes(self) -> tuple[bytes, ...]:
        """``(V,)`` bytes of each piece; empty for special ids."""
        ...


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """Cost of every vocabulary piece in one unit.

    Attributes:
        cost: ``(V,)`` int32, cost of a piece after others; 0 for special ids.
        first_cost: ``(V,)`` int32, cost of a piece that opens the text: its leading space is
            free, and it opens a word whether or not it has one.
        exact: ``True``: the sum is the measured length of every text that is in normal form.
            ``False``: it is usually the length, but may differ (see `unit_costs`); measure the
            string, and try the next one if it does not fit.
    """

    cost: IntArray
    first_cost: IntArray
    exact: bool


_cache: weakref.WeakKeyDictionary[PieceTable, dict[Unit, UnitCosts]] = weakref.WeakKeyDictionary()


def unit_costs(tokenizer: PieceTable, unit: UnitLike) -> UnitCosts:
    """Costs of all pieces in a unit; computed once for each tokenizer and unit.

    The sum over the pieces of a text in normal form (NFC, single spaces) is, for

    - ``words``, ``chars``, ``bytes``, ``utf16``: the length, exactly;
    - ``tokens``: the number of pieces, which is the length unless the decoder spelled the text
      otherwise than the tokenizer does;
    - ``cells``: the length, or more if a character came in separate bytes;
    - ``graphemes``: the code points, never fewer than the clusters;
    - ``mastodon``: the code points, never fewer than the length, links of less than 23 apart;
    - ``tweet``: never less than the weight, links without a scheme apart;
    - ``sms``: the septets, where a piece outside the GSM 7-bit alphabet costs `FORBIDDEN`, since
      it would more than double the cost of all others;
    - a function: the sum of its values (or of its `Unit.bound`) over the pieces' strings.

    Args:
        tokenizer: Whose pieces; kept weakly in the cache.
        unit: Name, `Unit`, or function.

    Returns:
        The costs; do not write to them.

    Raises:
        UnknownUnitError: If there is no such unit.
        BudgetError: If a function raises, or returns something other than a whole number of at
            least 0.
    """
    unit = get_unit(unit)
    by_unit = _cache.setdefault(tokenizer, {})
    if unit not in by_unit:
        costs = _compute(tokenizer.piece_bytes, unit)
        costs.cost.setflags(write=False)
        costs.first_cost.setflags(write=False)
        by_unit[unit] = costs
    return by_unit[unit]


def longest_pieces(tokenizer: PieceTable, n: int) -> npt.NDArray[np.int64]:
    """Find the pieces of most characters, leading space included.

    Args:
        tokenizer: Whose pieces.
        n: How many; all pieces if there are fewer.

    Returns:
        ``(n,)`` ids, the longest first, equally long ones in the order of the vocabulary.
    """
    cost = unit_costs(tokenizer, "chars").cost
    order = np.argsort(-cost, kind="stable")[:n]
    return order[cost[order] > 0].astype(np.int64)


class _Pieces:
    """The vocabulary as one byte array, so that counting needs no loop over pieces."""

    def __init__(self, pieces: tuple[bytes, ...]) -> None:
        self.pieces = pieces
        self.data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
        self.ends = np.cumsum([len(piece) for piece in pieces])
        self.starts = self.ends - [len(piece) for piece in pieces]
        self.is_real = self.ends > self.starts
        self.has_space = np.zeros(len(pieces), dtype=bool)
        self.has_space[self.is_real] = self.data[self.starts[self.is_real]] == 0x20

    def total(self, per_byte: npt.NDArray[np.generic]) -> IntArray:
        """``(V,)`` sum of a value of each byte over each piece."""
        running = np.concatenate(([0], np.cumsum(per_byte, dtype=np.int64)))
        total = np.minimum(running[self.ends] - running[self.starts], FORBIDDEN)
        return total.astype(np.int32)  # type: ignore[no-any-return]


def _compute(piece_bytes: tuple[bytes, ...], unit: Unit) -> UnitCosts:
    pieces = _Pieces(piece_bytes)
    if UNITS.get(unit.name) is not unit:
        return _costs_of_function(pieces, unit)
    if unit.name == "tokens":
        ones = pieces.is_real.astype(np.int32)
        return UnitCosts(ones, ones.copy(), exact=False)
    if unit.name == "words":
        return UnitCosts(
            pieces.has_space.astype(np.int32), pieces.is_real.astype(np.int32), exact=True
        )
    # The first byte of a character stands for all of it; continuation bytes cost nothing.
    per_lead = _COST_OF_LEAD[unit.name]
    cost = pieces.total(per_lead[pieces.data])
    refine = _COST_OF_CHARACTER.get(unit.name)
    if refine is not None:
        _refine(cost, pieces, refine)
    first_cost = np.where(cost < FORBIDDEN, cost - pieces.has_space, cost).astype(np.int32)
    return UnitCosts(cost, first_cost, exact=unit.name in _EXACT)


def _refine(cost: IntArray, pieces: _Pieces, of_character: Callable[[str], int]) -> None:
    """Replace the costs of pieces that hold a character outside ASCII."""
    for i in np.flatnonzero(pieces.total(pieces.data >= 0x80)):
        piece = pieces.pieces[i]
        text = piece.decode("utf-8", "ignore")
        n_whole = len(text.encode("utf-8"))
        if n_whole == len(piece):
            cost[i] = min(sum(map(of_character, text)), FORBIDDEN)


def _costs_of_function(pieces: _Pieces, unit: Unit) -> UnitCosts:
    function = unit.bound or unit.count
    assert function is not None
    texts = [piece.decode("utf-8", "replace") for piece in pieces.pieces]

    def cost_of(text: str) -> int:
        return min(counted(unit, function, text), FORBIDDEN) if text else 0

    cost = np.array([cost_of(text) for text in texts], dtype=np.int32)
    first_cost = cost.copy()
    for i in np.flatnonzero(pieces.has_space):
        first_cost[i] = cost_of(texts[i][1:])
    return UnitCosts(cost, first_cost, exact=False)


def _lead_table(*, two: int, three: int, four: int, ascii_cost: int = 1) -> IntArray:
    """``(256,)`` cost of a character by its first byte."""
    table = np.zeros(256, dtype=np.int32)
    table[:0x80] = ascii_cost
    table[0xC2:0xE0], table[0xE0:0xF0], table[0xF0:] = two, three, four
    return table


def _sms_table() -> IntArray:
    table = _lead_table(two=FORBIDDEN, three=FORBIDDEN, four=FORBIDDEN)
    for byte in range(0x80):
        table[byte] = GSM7.get(chr(byte), FORBIDDEN)
    return table


_EXACT = frozenset({"chars", "bytes", "utf16"})
_COST_OF_LEAD = {
    "chars": _lead_table(two=1, three=1, four=1),
    "graphemes": _lead_table(two=1, three=1, four=1),
    "mastodon": _lead_table(two=1, three=1, four=1),
    "bytes": np.ones(256, dtype=np.int32),
    "utf16": _lead_table(two=1, three=1, four=2),
    "cells": _lead_table(two=1, three=2, four=2),
    "tweet": _lead_table(two=1, three=2, four=2),
    "sms": _sms_table(),
}
_COST_OF_CHARACTER: dict[str, Callable[[str], int]] = {
    "cells": UNITS["cells"].count or len,
    "tweet": weight_of_character,
    "sms": lambda character: GSM7.get(character, FORBIDDEN),
}
