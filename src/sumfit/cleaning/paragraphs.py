"""Paragraphs and headings that end without a mark.

Owns where one ends.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sumfit.cleaning.blocks import joined

__all__ = ["clean_paragraphs"]

_GAP = re.compile(r"\n[ \t\r]*\n\s*")
_OPEN_END = re.compile(r"[\w\"'”’)\]]\Z")
_NEW_START = re.compile(r"[\"'“‘(\[]?(?:[A-Z]|\d)")


def clean_paragraphs(text: str, *, sure: bool = False) -> str:
    """End a paragraph without a mark with a full stop, where a new one starts a sentence.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text; unchanged if every paragraph ends by itself.
    """
    if "\n" not in text:
        return text
    blocks = _GAP.split(text.strip())
    if not any(
        _OPEN_END.search(block[-1:]) and _NEW_START.match(below)
        for block, below in pairwise(blocks)
    ):
        return text
    return joined(blocks)
