"""How the scorers split a text into words, and how they stem them.

Owns the two splitting rules of the ROUGE scorer and of the word statistics. The rule of the
model's own tokenizer plays no part here: scores must not depend on the system scored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import regex

from sumfit.errors import ConfigError, MissingExtraError

__all__ = ["Splitter", "SplitterName", "split_words"]

SplitterName = Literal["ascii", "unicode"]

_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Scripts written without spaces give one word per grapheme; everything else, runs of letters,
# marks and digits with inner apostrophes left out.
_UNICODE_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*"
    r"|(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])[\p{L}\p{N}]\p{M}*)+"
)
_STEMMED = re.compile(r"[a-z0-9]{4,}")


def split_words(text: str, *, splitter: SplitterName = "unicode") -> list[str]:
    """Split a text into lower-cased words, without stemming.

    Args:
        text: The text.
        splitter: ``"ascii"``: runs of ``a-z0-9``, as ROUGE-1.5.5 and rouge-score do; every other
            character separates. ``"unicode"``: runs of letters, marks and digits of any script
            after NFC; one word per grapheme in scripts that are written without spaces.

    Returns:
        The words, in order.
    """
    if splitter == "ascii":
        return _ASCII_WORD.findall(text.lower())
    normalized = unicodedata.normalize("NFC", text).lower()
    return [match.group() for match in _UNICODE_WORD.finditer(normalized)]


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
