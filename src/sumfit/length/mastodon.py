"""Length of a post on Mastodon, by the rule of its server.

Owns `mastodon_length`. A link with ``http://`` or ``https://`` counts 23, whatever its length; of a
mention of somebody on another server, ``@name@server``, only ``@name`` counts; everything else
counts in graphemes.
"""

from __future__ import annotations

from collections.abc import Callable

import regex

from sumfit.length.tweet import LINK_WEIGHT, find_links

__all__ = ["mastodon_length"]

_MENTION = regex.compile(r"(?<![=/\w])(@[A-Za-z0-9_]++(?:[.\-]++[A-Za-z0-9_]++)*+)@[\w.\-]*\w")


def mastodon_length(text: str, graphemes: Callable[[str], int]) -> int:
    """Length of a text as a post.

    Args:
        text: The text, NFC.
        graphemes: Counts user-perceived characters.

    Returns:
        Characters; most servers allow 500.
    """
    if "@" not in text and "://" not in text:
        return graphemes(text)
    rest: list[str] = []
    end, n_links = 0, 0
    for start, stop in find_links(text):
        if text[start : start + 4].lower() == "http" and "://" in text[start : start + 8]:
            rest.append(text[end:start])
            end, n_links = stop, n_links + 1
    rest.append(text[end:])
    # A placeholder keeps apart what a link stood between; it is part of what the link counts.
    plain = _MENTION.sub(r"\1", "x".join(rest))
    return graphemes(plain) + n_links * (LINK_WEIGHT - 1)
