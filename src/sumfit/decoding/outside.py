"""Words outside the candidates, so that a search can follow them like candidates.

Owns `words_outside`: which words there are and which of them go on alike. Does not own the
bounds (`bound`) or the state after such a word (`kernels.rules`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.decoding.kernels.state import DIGITS, LETTERS, OTHER, SPECIAL, Pieces
from sumfit.decoding.options import CostArray, DecodeOptions

__all__ = ["OutsideWords", "words_outside"]

IntArray = npt.NDArray[np.int64]

_MOST_KEPT = 8  # units and tokenizers whose groups are kept


class OutsideWords(NamedTuple):
    """Words outside the candidates: groups of pieces of letters or digits, and single pieces.

    Attributes:
        ids: ``(Q,)`` vocabulary id of a single piece; -1 - g for group g.
        cost: ``(Q,)`` what it costs, or each of the group.
        first_cost: ``(Q,)`` the same as the first word.
        joins: ``(Q,)`` whether it can continue a word.
        members: Vocabulary ids of the pieces of each group, group after group.
        start: ``(G+1,)`` where each group begins, and the end.
    """

    ids: IntArray
    cost: IntArray
    first_cost: IntArray
    joins: npt.NDArray[np.bool_]
    members: IntArray
    start: IntArray


_KEPT: OrderedDict[tuple[int, ...], tuple[OutsideWords, tuple[object, ...]]] = OrderedDict()


def words_outside(word_ids: IntArray, options: DecodeOptions) -> OutsideWords:
    """Group the words outside the candidates.

    Args:
        word_ids: ``(W,)`` the candidates.
        options: Costs and constraints.

    Returns:
        Letters and digits in groups that cost the same and begin a word all or none, other pieces
        one by one; a group may be empty.
    """
    assert options.constraints is not None
    whole = _whole(options.unit_cost, options.first_cost, options.constraints.rules.pieces)
    is_outside = np.ones(options.unit_cost.size, dtype=np.bool_)
    is_outside[word_ids] = False
    stays = (whole.ids < 0) | is_outside[whole.ids]
    are_left = is_outside[whole.members]
    n_left = np.concatenate([[0], np.cumsum(are_left)])
    return OutsideWords(
        whole.ids[stays],
        whole.cost[stays],
        whole.first_cost[stays],
        whole.joins[stays],
        whole.members[are_left],
        n_left[whole.start],
    )


def _whole(cost: CostArray, first_cost: CostArray, pieces: Pieces) -> OutsideWords:
    """The whole vocabulary, as if there were no candidates; kept for the next text."""
    arrays = (cost, first_cost, pieces.kind, pieces.starts)
    key = tuple(map(id, arrays))
    found = _KEPT.get(key)
    if found is None:
        found = (_grouped(cost, first_cost, pieces), arrays)  # which keeps the ids from reuse
        _KEPT[key] = found
        while len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)
    return found[0]


def _grouped(cost: CostArray, first_cost: CostArray, pieces: Pieces) -> OutsideWords:
    ids = np.flatnonzero(pieces.kind != SPECIAL)
    kind, starts = pieces.kind[ids].astype(np.int64), pieces.starts[ids].astype(np.int64)
    alone = np.where((kind == LETTERS) | (kind == DIGITS), -1, ids)
    joins = ((kind == LETTERS) | (kind == OTHER)) & (starts == 0)
    keys = np.stack([alone, cost[ids], first_cost[ids], joins, kind, starts])
    order = np.lexsort(keys[::-1])
    keys = keys[:, order]
    is_new = np.ones(ids.size, dtype=np.bool_)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    first_of = np.flatnonzero(is_new)
    n_grouped = int((alone < 0).sum())
    begins = first_of[first_of < n_grouped]
    names = keys[0, first_of]
    names[: begins.size] = -1 - np.arange(begins.size)
    return OutsideWords(
        ids=names,
        cost=keys[1, first_of],
        first_cost=keys[2, first_of],
        joins=keys[3, first_of].astype(np.bool_),
        members=ids[order[:n_grouped]].astype(np.int64),
        start=np.append(begins, n_grouped).astype(np.int64),
    )
