"""Compiled building of words and numbers from pieces, byte by byte.

Owns the UTF-8 automaton, the growth of the open atom and whether it is a word that may be written.
"""

from __future__ import annotations

from sumfit.compiled import INTERNAL, Int64Array, njit
from sumfit.constraints.kernels.lexicon import is_word, narrow
from sumfit.constraints.kernels.state import (
    DEPTH,
    FIELDS,
    FOLD_BASE,
    FOLD_DEPTH,
    HASH,
    HIGH,
    IS_BARE,
    IS_CAPITAL,
    IS_STUTTER,
    IS_WILD,
    LOW,
    N_ATOMS,
    NUMBER,
    OTHER,
    PAST_DEPTH,
    SOURCE_HIGH,
    SOURCE_LOW,
    SPECIAL,
    UTF8,
    Rules,
)

__all__ = ["decode_piece", "extend", "known_as"]


@njit(**INTERNAL)
def _utf8_next(state: int, byte: int) -> int:
    """Follow one byte; 0 is between characters, -1 is no UTF-8.

    1-3: so many continuation bytes to come; 4-7: two or three, the next within a smaller range.
    """
    if state == 0:
        if byte < 0x80:
            return 0
        if 0xC2 <= byte <= 0xDF:
            return 1
        if byte == 0xE0:
            return 4
        if byte == 0xED:
            return 5
        if 0xE1 <= byte <= 0xEF:
            return 2
        if byte == 0xF0:
            return 6
        if byte == 0xF4:
            return 7
        if 0xF1 <= byte <= 0xF3:
            return 3
        return -1
    if not 0x80 <= byte <= 0xBF:
        return -1
    if state <= 3:
        return state - 1
    if (state == 4 and byte < 0xA0) or (state == 5 and byte > 0x9F):
        return -1
    if (state == 6 and byte < 0x90) or (state == 7 and byte > 0x8F):
        return -1
    return 1 if state <= 5 else 2


@njit(**INTERNAL)
def decode_piece(rules: Rules, state: Int64Array, v: int) -> bool:
    """Follow the UTF-8 automaton and the spaces; whether the piece may come here at all."""
    kind = rules.pieces.kind[v]
    begin, end = rules.pieces.body_start[v], rules.pieces.body_start[v + 1]
    if kind == SPECIAL or (state[IS_BARE] and rules.pieces.starts[v]):
        return False
    state[IS_BARE] = int(begin == end)
    if kind != OTHER:
        return state[UTF8] == 0
    if rules.pieces.starts[v] and state[UTF8] != 0:
        return False
    follow = state[UTF8]
    for p in range(begin, end):
        follow = _utf8_next(follow, rules.pieces.body[p])
        if follow < 0:
            return False
    state[UTF8] = follow
    return True


@njit(**INTERNAL)
def _follow_stutter(rules: Rules, state: Int64Array, v: int, joins: bool) -> None:
    """Compare the open word, now longer by a piece, with the word before it."""
    begin, end = rules.pieces.fold_start[v], rules.pieces.fold_start[v + 1]
    past = state[PAST_DEPTH]
    if state[FOLD_DEPTH] < past <= state[FOLD_DEPTH] + end - begin:
        value = state[HASH] if joins else 0
        for p in range(begin, begin + past - state[FOLD_DEPTH]):
            value = value * FOLD_BASE + rules.pieces.fold[p] + 1
        state[IS_STUTTER] = int(value == state[FIELDS + state[N_ATOMS] - 1])
    state[FOLD_DEPTH] += end - begin


@njit(**INTERNAL)
def extend(rules: Rules, state: Int64Array, v: int, joins: bool) -> None:
    """Add a piece to the open word or number, or open one with it."""
    begin, end = rules.pieces.body_start[v], rules.pieces.body_start[v + 1]
    if not joins:
        state[FOLD_DEPTH] = 0
        state[IS_STUTTER] = 0
    _follow_stutter(rules, state, v, joins)
    if joins and state[IS_WILD]:
        state[DEPTH] += end - begin
        return
    state[IS_WILD] = 0
    if joins:
        state[HASH] = state[HASH] * rules.pieces.fold_times[v] + rules.pieces.fold_plus[v]
        if state[DEPTH] == 0:
            state[IS_CAPITAL] = rules.pieces.capital[v]
        state[LOW], state[HIGH] = narrow(
            rules.words.lexicon,
            rules.words.lexicon_start,
            state[LOW],
            state[HIGH],
            state[DEPTH],
            rules.pieces.body,
            begin,
            end,
        )
    else:
        state[HASH] = rules.pieces.fold_plus[v]
        state[IS_CAPITAL] = rules.pieces.capital[v]
        state[LOW], state[HIGH] = rules.words.low[v], rules.words.high[v]
        state[SOURCE_LOW], state[SOURCE_HIGH] = 0, rules.words.source_start.shape[0] - 1
        state[DEPTH] = 0
    state[SOURCE_LOW], state[SOURCE_HIGH] = narrow(
        rules.words.source,
        rules.words.source_start,
        state[SOURCE_LOW],
        state[SOURCE_HIGH],
        state[DEPTH],
        rules.pieces.body,
        begin,
        end,
    )
    state[DEPTH] += end - begin


@njit(**INTERNAL)
def known_as(rules: Rules, state: Int64Array, kind: int) -> int:
    """Return whether the open atom may end here (bit 1) and whether it may go on (bit 2)."""
    words, depth = rules.words, state[DEPTH]
    if state[IS_WILD]:
        return 2 + int(depth > 0)
    in_source = is_word(words.source_start, state[SOURCE_LOW], state[SOURCE_HIGH], depth)
    more_in_source = state[SOURCE_HIGH] - state[SOURCE_LOW] > in_source
    if kind == NUMBER:
        if not rules.source_numbers:
            return 3
        return int(in_source) + 2 * int(more_in_source)
    if not rules.whole_words:
        return 2 + int(state[DEPTH] > 0)
    in_lexicon = is_word(words.lexicon_start, state[LOW], state[HIGH], depth)
    more = state[HIGH] - state[LOW] > in_lexicon
    return int(in_source or in_lexicon) + 2 * int(more_in_source or more)
