"""Blocks of a text, such as paragraphs and list items, put together as sentences.

Owns how blocks are joined, so that the words of two never run into one sentence, and cuts between
fixed marks in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["as_sentence", "has_words", "joined", "masked", "unmasked", "without_between"]

_ENDED = re.compile("[.!?:;…。！？：；][\"'”’»)\\]*_]*$")
_LOOSE_END = " \t\r\n,–—"
_WORD = re.compile(r"[^\W_]")
_CODE_SPAN = re.compile(r"`[^`\n]+`")
_MASKS = str.maketrans({"<": "\ufdd0", ">": "\ufdd1", "&": "\ufdd2", "*": "\ufdd3", "_": "\ufdd4"})
_UNMASKS = str.maketrans(
    {"\ufdd0": "<", "\ufdd1": ">", "\ufdd2": "&", "\ufdd3": "*", "\ufdd4": "_"}
)


def has_words(text: str) -> bool:
    """Tell whether a text has a letter or a digit.

    Args:
        text: Any text.

    Returns:
        The verdict.
    """
    return _WORD.search(text) is not None


def as_sentence(block: str) -> str:
    """End a block with a full stop unless it ends with a mark of its own.

    Args:
        block: A paragraph, heading, list item or table row.

    Returns:
        The block, stripped; as it is if nothing but marks is in it.
    """
    block = block.strip(_LOOSE_END)
    if not block or _ENDED.search(block[-12:]) or not has_words(block[-40:]):
        return block
    return block + "."


def joined(blocks: Iterable[str]) -> str:
    """Put blocks on lines of their own, each but the last ended as a sentence.

    Args:
        blocks: Texts of blocks; those without a letter or digit are left out.

    Returns:
        The text; a single block keeps its end, so that a title stays one.
    """
    kept = [block.strip() for block in blocks if has_words(block)]
    if not kept:
        return ""
    return "\n".join([*(as_sentence(block) for block in kept[:-1]), kept[-1]])


def without_between(text: str, opening: str, closing: str, instead: str = "") -> str:
    """Take out everything from an opening mark to the next closing one.

    Args:
        text: The text.
        opening: The opening mark.
        closing: The closing mark.
        instead: What stands in the place of each.

    Returns:
        The rest; from an opening mark that is never closed only the mark itself is taken.
    """
    kept, place = [], 0
    while (start := text.find(opening, place)) >= 0:
        kept += [text[place:start], instead]
        end = text.find(closing, start + len(opening))
        if end < 0:
            place = start + len(opening)
            return "".join(kept) + text[place:].replace(opening, instead)
        place = end + len(closing)
    return "".join(kept) + text[place:]


def masked(text: str) -> str:
    """Hide the marks within code spans (between backticks on one line) from all rules.

    Args:
        text: The text.

    Returns:
        The text with characters that are no text in place of the marks; see `unmasked`.
    """
    if "`" not in text:
        return text
    return _CODE_SPAN.sub(lambda span: span.group().translate(_MASKS), text)


def unmasked(text: str) -> str:
    """Undo `masked`.

    Args:
        text: The text.

    Returns:
        The text with its marks.
    """
    return text.translate(_UNMASKS)
