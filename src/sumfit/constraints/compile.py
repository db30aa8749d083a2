"""What an output must also obey: constraints kept inside the search.

Owns the options (`Constraints`) and how they become `CompiledConstraints` for one text,
which exact search, beam search and PathMAP step through piece by piece. Does not own the state
machine (`kernels.rules`), the word lists of complete endings (`sumfit.text.endings`) or the
tables of a tokenizer (`sumfit.constraints.tables`).

Vocabulary of this module: an *atom* is a run of letter pieces (a word), a run of digit pieces (a
number) or one piece of symbols; a *content word* is a word of at least two letters that is not a
function word. Words are compared case-folded, except with the lexicon and the source.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import regex

from sumfit.constraints.compiled import CompiledConstraints
from sumfit.constraints.joints import joints_of
from sumfit.constraints.kernels.contexts import JOIN_ONLY
from sumfit.constraints.kernels.rules import classify
from sumfit.constraints.kernels.state import (
    FIELDS,
    PAIR_BASE,
    REJECTED,
    STOP_AFTER_INITIAL,
    STOP_ANYWHERE,
    STOP_NOWHERE,
    SWITCHES,
    Phrases,
    Rules,
    Words,
)
from sumfit.constraints.lexicon import WORD_PATTERN, Lexicon
from sumfit.constraints.punctuation import script_mask
from sumfit.constraints.tables import (
    NEVER_LAST,
    SELDOM_LAST,
    LexiconTables,
    fold_hash,
    piece_tables,
    word_hashes,
    word_standing,
)
from sumfit.errors import ConstraintError, Keyword, given
from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.text.surface import FILLERS, fillers_of
from sumfit.truth.names import related_names
from sumfit.truth.numbers import number_spellings

if TYPE_CHECKING:
    from sumfit.text import Tokenizer

__all__ = ["CompiledConstraints", "Constraints"]

State = npt.NDArray[np.int64]

_ATOMS = regex.compile(
    r"[\p{L}\p{M}]+(?:[\u200c\u200d]+[\p{L}\p{M}]+)*|\p{N}[\p{N}\p{M}]*"
    r"|['’](?:[stmd]|re|ve|ll)(?![\p{L}\p{M}\p{N}])|[^\s\p{L}\p{M}\p{N}]",
    regex.IGNORECASE,
)
_NUMBERS = regex.compile(r"\p{N}[\p{N}\p{M}]*")
_NON_ASCII_RUNS = regex.compile(r"[^\s\x00-\x40\[-`{-\x7f]+")
_WORDS_ALONE = regex.compile(  # no single letters of writings that have spaces
    r"[^\p{L}\p{M}\x00-\x7f]"
    r"|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
)
_INITIAL = regex.compile(r"(?<!\p{L})\p{L}\.")
_MOST_REQUIRED = 16
_MOST_READ = 50_000  # characters in which a source shows its writing systems


@dataclass(frozen=True, slots=True)
class Constraints:
    """Which constraints hold. Nothing is constrained by default; see `recommended`.

    Whatever is chosen, the output of constrained search is valid UTF-8 and has no double spaces.

    Attributes:
        repeat_words: A content word may occur twice. If it may not, no word may begin with the
            content word before it either ("Lim limit"), unless the source has the two in a row.
        repeat_adjacent: A word or number may follow itself.
        no_repeat_ngram: No ``n`` atoms in a row may occur twice; ``None`` for no such rule.
        whole_words: Every word must be in the source or in the lexicon, and no letter may be of
            a writing system that the source does not use. Words and numbers are joined without
            a space only as the source joins them ("two-year" of "two-year-old"); English clitics
            stand behind words that take them ("isn't", "bank's").
        dangling_end: The end may be left hanging: on an article, preposition, conjunction or
            auxiliary, on a comma, dash or opening mark, within brackets or quotation marks, or
            without any word or number. If it may not, no mark may close what was never opened,
            and marks and spaces touch as they usually do, or as they do in the source. Nothing
            asks if the source does not, and no noun that only fills the room comes last
            ("review"), unless the source gives a reason for it.
        final_stop: A full stop may end the output. If it may not, one after a single letter
            still may where the source has such a one ("U.S."). Without ``dangling_end=False``
            it may in any case.
        banned: Words and phrases that must not occur.
        required: Words and phrases that must occur, at most 16.
        source_numbers_only: Every number must occur in the source, in digits or words.
        source_names_only: Every name must occur in the source, itself or in another form of it
            ("German" for "Germany", "EU" for "European Union"). A name is a word that the lexicon
            has with a capital and that texts seldom write small (`sumfit.truth.names`), in either
            case, and any other word with a capital that does not begin the output or follow a
            mark such as a colon.
    """

    repeat_words: bool = True
    repeat_adjacent: bool = True
    no_repeat_ngram: int | None = None
    whole_words: bool = False
    dangling_end: bool = True
    final_stop: bool = True
    banned: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    source_numbers_only: bool = False
    source_names_only: bool = False

    def __post_init__(self) -> None:
        size = self.no_repeat_ngram
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 2):
            rule = "must be a whole number of at least 2"
            remedy = ("for single words use ", given("repeat_words", False))
            raise ConstraintError.of("no_repeat_ngram", size, rule, *remedy)
        for name in ("banned", "required"):
            phrases = getattr(self, name)
            if isinstance(phrases, str):
                rule = f" must be a list of phrases, was the text {phrases!r}"
                raise ConstraintError(Keyword(name, "", phrases), rule)
            object.__setattr__(self, name, tuple(phrases))
            for phrase in getattr(self, name):
                if not isinstance(phrase, str) or not _ATOMS.findall(phrase):
                    raise ConstraintError(
                        Keyword(name, "", phrase),
                        f" must contain words or phrases; {phrase!r} has neither letters nor "
                        "digits",
                    )
                if any("\ud800" <= character <= "\udfff" for character in phrase):
                    raise ConstraintError(
                        Keyword(name, "", phrase),
                        f" holds {phrase!r}, which has half a character; UTF-8 has no place for it",
                    )
        if len(self.required) > _MOST_REQUIRED:
            raise ConstraintError(
                f"required may hold at most {_MOST_REQUIRED} phrases, was {len(self.required)}"
            )
        self._check_contradictions()

    @classmethod
    def recommended(cls, **changes: object) -> Constraints:
        """The constraints that pay off on real text: those that `Summarizer` turns on.

        No repeated content word or neighbour, whole words only, no dangling end, no full stop
        at the end, no number and no name that the source lacks.

        Args:
            **changes: Other values for some of the fields.

        Returns:
            The constraints.
        """
        values: dict[str, object] = {
            "repeat_words": False,
            "repeat_adjacent": False,
            "whole_words": True,
            "dangling_end": False,
            "final_stop": False,
            "source_numbers_only": True,
            "source_names_only": True,
        }
        return cls(**(values | changes))  # type: ignore[arg-type]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is constrained."""
        return self == Constraints()

    def compile(
        self,
        tokenizer: Tokenizer,
        lexicon: Lexicon | None = None,
        source_text: str = "",
        *,
        function_words: Collection[str] = FUNCTION_WORDS,
    ) -> CompiledConstraints:
        """Prepare the constraints for the outputs of one text.

        What depends on tokenizer and lexicon alone is computed once and kept.

        Args:
            tokenizer: The tokenizer whose ids the graph emits.
            lexicon: Words that may occur beside those of the source; ``None`` for no others.
            source_text: The text to summarise, normalised.
            function_words: Lower-case words that may be repeated.

        Returns:
            The compiled constraints.

        Raises:
            ConstraintError: If a required word breaks another constraint.
        """
        tables = piece_tables(tokenizer)
        known = _no_words() if lexicon is None else lexicon
        places = tables.with_lexicon(known)
        rules = Rules(
            **self._switches(source_text),
            source_scripts=script_mask(source_text[:_MOST_READ]),
            odd=tables.punctuation.odd_pieces(source_text),
            follows=tables.punctuation.follows(source_text),
            apart=tables.punctuation.apart,
            pieces=tables.pieces,
            words=self._words(known, places, source_text, function_words),
            phrases=Phrases(*_phrases(self.banned), *_phrases(self.required)),
        )
        if self.required and not self.repeat_words:
            self._check_repeats(function_words)
        usual = None
        if not self.banned:
            usual = _usual_contexts(places, rules)
        return CompiledConstraints(rules, self.required, tuple(map(_atoms, self.required)), usual)

    def _switches(self, source_text: str) -> dict[str, int]:
        return dict.fromkeys(SWITCHES, 1) | {
            "whole_words": int(self.whole_words),
            "content_once": int(not self.repeat_words),
            "adjacent_once": int(not self.repeat_adjacent),
            "ngram": self.no_repeat_ngram or 0,
            "complete_end": int(not self.dangling_end),
            "final_stop": self._final_stop_rule(source_text),
            "source_numbers": int(self.source_numbers_only),
            "source_names": int(self.source_names_only),
        }

    def _words(
        self,
        known: Lexicon,
        places: LexiconTables,
        source_text: str,
        function_words: Collection[str],
    ) -> Words:
        source = Lexicon.from_bytes(self._source_words(source_text, known))
        joints = joints_of(" ".join((source_text, *self.required)) if self.whole_words else "")
        vouches = self.source_names_only or self.source_numbers_only
        return Words(
            lexicon=known.text,
            lexicon_start=known.start,
            low=places.low,
            high=places.high,
            standing=word_standing(known).kinds if vouches else np.zeros(1, np.int8),
            source=source.text,
            source_start=source.start,
            source_pairs=_stutters(source_text) if not self.repeat_words else np.zeros(0, np.int64),
            joint_starts=joints.starts,
            joints=joints.whole,
            function_words=word_hashes(frozenset(function_words)),
            never_last=_never_last(source_text),
            seldom_last=word_hashes(SELDOM_LAST),
        )

    def _final_stop_rule(self, source_text: str) -> int:
        if self.final_stop:
            return STOP_ANYWHERE
        return STOP_AFTER_INITIAL if _INITIAL.search(source_text) else STOP_NOWHERE

    def _check_contradictions(self) -> None:
        banned = [_in_row(_atoms(phrase)) for phrase in self.banned]
        for phrase in self.required:
            atoms = _atoms(phrase)
            written = _in_row(atoms)
            for text, sought in zip(self.banned, banned, strict=True):
                if sought in written:
                    raise ConstraintError(
                        f"{phrase!r} is required but {text!r} is banned; drop one of them"
                    )
            if not self.repeat_adjacent:
                for before, after in itertools.pairwise(atoms):
                    if before == after and before[:1].isalnum():
                        raise ConstraintError(
                            f"{phrase!r} is required but repeats {after!r}; allow it with ",
                            given("repeat_adjacent", True),
                        )

    def _check_repeats(self, function_words: Collection[str]) -> None:
        for phrase in self.required:
            words = [
                atom
                for atom in _atoms(phrase)
                if WORD_PATTERN.fullmatch(atom) and len(atom) > 1 and atom not in function_words
            ]
            for word, times in Counter(words).items():
                if times > 1:
                    raise ConstraintError(
                        f"{phrase!r} is required but repeats {word!r}; allow it with ",
                        given("repeat_words", True),
                    )

    def _source_words(self, source_text: str, known: Lexicon) -> set[bytes]:
        """Words, and where asked numbers, that the output may take from the source."""
        words: set[str] = set()
        if self.whole_words or self.source_names_only:
            words.update(WORD_PATTERN.findall(source_text))
            if not source_text.isascii():  # characters that the tokenizer may spell in bytes
                words.update(_NON_ASCII_RUNS.findall(source_text))
                words.update(_WORDS_ALONE.findall(source_text))
            for phrase in self.required:  # who asks for a word vouches for it
                words.update(WORD_PATTERN.findall(phrase))
            words.update([word.capitalize() for word in words if word[0].islower()])
        if self.source_names_only:
            words.update([word.lower() for word in words if word.istitle() or word.isupper()])
            words.update([word.capitalize() for word in words if word.isupper()])
            for name in related_names(source_text[:_MOST_READ], word_standing(known).names):
                words.update((name, name.capitalize(), name.upper()))
        if self.source_numbers_only:
            words.update(_NUMBERS.findall(source_text))
            words.update(number_spellings(source_text[:_MOST_READ]))
            for phrase in self.required:
                words.update(_NUMBERS.findall(phrase))
                words.update(WORD_PATTERN.findall(phrase))
        return {word.encode("utf-8") for word in words}


@functools.cache
def _no_words() -> Lexicon:
    return Lexicon.from_words(())


def _never_last(source_text: str) -> State:
    """Hashes of the words that end no text, fillers that the source lacks among them."""
    hashes = _filler_hashes()
    fillers = [hashes[word] for word in fillers_of(source_text)]
    return np.sort(np.concatenate([word_hashes(NEVER_LAST), np.array(fillers, dtype=np.int64)]))


@functools.cache
def _filler_hashes() -> dict[str, int]:
    return {word: fold_hash(word) for word in FILLERS}


def _usual_contexts(places: LexiconTables, rules: Rules) -> State:
    """What may follow each piece when the source adds nothing; once per lexicon and switches."""
    key = (
        rules.whole_words,
        rules.complete_end,
        rules.final_stop,
        rules.source_names,
        rules.source_numbers,
    )
    contexts = places.usual_contexts.get(key)
    if contexts is None:
        n_pieces = rules.pieces.kind.shape[0]
        nothing = _no_words()
        none, start = _phrases(())
        bare = rules._replace(
            words=rules.words._replace(
                source=nothing.text, source_start=nothing.start, never_last=word_hashes(NEVER_LAST)
            ),
            phrases=Phrases(none, start, none, start),
            source_scripts=-1,
            odd=np.zeros_like(rules.odd),
        )
        contexts = np.zeros(n_pieces, dtype=np.int64)
        scratch = np.zeros(int(FIELDS) + 2, dtype=np.int64)
        joins = np.zeros(n_pieces, dtype=np.bool_)
        classify(bare, np.arange(n_pieces, dtype=np.int64), scratch, contexts, joins)
        is_filler = np.isin(rules.pieces.fold_plus, word_hashes(FILLERS))
        contexts[is_filler & (contexts != REJECTED)] = (
            JOIN_ONLY  # what ends with them, the source says: look again
        )
        places.usual_contexts[key] = contexts
    return contexts


def _atoms(phrase: str) -> tuple[str, ...]:
    return tuple(_ATOMS.findall(phrase.casefold()))


def _in_row(atoms: tuple[str, ...]) -> str:
    """Atoms as one string, in which only whole atoms are found."""
    return "".join(f"\n{atom}\n" for atom in atoms)  # white space is in no atom


def _stutters(source: str) -> State:
    """Hashes of two words in a row of the source of which the second begins with the first."""
    words = WORD_PATTERN.findall(source.casefold())
    found = {
        (before, after)
        for before, after in itertools.pairwise(words)
        if after.startswith(before) and after != before
    }
    hashes = [fold_hash(a) * PAIR_BASE + fold_hash(b) & 2**64 - 1 for a, b in found]
    return np.sort(np.array(hashes, dtype=np.uint64).view(np.int64))


def _phrases(phrases: Iterable[str]) -> tuple[State, State]:
    """Hashes of the atoms of each phrase, and where each phrase begins."""
    hashes: list[int] = []
    start = [0]
    for phrase in phrases:
        hashes.extend(fold_hash(atom) for atom in _atoms(phrase))
        start.append(len(hashes))
    return np.array(hashes, dtype=np.int64), np.array(start, dtype=np.int64)
