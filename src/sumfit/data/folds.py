"""Folds: parts of the data that one model learns from and another is tried on.

Owns which part a text belongs to. A text's fold follows from its own letters, so it is the same in
every corpus, in both text profiles, and for both copies of a story that came twice.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.data.corpus import PackedCorpus
from sumfit.errors import ConfigError

__all__ = ["Fold", "fold_of_text", "folds_of_corpus"]

_N_LETTERS = 24  # of the beginning of a text
_NOT_LETTERS = re.compile(rb"[^a-z]+")


@dataclass(frozen=True, slots=True)
class Fold:
    """One part of several.

    Attributes:
        index: Which one, from 0.
        n_folds: How many there are.
    """

    index: int
    n_folds: int

    @classmethod
    def parse(cls, text: str, *, name: str = "fold") -> Fold | None:
        """Read ``0/2``.

        Args:
            text: The text; empty for none.
            name: What the error calls it.

        Returns:
            The fold, ``None`` for none.

        Raises:
            ConfigError: If it is not ``INDEX/NUMBER`` with an index below the number.
        """
        if not text:
            return None
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        if not match or int(match.group(1)) >= int(match.group(2)) or int(match.group(2)) < 2:
            raise ConfigError(f"{name} must be a part such as 0/2 (the first of two), was {text!r}")
        return cls(int(match.group(1)), int(match.group(2)))

    def __str__(self) -> str:
        return f"{self.index}/{self.n_folds}"


def fold_of_text(text: str, n_folds: int) -> int:
    """Say which fold a text is in.

    Args:
        text: The source, in any profile.
        n_folds: Number of folds.

    Returns:
        0 to ``n_folds - 1``.
    """
    return _fold(text.encode("utf-8"), n_folds)


def folds_of_corpus(
    corpus: PackedCorpus, piece_bytes: Sequence[bytes], n_folds: int
) -> npt.NDArray[np.int16]:
    """Say which fold each pair of a corpus is in, by its source.

    Args:
        corpus: One split.
        piece_bytes: Bytes of each piece of its tokenizer.
        n_folds: Number of folds.

    Returns:
        ``(N,)``.
    """
    letters = [_NOT_LETTERS.sub(b"", piece.lower()) for piece in piece_bytes]
    result = np.empty(len(corpus), dtype=np.int16)
    offsets = corpus.source_offsets.tolist()
    for index in range(len(corpus)):
        ids = corpus.source_tokens[offsets[index] : offsets[index + 1]].tolist()
        joined = b"".join([letters[i] for i in ids])[:_N_LETTERS]
        result[index] = zlib.crc32(joined) % n_folds
    return result


def _fold(raw: bytes, n_folds: int) -> int:
    return zlib.crc32(_NOT_LETTERS.sub(b"", raw.lower())[:_N_LETTERS]) % n_folds
