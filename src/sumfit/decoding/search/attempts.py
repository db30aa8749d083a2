"""Exact search as a ladder of attempts: each begins where the one before it could prove no more.

Owns `Ladder`, which says when to search again, and with which bounds. One search is
`sumfit.decoding.search.best_first`'s business, the bounds `sumfit.decoding.bounds.tables`'.
"""

from __future__ import annotations

import math

from sumfit.decoding import tuning
from sumfit.decoding.bounds.out_of_candidates import (
    WordsOutOfCandidates,
    words_out_of_candidates,
)
from sumfit.decoding.bounds.tables import SearchTables
from sumfit.decoding.kernels.search import Ended
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.search.best_first import Attempt, Search
from sumfit.decoding.search.effort import Effort

__all__ = ["Ladder"]


class Ladder:
    """Attempts at one result.

    Words out of the candidates are only bounded at first. Once one of them keeps the result from
    being certified, they are followed through the rules; where that proves nothing, they are left
    out, for they only blur the order then, and the gap keeps their bound.

    A word that may not be repeated can still be counted twice by the bound. When that has cost as
    many expansions as a larger table would, the words refused most often get a bit each in it, and
    the search starts again.
    """

    def __init__(
        self, tables: SearchTables, options: DecodeOptions, *, high: int | None = None
    ) -> None:
        """Begin at the bottom.

        Args:
            tables: Probabilities, costs and bounds.
            options: Limits of all attempts together; a call has begun with them.
            high: Most total cost, at most that of the tables; theirs if not given.
        """
        self._tables, self._options, self._high = tables, options, high
        self._effort = Effort(options)
        self._may_tighten = bool(tables.rules.content_once)

    @property
    def n_expanded(self) -> int:
        """Prefixes expanded by all attempts."""
        return self._effort.n_expanded

    def climb(self) -> Attempt:
        """Make attempts until one proves all that can be proved, or a limit is reached.

        Returns:
            The attempt that stands.
        """
        first = self.bounded()
        bound = first.full_bound
        if first.is_in_doubt:
            followed = self.followed()
            if followed is not None and followed.is_complete:
                return followed
            if followed is not None:
                bound = followed.full_bound
                if first.is_complete:
                    first.search.lower_bound(bound)
        if first.ended != Ended.CANNOT_CERTIFY:
            return first
        return self.left_out(bound)

    def bounded(self) -> Attempt:
        """Search the candidates; words out of them are only bounded.

        Returns:
            The last attempt; not complete where it cannot certify a result or meets a limit.
        """
        return self._until_it_ends()

    def followed(self) -> Attempt | None:
        """Search words out of the candidates too, through the rules.

        Returns:
            The last attempt; not complete where it proves nothing. ``None`` where there are no
            rules to follow them by, or too few expansions are left.
        """
        if not self._may_follow():
            return None
        words = words_out_of_candidates(self._tables.graph.ids, self._options)
        return self._until_it_ends(words)

    def left_out(self, bound: float) -> Attempt:
        """Search the candidates alone.

        Args:
            bound: Bound on the score of all other sequences, for the gap.

        Returns:
            The last attempt; not complete where it meets a limit.
        """
        self._tables = self._tables.without_out_of_candidates()
        self._may_tighten = bool(self._tables.rules.content_once)
        return self._until_it_ends(bound=bound)

    def _until_it_ends(
        self, words: WordsOutOfCandidates | None = None, bound: float = -math.inf
    ) -> Attempt:
        """Search, and again with a tighter bound for as long as repeated words lead it astray."""
        while True:
            tables = self._tables if words is None else self._tables.following(words)
            self._may_tighten = self._may_tighten and self._may_grow()
            search = Search(tables, self._options, self._effort, high=self._high, bound=bound)
            is_last = not self._may_tighten and words is None
            attempt = search.run(None if is_last else self._patience(words is not None))
            if attempt.ended != Ended.LIMIT or attempt.is_cut_short:
                return attempt
            if words is not None and not (self._may_tighten and self._may_follow()):
                return attempt
            self._tighten(tables)

    def _tighten(self, searched: SearchTables) -> None:
        """Give the words that a search had to refuse most often a bit each in the bound."""
        words = searched.repeated_words(tuning.SEARCH.words_at_once)
        self._may_tighten = words.size > 0
        if self._may_tighten:
            self._tables = self._tables.with_used_once(words)

    def _may_follow(self) -> bool:
        """Whether there are rules to follow words by, and enough expansions left."""
        if self._options.constraints is None:
            return False
        return self._effort.may_follow(self._patience(True, may_tighten=True))

    def _may_grow(self) -> bool:
        """Whether more words may get a bit: few enough words, and a table that stays small."""
        limits, n_words = tuning.SEARCH, self._tables.graph.used_once.size
        return bool(n_words < limits.most_words and self._tighter_bounds() <= limits.most_bounds)

    def _patience(self, follows: bool, *, may_tighten: bool | None = None) -> int:
        """Expansions that take about as long as the table with more words does to fill.

        Thrice as many where there will be no such table.
        """
        limits = tuning.SEARCH
        rate = limits.bounds_a_followed_expansion if follows else limits.bounds_an_expansion
        n_more = max(limits.least_before_tightening, self._tighter_bounds() // rate)
        is_last = not (self._may_tighten if may_tighten is None else may_tighten)
        return n_more * (limits.patience_without_table if is_last else 1)

    def _tighter_bounds(self) -> int:
        """Bounds per context once more words have a bit."""
        n_sets, _, n_layers, n = self._tables.table.shape
        return int((n_sets << tuning.SEARCH.words_at_once) * n_layers * n)
