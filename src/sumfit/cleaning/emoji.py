"""Emoji codes as chat programs write them: ``:wave:``.

Owns what counts as one. Emoji themselves stay.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words, masked, unmasked

__all__ = ["clean_emoji"]

_CODE = re.compile(
    r"[ \t]?(?<![\w:.]):(?:[a-z][a-z0-9_+-]{1,40}|\+1|-1|100|1234):(?:skin-tone-\d:)?(?![\w:`])"
)
_FIELDS = re.compile(
    r"\s?:(?:param|type|returns?|rtype|raises?|keyword|var|ivar|cvar|meta|class|func|meth|mod|ref|doc|"
    r"attr|exc|data|const|term|pep|rfc|math|code|index|all|before|after|not|is|has|root|hover|focus):"
)


def clean_emoji(text: str, *, sure: bool = False) -> str:
    """Take emoji codes out; other text, such as ``std::move`` and 10:30:45, stays as it is.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text without codes; unchanged if nothing would be left.
    """
    if text.count(":") < 2:
        return text
    found = _CODE.sub(
        lambda code: code.group() if _FIELDS.fullmatch(code.group()) else "", masked(text)
    )
    found = unmasked(found)
    return found.lstrip(" ") if found != text and has_words(found) else text
