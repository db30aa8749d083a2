"""Long texts a part at a time, so that work on them can be given up in between.

Owns how long a part is. Does not own what is done with the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

__all__ = ["PART", "cut", "cut_at_spaces", "is_long"]

PART = 16_384
"""Characters of a part, if there are places enough to cut at."""


def is_long(text: str) -> bool:
    """Say whether a text has more than one part.

    Args:
        text: Any text.

    Returns:
        The verdict.
    """
    return len(text) > PART


def cut(text: str, next_place: Callable[[int], int]) -> Iterator[str]:
    """Cut a long text at some places.

    Args:
        text: Any text.
        next_place: The first place at or after a given one where the text may be cut; negative if
            there is none.

    Yields:
        Its parts, which joined are the text. A part is longer than `PART` only as far as there is
        no place to cut at.
    """
    begin = 0
    while len(text) - begin > PART and (end := next_place(begin + PART)) >= 0:
        yield text[begin:end]
        begin = end
    yield text[begin:]


def cut_at_spaces(text: str) -> Iterator[str]:
    """Cut a long text before some of its spaces.

    Args:
        text: Any text.

    Returns:
        Its parts, which joined are the text; all but the first begin with a space.
    """
    return cut(text, lambda place: text.find(" ", place))
