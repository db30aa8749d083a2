"""Compiled rule of what may be joined without a space.

Owns the fields `LEFT`, `LEFT_KIND` and `MARKS` of a state: the last word or number since the last
space, and the marks behind it. What may be joined is in `sumfit.constraints.joints`.
"""

from __future__ import annotations

from sumfit.compiled import INTERNAL, Int64Array, njit
from sumfit.constraints.kernels.state import (
    ANY_ATOM,
    COLON,
    COMMA,
    DEPTH,
    FREE,
    HASH,
    IS_WILD,
    LEFT,
    LEFT_KIND,
    MARKS,
    NO_ATOM,
    NUMBER,
    OPEN,
    PAIR_BASE,
    PERIOD,
    WORD,
    Rules,
    is_in,
)

__all__ = ["is_joined", "leave_left", "may_join", "may_mark"]


@njit(**INTERNAL)
def leave_left(before: Int64Array, state: Int64Array, starts: bool, joins: bool) -> None:
    """Remember the word or number that a piece comes behind, if no space parts them."""
    if starts:
        state[LEFT_KIND] = NO_ATOM
    elif not joins and before[OPEN] != 0 and before[DEPTH] > 0:
        state[LEFT_KIND] = ANY_ATOM if before[IS_WILD] else before[OPEN]
        state[LEFT] = before[HASH]
        state[MARKS] = 0


@njit(**INTERNAL)
def may_join(rules: Rules, state: Int64Array) -> bool:
    """Return whether any word or number may begin behind the marks, as far as is known yet."""
    kind = state[LEFT_KIND]
    if kind == NO_ATOM or kind == ANY_ATOM or _parts_digits(state):
        return True
    return is_in(rules.words.joint_starts, state[LEFT] * PAIR_BASE + state[MARKS])


@njit(**INTERNAL)
def is_joined(rules: Rules, state: Int64Array, atom: int) -> bool:
    """Return whether the open word or number may stand behind the marks as it is."""
    kind = state[LEFT_KIND]
    if kind == NO_ATOM or kind == ANY_ATOM or state[IS_WILD]:
        return True
    if atom == NUMBER and _parts_digits(state):
        return True
    start = state[LEFT] * PAIR_BASE + state[MARKS]
    return is_in(rules.words.joints, start * PAIR_BASE + state[HASH])


@njit(**INTERNAL)
def may_mark(rules: Rules, v: int, state: Int64Array) -> bool:
    """Add a mark behind the last word; whether it may stand there: a clitic may not always."""
    pieces = rules.pieces
    if pieces.kind[v] == FREE:
        state[LEFT_KIND] = NO_ATOM
        return True
    kind, clitic = state[LEFT_KIND], pieces.clitic[v]
    if kind == NO_ATOM:  # a clitic of no word
        return clitic == 0 or is_in(rules.words.joint_starts, pieces.fold_plus[v])
    if clitic != 0 and kind != ANY_ATOM:
        is_owner = clitic == 2 and kind == WORD and state[MARKS] == 0
        if not is_owner or is_in(rules.words.function_words, state[LEFT]):
            marks = state[MARKS] * pieces.fold_times[v] + pieces.fold_plus[v]
            if not is_in(rules.words.joint_starts, state[LEFT] * PAIR_BASE + marks):
                return False
    state[MARKS] = state[MARKS] * pieces.fold_times[v] + pieces.fold_plus[v]
    return True


@njit(**INTERNAL)
def _parts_digits(state: Int64Array) -> bool:
    """Return whether the marks may stand within a number: 10:30, 1,000, 3.5."""
    marks = state[MARKS] - 1  # the hash of one byte
    return state[LEFT_KIND] == NUMBER and (marks == COLON or marks == COMMA or marks == PERIOD)
