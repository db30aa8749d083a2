"""Whose turn it is: clients share the workers by the seconds that they use.

Owns the account of each client. Does not own what waits, nor what a worker does (`batching`).

Each client has a tag: the seconds of workers that it has used, counted from the tag of the client
whose turn it was when it came (start-time fair queueing). The least tag has its turn, so a client
with one text in a thousand of the seconds is served at once, and one whose texts take a hundred
times as long as another's has a hundredth of its turns.

What one request uses beyond its first seconds counts threefold: while others wait with small
requests, large and costly ones have a quarter of the workers' time, or less, but never nothing.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

__all__ = ["LONG_S", "Turn", "Turns", "surcharge"]

LONG_S = 2.0  # of workers, from which on a request is a long one
_LONG_WEIGHT = 3.0  # of each second beyond
_MAX_TAGS = 1024  # clients whose tag is kept though they have nothing to do


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """One worker's time.

    Attributes:
        began: When it began.
        expected_s: Seconds that it should take.
        shares: Part of it that each client has, all together 1.
    """

    began: float
    expected_s: float
    shares: Mapping[str, float]


class Turns:
    """Accounts of all clients; not safe for more than one thread."""

    def __init__(self, n_workers: int) -> None:
        """Open no account yet.

        Args:
            n_workers: How many turns there may be at once.
        """
        self._n_workers = n_workers
        self._tags: OrderedDict[str, float] = OrderedDict()
        self._latest = 0.0  # tag of the client who had the last turn, when it had it
        self._running: set[Turn] = set()

    def join(self, client: str) -> None:
        """Note that a client waits that has not waited before.

        Args:
            client: Its name.
        """
        tag = max(self._tags.pop(client, 0.0), self._latest)
        self._tags[client] = tag

    def next(self, waiting: Collection[str], now: float, long: Collection[str] = ()) -> str:
        """Choose the client whose turn it is.

        While others wait, nobody has more workers than its part of them: a text that takes long
        holds one of two workers, not both. The part of a client with a long request is smaller.

        Args:
            waiting: Clients that have joined and wait, at least one; of equal ones the first.
            now: The time.
            long: Those whose next work is of a long request.

        Returns:
            Its name.
        """
        held = Counter(client for turn in self._running for client in turn.shares)
        n_long = len(set(long))
        whole = len(held.keys() | set(waiting)) - n_long + n_long / _LONG_WEIGHT

        def part(client: str) -> int:
            weight = 1 / _LONG_WEIGHT if client in long else 1.0
            return math.ceil(round(self._n_workers * weight / whole, 6))

        free = [client for client in waiting if held[client] < part(client)] or list(waiting)
        tags = {client: self._tag(client, now) for client in free}
        chosen = min(free, key=tags.__getitem__)
        self._latest = max(self._latest, tags[chosen])
        return chosen

    def begin(self, shares: Mapping[str, float], expected_s: float, now: float) -> Turn:
        """Note that a worker has begun.

        Args:
            shares: Part of its time that each client has.
            expected_s: Seconds that it should take; they count from now on.
            now: The time.

        Returns:
            What to give to `end`.
        """
        turn = Turn(now, expected_s, dict(shares))
        self._running.add(turn)
        return turn

    def end(
        self,
        turn: Turn,
        now: float,
        waiting: Collection[str],
        surcharges: Mapping[str, float] | None = None,
    ) -> None:
        """Note that a worker has ended, and what it really took.

        Args:
            turn: What `begin` returned.
            now: The time.
            waiting: Clients whose accounts have to be kept.
            surcharges: Seconds that clients pay beside those, see `surcharge`.
        """
        self._running.discard(turn)
        for client, share in turn.shares.items():
            used = share * (now - turn.began) + (surcharges or {}).get(client, 0.0)
            self._tags[client] = self._tags.get(client, self._latest) + used
        busy = {client for other in self._running for client in other.shares}.union(waiting)
        for client in list(self._tags):
            if len(self._tags) <= _MAX_TAGS:
                break
            if client not in busy:
                del self._tags[client]

    def _tag(self, client: str, now: float) -> float:
        used = sum(
            turn.shares[client] * max(turn.expected_s, now - turn.began)
            for turn in self._running
            if client in turn.shares
        )
        return self._tags.get(client, self._latest) + used


def surcharge(used_s: float, more_s: float) -> float:
    """What a request's client pays for more work on it, beside the seconds of the work.

    Args:
        used_s: Seconds of workers that the request has used.
        more_s: Seconds that it uses now.

    Returns:
        Seconds; 0 until `LONG_S` of one request.
    """
    over_s = max(0.0, used_s + more_s - LONG_S) - max(0.0, used_s - LONG_S)
    return (_LONG_WEIGHT - 1) * over_s
