"""What may come next: the five kinds of context that a piece leaves behind.

Owns `Context` and what each kind allows. Which piece leaves which is `kernels.rules`' business.
"""

from __future__ import annotations

from enum import IntEnum

from sumfit.compiled import INLINE, njit

__all__ = [
    "ANY",
    "CLOSED",
    "JOIN_ONLY",
    "NO_END",
    "NO_JOIN",
    "WITHOUT_JOIN",
    "Context",
    "allows",
    "allows_end",
    "context_of",
    "may_close_or_join",
]


class Context(IntEnum):
    """What may come behind a piece; compiled loops use the members as plain numbers."""

    ANY = 0
    """An end, a new word, or a continuation of the word begun."""
    NO_END = 1
    """All but an end."""
    JOIN_ONLY = 2
    """Only a continuation: the word begun is not one yet."""
    NO_JOIN = 3
    """All but a continuation: nothing longer begins with these letters."""
    CLOSED = 4
    """Only a new word: neither an end nor a continuation."""


ANY, NO_END, JOIN_ONLY, NO_JOIN, CLOSED = map(int, Context)
WITHOUT_JOIN = (NO_JOIN, CLOSED, JOIN_ONLY, NO_JOIN, CLOSED)
"""By context, the one in which a word that may be closed is closed."""


@njit(**INLINE)
def context_of(may_end: bool, may_join: bool) -> int:
    """Return the context behind a word that may be closed."""
    if may_join:
        return ANY if may_end else NO_END
    return NO_JOIN if may_end else CLOSED


@njit(**INLINE)
def allows(context: int, joins: bool) -> bool:
    """Return whether a piece may come that joins the word begun, or one that does not."""
    if joins:
        return context != NO_JOIN and context != CLOSED
    return context != JOIN_ONLY


@njit(**INLINE)
def allows_end(context: int) -> bool:
    """Return whether the text may end."""
    return context == ANY or context == NO_JOIN


@njit(**INLINE)
def may_close_or_join(context: int) -> bool:
    """Return whether the word begun is one, and a longer one may begin with it."""
    return context == ANY or context == NO_END
