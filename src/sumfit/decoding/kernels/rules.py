"""Compiled state machine of the constraints: which piece may follow a prefix, and may it end.

Owns `Rules` (plain arrays), the layout of a state and `step`. What the rules mean, and where the
arrays come from, is in `sumfit.decoding.constraints`.

A state is one row of int64: the fields below, then the hashes of the atoms closed so far. An atom
is a run of letter pieces (a word), a run of digit pieces, or one symbol piece. A word or number
stays *open* while further pieces may join it, and is judged when it closes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sumfit.decoding.kernels.compiled import njit
from sumfit.decoding.kernels.lexicon import is_word, narrow

__all__ = [
    "ENDABLE",
    "FIELDS",
    "HASH",
    "INNER",
    "IS_CLOSABLE",
    "N_ATOMS",
    "OPEN",
    "PAIR_BASE",
    "REJECTED",
    "SET_NOW",
    "SWITCHES",
    "Rules",
    "classify",
    "is_repeat",
    "no_rules",
    "start_state",
    "step",
    "step_once",
]

# for loops that only other loops call: no entrance from Python, which is slow to compile
INNER: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

REJECTED = -1

# fields of a state
(
    OPEN,  # 0 nothing, 1 a word, 2 a number
    LOW,  # range of lexicon words that the open word can become
    HIGH,
    SOURCE_LOW,  # the same for the words of the source
    SOURCE_HIGH,
    DEPTH,  # bytes of the open atom
    HASH,  # case-folded hash of the open atom
    IS_CAPITAL,  # the open word begins with a capital letter
    IS_CLOSABLE,  # the open atom may close here
    UTF8,  # state of the UTF-8 automaton, 0 between characters
    IS_BARE,  # the last piece was a space alone
    SET,  # bits of the required phrases that are written
    SET_NOW,  # the same if the open atom closes here
    PAIRS,  # opening minus closing marks, 8 bits a pair, each with bias 128
    QUOTES,  # parity of straight double quotation marks
    END,  # how the text so far ends: one of the values below
    LAST_BYTE,  # of the text so far
    IN_TOKEN,  # since the last space there was more than opening marks
    IS_WHOLE,  # the open word began right after a space or opening marks
    ENDABLE,  # the text may end here
    FOLD_DEPTH,  # bytes of the open word, case-folded
    PAST_DEPTH,  # the same of the whole word just before it, 0 if there is none
    IS_STUTTER,  # the open word begins with the word before it
    BEFORE_MARK,  # the byte before the last symbol
    IS_STRAY,  # the text so far ends with a closing mark that closes nothing
    N_ATOMS,  # atoms closed
    FIELDS,
) = range(27)

WORD, NUMBER = 1, 2
SPECIAL, LETTERS, DIGITS, SYMBOLS, OTHER, FREE = 0, 1, 2, 3, 4, 5
KEEP, NEVER, FULL_STOP, WELL = 0, 1, 2, 3  # what a symbol does to END
# well; on an open mark; on a word that needs another unless a full stop follows; on one that
# always does; without any word or number yet
COMPLETE, OPEN_MARK, NEEDS_STOP, NEEDS_WORD, NOTHING = 0, 1, 2, 3, 4


class Rules(NamedTuple):
    """Switches (0 or 1), tables by vocabulary id ``(V,)``, word lists and phrases.

    Phrases are hashes of atoms, one after the other, with the offsets of each phrase.
    """

    is_on: int
    whole_words: int
    content_once: int
    adjacent_once: int
    ngram: int
    complete_end: int
    source_numbers: int
    source_names: int
    kind: Any
    starts: Any
    capital: Any
    body: Any
    body_start: Any
    fold_times: Any
    fold_plus: Any
    end_action: Any
    opens: Any
    pairs: Any
    quotes: Any
    fold: Any
    fold_start: Any
    scripts: Any
    odd: Any
    follows: Any
    source_pairs: Any
    source_scripts: int
    low: Any
    high: Any
    lexicon: Any
    lexicon_start: Any
    is_common: Any
    source: Any
    source_start: Any
    function_words: Any
    never_last: Any
    seldom_last: Any
    banned: Any
    banned_start: Any
    required: Any
    required_start: Any


SWITCHES = (
    "is_on",
    "whole_words",
    "content_once",
    "adjacent_once",
    "ngram",
    "complete_end",
    "source_numbers",
    "source_names",
)
CLOSING_QUOTE = -(1 << 48)  # what a single straight mark does to PAIRS where it closes
APOSTROPHE = ord("'")
PLURAL = ord("s")  # after it such a mark may be a possessive
SPACE, COLON, COMMA = ord(" "), ord(":"), ord(",")
FOLD_BASE = 0x9E3779B97F4A7C15 - 2**64  # of the hashes of words, as a signed number
PAIR_BASE = 0x2545F4914F6CDD1D  # of the hashes of two words in a row
NO_PAIRS = 0x0080808080808080  # seven pairs, none open


@njit(cache=True, nogil=True)
def start_state(state):  # type: ignore[no-untyped-def]
    """Write the state of the empty prefix."""
    state[:FIELDS] = 0
    state[PAIRS] = NO_PAIRS
    state[END] = NOTHING


@njit(**INNER)
def _utf8_next(state, byte):  # type: ignore[no-untyped-def]
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


@njit(**INNER)
def _is_in(hashes, value):  # type: ignore[no-untyped-def]
    """Whether a sorted array holds a value."""
    first, last = 0, hashes.shape[0]
    while first < last:
        middle = (first + last) // 2
        if hashes[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first < hashes.shape[0] and hashes[first] == value


@njit(**INNER)
def _ends_with(phrases, begin, end, state, value):  # type: ignore[no-untyped-def]
    """Whether the closed atoms and then ``value`` end with the phrase ``phrases[begin:end]``."""
    n = end - begin
    if phrases[end - 1] != value or state[N_ATOMS] < n - 1:
        return False
    for back in range(1, n):
        if phrases[end - 1 - back] != state[FIELDS + state[N_ATOMS] - back]:
            return False
    return True


@njit(**INNER)
def _repeats_ngram(state, value, n):  # type: ignore[no-untyped-def]
    """Whether the last n atoms, ``value`` being the last, occurred before."""
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


@njit(**INNER)
def _stutters(rules, state, value):  # type: ignore[no-untyped-def]
    """Whether the open word begins with the whole word before it: "Lim limit"."""
    if not state[IS_STUTTER] or state[FOLD_DEPTH] <= state[PAST_DEPTH]:
        return False
    past = state[FIELDS + state[N_ATOMS] - 1]
    if _is_in(rules.function_words, past):
        return False
    return not _is_in(rules.source_pairs, past * PAIR_BASE + value)


@njit(**INNER)
def _may_close(rules, state, kind, value):  # type: ignore[no-untyped-def]
    """Judge an atom that would close now; set SET_NOW."""
    state[SET_NOW] = state[SET]
    n = state[N_ATOMS]
    if kind != 0 and rules.adjacent_once and n > 0 and state[FIELDS + n - 1] == value:
        return False
    if kind == WORD and rules.content_once and state[DEPTH] > 1:
        for a in range(n):
            if state[FIELDS + a] == value and not _is_in(rules.function_words, value):
                return False
    if kind == WORD and rules.content_once and _stutters(rules, state, value):
        return False
    if rules.ngram > 0 and _repeats_ngram(state, value, rules.ngram):
        return False
    for p in range(rules.banned_start.shape[0] - 1):
        begin, end = rules.banned_start[p], rules.banned_start[p + 1]
        if _ends_with(rules.banned, begin, end, state, value):
            return False
    for p in range(rules.required_start.shape[0] - 1):
        begin, end = rules.required_start[p], rules.required_start[p + 1]
        if _ends_with(rules.required, begin, end, state, value):
            state[SET_NOW] |= 1 << p
    return True


@njit(**INNER)
def _is_allowed_name(rules, state):  # type: ignore[no-untyped-def]
    """Whether a word is no name, or one from the source."""
    if not state[IS_CAPITAL] or is_word(
        rules.source_start, state[SOURCE_LOW], state[SOURCE_HIGH], state[DEPTH]
    ):
        return True
    low, high = state[LOW], state[HIGH]
    return is_word(rules.lexicon_start, low, high, state[DEPTH]) and rules.is_common[low]


@njit(**INNER)
def _may_end(rules, state):  # type: ignore[no-untyped-def]
    if state[UTF8] != 0 or state[IS_BARE]:
        return False
    n_required = rules.required_start.shape[0] - 1
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


@njit(**INNER)
def _close(state):  # type: ignore[no-untyped-def]
    state[FIELDS + state[N_ATOMS]] = state[HASH]
    state[N_ATOMS] += 1
    state[SET] = state[SET_NOW]
    state[OPEN] = 0


@njit(**INNER)
def _follow_stutter(rules, state, v, joins):  # type: ignore[no-untyped-def]
    """Compare the open word, now longer by a piece, with the word before it."""
    begin, end = rules.fold_start[v], rules.fold_start[v + 1]
    past = state[PAST_DEPTH]
    if state[FOLD_DEPTH] < past <= state[FOLD_DEPTH] + end - begin:
        value = state[HASH] if joins else 0
        for p in range(begin, begin + past - state[FOLD_DEPTH]):
            value = value * FOLD_BASE + rules.fold[p] + 1
        state[IS_STUTTER] = int(value == state[FIELDS + state[N_ATOMS] - 1])
    state[FOLD_DEPTH] += end - begin


@njit(**INNER)
def _extend(rules, state, v, joins):  # type: ignore[no-untyped-def]
    """Add a piece to the open word or number, or open one with it."""
    begin, end = rules.body_start[v], rules.body_start[v + 1]
    if not joins:
        state[FOLD_DEPTH] = 0
        state[IS_STUTTER] = 0
    _follow_stutter(rules, state, v, joins)
    if joins:
        state[HASH] = state[HASH] * rules.fold_times[v] + rules.fold_plus[v]
        if state[DEPTH] == 0:
            state[IS_CAPITAL] = rules.capital[v]
        state[LOW], state[HIGH] = narrow(
            rules.lexicon,
            rules.lexicon_start,
            state[LOW],
            state[HIGH],
            state[DEPTH],
            rules.body,
            begin,
            end,
        )
    else:
        state[HASH] = rules.fold_plus[v]
        state[IS_CAPITAL] = rules.capital[v]
        state[LOW], state[HIGH] = rules.low[v], rules.high[v]
        state[SOURCE_LOW], state[SOURCE_HIGH] = 0, rules.source_start.shape[0] - 1
        state[DEPTH] = 0
    state[SOURCE_LOW], state[SOURCE_HIGH] = narrow(
        rules.source,
        rules.source_start,
        state[SOURCE_LOW],
        state[SOURCE_HIGH],
        state[DEPTH],
        rules.body,
        begin,
        end,
    )
    state[DEPTH] += end - begin


@njit(**INNER)
def _known(rules, state, kind):  # type: ignore[no-untyped-def]
    """Whether the open atom is allowed as it is, and whether it may become longer (bits 1, 2)."""
    in_source = is_word(rules.source_start, state[SOURCE_LOW], state[SOURCE_HIGH], state[DEPTH])
    more_in_source = state[SOURCE_HIGH] - state[SOURCE_LOW] > in_source
    if kind == NUMBER:
        if not rules.source_numbers:
            return 3
        return int(in_source) + 2 * int(more_in_source)
    if not rules.whole_words:
        return 2 + int(state[DEPTH] > 0)
    in_lexicon = is_word(rules.lexicon_start, state[LOW], state[HIGH], state[DEPTH])
    more = state[HIGH] - state[LOW] > in_lexicon
    return int(in_source or in_lexicon) + 2 * int(more_in_source or more)


@njit(**INNER)
def _ending_of_word(rules, value):  # type: ignore[no-untyped-def]
    if _is_in(rules.never_last, value):
        return NEEDS_WORD
    return NEEDS_STOP if _is_in(rules.seldom_last, value) else COMPLETE


@njit(**INNER)
def _closes_nothing(pairs, change):  # type: ignore[no-untyped-def]
    """Whether a closing bracket or double mark has no opening one before it."""
    after = pairs + change
    for _ in range(6):
        if (after & 0xFF) < 0x80 and (after & 0xFF) < (pairs & 0xFF):
            return True
        after >>= 8
        pairs >>= 8
    return False


@njit(**INNER)
def _ending_of_symbol(action, before):  # type: ignore[no-untyped-def]
    if before == NOTHING or action == KEEP:
        return before
    if action == NEVER:
        return OPEN_MARK
    if action == FULL_STOP and before == NEEDS_WORD:
        return NEEDS_WORD
    return COMPLETE


@njit(**INNER)
def _decode_piece(rules, state, v):  # type: ignore[no-untyped-def]
    """Follow the UTF-8 automaton and the spaces; whether the piece may come here at all."""
    kind = rules.kind[v]
    begin, end = rules.body_start[v], rules.body_start[v + 1]
    if kind == SPECIAL or (state[IS_BARE] and rules.starts[v]):
        return False
    state[IS_BARE] = int(begin == end)
    if kind != OTHER:
        return state[UTF8] == 0
    if rules.starts[v] and state[UTF8] != 0:
        return False
    follow = state[UTF8]
    for p in range(begin, end):
        follow = _utf8_next(follow, rules.body[p])
        if follow < 0:
            return False
    state[UTF8] = follow
    return True


@njit(**INNER)
def _may_touch(rules, state, first, second):  # type: ignore[no-untyped-def]
    """Whether a byte may come right after another one."""
    if first >= 128 or second >= 128 or rules.follows[first, second]:
        return True
    is_number = 48 <= second <= 57 and 48 <= state[BEFORE_MARK] <= 57  # 10:30 and 1,000
    return is_number and (first == COLON or first == COMMA)


@njit(**INNER)
def _may_stand(rules, before, v):  # type: ignore[no-untyped-def]
    """Whether punctuation and spaces read as they should if a piece comes next."""
    if rules.odd[v]:
        return False
    begin = rules.body_start[v]
    last = before[LAST_BYTE]
    if before[IS_BARE] or last == 0:
        last = SPACE
    if rules.starts[v] and last != SPACE:
        if before[IS_STRAY] or not _may_touch(rules, before, last, SPACE):
            return False
        last = SPACE
    return begin == rules.body_start[v + 1] or _may_touch(rules, before, last, rules.body[begin])


@njit(**INNER)
def step(rules, before, v, state):  # type: ignore[no-untyped-def]
    """Write the state after a piece; return the kind of context it leaves, or `REJECTED`.

    Kinds are those of `kernels.bound`: 0 anything may follow, 1 no end, 2 only a continuation of
    the word begun, 3 no continuation, 4 neither end nor continuation.
    """
    used = FIELDS + before[N_ATOMS]
    for i in range(used):
        state[i] = before[i]
    if not _decode_piece(rules, state, v):
        return REJECTED
    if rules.complete_end and not _may_stand(rules, before, v):
        return REJECTED
    if rules.whole_words and rules.scripts[v] & ~rules.source_scripts:
        return REJECTED
    state[IS_STRAY] = 0
    kind = rules.kind[v]
    starts = rules.starts[v]
    is_letters = kind == LETTERS or kind == OTHER
    joins = not starts and (
        (is_letters and state[OPEN] == WORD) or (kind == DIGITS and state[OPEN] == NUMBER)
    )
    if not joins:
        is_past = starts and state[OPEN] == WORD and state[IS_WHOLE]
        state[PAST_DEPTH] = state[FOLD_DEPTH] if is_past else 0
    if state[OPEN] != 0 and not joins:
        if state[OPEN] == WORD and state[DEPTH] == 0:
            state[OPEN] = 0  # a space alone: nothing was begun
        elif not state[IS_CLOSABLE]:
            return REJECTED
        else:
            _close(state)
    if starts:
        state[IN_TOKEN] = 0
    change = rules.pairs[v]
    if (
        change == CLOSING_QUOTE
        and before[IS_BARE]
        and rules.body[rules.body_start[v]] == APOSTROPHE
    ):
        change = -CLOSING_QUOTE  # after a space it opens
    is_stray = False
    if rules.complete_end and change < 0:
        if _closes_nothing(state[PAIRS], change):
            return REJECTED
        is_stray = change == CLOSING_QUOTE and (state[PAIRS] >> 48) <= 0x80
    state[PAIRS] += change
    state[QUOTES] ^= rules.quotes[v]
    if not is_letters and kind != DIGITS:
        state[HASH] = rules.fold_plus[v]
        if not _may_close(rules, state, 0, state[HASH]):
            return REJECTED
        _close(state)
        state[END] = _ending_of_symbol(rules.end_action[v], state[END])
        if is_stray and state[LAST_BYTE] != PLURAL:
            state[END] = OPEN_MARK
            state[IS_STRAY] = 1
        state[BEFORE_MARK] = SPACE if starts else state[LAST_BYTE]
        state[IN_TOKEN] |= not rules.opens[v]
        state[LAST_BYTE] = rules.body[rules.body_start[v + 1] - 1]
        state[ENDABLE] = int(_may_end(rules, state))
        return 1 - state[ENDABLE]
    if rules.body_start[v] < rules.body_start[v + 1]:
        state[LAST_BYTE] = rules.body[rules.body_start[v + 1] - 1]
    atom = WORD if is_letters else NUMBER
    _extend(rules, state, v, joins)
    state[OPEN] = atom
    if not joins:
        state[IS_WHOLE] = 1 - state[IN_TOKEN]
    state[IN_TOKEN] = int(state[DEPTH] > 0)
    known = _known(rules, state, atom)
    if known == 0:
        return REJECTED
    closable = (known & 1) == 1 and state[UTF8] == 0 and state[DEPTH] > 0
    if atom == WORD and closable and rules.source_names and not _is_allowed_name(rules, state):
        closable = False
    closable = _may_close(rules, state, atom, state[HASH]) and closable
    if not closable:
        state[SET_NOW] = state[SET]
    state[IS_CLOSABLE] = int(closable)
    if state[DEPTH] > 0:
        state[END] = COMPLETE
        if atom == WORD and state[IS_WHOLE]:
            state[END] = _ending_of_word(rules, state[HASH])
    state[ENDABLE] = int(closable and _may_end(rules, state))
    if not closable and (known & 2) == 0:
        return REJECTED
    if atom == NUMBER or state[DEPTH] == 0:
        return 1 - state[ENDABLE]
    if not closable:
        return 2
    return (0 if known & 2 else 3) + 1 - state[ENDABLE]


@njit(cache=True, nogil=True)
def step_once(rules, before, v, state):  # type: ignore[no-untyped-def]
    """`step` for callers in Python."""
    return step(rules, before, v, state)


@njit(**INNER)
def is_repeat(rules, state):  # type: ignore[no-untyped-def]
    """Whether the open word is a content word that occurred before."""
    if not rules.content_once or state[OPEN] != WORD or state[DEPTH] < 2:
        return False
    for a in range(state[N_ATOMS]):
        if state[FIELDS + a] == state[HASH]:
            return not _is_in(rules.function_words, state[HASH])
    return False


@njit(**INNER)
def _static_kind(rules, v, state):  # type: ignore[no-untyped-def]
    """What may follow a piece wherever it stands: the loosest kind over all prefixes."""
    start_state(state)
    kind = rules.kind[v]
    if kind == SPECIAL:
        return REJECTED
    if rules.complete_end and rules.odd[v]:
        return REJECTED
    if rules.whole_words and rules.scripts[v] & ~rules.source_scripts:
        return REJECTED
    if kind == SYMBOLS:
        return int(rules.complete_end and rules.end_action[v] == NEVER)
    if kind == FREE or not rules.starts[v]:
        return 0
    if not _decode_piece(rules, state, v):
        return REJECTED
    if state[IS_BARE]:
        return 1
    atom = NUMBER if kind == DIGITS else WORD
    _extend(rules, state, v, False)
    known = _known(rules, state, atom)
    if known == 0:
        return REJECTED
    if atom == NUMBER:
        return 0
    closable = (known & 1) == 1 and state[UTF8] == 0
    if closable and rules.source_names and not _is_allowed_name(rules, state):
        closable = False
    for p in range(rules.banned_start.shape[0] - 1):
        begin, end = rules.banned_start[p], rules.banned_start[p + 1]
        if end - begin == 1 and rules.banned[begin] == state[HASH]:
            closable = False
    if not closable:
        return 2 if known & 2 else REJECTED
    is_end = not rules.complete_end or _ending_of_word(rules, state[HASH]) == COMPLETE
    return (0 if known & 2 else 3) + (0 if is_end else 1)


@njit(cache=True, nogil=True)
def classify(rules, ids, state, kinds, joins):  # type: ignore[no-untyped-def]
    """Fill ``kinds`` (W,) with what may follow each candidate in the best case.

    ``joins`` (W,) says whether it can continue a word; `REJECTED` marks a candidate that no
    output can hold.
    """
    for w in range(ids.shape[0]):
        v = ids[w]
        kinds[w] = _static_kind(rules, v, state)
        joins[w] = (rules.kind[v] == LETTERS or rules.kind[v] == OTHER) and not rules.starts[v]


@lru_cache(maxsize=1)
def no_rules() -> Rules:
    """Rules that are switched off, for searches without constraints."""
    numbers = np.zeros(1, dtype=np.int64)
    data = np.zeros(1, dtype=np.uint8)
    switch = np.zeros(1, dtype=np.bool_)
    kind = np.zeros(1, dtype=np.int8)
    none = numbers[:0]
    return Rules(
        **dict.fromkeys(SWITCHES, 0),
        kind=kind,
        starts=switch,
        capital=switch,
        body=data,
        body_start=numbers,
        fold_times=numbers,
        fold_plus=numbers,
        end_action=kind,
        opens=switch,
        pairs=numbers,
        quotes=kind,
        fold=data,
        fold_start=numbers,
        scripts=numbers,
        odd=switch,
        follows=np.ones((1, 1), dtype=np.bool_),
        source_pairs=none,
        source_scripts=0,
        low=numbers,
        high=numbers,
        lexicon=data,
        lexicon_start=numbers,
        is_common=switch,
        source=data,
        source_start=numbers,
        function_words=none,
        never_last=none,
        seldom_last=none,
        banned=none,
        banned_start=numbers,
        required=none,
        required_start=numbers,
    )
