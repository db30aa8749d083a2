"""Numbers of a line held against its source: what was joined, left out and put in.

Owns what the trees of a model (`sumfit.rerank.trees`) look at beside the scorer's evidence: mostly
how a line is put together from runs of words of its source. The scorer reads a line as a language
model does and forgives what is put together from pieces that do not belong together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sumfit.rerank.confidence import Evidence
from sumfit.truth.reading import read

__all__ = ["N_COLUMNS", "N_NUMBERS", "SourceWords", "columns_of"]

N_NUMBERS = 20
"""Numbers of a line by itself."""

N_COLUMNS = 2 * (1 + len(Evidence._fields) + N_NUMBERS)
"""Columns that the trees may ask for."""

_WORD = re.compile(r"[\w'’-]+|[^\w\s]")
_FAR = 999

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SourceWords:
    """The words of a source, for the lines that are made of it.

    Attributes:
        text: The source.
    """

    text: str

    @cached_property
    def words(self) -> list[str]:
        """Its words and marks in order, in lower case."""
        return _WORD.findall(self.text.lower())

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each word stands first."""
        return {word: place for place, word in reversed(list(enumerate(self.words)))}

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Words that stand side by side."""
        return frozenset(pairwise(self.words))

    def numbers_of(self, line: str) -> list[float]:
        """Hold a line against the source.

        Args:
            line: A summary, at least one word or mark.

        Returns:
            Its `N_NUMBERS` numbers.
        """
        given = _WORD.findall(line) or [line]
        words = [word.lower() for word in given]
        known = [pair in self.pairs for pair in pairwise(words)]
        runs = _runs(known)
        n, n_source = len(words), max(1, len(self.words))
        stems = [s for s, is_content in _stems(line) if is_content]
        new = [word for word in words if word not in self.places and word.isalpha()]
        places = [self.places[word] for word in words if word in self.places]
        numbers = {
            "joins": known.count(False),
            "share of joins": known.count(False) / max(1, n - 1),
            "copied": all(known),
            "longest run": max(runs) / n,
            "runs": len(runs),
            "runs of one word": runs.count(1),
            "stems said twice": len(stems) - len(set(stems)),
            "new words": len(new),
            "new in -ing": sum(word.endswith("ing") for word in new),
            "new in -s": sum(word.endswith("s") for word in new),
            "asks": words[-1] == "?",
            "commas": words.count(","),
            "colons": words.count(":"),
            "semicolons": words.count(";"),
            "begins as the source": words[:1] == self.words[:1],
            "first word": self.places.get(words[0], _FAR) / n_source,
            "span": (max(places) - min(places)) / n_source if places else 0.0,
            "capitals": sum(word[:1].isupper() for word in given[1:]),
            "digit": any(map(str.isdigit, line)),
            "words": n,
        }
        return [float(number) for number in numbers.values()]


def columns_of(
    source: SourceWords,
    lines: Sequence[str],
    scores: Sequence[float],
    known: Sequence[Evidence],
    best: int,
) -> FloatArray:
    """Put together what the trees look at.

    Args:
        source: The words of the source.
        lines: Candidates of one text.
        scores: What the choice adds up for each, nats (Eq. A19).
        known: What the scorer knows of each.
        best: Place of the candidate with the highest score among those that count.

    Returns:
        ``(L, N_COLUMNS)``: score, evidence and numbers of each, and how they differ from those of
        the best candidate.
    """
    own = np.array(
        [
            [score, *evidence, *source.numbers_of(line)]
            for line, score, evidence in zip(lines, scores, known, strict=True)
        ],
        dtype=np.float64,
    )
    return np.hstack([own, own - own[best]])


def _runs(known: Sequence[bool]) -> list[int]:
    """Lengths of the runs of words that stand side by side in the source too."""
    runs = [1]
    for is_known in known:
        if is_known:
            runs[-1] += 1
        else:
            runs.append(1)
    return runs


def _stems(line: str) -> list[tuple[str, bool]]:
    words = read(line)
    return list(zip(words.stems, words.is_content, strict=True))
