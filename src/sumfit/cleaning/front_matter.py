"""The block of settings at the top of a page of a static site.

Owns what counts as front matter and what of it is content.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words, joined

__all__ = ["clean_front_matter"]

_FENCES = {"---": re.compile(r"[\w$-]+:(?:\s|$)"), "+++": re.compile(r"[\w.\"-]+\s*=|\[")}
_VALUE = re.compile(r"(?:title|description|summary)\s*[:=]\s*(.+)", re.IGNORECASE)
_MOST_LINES = 300


def clean_front_matter(text: str, *, sure: bool = False) -> str:
    """Take the front matter off a page; other text stays as it is.

    Args:
        text: The text.
        sure: No difference: a block that is no list of settings stays.

    Returns:
        The text without it; of a page with nothing else its title and description.
    """
    stripped = text.lstrip("\ufeff \n\r\t")
    fence = stripped[:3]
    if fence not in _FENCES or stripped[3:4] not in ("\n", "\r"):
        return text
    head: list[str] = []
    place = 4
    while len(head) < _MOST_LINES:
        end = stripped.find("\n", place)
        line = stripped[place : end if end >= 0 else len(stripped)].rstrip()
        place = end + 1
        if line.rstrip() in (fence, "..."):
            break
        if end < 0:
            return text
        head.append(line)
    else:
        return text
    is_setting = _FENCES[fence].match
    lines = [line for line in head if line and not line[0].isspace() and line[0] not in "-#]}"]
    if not lines or not all(map(is_setting, lines)):
        return text
    body = stripped[place:].lstrip() if place else ""
    if has_words(body):
        return body
    values = [match.group(1).strip(" \"'") for match in map(_VALUE.match, lines) if match]
    return joined(values) or text
