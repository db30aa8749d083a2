"""Compiled state machine of the constraints: which piece may follow a prefix, and what it leaves.

Owns `step` and the judgement of an atom that closes. The layout of states and rules is in
`kernels.state`.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sumfit.compiled import INTERNAL, BoolArray, Int64Array, UInt8Array, njit
from sumfit.constraints.kernels.atoms import decode_piece, extend, known_as
from sumfit.constraints.kernels.contexts import ANY, JOIN_ONLY, NO_END, allows, context_of
from sumfit.constraints.kernels.endings import (
    closes_nothing,
    ending_of_symbol,
    ending_of_word,
    may_end,
    may_stand,
)
from sumfit.constraints.kernels.joints import is_joined, leave_left, may_join, may_mark
from sumfit.constraints.kernels.lexicon import is_word, narrow
from sumfit.constraints.kernels.state import (
    ANY_BYTE,
    APOSTROPHE,
    BEFORE_MARK,
    BEGINS,
    CLOSING_QUOTE,
    COMPLETE,
    DEPTH,
    DIGITS,
    END,
    ENDABLE,
    FIELDS,
    FOLD_DEPTH,
    FREE,
    FRESH,
    FULL_STOP,
    HASH,
    HIGH,
    IN_TOKEN,
    IS_BARE,
    IS_CAPITAL,
    IS_CLOSABLE,
    IS_FIRST,
    IS_STRAY,
    IS_STUTTER,
    IS_WHOLE,
    IS_WILD,
    LAST_BYTE,
    LETTERS,
    LOW,
    N_ATOMS,
    NOTHING,
    NUMBER,
    NUMBER_WORD,
    OPEN,
    OPEN_MARK,
    ORDINARY_WORD,
    OTHER,
    PAIR_BASE,
    PAIRS,
    PAST_DEPTH,
    PERIOD,
    PLURAL,
    QUOTES,
    REJECTED,
    SET,
    SET_NOW,
    SOURCE_HIGH,
    SOURCE_LOW,
    SPACE,
    SPECIAL,
    SPOILS_END,
    STOP_AFTER_INITIAL,
    STOP_ANYWHERE,
    STOP_NOWHERE,
    SYMBOLS,
    UTF8,
    WORD,
    Phrases,
    Pieces,
    Rules,
    is_in,
    start_state,
)

__all__ = ["classify", "is_repeat", "step", "step_once", "step_out_of_candidates", "step_within"]

# numba compiles a loop again for every constant of Python that it is called with, not for these
_MARK = cast(int, np.int64(0))  # an atom that is neither word nor number
_APART = cast(bool, np.bool_(False))  # does not join the open word
_ZERO = cast(int, np.int64(0))
_NONE = cast(int, np.int64(-1))  # no piece, no place


@njit(**INTERNAL)
def _ends_with(phrases: Int64Array, begin: int, end: int, state: Int64Array, value: int) -> bool:
    """Return whether the closed atoms and ``value`` end with the phrase ``phrases[begin:end]``."""
    n = end - begin
    if phrases[end - 1] != value or state[N_ATOMS] < n - 1:
        return False
    for back in range(1, n):
        if phrases[end - 1 - back] != state[FIELDS + state[N_ATOMS] - back]:
            return False
    return True


@njit(**INTERNAL)
def _repeats_ngram(state: Int64Array, value: int, n: int) -> bool:
    """Return whether the last n atoms, ``value`` being the last, occurred before."""
    closed = state[N_ATOMS]
    for end in range(n - 1, closed):  # an earlier n-gram whose last atom has this index
        if state[FIELDS + end] != value:
            continue
        same = True
        for back in range(1, n):
            if state[FIELDS + end - back] != state[FIELDS + closed - back]:
                same = False
                break
        if same:
            return True
    return False


@njit(**INTERNAL)
def _stutters(rules: Rules, state: Int64Array, value: int) -> bool:
    """Return whether the open word begins with the whole word before it: "Lim limit"."""
    if not state[IS_STUTTER] or state[FOLD_DEPTH] <= state[PAST_DEPTH]:
        return False
    past = state[FIELDS + state[N_ATOMS] - 1]
    if is_in(rules.words.function_words, past):
        return False
    return not is_in(rules.words.source_pairs, past * PAIR_BASE + value)


@njit(**INTERNAL)
def _may_close(rules: Rules, state: Int64Array, kind: int, value: int) -> bool:
    """Judge an atom that would close now; set SET_NOW."""
    state[SET_NOW] = state[SET]
    n = state[N_ATOMS]
    if kind != _MARK and rules.adjacent_once and n > 0 and state[FIELDS + n - 1] == value:
        return False
    if kind == WORD and rules.content_once and state[DEPTH] > 1:
        for a in range(n):
            if state[FIELDS + a] == value and not is_in(rules.words.function_words, value):
                return False
    if kind == WORD and rules.content_once and _stutters(rules, state, value):
        return False
    if rules.ngram > 0 and _repeats_ngram(state, value, rules.ngram):
        return False
    phrases = rules.phrases
    for p in range(phrases.banned_start.shape[0] - 1):
        begin, end = phrases.banned_start[p], phrases.banned_start[p + 1]
        if _ends_with(phrases.banned, begin, end, state, value):
            return False
    for p in range(phrases.required_start.shape[0] - 1):
        begin, end = phrases.required_start[p], phrases.required_start[p + 1]
        if _ends_with(phrases.required, begin, end, state, value):
            state[SET_NOW] |= 1 << p
    return True


@njit(**INTERNAL)
def _may_begin(before: Int64Array) -> bool:
    """Return whether a word may have a capital because of its place alone."""
    last = before[LAST_BYTE]
    if before[N_ATOMS] == 0 or last == ANY_BYTE:
        return True
    for mark in BEGINS:
        if last == mark:
            return True
    return False


@njit(**INTERNAL)
def _is_vouched_for(rules: Rules, state: Int64Array) -> bool:
    """Return whether a word is from the source, or neither a name nor, if asked, a number word."""
    words, low, depth = rules.words, state[LOW], state[DEPTH]
    if state[IS_WILD] or not (rules.source_names or rules.source_numbers):
        return True
    if is_word(words.source_start, state[SOURCE_LOW], state[SOURCE_HIGH], depth):
        return True
    if not is_word(words.lexicon_start, low, state[HIGH], depth):
        return not (rules.source_names and state[IS_CAPITAL])
    standing = words.standing[low]
    if standing == NUMBER_WORD:
        return not rules.source_numbers
    if not rules.source_names:
        return True
    return standing == ORDINARY_WORD and (not state[IS_CAPITAL] or state[IS_FIRST] == 1)


@njit(**INTERNAL)
def _close(state: Int64Array) -> None:
    state[FIELDS + state[N_ATOMS]] = state[HASH]
    state[N_ATOMS] += 1
    state[SET] = state[SET_NOW]
    state[OPEN] = 0


@njit(**INTERNAL)
def _is_stop(rules: Rules, v: int) -> bool:
    """Return whether a symbol that may end an output holds a full stop."""
    if rules.pieces.end_action[v] != FULL_STOP:
        return False
    for place in range(rules.pieces.body_start[v], rules.pieces.body_start[v + 1]):
        if rules.pieces.body[place] == PERIOD:
            return True
    return False


@njit(**INTERNAL)
def _end_action(rules: Rules, before: Int64Array, v: int) -> int:
    """What a symbol does to the ending, where a final full stop may not be welcome."""
    action = rules.pieces.end_action[v]
    if rules.final_stop == STOP_ANYWHERE or not _is_stop(rules, v):
        return action
    if rules.final_stop == STOP_AFTER_INITIAL and before[OPEN] == WORD and before[DEPTH] == 1:
        return action  # "U.S."
    return SPOILS_END


@njit(**INTERNAL)
def _may_come(rules: Rules, before: Int64Array, v: int, state: Int64Array) -> bool:
    """Return whether a piece may come next as far as bytes, marks and writing systems go."""
    if not decode_piece(rules, state, v):
        return False
    if rules.complete_end and not may_stand(rules, before, v):
        return False
    return not (rules.whole_words and rules.pieces.scripts[v] & ~rules.source_scripts)


@njit(**INTERNAL)
def _may_leave_open(state: Int64Array, starts: bool, joins: bool) -> bool:
    """Close the open atom unless the piece joins it; whether it may be so."""
    if joins:
        return True
    is_past = starts and state[OPEN] == WORD and state[IS_WHOLE]
    state[PAST_DEPTH] = state[FOLD_DEPTH] if is_past else 0
    if state[OPEN] == WORD and state[DEPTH] == 0:
        state[OPEN] = 0  # a space alone: nothing was begun
    elif state[OPEN] != 0:
        if not state[IS_CLOSABLE]:
            return False
        _close(state)
    return True


@njit(**INTERNAL)
def _pair_up(rules: Rules, before: Int64Array, v: int, state: Int64Array) -> int:
    """Count opening and closing marks; 1 for a mark that may close nothing, -1 for none such."""
    pieces = rules.pieces
    change = pieces.pairs[v]
    if change == CLOSING_QUOTE and before[IS_BARE]:
        if pieces.body[pieces.body_start[v]] == APOSTROPHE:
            change = -CLOSING_QUOTE  # after a space it opens
    is_stray = False
    if rules.complete_end and change < 0:
        if closes_nothing(state[PAIRS], change):
            return -1
        is_stray = change == CLOSING_QUOTE and (state[PAIRS] >> 48) <= 0x80
    state[PAIRS] += change
    state[QUOTES] ^= pieces.quotes[v]
    return int(is_stray)


@njit(**INTERNAL)
def _write_symbol(
    rules: Rules, before: Int64Array, v: int, state: Int64Array, is_stray: int
) -> int:
    """Write a symbol, an atom of its own; return the context it leaves."""
    pieces = rules.pieces
    state[HASH] = pieces.fold_plus[v]
    if not _may_close(rules, state, _MARK, state[HASH]):
        return REJECTED
    _close(state)
    state[END] = ending_of_symbol(_end_action(rules, before, v), state[END])
    if is_stray and state[LAST_BYTE] != PLURAL and state[LAST_BYTE] != ANY_BYTE:
        if state[END] != NOTHING:  # marks alone never become an output
            state[END] = OPEN_MARK
        state[IS_STRAY] = 1
    state[BEFORE_MARK] = SPACE if pieces.starts[v] else state[LAST_BYTE]
    state[IN_TOKEN] |= not pieces.opens[v]
    state[LAST_BYTE] = pieces.body[pieces.body_start[v + 1] - 1]
    state[ENDABLE] = int(may_end(rules, state))
    return context_of(state[ENDABLE] == 1, True)


@njit(**INTERNAL)
def _write_atom(rules: Rules, v: int, state: Int64Array, atom: int, joins: bool) -> int:
    """Write a piece of a word or number; return the context it leaves."""
    pieces = rules.pieces
    if not joins:
        state[IS_FIRST] = int(_may_begin(state))
    if pieces.body_start[v] < pieces.body_start[v + 1]:
        state[LAST_BYTE] = pieces.body[pieces.body_start[v + 1] - 1]
    extend(rules, state, v, joins)
    state[OPEN] = atom
    if not joins:
        state[IS_WHOLE] = 1 - state[IN_TOKEN]
    state[IN_TOKEN] = int(state[DEPTH] > 0)
    known = known_as(rules, state, atom)
    if known == 0:
        return REJECTED
    closable = (known & 1) == 1 and state[UTF8] == 0 and state[DEPTH] > 0
    if atom == WORD and closable:
        closable = _is_vouched_for(rules, state)
    if closable and rules.whole_words and not is_joined(rules, state, atom):
        closable = False
    closable = _may_close(rules, state, atom, state[HASH]) and closable
    if not closable:
        state[SET_NOW] = state[SET]
    state[IS_CLOSABLE] = int(closable)
    if state[DEPTH] > 0:
        state[END] = COMPLETE
        if atom == WORD and state[IS_WHOLE]:
            state[END] = ending_of_word(rules, state[HASH])
    state[ENDABLE] = int(closable and may_end(rules, state))
    if not closable and (known & 2) == 0:
        return REJECTED
    if atom == NUMBER or state[DEPTH] == 0:
        return context_of(state[ENDABLE] == 1, True)
    if not closable:
        return JOIN_ONLY
    return context_of(state[ENDABLE] == 1, (known & 2) != 0)


@njit(**INTERNAL)
def step(rules: Rules, before: Int64Array, v: int, state: Int64Array) -> int:
    """Write the state after a piece; return the context it leaves, or `REJECTED`."""
    for i in range(FIELDS + before[N_ATOMS]):
        state[i] = before[i]
    if not _may_come(rules, before, v, state):
        return REJECTED
    state[IS_STRAY] = 0
    kind = rules.pieces.kind[v]
    starts = rules.pieces.starts[v]
    is_letters = kind == LETTERS or kind == OTHER
    joins = not starts and (
        (is_letters and state[OPEN] == WORD) or (kind == DIGITS and state[OPEN] == NUMBER)
    )
    if not _may_leave_open(state, starts, joins):
        return REJECTED
    if starts:
        state[IN_TOKEN] = 0
    leave_left(before, state, starts, joins)
    is_stray = _pair_up(rules, before, v, state)
    if is_stray < 0:
        return REJECTED
    if not is_letters and kind != DIGITS:
        if rules.whole_words and not may_mark(rules, v, state):
            return REJECTED
        return _write_symbol(rules, before, v, state, is_stray)
    if rules.whole_words and not joins and not may_join(rules, state):
        return REJECTED
    return _write_atom(rules, v, state, WORD if is_letters else NUMBER, joins)


@njit(**INTERNAL)
def _goes_on(
    text: UInt8Array,
    start: Int64Array,
    low: int,
    high: int,
    depth: int,
    pieces: Pieces,
    v: int,
    more: int,
) -> bool:
    """Return whether any of the words that share ``depth`` bytes goes on with one or two pieces."""
    begin, end = pieces.body_start[v], pieces.body_start[v + 1]
    low, high = narrow(text, start, low, high, depth, pieces.body, begin, end)
    if more >= 0 and low < high:
        depth += end - begin
        begin, end = pieces.body_start[more], pieces.body_start[more + 1]
        low, high = narrow(text, start, low, high, depth, pieces.body, begin, end)
    return low < high


@njit(**INTERNAL)
def _may_spell(rules: Rules, before: Int64Array, v: int, more: int) -> bool:
    """Return whether some word can go on with piece v, and if ``more`` is a piece, then with that.

    Quickly tells most pieces that `step` would refuse; true for all that it would not.
    """
    words, pieces = rules.words, rules.pieces
    joins = before[OPEN] == WORD and not pieces.starts[v]
    if not rules.whole_words or pieces.kind[v] != LETTERS or (joins and before[IS_WILD]):
        return True
    depth, low, high = _ZERO, _ZERO, words.lexicon_start.shape[0] - 1
    source_low, source_high = _ZERO, words.source_start.shape[0] - 1
    if joins:
        depth, low, high = before[DEPTH], before[LOW], before[HIGH]
        source_low, source_high = before[SOURCE_LOW], before[SOURCE_HIGH]
    elif more >= 0:
        low, high = words.low[v], words.high[v]
    else:
        return True
    text, start = words.lexicon, words.lexicon_start
    if _goes_on(text, start, low, high, depth, pieces, v, more):
        return True
    text, start = words.source, words.source_start
    return _goes_on(text, start, source_low, source_high, depth, pieces, v, more)


@njit(**INTERNAL)
def _none_spells(
    rules: Rules, before: Int64Array, members: Int64Array, group: int, more: int, known: Int64Array
) -> bool:
    """Return whether `_may_spell` is false for a whole group; ``known`` (N, 8) has the answers."""
    v = members[0]
    joins = before[OPEN] == WORD and not rules.pieces.starts[v]
    if not rules.whole_words or rules.pieces.kind[v] != LETTERS or not (joins or more >= 0):
        return False
    low, high, source_low, source_high, depth = _NONE, _NONE, _NONE, _NONE, _NONE
    if joins:
        low, high, depth = before[LOW], before[HIGH], before[DEPTH]
        source_low, source_high = before[SOURCE_LOW], before[SOURCE_HIGH]
        if before[IS_WILD]:
            return False
    place = ((low * 31 + high) * 31 + source_low) * 31 + depth
    row = known[((place * 31 + group) * 31 + more) % known.shape[0]]
    is_known = row[0] == low and row[1] == high and row[2] == source_low and row[3] == source_high
    if is_known and row[4] == depth and row[5] == group and row[6] == more:
        return row[7] == 1
    none = True
    for member in members:
        if _may_spell(rules, before, member, more):
            none = False
            break
    row[0], row[1], row[2], row[3], row[4] = low, high, source_low, source_high, depth
    row[5], row[6], row[7] = group, more, int(none)
    return none


@njit(**INTERNAL)
def step_out_of_candidates(
    rules: Rules,
    before: Int64Array,
    members: Int64Array,
    group: int,
    known: Int64Array,
    state: Int64Array,
) -> int:
    """Write the state after any of some pieces of letters; return its context, or `REJECTED`.

    The pieces are all letters or all digits, and begin a word all or none; ``group`` is their
    number, ``known`` what is known of groups so far.
    Whatever may follow one of them that may come here may follow this state: the word with it
    is a wild one, like no other, which goes on and ends as any of them could.
    """
    good, closable, longer = _NONE, False, False
    if members.shape[0] == 0 or _none_spells(rules, before, members, group, _NONE, known):
        return REJECTED
    for v in members:
        if not _may_spell(rules, before, v, _NONE):
            continue
        left = step(rules, before, v, state)
        if left != REJECTED:
            good = v
            closable = closable or left != JOIN_ONLY
            longer = longer or allows(left, True)
            if closable and longer:
                break
    if good < 0:
        return REJECTED
    step(rules, before, good, state)
    state[IS_WILD], state[IS_CAPITAL], state[IS_STUTTER] = 1, 0, 0
    state[HASH] = FRESH + state[N_ATOMS]
    state[DEPTH] = 1  # as an initial, after which most may come
    state[LAST_BYTE] = ANY_BYTE
    state[SET] = (1 << (rules.phrases.required_start.shape[0] - 1)) - 1
    state[SET_NOW] = state[SET]
    state[END] = COMPLETE
    state[IS_CLOSABLE] = int(closable)
    state[ENDABLE] = int(closable and may_end(rules, state))
    if not closable:
        return JOIN_ONLY
    return context_of(state[ENDABLE] == 1, longer)


@njit(**INTERNAL)
def step_within(
    rules: Rules,
    before: Int64Array,
    members: Int64Array,
    group: int,
    known: Int64Array,
    v: int,
    state: Int64Array,
    other: Int64Array,
) -> bool:
    """Return whether a piece may join any of a group; ``state`` and ``other`` are room."""
    if _none_spells(rules, before, members, group, v, known):
        return False
    for member in members:
        if not _may_spell(rules, before, member, v):
            continue
        if step(rules, before, member, state) != REJECTED:
            if step(rules, state, v, other) != REJECTED:
                return True
    return False


@njit(cache=True, nogil=True)
def step_once(rules: Rules, before: Int64Array, v: int, state: Int64Array) -> int:
    """`step` for callers in Python."""
    return step(rules, before, v, state)


@njit(**INTERNAL)
def is_repeat(rules: Rules, state: Int64Array) -> bool:
    """Return whether the open word is a content word that occurred before."""
    if not rules.content_once or state[OPEN] != WORD or state[DEPTH] < 2:
        return False
    for a in range(state[N_ATOMS]):
        if state[FIELDS + a] == state[HASH]:
            return not is_in(rules.words.function_words, state[HASH])
    return False


@njit(**INTERNAL)
def _is_banned(phrases: Phrases, value: int) -> bool:
    """Return whether a word is banned by itself."""
    for p in range(phrases.banned_start.shape[0] - 1):
        begin, end = phrases.banned_start[p], phrases.banned_start[p + 1]
        if end - begin == 1 and phrases.banned[begin] == value:
            return True
    return False


@njit(**INTERNAL)
def _static_context(rules: Rules, v: int, state: Int64Array) -> int:
    """What may follow a piece wherever it stands: the loosest context over all prefixes."""
    start_state(state)
    kind = rules.pieces.kind[v]
    if kind == SPECIAL or (rules.complete_end and rules.odd[v]):
        return REJECTED
    if rules.whole_words and rules.pieces.scripts[v] & ~rules.source_scripts:
        return REJECTED
    if kind == SYMBOLS:
        is_last = rules.pieces.end_action[v] != SPOILS_END and not (
            rules.final_stop == STOP_NOWHERE and _is_stop(rules, v)
        )
        return context_of(not rules.complete_end or is_last, True)
    if kind == FREE or not rules.pieces.starts[v]:
        return ANY
    if not decode_piece(rules, state, v):
        return REJECTED
    if state[IS_BARE]:
        return NO_END
    atom = NUMBER if kind == DIGITS else WORD
    extend(rules, state, v, _APART)
    known = known_as(rules, state, atom)
    if atom == NUMBER or known == 0:
        return ANY if known else REJECTED
    closable = (known & 1) == 1 and state[UTF8] == 0
    state[IS_FIRST] = 1
    closable = closable and _is_vouched_for(rules, state)
    if not closable or _is_banned(rules.phrases, state[HASH]):
        return JOIN_ONLY if known & 2 else REJECTED
    is_end = not rules.complete_end or ending_of_word(rules, state[HASH]) == COMPLETE
    return context_of(is_end, (known & 2) != 0)


@njit(cache=True, nogil=True)
def classify(
    rules: Rules, ids: Int64Array, state: Int64Array, kinds: Int64Array, joins: BoolArray
) -> None:
    """Fill ``kinds`` (W,) with what may follow each candidate in the best case.

    ``joins`` (W,) says whether it can continue a word; `REJECTED` marks a candidate that no
    output can hold.
    """
    for w in range(ids.shape[0]):
        v = ids[w]
        kinds[w] = _static_context(rules, v, state)
        joins[w] = (
            rules.pieces.kind[v] == LETTERS or rules.pieces.kind[v] == OTHER
        ) and not rules.pieces.starts[v]
