"""UTF-16 code units.

The sum of costs is the length, exactly.
"""

from __future__ import annotations

from sumfit.length.pieces import PerByte
from sumfit.length.unit import Additive, Unit
from sumfit.length.units.graphemes import between_clusters

__all__ = ["UNIT"]


def _count(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


UNIT = Unit(
    "utf16",
    _count,
    description="UTF-16 code units, a string's length in JavaScript",
    parts=between_clusters,
    cost=PerByte(four=2),
    additive=Additive.ALWAYS,
    tuned_like="chars",
    singular="UTF-16 unit",
    plural="UTF-16 units",
    slider=(10, 300),
    order=70,
)
