"""Which words are ordinary ones, and so no names whatever their case.

Owns the list and its reading. The list holds the English words that texts write small, within
sentences, at least as often as with a capital (``scripts/make_ordinary_words.py`` makes it).
"""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path

__all__ = ["ORDINARY_WORDS_FILE", "ordinary_words"]

ORDINARY_WORDS_FILE = Path(__file__).with_name("ordinary_words.txt.xz")

# Events and makers' names that texts write small.
_NAMES_WRITTEN_SMALL = frozenset(
    "coronavirus covid brexit omicron bitcoin ethereum iphone git".split()
)


@cache
def ordinary_words() -> frozenset[str]:
    """The ordinary words, lower-cased, read once."""
    text = lzma.decompress(ORDINARY_WORDS_FILE.read_bytes()).decode("utf-8")
    return frozenset(text.split()) - _NAMES_WRITTEN_SMALL
