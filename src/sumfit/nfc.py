"""Normal form C of any text, in time that grows with its length alone.

Owns `nfc`. The standard library puts combining marks in order by insertion, which takes the square
of the length of a run of them; here a long run comes to it in order already.
"""

from __future__ import annotations

import unicodedata

import regex

__all__ = ["nfc"]

_LONG_RUN = regex.compile(r"\p{M}{32,}")


def nfc(text: str) -> str:
    """Normal form C of a text. Time O(n log n).

    Args:
        text: Any string.

    Returns:
        The same as `unicodedata.normalize`; the text itself if it is in that form.
    """
    if text.isascii():
        return text
    text = _LONG_RUN.sub(_in_order, text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def _in_order(run: regex.Match[str]) -> str:
    """The marks of a run, decomposed, in canonical order: sorted between those of class 0."""
    ordered: list[str] = []
    open_: list[str] = []
    for mark in run.group():
        for part in unicodedata.normalize("NFD", mark):
            if unicodedata.combining(part):
                open_.append(part)
                continue
            ordered += sorted(open_, key=unicodedata.combining)
            ordered.append(part)
            open_ = []
    ordered += sorted(open_, key=unicodedata.combining)
    return "".join(ordered)
