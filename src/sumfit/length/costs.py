"""What each vocabulary piece costs in each unit.

Owns `UnitCosts`, `unit_costs` and `longest_pieces`. Decoders add these costs up; whoever returns a
string measures it again.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sumfit.deadline import Check
from sumfit.length.pieces import FORBIDDEN, IntArray, Pieces
from sumfit.length.unit import Additive, Unit, UnitLike, counted
from sumfit.length.units import get_unit

__all__ = ["FORBIDDEN", "PieceTable", "UnitCosts", "longest_pieces", "unit_costs"]


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
# What a caller's function said of pieces so far: a slow one may need several calls to measure all.
_measured: weakref.WeakKeyDictionary[PieceTable, dict[Unit, dict[str, int]]] = (
    weakref.WeakKeyDictionary()
)


def unit_costs(tokenizer: PieceTable, unit: UnitLike, check: Check | None = None) -> UnitCosts:
    """Costs of all pieces in a unit; computed once for each tokenizer and unit.

    The sum over the pieces of a text in normal form (NFC, single spaces) is the length, or above
    it, or near it, as the module of each unit says; of a function it is the sum of its values (or
    of its `Unit.bound`) over the pieces' strings.

    Args:
        tokenizer: Whose pieces; kept weakly in the cache.
        unit: Name, `Unit`, or function.
        check: Called before each string that a caller's function measures, to give up; another
            call goes on from there.

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
        pieces = Pieces(tokenizer.piece_bytes)
        if unit.cost is None:
            known = _measured.setdefault(tokenizer, {}).setdefault(unit, {})
            costs = _costs_of_function(pieces, unit, known, check)
            _measured[tokenizer].pop(unit, None)  # another thread may have done so
        else:
            cost, first_cost = unit.cost.of(pieces, unit.space_cost)
            costs = UnitCosts(cost, first_cost, exact=unit.additive is Additive.ALWAYS)
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


def _costs_of_function(
    pieces: Pieces, unit: Unit, known: dict[str, int], check: Check | None
) -> UnitCosts:
    function = unit.bound or unit.count
    assert function is not None
    texts = [piece.decode("utf-8", "replace") for piece in pieces.pieces]

    def cost_of(text: str) -> int:
        if text and text not in known:
            if check is not None:
                check()
            known[text] = min(counted(unit, function, text), FORBIDDEN)
        return known[text] if text else 0

    cost = np.array([cost_of(text) for text in texts], dtype=np.int32)
    first_cost = cost.copy()
    for i in np.flatnonzero(pieces.has_space):
        first_cost[i] = cost_of(texts[i][1:])
    return UnitCosts(cost, first_cost, exact=False)
