"""Split a text into lower-cased words of any script, for scoring and for word statistics.

Owns the two splitting rules. Does not own the model's tokenizer (`sumfit.text.tokenizer`):
scores and statistics must not depend on the system that they judge.
"""

from __future__ import annotations

import re
from typing import Literal

import regex

from sumfit.nfc import nfc

__all__ = ["SplitterName", "split_words"]

SplitterName = Literal["ascii", "unicode"]

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNICODE_WORD = regex.compile(
    rf"[{_UNSPACED}]\p{{M}}*|(?:(?![{_UNSPACED}])[\p{{L}}\p{{N}}]\p{{M}}*)+"
)


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
    normalized = nfc(text).lower()
    return [str(match.group()) for match in _UNICODE_WORD.finditer(normalized)]
