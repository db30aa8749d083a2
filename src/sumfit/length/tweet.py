"""Weighted length of a post on X (Twitter), by the rules that twitter-text documents.

Owns `tweet_weight` and `weight_of_character`. A character weighs 1 in four ranges (most
alphabetic scripts and general punctuation) and 2 elsewhere; an emoji, however many code points
it has, weighs 2; a link weighs 23.
"""

from __future__ import annotations

import regex

__all__ = ["LINK_WEIGHT", "tweet_weight", "weight_of_character"]

LINK_WEIGHT = 23
_LIGHT = ((0, 4351), (8192, 8205), (8208, 8223), (8242, 8247))
_EMOJI = regex.compile(
    r"[\U0001f1e6-\U0001f1ff]{2}"
    r"|[0-9#*]\ufe0f?\u20e3"
    r"|\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?(?:[\U000e0020-\U000e007e]+\U000e007f)?"
    r"(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)*"
)
_LINK = regex.compile(r"https?://[^\s/?#]+\.[^\s]+", regex.IGNORECASE)


def tweet_weight(text: str) -> int:
    """Weighted length of a text as a post.

    Args:
        text: The text, NFC.

    Returns:
        Weight; 280 is the limit of a post.
    """
    if text.isascii() and "." not in text:
        return len(text)
    weight, end = 0, 0
    for link in _LINK.finditer(text):
        weight += _plain_weight(text[end : link.start()]) + LINK_WEIGHT
        end = link.end()
    return weight + _plain_weight(text[end:])


def weight_of_character(character: str) -> int:
    """Weight of one code point outside links and emoji.

    Args:
        character: One code point.

    Returns:
        1 or 2.
    """
    point = ord(character)
    return 1 if any(low <= point <= high for low, high in _LIGHT) else 2


def _plain_weight(text: str) -> int:
    if text.isascii():
        return len(text)
    rest: str
    n_emoji: int
    rest, n_emoji = _EMOJI.subn("", text)
    return 2 * n_emoji + sum(map(weight_of_character, rest))
