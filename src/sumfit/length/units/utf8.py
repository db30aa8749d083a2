"""Bytes of UTF-8.

The sum of costs is the length, exactly.
"""

from __future__ import annotations

from sumfit.length.pieces import PerByte
from sumfit.length.unit import Additive, Unit
from sumfit.length.units.graphemes import between_clusters

__all__ = ["UNIT"]


def _count(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


UNIT = Unit(
    "bytes",
    _count,
    description="bytes of the UTF-8 form",
    parts=between_clusters,
    cost=PerByte(inner=1),
    additive=Additive.ALWAYS,
    tuned_like="chars",
    has_keywords=True,
    singular="byte",
    plural="bytes",
    slider=(10, 300),
    order=50,
)
