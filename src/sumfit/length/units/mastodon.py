"""Length of a post on Mastodon, by the rule of its server.

Owns the unit and `mastodon_length`. A link with ``http://`` or ``https://`` counts 23, whatever its
length; of a mention of somebody on another server, ``@name@server``, only ``@name`` counts;
everything else counts in graphemes.

The sum of costs is the number of code points, never below the length, links of less than 23 apart.
"""

from __future__ import annotations

import regex

from sumfit.length.pieces import PerByte
from sumfit.length.unit import Unit
from sumfit.length.units.graphemes import count_clusters
from sumfit.length.units.tweet import LINK_WEIGHT, find_links
from sumfit.parts import cut_at_spaces

__all__ = ["UNIT", "mastodon_length"]

_MENTION = regex.compile(r"(?<![=/\w])(@[A-Za-z0-9_]++(?:[.\-]++[A-Za-z0-9_]++)*+)@[\w.\-]*\w")


def mastodon_length(text: str) -> int:
    """Length of a text as a post.

    Args:
        text: The text, NFC.

    Returns:
        Characters; most servers allow 500.
    """
    if "@" not in text and "://" not in text:
        return count_clusters(text)
    rest: list[str] = []
    end, n_links = 0, 0
    for start, stop in find_links(text):
        if text[start : start + 4].lower() == "http" and "://" in text[start : start + 8]:
            rest.append(text[end:start])
            end, n_links = stop, n_links + 1
    rest.append(text[end:])
    # A placeholder keeps apart what a link stood between; it is part of what the link counts.
    plain = _MENTION.sub(r"\1", "x".join(rest))
    return count_clusters(plain) + n_links * (LINK_WEIGHT - 1)


UNIT = Unit(
    "mastodon",
    mastodon_length,
    description="characters of a post on Mastodon",
    parts=cut_at_spaces,
    cost=PerByte(),
    tuned_like="graphemes",
    singular="Mastodon character",
    plural="Mastodon characters",
    slider=(20, 500),
    start=500,
    order=90,
)
