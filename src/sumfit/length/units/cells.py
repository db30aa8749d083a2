"""Terminal columns, as POSIX ``wcswidth`` counts them.

The sum of costs is the length, or more if a character came in separate bytes.
"""

from __future__ import annotations

from functools import lru_cache

import regex
import wcwidth

from sumfit.length.pieces import PerCharacter
from sumfit.length.unit import Additive, Unit
from sumfit.length.units.graphemes import between_clusters

__all__ = ["UNIT"]

# Where versions of wcwidth differ: halves of flags, skin tones, the soft hyphen, signs that stand
# before numbers, and the fillers of Hangul, which take the room of a letter.
_FIXED_COLUMNS = (
    dict.fromkeys(map(chr, range(0x1F1E6, 0x1F200)), 1)
    | dict.fromkeys(map(chr, range(0x1F3FB, 0x1F400)), 2)
    | dict.fromkeys(map(chr, [*range(0x600, 0x606), 0x890, 0x891]), 1)
    | dict.fromkeys("\xad\u06dd\u070f\u08e2\U000110bd\U000110cd\uffa0", 1)
    | {"\u3164": 2}
)
_SPACING_MARK = regex.compile(r"\p{Mc}")
_WIDE = regex.compile(r"\p{East_Asian_Width=W}")


def _count(text: str) -> int:
    return sum(map(_columns, text))


@lru_cache(maxsize=8192)
def _columns(character: str) -> int:
    fixed = _FIXED_COLUMNS.get(character)
    if fixed is not None:
        return fixed
    if _SPACING_MARK.match(character):
        return 2 if _WIDE.match(character) else 1
    width: int = wcwidth.wcwidth(character)
    return max(width, 0)


def _cost(character: str) -> int:
    return 1 if character.isascii() else _columns(character)


UNIT = Unit(
    "cells",
    _count,
    description="terminal columns",
    parts=between_clusters,
    cost=PerCharacter(_cost, three=2, four=2),
    additive=Additive.ON_ASCII,
    tuned_like="chars",
    has_keywords=True,
    singular="terminal column",
    plural="terminal columns",
    slider=(10, 160),
    order=60,
)
