"""Clauses of different sentences that a summary joins by a comma.

Owns where a comma of a summary joins what no sentence of its source has together, where a
semicolon can stand in its place, and what of a summary is no more than the label of its source.
"""

from __future__ import annotations

import re

from sumfit.truth.reading import Reading, read
from sumfit.truth.stems import stem

__all__ = ["Joints"]

_COMMA = re.compile(r", (?=\w)")
_LABEL = re.compile(
    r"\s*([^.!?:\n]{3,60}?(?=:)|[^.!?:\n]{0,50}\b(?:warning|alert|notice|advisory|information)"
    r"(?=[.!\n]))\s*[:.!\n]\s*(?=\S)",
    re.IGNORECASE,
)
_BEGINS_LOW = frozenset(
    """
    in on at by for from to with without after before as while when whenever where if unless
    although though because since despite during until once under over amid among about and but or
    """.split()
)
_LEAST_CONTENT = 2  # words of the part before a comma, and of one that a semicolon may part
_LONGEST_LABEL = 5  # words
_LEAST_BEHIND = 4  # words behind a label


class Joints:
    """Looks at the commas of summaries of one source."""

    def __init__(self, source: Reading, text: str) -> None:
        """Note where the source's words stand.

        Args:
            source: The source.
            text: The same as it was given, for its label.
        """
        self._sentences: dict[str, set[int]] = {}
        self._begins: dict[str, set[int]] = {}
        began: set[int] = set()
        for place, root in enumerate(source.stems):
            if not source.is_content[place]:
                continue
            sentence = source.sentence[place]
            self._sentences.setdefault(root, set()).add(sentence)
            if sentence not in began:
                began.add(sentence)
                self._begins.setdefault(root, set()).add(sentence)
        found = _LABEL.match(text[:200])
        label = read(found[1]) if found else read("")
        is_one = 0 < len(label) <= _LONGEST_LABEL and len(source) - len(label) >= _LEAST_BEHIND
        self._label = frozenset(label.stems) if is_one else frozenset()

    def is_label(self, text: str) -> bool:
        """Say whether a text is no more than the label that its source begins with.

        Args:
            text: A summary.

        Returns:
            The verdict: of "Storm warning: gales from Friday" it is true for "Storm warning".
        """
        return bool(self._label) and self._label.issuperset(read(text).stems)

    def knows(self, word: str) -> bool:
        """Say whether the source has a form of a word.

        Args:
            word: A word in lower case.

        Returns:
            The verdict.
        """
        return stem(word) in self._sentences

    def parted(self, text: str) -> str:
        """Put a semicolon in the place of commas before what begins another sentence in the source.

        Args:
            text: A summary.

        Returns:
            The summary, as long as it was.
        """
        if ", " not in text:
            return text
        for at, begins in self._torn(text):
            if begins and ";" not in text:
                text = f"{text[:at]};{text[at + 1 :]}"
        return text

    def n_torn(self, text: str) -> int:
        """Count the commas between what no sentence of the source has together.

        Args:
            text: A summary.

        Returns:
            Their number, without one for which `parted` finds a semicolon.
        """
        if ", " not in text:
            return 0
        return sum(not begins for _, begins in self._torn(text))

    def _torn(self, text: str) -> list[tuple[int, bool]]:
        """Each such comma, and whether what follows begins a sentence in the source."""
        found = []
        commas = [comma.start() for comma in _COMMA.finditer(text)]
        for number, at in enumerate(commas):
            end = commas[number + 1] if number + 1 < len(commas) else len(text)
            left, right = read(text[:at]), read(text[at + 1 :])
            part = read(text[at + 1 : end])
            one = [left.stems[i] for i in range(len(left)) if left.is_content[i]]
            two = [right.stems[i] for i in range(len(right)) if right.is_content[i]]
            if len(one) < _LEAST_CONTENT or not two or not any(part.is_content):
                continue
            here, there = self._sentences.get(one[-1]), self._sentences.get(two[0])
            if not here or not there or not here.isdisjoint(there):
                continue
            begins = self._begins.get(two[0], set())
            begins = begins & self._sentences.get(two[1], set()) if len(two) > 1 else set()
            is_clause = len(one) > _LEAST_CONTENT and left.folded[0] not in _BEGINS_LOW
            found.append((at, bool(begins) and is_clause))
        return found
