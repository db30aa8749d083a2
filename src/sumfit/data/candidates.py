"""Candidates of texts with their gains, as flat arrays: what minimum risk training reads.

Owns how those of a batch are gathered. Does not own where they come from
(`sumfit.training.nbest.candidates`) or what is done with them (`sumfit.losses.risk`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.data.flat import gather_rows

__all__ = ["CandidateBatch", "Candidates"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateBatch:
    """Candidates of B texts, K at most of each.

    Attributes:
        ids: ``(B, K, U)`` int64 pieces, padded with 0.
        n_pieces: ``(B, K)`` int64 pieces of each; 0 where there is none, or one too long.
        bonuses: ``(B, K)`` nats that the search added to the log-probability of each.
        gains: ``(B, K)`` what each is worth against the reference.
    """

    ids: IntArray
    n_pieces: IntArray
    bonuses: FloatArray
    gains: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Lists of N texts among flat arrays of M candidates.

    Attributes:
        items: ``(N,)`` places of the texts in their corpus, ascending, each once.
        starts: ``(N,)`` first candidate of each list.
        counts: ``(N,)`` candidates of each list, at least 1.
        offsets: ``(M+1,)`` where the pieces of each candidate begin.
        ids: Pieces of all candidates.
        bonuses: ``(M,)`` nats that the search added to the log-probability of each.
        gains: ``(M,)`` what each is worth against the reference.
    """

    items: IntArray
    starts: IntArray
    counts: IntArray
    offsets: IntArray
    ids: npt.NDArray[Any]
    bonuses: FloatArray
    gains: FloatArray

    def gather(self, items: IntArray, *, longest: IntArray, multiple: int = 1) -> CandidateBatch:
        """Gather the candidates of some texts.

        Args:
            items: ``(B,)`` places of texts that have a list.
            longest: ``(B,)`` most pieces that a candidate of each may have.
            multiple: Pieces are padded to a multiple of this.

        Returns:
            Their candidates; those that are too long are as if they were not there.
        """
        rows = np.searchsorted(self.items, items)
        column = np.arange(int(self.counts[rows].max()))
        is_there = column < self.counts[rows][:, None]
        places = np.where(is_there, self.starts[rows][:, None] + column, 0)
        first = self.offsets[places]
        lengths = self.offsets[places + 1] - first
        is_there &= lengths <= longest[:, None]
        n_pieces = np.where(is_there, lengths, 0)
        ids = gather_rows(self.ids, first.ravel(), n_pieces.ravel(), multiple=multiple)
        return CandidateBatch(
            ids=ids.reshape(*places.shape, -1),
            n_pieces=n_pieces,
            bonuses=np.where(is_there, self.bonuses[places], np.float32(0)),
            gains=np.where(is_there, self.gains[places], np.float32(0)),
        )
