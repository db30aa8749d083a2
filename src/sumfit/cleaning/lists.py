"""Bullet and numbered lists as sentences, one for each item; timetables and agendas too.

Owns what counts as a list. Words of two items never run into one sentence.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import joined
from sumfit.cleaning.plans import is_plan

__all__ = ["clean_lists"]

_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪●–—]|\d{1,3}[.)]|\([a-z0-9]\)|[a-z]\))[ \t]+(?=\S)")
_CHECKBOX = re.compile(r"\[[ xX]\][ \t]+")
_LABEL = re.compile(r"[A-Z][\w/-]{0,20}(?: [\w/-]{1,20}){0,3}:(?:[ \t]|$)")
_ENDS = re.compile(r"[.!?…:;][\"'”’)]?\Z")
_GOES_ON = (*",(-–—&/",)
_FEWEST = 2
_WRAPPED = 50  # characters of a line that was wrapped, at least


def clean_lists(text: str, *, sure: bool = False) -> str:
    """Make each item of a list a sentence; other text stays as it is.

    Lines without a mark that follow an item belong to it, up to an empty line or one that begins
    with a label ("Expected: ..."), where what stands above it is whole or has a label too.

    Args:
        text: The text.
        sure: One item is enough.

    Returns:
        The text with items as sentences.
    """
    if "\n" not in text and not sure:
        return text
    lines = text.split("\n")
    marks = [_ITEM.match(line) for line in lines]
    if is_plan([line for line in lines if line.strip()]):
        parts = zip(lines, marks, strict=True)
        return joined(line[mark.end() if mark else 0 :] for line, mark in parts)
    if sum(mark is not None for mark in marks) < (1 if sure else _FEWEST):
        return text
    blocks: list[str] = []
    is_open = is_title = False  # the last block may go on; it is too short to be wrapped
    is_whole = False  # the last line is short, or ends with a mark
    for line, mark in zip(lines, marks, strict=True):
        content = line[mark.end() if mark else 0 :].strip()
        if mark:
            blocks.append(_CHECKBOX.sub("", content, count=1))
        elif is_open and content and not (is_title and content[0].isupper()):
            if is_whole and _LABEL.match(content):
                blocks.append(content)
            else:
                blocks[-1] += " " + content
        else:
            blocks.append(content)
        is_open = bool(content)
        is_title = mark is None and len(content) < _WRAPPED
        is_short = len(content) < _WRAPPED and content[-1:] not in _GOES_ON
        is_whole = is_short or any((_LABEL.match(content), _ENDS.search(content)))
    return joined(blocks) or text
