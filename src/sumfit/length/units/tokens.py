"""Pieces of the model's vocabulary.

The sum of costs is the number of pieces, which is the length unless the decoder spelled the text
otherwise than the tokenizer does.
"""

from __future__ import annotations

from sumfit.length.pieces import PerPiece
from sumfit.length.unit import Additive, Unit

__all__ = ["UNIT"]

UNIT = Unit(
    "tokens",
    None,
    description="pieces of the model's vocabulary",
    cost=PerPiece(),
    additive=Additive.AS_SPELLED,
    pieces_per_unit=1.0,
    chars_per_unit=4.2,
    has_keywords=True,
    singular="token",
    plural="tokens",
    slider=(2, 80),
    start=16,
    order=20,
)
