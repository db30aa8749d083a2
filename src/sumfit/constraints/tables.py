"""What the constraints need to know of a tokenizer's pieces and of a lexicon, as arrays.

Owns the tables and the list of function words. Computed once per tokenizer and lexicon and kept
as long as these live.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from sumfit.constraints.kernels.lexicon import prefix_ranges
from sumfit.constraints.kernels.state import (
    DIGITS,
    FREE,
    LETTERS,
    NAME_WORD,
    NUMBER_WORD,
    ORDINARY_WORD,
    OTHER,
    SPECIAL,
    EndEffect,
    Pieces,
)
from sumfit.constraints.lexicon import Lexicon
from sumfit.constraints.punctuation import Punctuation, script_mask
from sumfit.text import Tokenizer
from sumfit.text.endings import (
    CLITICS,
    DANGLING_WORDS,
    NEVER_LAST_WORDS,
    TOLD_BY_NEIGHBOUR,
    ends_completely,
)
from sumfit.truth.names import is_ordinary
from sumfit.truth.numbers import NUMBER_WORDS

__all__ = [
    "NEVER_LAST",
    "SELDOM_LAST",
    "LexiconTables",
    "PieceTables",
    "WordStanding",
    "fold_hash",
    "piece_tables",
    "word_hashes",
    "word_standing",
]

SELDOM_LAST: frozenset[str] = DANGLING_WORDS - NEVER_LAST_WORDS - TOLD_BY_NEIGHBOUR
"""Words that end a text only before a full stop; of others the finished text decides."""

NEVER_LAST = NEVER_LAST_WORDS
"""Words that end no text."""

_BASE = 0x9E3779B97F4A7C15  # odd, so that powers never vanish modulo 2^64
_MASK = 2**64 - 1
_PAIRS = ("()", "[]", "{}", "“”", "«»", "「」『』", "‘’")
_OPENERS = "\"'“‘«("
_CLOSERS = "\"'”’»›)]}"
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")

Int64Array = npt.NDArray[np.int64]


def fold_hash(word: str) -> int:
    """Hash a word, case-folded, so that the hash of a word follows from those of its pieces.

    Args:
        word: The word.

    Returns:
        A signed 64-bit number.
    """
    return _signed(_polynomial(word.casefold().encode("utf-8")))


@lru_cache(maxsize=256)
def word_hashes(words: frozenset[str]) -> Int64Array:
    """Hash words for look-up in the compiled rules.

    Args:
        words: The words.

    Returns:
        Their hashes, ascending.
    """
    return np.array(sorted(fold_hash(word) for word in words), dtype=np.int64)


def _offsets(parts: list[bytes]) -> Int64Array:
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return offsets


def _polynomial(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value * _BASE + byte + 1) & _MASK
    return value


@lru_cache(maxsize=256)
def _power(exponent: int) -> int:
    return pow(_BASE, exponent, _MASK + 1)


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


@dataclass(frozen=True, slots=True, eq=False)
class LexiconTables:
    """Where the pieces of a tokenizer stand in a lexicon.

    Attributes:
        low: ``(V,)`` first word that begins with the piece.
        high: ``(V,)`` one past the last such word.
        usual_contexts: By switches, what may follow each piece whatever the source.
    """

    low: Int64Array
    high: Int64Array
    usual_contexts: dict[tuple[int, ...], Int64Array] = field(default_factory=dict)


class PieceTables:
    """Arrays over the pieces of one tokenizer.

    Attributes:
        pieces: The arrays, for the compiled rules.
        punctuation: Which marks may stand next to each other.
    """

    pieces: Pieces
    punctuation: Punctuation

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Compute the arrays.

        Args:
            tokenizer: The tokenizer.
        """
        bodies = [piece.removeprefix(b" ") for piece in tokenizer.piece_bytes]
        texts = [body.decode("utf-8", "replace") for body in bodies]
        starts = tokenizer.starts_word.astype(np.bool_)
        kind = tokenizer.piece_class.astype(np.int8)
        for v, text in enumerate(texts):
            if kind[v] == LETTERS and not text.isascii() and _UNSPACED.search(text):
                kind[v] = FREE
        folded = [
            body if other else text.casefold().encode("utf-8")
            for body, text, other in zip(bodies, texts, kind == OTHER, strict=True)
        ]
        symbols = np.flatnonzero(~np.isin(kind, (SPECIAL, LETTERS, DIGITS, OTHER, FREE))).tolist()
        self.pieces = Pieces(
            kind=kind,
            starts=starts,
            capital=np.array([text[:1].isupper() for text in texts], dtype=np.bool_),
            body=np.frombuffer(bytearray().join(bodies), dtype=np.uint8),
            body_start=_offsets(bodies),
            fold=np.frombuffer(bytearray().join(folded), dtype=np.uint8),
            fold_start=_offsets(folded),
            fold_times=np.array([_signed(_power(len(data))) for data in folded], np.int64),
            fold_plus=np.array([_signed(_polynomial(data)) for data in folded], np.int64),
            opens=np.array([not text.strip(_OPENERS) for text in texts], dtype=np.bool_),
            scripts=np.array([script_mask(text) for text in texts], dtype=np.int64),
            **_effects(texts, starts, symbols),
        )
        self.punctuation = Punctuation(texts, symbols)
        self._by_lexicon: weakref.WeakKeyDictionary[Lexicon, LexiconTables] = (
            weakref.WeakKeyDictionary()
        )

    def with_lexicon(self, words: Lexicon) -> LexiconTables:
        """Find the pieces in a lexicon, once per lexicon.

        Args:
            words: The lexicon.

        Returns:
            The tables.
        """
        tables = self._by_lexicon.get(words)
        if tables is None:
            n_pieces = self.pieces.kind.shape[0]
            low = np.zeros(n_pieces, dtype=np.int64)
            high = np.zeros(n_pieces, dtype=np.int64)
            prefix_ranges(
                words.text, words.start, self.pieces.body, self.pieces.body_start, low, high
            )
            tables = LexiconTables(low, high)
            self._by_lexicon[words] = tables
        return tables


_TABLES: weakref.WeakKeyDictionary[Tokenizer, PieceTables] = weakref.WeakKeyDictionary()
_STANDING: weakref.WeakKeyDictionary[Lexicon, WordStanding] = weakref.WeakKeyDictionary()


def piece_tables(tokenizer: Tokenizer) -> PieceTables:
    """Compute the tables of a tokenizer, once.

    Args:
        tokenizer: The tokenizer.

    Returns:
        The tables.
    """
    tables = _TABLES.get(tokenizer)
    if tables is None:
        tables = PieceTables(tokenizer)
        _TABLES[tokenizer] = tables
    return tables


@dataclass(frozen=True, slots=True, eq=False)
class WordStanding:
    """Which words of a lexicon are names or numbers.

    Attributes:
        kinds: ``(n,)`` `ORDINARY_WORD`, `NAME_WORD` or `NUMBER_WORD`, at least one.
        names: The names among them, lower-cased.
    """

    kinds: npt.NDArray[np.int8]
    names: frozenset[str]


def word_standing(lexicon: Lexicon) -> WordStanding:
    """Tell which words of a lexicon are names or numbers, once per lexicon.

    A word is a name if texts seldom write it small (`sumfit.truth`) and the lexicon has it with a
    capital, or has it so beside the small form.

    Args:
        lexicon: The lexicon.

    Returns:
        What they are.
    """
    standing = _STANDING.get(lexicon)
    if standing is None:
        words = [word.decode("utf-8") for word in lexicon]
        folded = [word.lower() for word in words]
        capital = {low for word, low in zip(words, folded, strict=True) if word != low}
        names = frozenset(low for low in capital if not is_ordinary(low))
        kinds = [
            NUMBER_WORD if low in NUMBER_WORDS else NAME_WORD if low in names else ORDINARY_WORD
            for low in folded
        ]
        standing = WordStanding(np.array(kinds or [ORDINARY_WORD], dtype=np.int8), names)
        _STANDING[lexicon] = standing
    return standing


def _effects(
    texts: list[str], starts: npt.NDArray[np.bool_], symbols: list[int]
) -> dict[str, npt.NDArray[Any]]:
    """What each symbol does to the ending, to pairs of marks and to quotation marks."""
    end_action = np.full(len(texts), EndEffect.COMPLETES, dtype=np.int8)
    pairs = np.zeros(len(texts), dtype=np.int64)
    quotes = np.zeros(len(texts), dtype=np.int8)
    clitic = np.zeros(len(texts), dtype=np.int8)
    for v in symbols:
        end_action[v] = _end_action(texts[v], bool(starts[v]))
        pairs[v] = _pair_balance(texts[v], bool(starts[v]))
        quotes[v] = texts[v].count('"') % 2 + 2 * (texts[v].count("`") % 2)
        if texts[v][:1] in "'’" and texts[v][1:].lower() in CLITICS:
            clitic[v] = 2 if texts[v][1:].lower() == "s" else 1
    return {"end_action": end_action, "pairs": pairs, "quotes": quotes, "clitic": clitic}


def _end_action(text: str, begins: bool) -> EndEffect:
    """What a symbol does to the ending; asks the one rule of complete endings."""
    if begins and text in ("'s", "’s"):
        return EndEffect.SPOILS
    core = text.rstrip(_CLOSERS)
    if not core:
        return EndEffect.KEEPS
    tail = core[-3:]
    if not ends_completely("word" + tail):
        return EndEffect.SPOILS
    return EndEffect.COMPLETES if ends_completely("the" + tail) else EndEffect.FULL_STOP


def _pair_balance(text: str, begins: bool) -> int:
    """Opening minus closing marks of each kind, 8 bits a kind."""
    balance = 0
    for place, marks in enumerate(_PAIRS):
        if marks == "‘’" and any(map(str.isalpha, text)):
            continue  # the apostrophe of a clitic
        opened = sum(text.count(mark) for mark in marks[::2])
        closed = sum(text.count(mark) for mark in marks[1::2])
        balance += (opened - closed) << (8 * place)
    if text == "'":  # alone it opens after a space and closes elsewhere
        balance += (1 if begins else -1) << (8 * (len(_PAIRS) - 1))
    return balance
