"""What the attempts at one result may use together: expansions and seconds.

Owns `Effort`, which counts them, and `Share`, the part of one attempt.
"""

from __future__ import annotations

from dataclasses import dataclass

from sumfit.deadline import Deadline
from sumfit.decoding import tuning
from sumfit.decoding.options import DecodeOptions

__all__ = ["Effort", "Share"]


@dataclass(frozen=True, slots=True)
class Share:
    """How far one attempt may go; expansions count from the first attempt at the result.

    Attributes:
        own: Expansions after which it ends without a result, for a better one to follow.
        kept_back: Expansions after which it ends if nothing is finished: the others are for dives.
        most: Expansions after which no attempt goes on.
        deadline: When it has to end.
    """

    own: int
    kept_back: int
    most: int
    deadline: Deadline

    def next_stop(self, n_expanded: int) -> int:
        """Return the expansions up to which to search before the next look at the limits.

        Args:
            n_expanded: Expansions so far.

        Returns:
            No fewer.
        """
        stop = min(self.own, self.kept_back) if n_expanded < self.kept_back else self.own
        if self.deadline.may_end:
            stop = min(stop, n_expanded + tuning.SEARCH.steps_between_looks)
        return stop


class Effort:
    """Expansions and seconds that all attempts at one result share."""

    __slots__ = ("deadline", "most", "n_expanded")

    def __init__(self, options: DecodeOptions) -> None:
        """Start without any used.

        Args:
            options: That a call has begun with.
        """
        self.deadline = options.running
        self.most = options.max_expansions
        self.n_expanded = 0

    def may_follow(self, n_more: int) -> bool:
        """Return whether the share for following words lasts so many more expansions.

        Args:
            n_more: Expansions.

        Returns:
            The verdict.
        """
        return tuning.SEARCH.following_share * (self.n_expanded + n_more) <= self.most

    def share(self, n_more: int | None, *, follows: bool) -> Share:
        """Part off what the next attempt may use.

        Args:
            n_more: Expansions after which a better attempt is to follow; ``None`` if none can.
            follows: It follows words out of the candidates, for which there is only a part, and
                never dives.

        Returns:
            The share.
        """
        own = self.most if n_more is None else min(self.most, self.n_expanded + n_more)
        if follows:
            part = self.deadline.part(1 / tuning.SEARCH.following_share)
            own = min(own, self.most // tuning.SEARCH.following_share)
            return Share(own, self.most, self.most, part)
        kept_back = self.most - self.most // tuning.SEARCH.dive_share
        return Share(own, kept_back, self.most, self.deadline)
