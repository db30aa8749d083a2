"""Words as the scorers compare them: split by one of two rules, then stemmed.

Owns the Porter stemmer and its cache. The splitting rules are `sumfit.text.split`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from sumfit.errors import ConfigError, MissingExtraError
from sumfit.text.split import SplitterName, split_words

__all__ = ["Splitter", "SplitterName", "split_words"]

_STEMMED = re.compile(r"[a-z0-9]{4,}")


class Splitter:
    """A splitting rule with an optional Porter stemmer, as the ROUGE scorer wants it."""

    def __init__(self, name: SplitterName = "ascii", *, stem: bool = True) -> None:
        """Prepare the rule.

        Args:
            name: ``"ascii"`` or ``"unicode"``; see `split_words`.
            stem: Reduce words of more than three ASCII letters or digits to their Porter stem,
                in the variant of NLTK, the one that rouge-score uses.

        Raises:
            ConfigError: If there is no such rule.
            MissingExtraError: If a stemmer is wanted and not installed.
        """
        if name not in ("ascii", "unicode"):
            raise ConfigError(f"tokenizer must be 'ascii' or 'unicode', was {name!r}")
        self._name: SplitterName = name
        self._stem = _porter() if stem else None

    def tokenize(self, text: str) -> list[str]:
        """Split and stem a text.

        Args:
            text: The text.

        Returns:
            The stems, in order.
        """
        words = split_words(text, splitter=self._name)
        if self._stem is None:
            return words
        stem = self._stem
        return [stem(word) if _STEMMED.fullmatch(word) else word for word in words]


@lru_cache(maxsize=1)
def _porter() -> Callable[[str], str]:
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        raise MissingExtraError("rouge-score", "eval") from error
    stemmer = PorterStemmer()

    @lru_cache(maxsize=200_000)
    def stem(word: str) -> str:
        return str(stemmer.stem(word))

    return stem
