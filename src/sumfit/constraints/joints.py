"""Which words and numbers a summary may join without a space, and by which marks.

Owns `Joints`: what the source joins ("two-year", "R&D", "12th"), and the contractions of English.
Does not own how the search keeps to them (`sumfit.constraints.kernels.joints`), nor the
check of a finished text (`sumfit.text.surface`).
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.constraints.kernels.state import PAIR_BASE
from sumfit.constraints.tables import fold_hash
from sumfit.text.surface import CONTRACTIONS, junctions

__all__ = ["Joints", "joints_of"]

_MASK = 2**64 - 1
_MOST_READ = 200_000  # characters in which a source shows what it joins

Int64Array = npt.NDArray[np.int64]


class Joints(NamedTuple):
    """Sorted hashes.

    Attributes:
        starts: Of a word and the marks behind it, a clitic being marks.
        whole: Of a word, the marks behind it and the word behind these.
    """

    starts: Int64Array
    whole: Int64Array


def joints_of(source: str) -> Joints:
    """Find what a source joins.

    Args:
        source: The source, and whatever else may be written as it is.

    Returns:
        The joints, those of English contractions included.
    """
    starts: set[int] = set()
    whole: set[int] = set()
    for left, marks, right in junctions(source[:_MOST_READ]):
        start = _pair(_hash(left), _hash(marks))
        starts.add(start)
        if right:
            whole.add(_pair(start, _hash(right)))
    known, hashes = _contractions()
    starts -= known
    if starts:
        hashes = np.sort(np.concatenate([hashes, _sorted(starts)]))
    return Joints(hashes, _sorted(whole))


@lru_cache(maxsize=1)
def _contractions() -> tuple[frozenset[int], Int64Array]:
    pairs = itertools.chain.from_iterable(
        itertools.product(words, clitics) for words, clitics in CONTRACTIONS
    )
    found = {_pair(_hash(word), _hash(mark + clitic)) for word, clitic in pairs for mark in "'’"}
    return frozenset(found), _sorted(found)


@lru_cache(maxsize=65536)
def _hash(text: str) -> int:
    return fold_hash(text) & _MASK


def _pair(first: int, second: int) -> int:
    return (first * PAIR_BASE + second) & _MASK


def _sorted(values: set[int]) -> Int64Array:
    return np.sort(np.array(list(values), dtype=np.uint64).view(np.int64))
