"""White-space words.

The sum of costs is the length, exactly.
"""

from __future__ import annotations

from sumfit.length.pieces import PerWord
from sumfit.length.unit import Additive, Unit
from sumfit.parts import cut_at_spaces

__all__ = ["UNIT"]


def _count(text: str) -> int:
    return len(text.split())


UNIT = Unit(
    "words",
    _count,
    description="runs of characters between white space",
    parts=cut_at_spaces,
    cost=PerWord(),
    additive=Additive.ALWAYS,
    pieces_per_unit=2.0,
    chars_per_unit=6.0,
    has_keywords=True,
    singular="word",
    plural="words",
    slider=(1, 40),
    start=10,
    order=10,
)
