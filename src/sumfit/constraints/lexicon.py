"""The words a model knows: a sorted list in which prefixes are ranges.

Owns `Lexicon` and its two file forms. Does not own who is allowed to use it
(`sumfit.constraints.compile`).
"""

from __future__ import annotations

import itertools
import lzma
import os
import re
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import regex

from sumfit.constraints.kernels.lexicon import narrow
from sumfit.errors import ModelFormatError, ModelNotFoundError
from sumfit.unpacking import read_up_to, xz_blocks
from sumfit.writing import write_whole

__all__ = ["MOST_BYTES", "WORD_PATTERN", "Lexicon"]

MOST_BYTES = 1 << 24
"""Bytes that the words of a lexicon may have, line ends included: some two million words."""

_SORT_BLOCK = 1 << 16  # words
_LINE = 4  # bytes that a line has at least, on average, if many words all differ
_FEW_LINES = 1 << 17
_CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]")

WORD_PATTERN = regex.compile(r"[\p{L}\p{M}]+(?:[\u200c\u200d]+[\p{L}\p{M}]+)*")
"""A word: what the tokenizer calls an atom of letters."""


class Lexicon:
    """Distinct words as UTF-8, sorted bytewise, in one block of bytes.

    Attributes:
        text: ``(n_bytes,)`` the words one after the other.
        start: ``(n+1,)`` where each word begins in ``text``.
    """

    text: npt.NDArray[np.uint8]
    start: npt.NDArray[np.int64]

    def __init__(self, text: npt.NDArray[np.uint8], start: npt.NDArray[np.int64]) -> None:
        """Wrap sorted words; use `from_words` or `load`.

        Args:
            text: ``(n_bytes,)`` the words one after the other.
            start: ``(n+1,)`` where each word begins.
        """
        self.text = text
        self.start = start

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Lexicon:
        """Sort words into a lexicon.

        Args:
            words: Words, repeats allowed; empty ones are left out.

        Returns:
            The lexicon.
        """
        return cls.from_bytes({word.encode("utf-8") for word in words})

    @classmethod
    def from_bytes(cls, words: Iterable[bytes]) -> Lexicon:
        """Sort words into a lexicon.

        Args:
            words: Words in UTF-8, without repeats; empty ones are left out.

        Returns:
            The lexicon.
        """
        ordered = sorted(word for word in words if word)
        start = np.zeros(len(ordered) + 1, dtype=np.int64)
        np.cumsum([len(word) for word in ordered], out=start[1:])
        return cls(np.frombuffer(bytearray().join(ordered), dtype=np.uint8), start)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES) -> Lexicon:
        """Read a lexicon file: one word a line, sorted bytewise, plain or ``.xz``.

        Args:
            path: File that `save` wrote.
            most_bytes: Bytes that the words may unpack to; `MOST_BYTES` at most.

        Returns:
            The lexicon.

        Raises:
            ModelNotFoundError: If there is no such file.
            ModelFormatError: If the file is damaged, too long or not sorted.
        """
        name = os.fspath(path)
        try:
            data = _read(name, min(most_bytes, MOST_BYTES))
        except (FileNotFoundError, IsADirectoryError) as error:
            raise ModelNotFoundError(f"no lexicon file at {name}") from error
        except ValueError as error:
            raise ModelFormatError(
                f"{name} is not a readable lexicon ({error}); restore it from the model"
            ) from error
        lexicon = cls._from_lines(data)
        if not lexicon._is_sorted():
            raise ModelFormatError(
                f"{name} is not sorted bytewise without repeats; write it with Lexicon.save"
            )
        return lexicon

    @classmethod
    def _from_lines(cls, data: bytes) -> Lexicon:
        if data and not data.endswith(b"\n"):
            data += b"\n"
        block = np.frombuffer(data, dtype=np.uint8)
        is_break = block == ord("\n")
        breaks = np.flatnonzero(is_break)
        start = np.zeros(breaks.size + 1, dtype=np.int64)
        start[1:] = breaks - np.arange(breaks.size)
        return cls(block[~is_break], start)

    def _is_sorted(self) -> bool:
        # some thousand words at a time, each block beginning with the last word of the one before
        padded = np.concatenate([self.text, np.zeros(8, dtype=np.uint8)])
        steps = range(0, len(self), _SORT_BLOCK)
        return all(self._is_sorted_from(first, padded) for first in steps)

    def _is_sorted_from(self, first: int, padded: npt.NDArray[np.uint8]) -> bool:
        # compares the first 8 bytes as one big-endian number, and the few that tie in full
        start = self.start[first : first + _SORT_BLOCK + 2]
        length = np.diff(start)
        heads = padded[start[:-1, None] + np.arange(8)]
        heads = np.where(np.arange(8) < length[:, None], heads, 0)
        key = np.ascontiguousarray(heads.astype(np.uint8)).view(">u8").ravel()
        if (key[1:] < key[:-1]).any():
            return False
        ties = first + np.flatnonzero(key[1:] == key[:-1])
        return all(self[int(i)] < self[int(i) + 1] for i in ties)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the words one a line, whole or not at all; compressed if it ends in ``.xz``.

        Args:
            path: File to write.
        """
        data = b"".join(word + b"\n" for word in self)
        if os.fspath(path).endswith(".xz"):
            data = lzma.compress(data, preset=9)
        write_whole(path, data)

    def prefix_range(self, prefix: bytes) -> tuple[int, int]:
        """Find the words that begin with a prefix.

        Args:
            prefix: Bytes, which may end in the middle of a character.

        Returns:
            ``(low, high)``: the words ``low`` to ``high - 1`` begin with it.
        """
        piece = np.frombuffer(bytearray(prefix), dtype=np.uint8)
        low, high = narrow(self.text, self.start, 0, len(self), 0, piece, 0, piece.size)
        return int(low), int(high)

    def __len__(self) -> int:
        """Number of words."""
        return int(self.start.size) - 1

    def __getitem__(self, index: int) -> bytes:
        """One word in UTF-8."""
        return self.text[self.start[index] : self.start[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        """The words in UTF-8, ascending."""
        block = self.text.tobytes()
        bounds = self.start.tolist()
        for begin, end in itertools.pairwise(bounds):
            yield block[begin:end]

    def __contains__(self, word: object) -> bool:
        """Return whether a word, as text or UTF-8, is in the lexicon exactly so."""
        if not isinstance(word, str | bytes):
            return False
        sought = word.encode("utf-8") if isinstance(word, str) else word
        low, high = self.prefix_range(sought)
        return bool(sought) and low < high and self[low] == sought


def _read(name: str, most: int) -> bytes:
    """The lines of a lexicon file; a hostile one costs no more than a good one."""
    if not name.endswith(".xz"):
        data = read_up_to(name, most)
        _check_lines(data)
    else:
        blocks = []
        for block in xz_blocks(name, most):
            _check_lines(block)
            blocks.append(block)
        data = b"".join(blocks)
    if data.startswith(b"\n") or b"\n\n" in data:
        raise ValueError("an empty line")
    n_lines = data.count(b"\n")
    if n_lines > max(_FEW_LINES, len(data) // _LINE):
        raise ValueError(f"{n_lines:,} lines in {len(data):,} bytes cannot all differ")
    data.decode("utf-8")
    return data


def _check_lines(block: bytes) -> None:
    found = _CONTROL.search(block)
    if found:
        raise ValueError(f"a control character, 0x{found[0][0]:02x}")
