"""Unicode code points.

The sum of costs is the length, exactly.
"""

from __future__ import annotations

from sumfit.length.pieces import PerByte
from sumfit.length.unit import Additive, Unit
from sumfit.length.units.graphemes import between_clusters

__all__ = ["UNIT"]

UNIT = Unit(
    "chars",
    len,
    description="Unicode code points of the NFC form",
    parts=between_clusters,
    cost=PerByte(),
    additive=Additive.ALWAYS,
    has_keywords=True,
    singular="character",
    plural="characters",
    slider=(10, 300),
    order=30,
)
