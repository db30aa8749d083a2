"""Paragraphs, headings and lines that end without a mark.

Owns where one ends.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sumfit.cleaning.blocks import as_sentence, joined
from sumfit.text.function_words import FUNCTION_WORDS

__all__ = ["clean_paragraphs"]

_GAP = re.compile(r"\n[ \t\r]*\n\s*")
_OPEN_END = re.compile(r"[\w\"'”’)\]]\Z")
_NEW_START = re.compile(r"[\"'“‘(\[]?(?:[A-Z]|\d)")
_WRAPPED = 0.75  # of the longest line, that a line is long at least if it was only wrapped
_NARROWEST = 60  # characters to which running text is wrapped
_MOST_GOING_ON = 0.25  # share of lines that begin with a small letter, of lines that stand alone
_MOST_WRAPPED = 0.7  # share of lines of a column
_PAIR = 2  # a title and a line below it
_LABEL = 12  # characters at the end of a line, of which the next one may be the content


def clean_paragraphs(text: str, *, sure: bool = False) -> str:
    """End a paragraph or line without a mark with a full stop, where a new one starts a sentence.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text; unchanged if every paragraph and line ends by itself.
    """
    if "\n" not in text:
        return text
    given = _GAP.split(text.strip())
    blocks = [_with_lines_ended(block) for block in given]
    if blocks == given and not any(_run_on(block, below) for block, below in pairwise(blocks)):
        return text
    return joined(blocks)


def _run_on(above: str, below: str) -> bool:
    """Whether no mark ends what stands above, and a new sentence begins below."""
    return _OPEN_END.match(above[-1:]) is not None and _NEW_START.match(below) is not None


def _with_lines_ended(block: str) -> str:
    """End lines of a block that were not wrapped: the next word had had room in them."""
    lines = [line.rstrip() for line in block.split("\n")]
    if len(lines) == 1:
        return block
    n_going_on = sum(line.lstrip()[:1].islower() for line in lines)
    if n_going_on > _MOST_GOING_ON * len(lines):
        return block
    is_pair = len(lines) == _PAIR  # which does not show where lines are wrapped
    if not is_pair and _is_column(lines):
        return block
    width = _WRAPPED * (len(lines[1]) if is_pair else max(_NARROWEST, *map(len, lines)))
    for place, (line, below) in enumerate(pairwise(lines)):
        has_room = len(line) + len(below.partition(" ")[0]) < width
        if has_room and _run_on(line, below) and _may_end(line, below):
            lines[place] = as_sentence(line)
    return "\n".join(lines)


def _is_column(lines: list[str]) -> bool:
    """Whether most lines are as long as the longest, but for the next word: a narrow column."""
    width = max(map(len, lines))
    wrapped = [len(a) + 1 + len(b.partition(" ")[0]) >= width for a, b in pairwise(lines)]
    return sum(wrapped) > _MOST_WRAPPED * len(wrapped)


def _may_end(line: str, below: str) -> bool:
    """Whether a line may be all that is said: a heading, an item, a note."""
    last = line.rpartition(" ")[2].lower()
    is_sum = line[-1:].isdecimal() and below[:1].isdecimal()
    return last not in FUNCTION_WORDS and ":" not in line[-_LABEL:] and not is_sum
