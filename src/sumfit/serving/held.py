"""Memory of requests: one bound on the bytes of all bodies and replies together.

Owns how many bytes are held and whose body gives way when there is no more room. Does not own
reading (`gate`).

When a chunk finds no room, the largest body that is still being read gives way, of the client
that holds most. So clients that send large bodies slowly push out each other, and a small request
is always let in before them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Held", "HeldBytes"]


@dataclass(slots=True, eq=False)
class Held:
    """What one request holds.

    Attributes:
        client: Who asks.
        content: The body as far as it was read.
        n_bytes: Bytes counted for it, content and reply.
        is_reading: Whether the body is not complete, so that it can give way.
        has_given_way: Whether its body was dropped for want of room.
    """

    client: str
    content: bytearray = field(default_factory=bytearray)
    n_bytes: int = 0
    is_reading: bool = True
    has_given_way: bool = False


class HeldBytes:
    """Count the bytes that requests hold; used on the event loop alone."""

    def __init__(self, limit: int, client_limit: int) -> None:
        """Start with nothing held.

        Args:
            limit: Most bytes of all bodies.
            client_limit: Most bytes of the bodies of one client.
        """
        self._limit = limit
        self._client_limit = client_limit
        self._open: set[Held] = set()
        self._by_client: Counter[str] = Counter()
        self._n_bytes = 0

    @property
    def n_bytes(self) -> int:
        """Bytes held now."""
        return self._n_bytes

    def open(self, client: str) -> Held:
        """Begin a request.

        Args:
            client: Who asks.

        Returns:
            Its account, to be closed at the end of the request.
        """
        held = Held(client)
        self._open.add(held)
        return held

    def add_body(self, held: Held, chunk: bytes) -> None:
        """Keep a piece of a body, or drop the largest of the unfinished bodies for it.

        Args:
            held: Account of the request; if it is its body that has to give way, it has given
                way afterwards.
            chunk: The piece.
        """
        while not held.has_given_way and not self._has_room(held.client, len(chunk)):
            self.give_way(self._largest(held, len(chunk)))
        if not held.has_given_way:
            held.content += chunk
            self._count(held, len(chunk))

    def take_body(self, held: Held) -> bytes:
        """Hand over a complete body, which goes on counting until the request is closed.

        Args:
            held: Account of the request.

        Returns:
            The body.
        """
        held.is_reading = False
        content = bytes(held.content)
        held.content = bytearray()
        return content

    def add_reply(self, held: Held, n_bytes: int) -> None:
        """Count a reply that waits to be sent; it is ready, so it is never refused.

        Args:
            held: Account of the request.
            n_bytes: Its size.
        """
        self._count(held, n_bytes)

    def give_way(self, held: Held) -> None:
        """Drop the body of a request that is being read.

        Args:
            held: Account of the request.
        """
        held.has_given_way = True
        held.is_reading = False
        held.content = bytearray()
        self._count(held, -held.n_bytes)

    def close(self, held: Held) -> None:
        """End a request.

        Args:
            held: Its account.
        """
        self._open.discard(held)
        self._count(held, -held.n_bytes)

    def _has_room(self, client: str, n_bytes: int) -> bool:
        return (
            self._n_bytes + n_bytes <= self._limit
            and self._by_client[client] + n_bytes <= self._client_limit
        )

    def _largest(self, held: Held, n_new: int) -> Held:
        # If it is the client's own limit that is reached, only its own bodies make room.
        is_own = self._by_client[held.client] + n_new > self._client_limit
        return max(
            (
                other
                for other in self._open
                if other is held
                or (
                    other.is_reading
                    and other.n_bytes
                    and (other.client == held.client or not is_own)
                )
            ),
            key=lambda other: (
                self._by_client[other.client],
                other.n_bytes + (n_new if other is held else 0),
            ),
        )

    def _count(self, held: Held, n_bytes: int) -> None:
        held.n_bytes += n_bytes
        self._n_bytes += n_bytes
        self._by_client[held.client] += n_bytes
        if not self._by_client[held.client]:
            del self._by_client[held.client]
