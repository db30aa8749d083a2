"""Paragraphs and headings that end without a mark.

Owns where one ends.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sumfit.cleaning.blocks import as_sentence, joined

__all__ = ["clean_paragraphs"]

_GAP = re.compile(r"\n[ \t\r]*\n\s*")
_OPEN_END = re.compile(r"[\w\"'”’)\]]\Z")
_NEW_START = re.compile(r"[\"'“‘(\[]?(?:[A-Z]|\d)")
_LONGEST_TITLE = 9  # words
_WRAPPED = 0.75  # of the line below, that a line is long at least if it was only wrapped


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
    text = _with_title_ended(text)
    blocks = _GAP.split(text.strip())
    if not any(
        _OPEN_END.search(block[-1:]) and _NEW_START.match(below)
        for block, below in pairwise(blocks)
    ):
        return text
    return joined(blocks)


def _with_title_ended(text: str) -> str:
    """End a first line that is a title: no mark ends it, and the next word had had room in it."""
    title, _, rest = text.partition("\n")
    below = rest.partition("\n")[0]
    title = title.rstrip()
    if not (_OPEN_END.search(title) and _NEW_START.match(below)) or ":" in title[-12:]:
        return text
    is_wrapped = len(title) + len(below.partition(" ")[0]) >= _WRAPPED * len(below)
    if is_wrapped or len(title.split()) > _LONGEST_TITLE:
        return text
    return f"{as_sentence(title)}\n{rest}"
