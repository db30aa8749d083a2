"""Words outside the candidates, so that a search can follow them like candidates.

Owns `words_out_of_candidates`: which words there are and which of them go on alike. Does not own
the bounds (`bounds.tables`) or the state after such a word (`kernels.rules`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.constraints.kernels.state import DIGITS, LETTERS, OTHER, SPECIAL, Pieces
from sumfit.decoding.options import CostArray, DecodeOptions

__all__ = ["WordsOutOfCandidates", "words_out_of_candidates"]

IntArray = npt.NDArray[np.int64]

_MOST_KEPT = 8  # units and tokenizers whose groups are kept


class WordsOutOfCandidates(NamedTuple):
    """Words outside the candidates, in groups that cost the same.

    The first groups are of pieces of letters or digits, which begin a word all or none; the others
    of pieces that go on differently, and have a row each after the groups.

    Attributes:
        ids: ``(Q,)`` -1 - g for group g; vocabulary ids of the pieces of the other groups.
        cost: ``(Q,)`` what each of the group costs, or the piece.
        first_cost: ``(Q,)`` the same as the first word.
        joins: ``(Q,)`` whether it can continue a word.
        members: Vocabulary ids of the pieces of each group, group after group.
        start: ``(G+1,)`` where each group begins, and the end.
        n_same_class: How many groups are of letters or digits.
    """

    ids: IntArray
    cost: IntArray
    first_cost: IntArray
    joins: npt.NDArray[np.bool_]
    members: IntArray
    start: IntArray
    n_same_class: int


_KEPT: OrderedDict[tuple[int, ...], tuple[WordsOutOfCandidates, tuple[object, ...]]] = OrderedDict()


def words_out_of_candidates(word_ids: IntArray, options: DecodeOptions) -> WordsOutOfCandidates:
    """Group the words outside the candidates.

    Args:
        word_ids: ``(W,)`` the candidates.
        options: Costs and constraints.

    Returns:
        The groups; one may be empty.
    """
    assert options.constraints is not None
    whole = _whole(options.unit_cost, options.first_cost, options.constraints.rules.pieces)
    is_out = np.ones(options.unit_cost.size, dtype=np.bool_)
    is_out[word_ids] = False
    stays = (whole.ids < 0) | is_out[whole.ids]
    are_left = is_out[whole.members]
    n_left = np.concatenate([[0], np.cumsum(are_left)])
    return WordsOutOfCandidates(
        whole.ids[stays],
        whole.cost[stays],
        whole.first_cost[stays],
        whole.joins[stays],
        whole.members[are_left],
        n_left[whole.start],
        whole.n_same_class,
    )


def _whole(cost: CostArray, first_cost: CostArray, pieces: Pieces) -> WordsOutOfCandidates:
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


def _grouped(cost: CostArray, first_cost: CostArray, pieces: Pieces) -> WordsOutOfCandidates:
    ids = np.flatnonzero(pieces.kind != SPECIAL)
    kind, starts = pieces.kind[ids].astype(np.int64), pieces.starts[ids].astype(np.int64)
    is_alone = (kind != LETTERS) & (kind != DIGITS)
    joins = ((kind == LETTERS) | (kind == OTHER)) & (starts == 0)
    same_class = np.where(is_alone, 0, 2 * kind + starts)
    keys = np.stack([is_alone, cost[ids], first_cost[ids], joins, same_class])
    order = np.lexsort(keys[::-1])
    keys, members = keys[:, order], ids[order].astype(np.int64)
    is_new = np.ones(ids.size, dtype=np.bool_)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    begins = np.flatnonzero(is_new)
    alone = np.flatnonzero(keys[0])
    rows = np.concatenate([begins, alone])
    return WordsOutOfCandidates(
        ids=np.concatenate([-1 - np.arange(begins.size), members[alone]]),
        cost=keys[1, rows],
        first_cost=keys[2, rows],
        joins=keys[3, rows].astype(np.bool_),
        members=members,
        start=np.append(begins, ids.size).astype(np.int64),
        n_same_class=int((keys[0, begins] == 0).sum()),
    )
