"""Byte-level BPE tokenizer: text to vocabulary ids and back, without ever losing a character.

Owns `Tokenizer`. Does not own what a piece costs (`sumfit.length`) or which pieces may follow
each other (`sumfit.decoding`).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as HFTokenizer

from sumfit.errors import ConfigError, InputError, ModelFormatError, ModelNotFoundError
from sumfit.parts import cut_at_spaces
from sumfit.text.normalise import normalize
from sumfit.unpacking import read_up_to
from sumfit.writing import write_whole

__all__ = ["SPECIAL_PIECES", "PieceClass", "Tokenizer"]

# The brackets are no byte-level characters, so no merge can ever spell one of these.
SPECIAL_PIECES = ("⟨pad⟩", "⟨bos⟩", "⟨eos⟩", "⟨mask⟩")

_MARKED_LETTERS = r"[\p{L}\p{M}]+"
ATOM_PATTERN = "|".join(
    (
        # English clitics stay whole, attached ("it's") or split off ("it 's").
        r" ?['’](?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])(?![\p{L}\p{M}\p{N}])",
        rf" ?{_MARKED_LETTERS}(?:[\u200c\u200d]+{_MARKED_LETTERS})*",
        r" ?\p{N}[\p{N}\p{M}]*",
        r" ?[^\s\p{L}\p{M}\p{N}][^\s\p{L}\p{N}]*",
        r"\s+",
    )
)
_CHUNK = 4096
_MOST_BYTES = 1 << 24  # of a file; half a million pieces
_LONG_RUN = 8192  # characters without a space between them, from which on a run is cut
_SPARE = 8  # pieces at the end of a cut that what follows may change
_ATOMS_AHEAD = 2  # atoms that an atom depends on: joiners and a letter, or two halves of a clitic
_NO_JOINER = re.compile("[^\u200c\u200d]")
_APOSTROPHES = "'\u2019"
_ATTEMPTS = 8  # places where a cut is tried, before more is taken at once


class PieceClass:
    """Values of `Tokenizer.piece_class`."""

    SPECIAL = 0
    LETTERS = 1
    DIGITS = 2
    SYMBOLS = 3
    OTHER = 4


class Tokenizer:
    """Byte-level BPE over atoms of letters, digits or symbols, each with at most one space.

    Every text that `normalize` returns survives `encode` and `decode` unchanged: characters
    without a piece of their own are spelled in bytes, so there is no unknown token. Each text
    is encoded as if a space stood before it, so the first word has the same pieces as any other.

    Attributes:
        PAD: Id of padding.
        BOS: Id of the start token.
        EOS: Id of the end token.
        MASK: Id that training puts in place of hidden tokens.
    """

    PAD = 0
    BOS = 1
    EOS = 2
    MASK = 3

    def __init__(self, serialised: str, *, source: str = "tokenizer") -> None:
        """Load from the text that `save` writes.

        Args:
            serialised: Content of a tokenizer file.
            source: What error messages call it, for example the file's path.

        Raises:
            ModelFormatError: If this is no tokenizer, or not one of sumfit's.
        """
        try:
            self._hf: Any = HFTokenizer.from_str(serialised)
        except Exception as error:  # the Rust side raises bare Exception
            raise ModelFormatError(
                f"{source} is not a readable tokenizer ({error}); restore it from the model"
            ) from error
        size = self._hf.get_vocab_size()
        specials = tuple(self._hf.id_to_token(i) for i in range(len(SPECIAL_PIECES)))
        if specials != SPECIAL_PIECES or size < len(SPECIAL_PIECES) + 256:
            raise ModelFormatError(
                f"{source} is a tokenizer but not one of sumfit's: ids 0 to 3 must be "
                f"{', '.join(SPECIAL_PIECES)} and all 256 bytes present"
            )
        self._hf.no_padding()
        self._hf.no_truncation()
        self._serialised = serialised
        self._source = source
        self.vocab_size: int = size

    @classmethod
    def train(
        cls, texts: Iterable[str], *, vocab_size: int = 16384, min_frequency: int = 2
    ) -> Tokenizer:
        """Learn the merges from texts; the same texts always give the same tokenizer.

        Args:
            texts: Training texts; each is normalised first.
            vocab_size: Pieces wanted, at least 260: 4 special ids, 256 bytes, merges. Fewer come
                out when the texts have nothing more to merge.
            min_frequency: Least number of times a pair must occur to be merged.

        Returns:
            The trained tokenizer.

        Raises:
            ConfigError: If ``vocab_size`` is below 260.
        """
        n_fixed = len(SPECIAL_PIECES) + 256
        if vocab_size < n_fixed:
            raise ConfigError(f"vocab_size must be at least {n_fixed}, was {vocab_size}")
        learner = _assemble(models.BPE())
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size - len(SPECIAL_PIECES),
            min_frequency=min_frequency,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        learner.train_from_iterator((normalize(text) for text in texts), trainer)
        learned = json.loads(learner.to_str())["model"]
        pieces = sorted(learned["vocab"], key=learned["vocab"].__getitem__)
        vocab = {piece: i for i, piece in enumerate((*SPECIAL_PIECES, *pieces))}
        merges = [_pair(merge) for merge in learned["merges"]]
        return cls(_assemble(models.BPE(vocab=vocab, merges=merges)).to_str())

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Load a tokenizer file.

        Args:
            path: File that `save` wrote.

        Returns:
            The tokenizer.

        Raises:
            ModelNotFoundError: If there is no such file.
            ModelFormatError: If the file is no tokenizer of sumfit.
        """
        try:
            serialised = read_up_to(path, _MOST_BYTES).decode("utf-8")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise ModelNotFoundError(f"no tokenizer file at {os.fspath(path)}") from error
        except ValueError as error:
            reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error
            raise ModelFormatError(
                f"{os.fspath(path)} is not a readable tokenizer ({reason}); "
                "restore it from the model"
            ) from error
        return cls(serialised, source=os.fspath(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer file, whole or not at all; `fingerprint` is the SHA-256 of its bytes.

        Args:
            path: File to write.
        """
        write_whole(path, self._serialised.encode("utf-8"))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of the serialised tokenizer (of the bytes of its file)."""
        return hashlib.sha256(self._serialised.encode("utf-8")).hexdigest()

    def encode(self, text: str) -> list[int]:
        """Vocabulary ids of a text, which is normalised first.

        Args:
            text: Any string; what looks like a special token is plain text.

        Returns:
            Ids, none of them special; empty for an empty text.
        """
        return list(itertools.chain.from_iterable(self.encode_parts(text)))

    def encode_parts(self, text: str) -> Iterator[list[int]]:
        """The ids that `encode` returns, a part of a long text at a time, in linear time.

        Args:
            text: Any string.

        Yields:
            Ids of some ten thousand characters.
        """
        # No piece crosses a space, and a long text in one piece would leave the caches.
        for cut in cut_at_spaces(normalize(text)):
            part = cut.removeprefix(" ")
            if len(part) > _LONG_RUN and max(map(len, part.split(" "))) > _LONG_RUN:
                yield from self._encode_runs(f" {part}")
            else:
                yield self._hf.encode(part, add_special_tokens=False).ids

    def _encode_runs(self, text: str) -> Iterator[list[int]]:
        """Ids of a text that holds long runs without a space, some atoms at a time."""
        begin = 0
        while begin + _LONG_RUN < len(text):
            window = text[begin : begin + _LONG_RUN]
            found = self._inner.encode(window, add_special_tokens=False)
            n_sure = bisect_left(found.word_ids, found.word_ids[-1] - _ATOMS_AHEAD + 1)
            if n_sure:
                yield found.ids[:n_sure]
                begin += found.offsets[n_sure - 1][1]
            else:
                atom = _Atom(text, begin, self._places(text, begin))
                yield from self._encode_atom(atom)
                begin = atom.end
        yield self._inner.encode(text[begin:], add_special_tokens=False).ids

    def _places(self, text: str, begin: int) -> Iterator[int]:
        """Places in the atom that begins there, a run apart; the last of them is its end."""
        opener, here = "", begin
        while True:
            window = opener + text[here : here + _LONG_RUN]
            read = here + _LONG_RUN
            n_chars = self._first_atom(window)
            here += n_chars - len(opener)
            yield here
            if here == len(text):
                return
            if here < read:
                other = _NO_JOINER.search(text, here)
                if other is None or other.start() < read:
                    return
                if self._first_atom(window[:n_chars] + text[here] + other.group()) == n_chars:
                    return
                yield from range(here + _LONG_RUN, other.start(), _LONG_RUN)
                here = other.start()
            opener = opener or _opener(window)

    def _first_atom(self, text: str) -> int:
        """Characters of the first atom of a text."""
        n_chars: int = self._inner.pre_tokenizer.pre_tokenize_str(text)[0][1][1]
        return n_chars

    def _encode_atom(self, atom: _Atom) -> Iterator[list[int]]:
        """Ids of one atom, a part at a time.

        Merges are done by rank and, among equals, from the left. So pieces of two parts, one after
        the other, are those of the whole if the two that meet stay as they are, spelled together.
        """
        tokenize = self._inner.model.tokenize
        size, pieces = _LONG_RUN, tokenize(atom.head(_LONG_RUN))
        while len(atom.head(size + 1)) > size:
            last = len(pieces) - _SPARE
            start = size - sum(len(piece.value) for piece in pieces[last + 1 :])
            for n_kept in range(last, max(0, last - _ATTEMPTS), -1):
                start -= len(pieces[n_kept].value)
                others = tokenize(atom.head(start + _LONG_RUN)[start:])
                two = [pieces[n_kept - 1], others[0]]
                together = tokenize("".join(piece.value for piece in two))
                if [piece.id for piece in together] == [piece.id for piece in two]:
                    yield [piece.id for piece in pieces[:n_kept]]
                    atom.drop(start)
                    size, pieces = _LONG_RUN, others
                    break
            else:
                size *= 2
                pieces = tokenize(atom.head(size))
        yield [piece.id for piece in pieces]

    @cached_property
    def _inner(self) -> Any:
        """The same without the space that is put before a text."""
        inner = HFTokenizer.from_str(self._serialised)
        inner.normalizer = normalizers.Sequence([])
        inner.no_padding()
        inner.no_truncation()
        return inner

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of many texts, in their order, on all cores.

        Args:
            texts: Any strings.

        Returns:
            One list of ids for each text.
        """
        return list(self.encode_stream(texts))

    def encode_stream(self, texts: Iterable[str]) -> Iterator[list[int]]:
        """Ids of many texts, one after the other, read and encoded a few thousand at a time.

        Args:
            texts: Any strings.

        Yields:
            The ids of each text, in order.
        """
        stream = iter(texts)
        while chunk := [normalize(text) for text in itertools.islice(stream, _CHUNK)]:
            for encoding in self._hf.encode_batch_fast(chunk, add_special_tokens=False):
                yield encoding.ids

    def decode(self, ids: Iterable[int]) -> str:
        """Text of a sequence of ids, normalised, without the first word's space.

        Special ids stand for nothing. Bytes that form no character are left out, so the text is
        never longer than its pieces; `decode_bytes` shows them.

        Args:
            ids: Vocabulary ids.

        Returns:
            The text, NFC.

        Raises:
            InputError: If an id is not in the vocabulary.
        """
        return normalize(self.decode_bytes(ids).decode("utf-8", "ignore"))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Raw bytes of a sequence of ids: leading space kept, UTF-8 not checked.

        Args:
            ids: Vocabulary ids.

        Returns:
            The bytes of all pieces.

        Raises:
            InputError: If an id is not in the vocabulary.
        """
        pieces = self.piece_bytes
        ids = list(ids)
        if ids and not 0 <= min(ids) <= max(ids) < len(pieces):
            bad = next(i for i in ids if not 0 <= i < len(pieces))
            raise InputError(f"id {bad} is not in the vocabulary of {len(pieces)} pieces")
        return b"".join(pieces[i] for i in ids)

    @cached_property
    def piece_bytes(self) -> tuple[bytes, ...]:
        """``(V,)`` bytes of each piece, its leading space included; empty for special ids.

        A vocabulary with gaps, or pieces that stand for no bytes, is a `ModelFormatError`.
        """
        n_special = len(SPECIAL_PIECES)
        names = [self._hf.id_to_token(i) for i in range(n_special, self.vocab_size)]
        try:
            joined = "".join(names).translate(_byte_of_character()).encode("latin-1")
        except (TypeError, UnicodeEncodeError) as error:
            reason = "an id has no piece" if isinstance(error, TypeError) else "a piece is no bytes"
            raise ModelFormatError(
                f"{self._source} is not a readable tokenizer ({reason}); restore it from the model"
            ) from error
        ends = list(itertools.accumulate(map(len, names)))
        return (b"",) * n_special + tuple(
            joined[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)
        )

    @cached_property
    def piece_chars(self) -> npt.NDArray[np.int64]:
        """``(V,)`` characters that each piece begins; 0 for special ids and for lone bytes."""
        n_chars = (len(piece.decode("utf-8", "ignore")) for piece in self.piece_bytes)
        return np.fromiter(n_chars, np.int64, self.vocab_size)

    @cached_property
    def starts_word(self) -> npt.NDArray[np.bool_]:
        """``(V,)`` whether the piece begins with a space."""
        return np.fromiter(
            (piece[:1] == b" " for piece in self.piece_bytes), np.bool_, self.vocab_size
        )

    @cached_property
    def piece_class(self) -> npt.NDArray[np.int8]:
        """``(V,)`` kind of the piece after its leading space, a value of `PieceClass`.

        0 special; 1 letters, combining marks included; 2 digits; 3 punctuation and symbols, also
        the clitics such as ``'s``; 4 bytes that are no whole characters, and the bare space.
        """
        kinds = [_classify(piece) for piece in self.piece_bytes[len(SPECIAL_PIECES) :]]
        return np.array([PieceClass.SPECIAL] * len(SPECIAL_PIECES) + kinds, dtype=np.int8)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        r"""Each id's piece as readable text, for inspection.

        Args:
            ids: Vocabulary ids.

        Returns:
            Piece texts, leading space kept; special ids by name, stray bytes as ``\xNN``.
        """
        return [
            SPECIAL_PIECES[i]
            if i < len(SPECIAL_PIECES)
            else self.piece_bytes[i].decode("utf-8", "backslashreplace")
            for i in ids
        ]


class _Atom:
    """How the model spells a long atom, read no further than is asked for."""

    def __init__(self, text: str, begin: int, places: Iterator[int]) -> None:
        self._text, self._places, self._spelled = text, places, ""
        self.end = begin  # of what was read; of the atom in the end

    def head(self, size: int) -> str:
        """The first characters, fewer where it has no more."""
        while len(self._spelled) < size and (place := next(self._places, None)) is not None:
            self._spelled += _spelled(self._text[self.end : place])
            self.end = place
        return self._spelled[:size]

    def drop(self, n_chars: int) -> None:
        """Begin after these."""
        self._spelled = self._spelled[n_chars:]


def _assemble(model: Any) -> Any:
    tokenizer: Any = HFTokenizer(model)
    tokenizer.normalizer = normalizers.Prepend(" ")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(ATOM_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


def _opener(atom: str) -> str:
    """A character before which the rest of an atom is read as the rest of one of its kind."""
    first = atom.lstrip(" ")[0]
    return "." if first in _APOSTROPHES else first


def _spelled(text: str) -> str:
    """A text as the model reads it, a character for each byte."""
    return text.encode("utf-8").decode("latin-1").translate(_character_of_byte())


def _pair(merge: str | list[str]) -> tuple[str, str]:
    """The two halves of a merge, which older versions of the library write as one string."""
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left, right


def _byte_of_character() -> dict[int, int]:
    """Byte behind each character of the byte-level alphabet.

    Printable Latin-1 stands for itself; the others take the code points from 256 on, in order.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {256 + i: byte for i, byte in enumerate(others)}


@cache
def _character_of_byte() -> dict[int, int]:
    return {byte: character for character, byte in _byte_of_character().items()}


def _classify(piece: bytes) -> int:
    try:
        text = piece.decode("utf-8").removeprefix(" ")
    except UnicodeDecodeError:
        return PieceClass.OTHER
    if not text:
        return PieceClass.OTHER
    for character in text:
        major = unicodedata.category(character)[0]
        if major != "M":
            return {"L": PieceClass.LETTERS, "N": PieceClass.DIGITS}.get(major, PieceClass.SYMBOLS)
    return PieceClass.LETTERS
