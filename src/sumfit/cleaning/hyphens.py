"""Words parted at the ends of lines, as in text copied from a PDF.

Owns which hyphen at the end of a line parts a word ("har-/bour") and which belongs to it
("well-/known"). Line breaks between whole words are no matter of this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sumfit.cleaning.names import NAMES

__all__ = ["clean_hyphens"]

_PARTED = re.compile(
    r"(?<![^\W_])([^\W_]{1,40})(?:-|\u00ad)[ \t]{0,8}\n[ \t]{0,40}(?=[^\W\d_])(\w{1,40})"
)
_COMPOUND = re.compile(r"[^\W\d_]{1,40}-[^\W\d_]{1,40}")
_SOFT = "\u00ad"
_JOINING = frozenset("and or nor but to versus".split())  # "pre- and post-war"
_HEADS = frozenset(  # which take a hyphen before a word, though some write one word
    """
    well high low long short full part half real large small left right open hard free self cross
    fast slow deep wide hot cold light heavy old new first second third last one two three four
    five six seven eight nine ten many
    """.split()
)
_TAILS = frozenset(
    """
    making made solving based related friendly looking sized driven owned sharing wing term level
    speed scale class source style quality trip hearted minded
    """.split()
)
_SOLID = frozenset(  # words that begin like a compound and are none
    """
    highway highways highlight highlights highlighted highland highlands lowland lowlands
    longstanding shortage shortages shortfall shortfalls shortcut shortcuts shortlist shortlisted
    partake halfway leftover leftovers openness hardware hardship hardships hardback freelance
    freeway crossroads crossword crossing fasten lighthouse newborn oneself tenant tenants
    tension tensions tender tenders tendon forever format formed fortune oneness
    """.split()
)
_SHORTEST = 3  # letters of a word behind the first part of a compound


def clean_hyphens(
    text: str, *, sure: bool = False, known: Callable[[str], bool] | None = None
) -> str:
    """Join words that were parted at line ends; other text stays as it is.

    Where the next line goes on with a small letter, the parts become one word if that is a known
    one or a listed name, or if neither part is. Otherwise the hyphen stays and the line break goes.
    A hyphen stays too behind a single letter and a first part such as "well" and "high", and where
    the text has the word with it elsewhere.

    Args:
        text: The text.
        sure: No difference.
        known: Whether a word in small letters is a known one; without it only soft hyphens go.

    Returns:
        The text; unchanged if no word is parted.
    """
    if "\n" not in text or ("-" not in text and _SOFT not in text):
        return text
    if not any(parted.group(2)[0].islower() for parted in _PARTED.finditer(text)):
        return text
    compounds = {found.lower() for found in _COMPOUND.findall(text)}

    def put_right(parted: re.Match[str]) -> str:
        first, second = parted.group(1, 2)
        if not second[0].islower():
            return parted.group()
        if _SOFT in parted.group():
            return first + second
        if known is None:
            return parted.group()
        low, rest = first.lower(), second.lower()
        before, after = text[max(parted.start() - 1, 0) : parted.start()], text[parted.end() :][:1]
        is_chain = before == "-" or after == "-"
        if is_chain and (known(low) or before != "-") and (rest in _JOINING or known(rest)):
            return f"{first}-{second}"
        if _is_one_word(low, rest, first, known) and f"{low}-{rest}" not in compounds:
            return first + second
        return parted.group() if rest in _JOINING else f"{first}-{second}"

    return _PARTED.sub(put_right, text)


def _is_one_word(first: str, rest: str, as_written: str, known: Callable[[str], bool]) -> bool:
    if (
        len(first) < 2 or not first.isalpha() or (as_written.isupper() and not rest.isupper())
    ):  # "e-mail", "COVID-related"
        return False
    if first + rest in NAMES:
        return True
    if known(first + rest):
        is_compound = known(rest) and len(rest) >= _SHORTEST
        is_compound = is_compound and (first in _HEADS or (rest in _TAILS and known(first)))
        return first + rest in _SOLID or not is_compound
    return not (known(first) or known(rest) or rest in _JOINING)
