"""User-perceived characters: extended grapheme clusters of UAX #29.

The sum of costs is the number of code points, never below that of the clusters.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from sumfit.length.pieces import PerByte
from sumfit.length.unit import Additive, Unit
from sumfit.parts import cut

__all__ = ["UNIT", "between_clusters", "clusters", "count_clusters"]

_LONERS = regex.compile(r"\p{GCB=Other}(?=[\p{GCB=Other}&&\p{NFC_QC=Y}])", regex.VERSION1)
_GRAPHEME = regex.compile(r"\X")
# A flag of a long run is told from its neighbours by counting from the first one: here is where
# such a run may be cut, after 16 whole flags.
_MANY_FLAGS = regex.compile(r"\p{RI}{32}(?=\p{RI})")


def count_clusters(text: str) -> int:
    """Count the user-perceived characters of a text.

    Args:
        text: Any text.

    Returns:
        Their number.
    """
    if text.isascii() and "\r" not in text:
        return len(text)
    return sum(1 for _ in clusters(text))


def clusters(text: str) -> Iterator[str]:
    """The user-perceived characters of a text, in linear time.

    Args:
        text: Any text.

    Yields:
        Each, in order.
    """
    begin = 0
    for run in _MANY_FLAGS.finditer(text):
        yield from _GRAPHEME.findall(text[begin : run.end()])
        begin = run.end()
    yield from _GRAPHEME.findall(text[begin:])


def between_clusters(text: str) -> Iterator[str]:
    """Cut a long text between characters that join no other ones, whatever stands around them.

    Args:
        text: Any text.

    Returns:
        The parts, in order.
    """

    def next_place(place: int) -> int:
        found = _LONERS.search(text, place)
        return -1 if found is None else found.end()

    return cut(text, next_place)


UNIT = Unit(
    "graphemes",
    count_clusters,
    description="user-perceived characters, UAX #29",
    parts=between_clusters,
    cost=PerByte(),
    additive=Additive.ON_ASCII,
    tuned_like="chars",
    has_keywords=True,
    singular="visible character",
    plural="visible characters",
    slider=(10, 300),
    order=40,
)
