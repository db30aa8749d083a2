"""Layout of the constraints' states and rules: plain arrays, and what each place in them means.

Owns `Rules`, the fields of a state and its start. What happens to a state is in `kernels.rules`;
what the rules mean, and where the arrays come from, in `sumfit.constraints.compile`.

A state is one row of int64: the fields below, then the hashes of the atoms closed so far. An atom
is a run of letter pieces (a word), a run of digit pieces, or one symbol piece. A word or number
stays *open* while further pieces may join it, and is judged when it closes.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sumfit.compiled import INTERNAL, Int64Array, njit

__all__ = [
    "ANY_ATOM",
    "ANY_BYTE",
    "APOSTROPHE",
    "BEFORE_MARK",
    "BEGINS",
    "CLOSING_QUOTE",
    "COLON",
    "COMMA",
    "COMPLETE",
    "DEPTH",
    "DIGITS",
    "EndEffect",
    "END",
    "ENDABLE",
    "FIELDS",
    "FOLD_BASE",
    "FOLD_DEPTH",
    "FREE",
    "FRESH",
    "FULL_STOP",
    "HASH",
    "HIGH",
    "IN_TOKEN",
    "IS_BARE",
    "IS_CAPITAL",
    "IS_CLOSABLE",
    "IS_FIRST",
    "IS_STRAY",
    "IS_STUTTER",
    "IS_WHOLE",
    "IS_WILD",
    "KEEPS_END",
    "LAST_BYTE",
    "LEFT",
    "LEFT_KIND",
    "LETTERS",
    "LOW",
    "MARKS",
    "NEEDS_STOP",
    "NEEDS_WORD",
    "SPOILS_END",
    "NAME_WORD",
    "NOTHING",
    "NO_ATOM",
    "NO_PAIRS",
    "NUMBER",
    "NUMBER_WORD",
    "N_ATOMS",
    "OPEN",
    "OPEN_MARK",
    "ORDINARY_WORD",
    "OTHER",
    "PAIRS",
    "PAIR_BASE",
    "PAST_DEPTH",
    "PERIOD",
    "Phrases",
    "Pieces",
    "PLURAL",
    "QUOTES",
    "REJECTED",
    "Rules",
    "SET",
    "SET_NOW",
    "SOURCE_HIGH",
    "SOURCE_LOW",
    "SPACE",
    "SPECIAL",
    "STOP_AFTER_INITIAL",
    "STOP_ANYWHERE",
    "STOP_NOWHERE",
    "SWITCHES",
    "SYMBOLS",
    "UTF8",
    "COMPLETES_END",
    "WORD",
    "Words",
    "is_in",
    "no_rules",
    "start_state",
]

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
    QUOTES,  # parity of straight double quotation marks (bit 1) and of backticks (bit 2)
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
    IS_FIRST,  # the open word begins the text, or stands after a mark that may begin a sentence
    IS_WILD,  # the open word holds a piece that is not known: any of several
    LEFT,  # hash of the last closed word or number since the last space
    LEFT_KIND,  # which of both it is, or one that is not known; 0 if there is none
    MARKS,  # hash of the marks behind it
    N_ATOMS,  # atoms closed
    FIELDS,
) = range(32)

NO_ATOM, WORD, NUMBER, ANY_ATOM = 0, 1, 2, 3
SPECIAL, LETTERS, DIGITS, SYMBOLS, OTHER, FREE = 0, 1, 2, 3, 4, 5
ORDINARY_WORD, NAME_WORD, NUMBER_WORD = 0, 1, 2  # what a word of the lexicon may be


class EndEffect(IntEnum):
    """What a symbol does to END; compiled loops use the members as plain numbers."""

    KEEPS = 0
    """Nothing: the text ends as it did."""
    SPOILS = 1
    """No text may end with it."""
    FULL_STOP = 2
    """Completes a text, unless its last word always needs another."""
    COMPLETES = 3
    """Completes any text."""


KEEPS_END, SPOILS_END, FULL_STOP, COMPLETES_END = map(int, EndEffect)
# COMPLETE; on an open mark; on a word that needs another unless a full stop follows; on one that
# always does; without any word or number yet
COMPLETE, OPEN_MARK, NEEDS_STOP, NEEDS_WORD, NOTHING = 0, 1, 2, 3, 4


# what FINAL_STOP says of a full stop at the end
STOP_ANYWHERE, STOP_NOWHERE, STOP_AFTER_INITIAL = 0, 1, 2


class Pieces(NamedTuple):
    """Tables by vocabulary id ``(V,)``: kind, spelling and effect of each piece.

    ``body`` holds the bytes of all pieces without leading space, ``body_start`` (V+1,) where each
    begins; ``fold`` and ``fold_start`` the same case-folded, ``fold_times`` and ``fold_plus`` how
    its hash follows from that of what is before it.
    """

    kind: Any
    starts: Any
    capital: Any
    body: Any
    body_start: Any
    fold: Any
    fold_start: Any
    fold_times: Any
    fold_plus: Any
    end_action: Any
    opens: Any
    pairs: Any
    quotes: Any
    clitic: Any
    scripts: Any


class Words(NamedTuple):
    """Word lists: sorted bytes with the offsets of each word, or sorted hashes.

    ``low`` and ``high`` (V,) are the words of the lexicon that begin with each piece;
    ``joint_starts`` and ``joints`` say what may be joined, see `sumfit.constraints.joints`;
    ``standing`` (n,) says which words of the lexicon are names or number words.
    """

    lexicon: Any
    lexicon_start: Any
    low: Any
    high: Any
    standing: Any
    source: Any
    source_start: Any
    source_pairs: Any
    joint_starts: Any
    joints: Any
    function_words: Any
    never_last: Any
    seldom_last: Any


class Phrases(NamedTuple):
    """Hashes of the atoms of phrases, one after the other, with the offsets of each phrase."""

    banned: Any
    banned_start: Any
    required: Any
    required_start: Any


class Rules(NamedTuple):
    """Switches, each 0 or 1 (``final_stop`` one of the values above), and tables.

    ``source_scripts`` are the writing systems of the source as bits, ``odd`` (V,) the pieces that
    are a heap of marks it does not have, ``follows`` (128, 128) which character may follow which,
    ``apart`` (128, 128) which may follow which behind a space.
    """

    is_on: int
    whole_words: int
    content_once: int
    adjacent_once: int
    ngram: int
    complete_end: int
    final_stop: int
    source_numbers: int
    source_names: int
    source_scripts: int
    odd: Any
    follows: Any
    apart: Any
    pieces: Any
    words: Any
    phrases: Any


SWITCHES = (
    "is_on",
    "whole_words",
    "content_once",
    "adjacent_once",
    "ngram",
    "complete_end",
    "final_stop",
    "source_numbers",
    "source_names",
)
CLOSING_QUOTE = -(1 << 48)  # what a single straight mark does to PAIRS where it closes
APOSTROPHE = ord("'")
PLURAL = ord("s")  # after it such a mark may be a possessive
ANY_BYTE = 255  # the last byte of a piece that is not known; no text has it
SPACE, COLON, COMMA, PERIOD = ord(" "), ord(":"), ord(","), ord(".")
BEGINS = (*b':.!?"([', 0x9C)  # last bytes of marks after which a sentence may begin; 0x9C of “
FOLD_BASE = 0x9E3779B97F4A7C15 - 2**64  # of the hashes of words, as a signed number
FRESH = 0x5851F42D4C957F2D  # plus a place in the text, the hash of a word that is not known
PAIR_BASE = 0x2545F4914F6CDD1D  # of the hashes of two words in a row
NO_PAIRS = 0x0080808080808080  # seven pairs, none open


@njit(cache=True, nogil=True)
def start_state(state: Int64Array) -> None:
    """Write the state of the empty prefix."""
    state[:FIELDS] = 0
    state[PAIRS] = NO_PAIRS
    state[END] = NOTHING


@njit(**INTERNAL)
def is_in(hashes: Int64Array, value: int) -> bool:
    """Return whether a sorted array holds a value."""
    first, last = 0, hashes.shape[0]
    while first < last:
        middle = (first + last) // 2
        if hashes[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first < hashes.shape[0] and hashes[first] == value


@lru_cache(maxsize=1)
def no_rules() -> Rules:
    """Rules that are switched off, for searches without constraints."""
    numbers = np.zeros(1, dtype=np.int64)
    data = np.zeros(1, dtype=np.uint8)
    switch = np.zeros(1, dtype=np.bool_)
    kind = np.zeros(1, dtype=np.int8)
    none = numbers[:0]
    pieces = Pieces(
        kind=kind,
        starts=switch,
        capital=switch,
        body=data,
        body_start=numbers,
        fold=data,
        fold_start=numbers,
        fold_times=numbers,
        fold_plus=numbers,
        end_action=kind,
        opens=switch,
        pairs=numbers,
        quotes=kind,
        clitic=kind,
        scripts=numbers,
    )
    words = Words(
        lexicon=data,
        lexicon_start=numbers,
        low=numbers,
        high=numbers,
        standing=kind,
        source=data,
        source_start=numbers,
        source_pairs=none,
        joint_starts=none,
        joints=none,
        function_words=none,
        never_last=none,
        seldom_last=none,
    )
    return Rules(
        **dict.fromkeys(SWITCHES, 0),
        source_scripts=0,
        odd=switch,
        follows=np.ones((1, 1), dtype=np.bool_),
        apart=np.ones((1, 1), dtype=np.bool_),
        pieces=pieces,
        words=words,
        phrases=Phrases(none, numbers, none, numbers),
    )
