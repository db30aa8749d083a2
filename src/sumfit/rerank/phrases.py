r"""What summaries are made of: which words of a text they keep, and which words follow which.

Owns the table, its file, and the look-up for a whole n-best list at once. Does not own counting
(`sumfit.training.reranking.counting`) or what a reranker makes of it (`sumfit.rerank.features`).

A summarizer of one pass chooses the words of a path almost independently of each other; how well
two neighbours go together is what its score knows least about. The table says it by an interpolated
bigram model over lower-cased words::

    p(b | a) = max(n(a, b) - d, 0) / n(a) + rest(a) * p(b)

Words and pairs are kept as hashes and logarithms as whole eighths of a nat, so 430,000 pairs take
a megabyte.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.errors import ModelFormatError
from sumfit.unpacking import read_arrays

__all__ = ["END", "START", "STEP", "PhraseScores", "Phrases", "hash_pairs", "hash_words"]

FloatArray = npt.NDArray[np.float64]
HashArray = npt.NDArray[np.uint32]

START, END = "<s>", "</s>"  # no word: words have no marks
STEP = 1 / 8  # nats of one unit on disk
_PAIR_SHIFT = 4  # bits of a pair's hash not kept; 430,000 pairs: a false hit in 600 questions
_DTYPES: dict[str, Any] = {
    "words": np.uint32,
    "log_p": np.uint8,
    "log_rest": np.uint8,
    "log_kept": np.int8,
    "pairs": np.uint32,
    "pair_log_p": np.uint8,
}
_HASHES = ("words", "pairs")
_MOST_BYTES = 1 << 26  # of a table, unpacked
_UNKNOWN_KEPT = -1.4  # log-odds of a word that was never counted


class PhraseScores(NamedTuple):
    """What the table says of a list of texts.

    Attributes:
        log_p: ``(K, U + 1)`` log-probability of each word after the one before it, the end of the
            text last; 0 where a text is shorter.
        alone: ``(K, U + 1)`` log-probability of each by itself.
        is_known: ``(K, U + 1)`` whether the pair was counted.
        is_real: ``(K, U + 1)`` ``False`` = padding.
        kept: ``(K, U)`` log-odds that a word of a source gets into its summary.
    """

    log_p: FloatArray
    alone: FloatArray
    is_known: npt.NDArray[np.bool_]
    is_real: npt.NDArray[np.bool_]
    kept: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """The table.

    Attributes:
        words: ``(W,)`` hashes of the words, in order.
        log_p: ``(W,)`` minus the log-probability of each, in steps.
        log_rest: ``(W,)`` minus the log-share of pairs not counted after each, in steps.
        log_kept: ``(W,)`` log-odds that a summary keeps the word, in steps.
        pairs: ``(P,)`` hashes of the pairs, in order.
        pair_log_p: ``(P,)`` minus the log-probability of the second after the first, in steps.
    """

    words: HashArray
    log_p: npt.NDArray[np.uint8]
    log_rest: npt.NDArray[np.uint8]
    log_kept: npt.NDArray[np.int8]
    pairs: HashArray
    pair_log_p: npt.NDArray[np.uint8]

    def score(self, texts: Sequence[Sequence[str]]) -> PhraseScores:
        """Look up all words and neighbours of several texts.

        Args:
            texts: Lower-cased words of each.

        Returns:
            What the table says.
        """
        numbers: dict[str, int] = {START: 0, END: 1}
        lengths = np.array([len(words) for words in texts])
        ids = np.ones((len(texts), int(lengths.max(initial=0)) + 2), dtype=np.int64)
        ids[:, 0] = 0
        for row, words in enumerate(texts):
            ids[row, 1 : len(words) + 1] = [numbers.setdefault(w, len(numbers)) for w in words]
        hashes = hash_words(numbers)
        log_p, rest, kept = self._of_words(hashes)
        first, second = ids[:, :-1], ids[:, 1:]
        asked = hash_pairs(hashes[first], hashes[second])
        place = np.minimum(np.searchsorted(self.pairs, asked), len(self.pairs) - 1)
        is_known = self.pairs[place] == asked
        alone = log_p[second]
        joint = np.where(is_known, -STEP * self.pair_log_p[place], rest[first] + alone)
        is_real = np.arange(ids.shape[1] - 1) <= lengths[:, None]
        return PhraseScores(
            np.where(is_real, joint, 0.0),
            np.where(is_real, alone, 0.0),
            is_known & is_real,
            is_real,
            kept[second[:, :-1]],
        )

    def kept(self, words: Sequence[str]) -> FloatArray:
        """Look up how likely words of a source get into its summary.

        Args:
            words: The words.

        Returns:
            ``(N,)`` log-odds.
        """
        return self._of_words(hash_words(words))[2]

    def _of_words(self, hashes: HashArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        place = np.minimum(np.searchsorted(self.words, hashes), len(self.words) - 1)
        is_known = self.words[place] == hashes
        rarest = -STEP * float(self.log_p.max())
        return (
            np.where(is_known, -STEP * self.log_p[place], rarest),
            np.where(is_known, -STEP * self.log_rest[place], 0.0),
            np.where(is_known, STEP * self.log_kept[place], _UNKNOWN_KEPT),
        )

    def save(self, path: Path) -> None:
        """Write the table.

        Args:
            path: The file.
        """
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _DTYPES}
        for name in _HASHES:
            arrays[name] = _packed(arrays[name])
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: Path, *, most_bytes: int = _MOST_BYTES) -> Phrases:
        """Read a table.

        Args:
            path: The file.
            most_bytes: Bytes that it may unpack to; 64 MiB at most.

        Returns:
            The table.

        Raises:
            ModelFormatError: If it is missing or damaged.
        """
        try:
            arrays = read_arrays(path, _DTYPES, min(most_bytes, _MOST_BYTES))
            for name in _HASHES:
                arrays[name] = _unpacked(arrays[name])
        except (OSError, ValueError) as error:
            raise ModelFormatError(
                f"{path} is missing or damaged ({error}); copy the reranker again"
            ) from error
        sizes = {name: values.size for name, values in arrays.items()}
        if (
            any(values.ndim != 1 for values in arrays.values())
            or any(arrays[name].dtype != dtype for name, dtype in _DTYPES.items())
            or len({sizes[name] for name in ("words", "log_p", "log_rest", "log_kept")}) > 1
            or sizes["pairs"] != sizes["pair_log_p"]
            or not (sizes["words"] and sizes["pairs"])
        ):
            raise ModelFormatError(f"{path} holds no table of phrases; copy the reranker again")
        return cls(**arrays)


def _packed(hashes: HashArray) -> npt.NDArray[np.uint8]:
    """``(4, N)`` bytes of the differences, lowest bytes first; the others are few and compress."""
    steps = np.diff(hashes, prepend=np.uint32(0)).astype("<u4")
    return np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 4).T)


def _unpacked(parts: npt.NDArray[np.uint8]) -> HashArray:
    if parts.ndim != 2 or parts.shape[0] != 4 or parts.dtype != np.uint8:
        raise ValueError("hashes are not four rows of bytes")
    steps = np.ascontiguousarray(parts.T).view("<u4").ravel()
    return np.cumsum(steps, dtype=np.uint32)


def hash_words(words: Sequence[str] | dict[str, int]) -> HashArray:
    """Hash words, alike on every machine.

    Args:
        words: The words.

    Returns:
        ``(N,)`` uint32.
    """
    return np.array([zlib.crc32(word.encode()) for word in words], dtype=np.uint32)


def hash_pairs(first: HashArray, second: HashArray) -> HashArray:
    """Hash pairs of words.

    Args:
        first: Hashes of the first words.
        second: Hashes of the second words, of the same shape.

    Returns:
        uint32 of that shape, below ``2**28``.
    """
    mixed = first.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + second
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(32 + _PAIR_SHIFT)).astype(np.uint32)
