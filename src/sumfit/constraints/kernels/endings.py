"""Compiled rules of punctuation: what may stand next to what, and what may end an output.

Owns the search's side of `sumfit.text.endings.ends_completely`: whatever may end here ends
completely there, but for the words that their neighbours tell apart ("in May", "he may").
"""

from __future__ import annotations

from sumfit.compiled import INTERNAL, Int64Array, njit
from sumfit.constraints.kernels.state import (
    ANY_BYTE,
    BEFORE_MARK,
    COLON,
    COMMA,
    COMPLETE,
    END,
    FULL_STOP,
    IS_BARE,
    IS_STRAY,
    KEEPS_END,
    LAST_BYTE,
    NEEDS_STOP,
    NEEDS_WORD,
    NOTHING,
    OPEN_MARK,
    PAIRS,
    QUOTES,
    SET_NOW,
    SPACE,
    SPOILS_END,
    UTF8,
    Rules,
    is_in,
)

__all__ = ["closes_nothing", "ending_of_symbol", "ending_of_word", "may_end", "may_stand"]


@njit(**INTERNAL)
def may_end(rules: Rules, state: Int64Array) -> bool:
    """Return whether an output may end in a state whose last atom may close."""
    if state[UTF8] != 0 or state[IS_BARE]:
        return False
    n_required = rules.phrases.required_start.shape[0] - 1
    if state[SET_NOW] != (1 << n_required) - 1:
        return False
    if not rules.complete_end:
        return True
    if state[END] != COMPLETE or state[QUOTES] != 0:
        return False
    pairs = state[PAIRS]
    for _ in range(7):
        if (pairs & 0xFF) > 0x80:
            return False
        pairs >>= 8
    return True


@njit(**INTERNAL)
def ending_of_word(rules: Rules, value: int) -> int:
    """How a text ends whose last word has this hash: a value of END."""
    if is_in(rules.words.never_last, value):
        return NEEDS_WORD
    return NEEDS_STOP if is_in(rules.words.seldom_last, value) else COMPLETE


@njit(**INTERNAL)
def closes_nothing(pairs: int, change: int) -> bool:
    """Return whether a closing bracket or double mark has no opening one before it."""
    after = pairs + change
    for _ in range(6):
        if (after & 0xFF) < 0x80 and (after & 0xFF) < (pairs & 0xFF):
            return True
        after >>= 8
        pairs >>= 8
    return False


@njit(**INTERNAL)
def ending_of_symbol(action: int, before: int) -> int:
    """How a text ends after a symbol, from how it ended before it: values of END."""
    if before == NOTHING or action == KEEPS_END:
        return before
    if action == SPOILS_END:
        return OPEN_MARK
    if action == FULL_STOP and before == NEEDS_WORD:
        return NEEDS_WORD
    return COMPLETE


@njit(**INTERNAL)
def _may_touch(rules: Rules, state: Int64Array, first: int, second: int) -> bool:
    """Return whether a byte may come right after another one."""
    if first >= 128 or second >= 128 or rules.follows[first, second]:
        return True
    past = state[BEFORE_MARK]
    is_number = 48 <= second <= 57 and (48 <= past <= 57 or past == ANY_BYTE)  # 10:30, 1,000
    return is_number and (first == COLON or first == COMMA)


@njit(**INTERNAL)
def may_stand(rules: Rules, before: Int64Array, v: int) -> bool:
    """Return whether punctuation and spaces read as they should if a piece comes next."""
    if rules.odd[v]:
        return False
    pieces = rules.pieces
    begin = pieces.body_start[v]
    last = before[LAST_BYTE]
    if before[IS_BARE] or last == 0:
        last = SPACE
    if pieces.starts[v] and last != SPACE:
        if before[IS_STRAY] or not _may_touch(rules, before, last, SPACE):
            return False
        last = SPACE
    if begin == rules.pieces.body_start[v + 1]:
        return True
    first, past = rules.pieces.body[begin], before[LAST_BYTE]
    if last == SPACE and past != 0 and past < 128 and first < 128 and not rules.apart[past, first]:
        return False
    return _may_touch(rules, before, last, first)
