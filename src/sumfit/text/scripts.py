"""Which writing systems a text uses.

Owns `scripts_of`, `keeps_scripts` and `foreign_script`: a summary must be in the writing of its
source, so that a model which cannot write it says so instead of answering in another language.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import lru_cache

__all__ = ["UNSPACED", "foreign_script", "keeps_scripts", "scripts_of"]

UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts that are written without spaces between words, as members of a character class."""


_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HALFWIDTH": "CJK", "FULLWIDTH": "LATIN"}
_LEAST_SHARE = 0.1
_HALF = 0.5


def scripts_of(text: str) -> Counter[str]:
    """Letters of each writing system in a text.

    Args:
        text: Any string.

    Returns:
        Count of letters by script, in the words of Unicode's character names (``LATIN``,
        ``CYRILLIC``, ``CJK`` together with kana, ...); nothing else is counted.
    """
    if text.isascii():
        letters = sum(map(str.isalpha, text))
        return Counter({"LATIN": letters} if letters else {})
    return Counter(script for script in map(_script, text) if script)


def keeps_scripts(summary: str, source: str) -> bool:
    """Return whether a summary is written in the scripts of its source.

    Args:
        summary: The summary.
        source: The source.

    Returns:
        ``False`` if it has letters of a script that the source does not have, is mainly in one
        that makes less than a tenth of the source's letters, or has no letter where the source
        has some.
    """
    found, given = scripts_of(summary), scripts_of(source)
    if not found:
        return not given
    if set(found) - set(given):
        return False
    main = found.most_common(1)[0][0]
    return given[main] >= _LEAST_SHARE * sum(given.values())


def foreign_script(text: str, known: Collection[str]) -> tuple[str, float] | None:
    """Find the script that a text is mainly written in, unless it is one of the known ones.

    Args:
        text: The text.
        known: Scripts, in any case: ``Latin``.

    Returns:
        The script and the share of letters, 0..1, that are of no known script; ``None`` if at
        least half of the letters are, so that foreign words within a text do no harm.
    """
    found = scripts_of(text)
    names = {name.upper() for name in known}
    foreign = Counter({script: count for script, count in found.items() if script not in names})
    share = sum(foreign.values()) / max(1, sum(found.values()))
    return (_shown(foreign.most_common(1)[0][0]), share) if share > _HALF else None


def _shown(script: str) -> str:
    return script if script == "CJK" else script.capitalize()


@lru_cache(maxsize=16384)
def _script(character: str) -> str:
    if not character.isalpha():
        return ""
    first = unicodedata.name(character, "UNKNOWN").split(" ")[0].split("-")[0]
    return _TOGETHER.get(first, first)
