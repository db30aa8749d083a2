"""One normal form for every text that enters or leaves: NFC, printable, single spaces.

Owns `normalize`. Changes nothing a reader sees: no accent is stripped, no letter changes case,
no quotation mark is straightened.
"""

from __future__ import annotations

import re

from sumfit.deadline import Check
from sumfit.nfc import nfc
from sumfit.parts import cut_at_spaces, is_long

__all__ = ["normalize"]

# Invisible and safe to drop: soft hyphen, zero-width space, word joiner, byte order mark; and the
# bidirectional embeddings, overrides and isolates, whose closing half a summary may lose.
# Kept: joiner and non-joiner (emoji, Persian, Indic) and the marks U+200E, U+200F, U+061C.
_INVISIBLE = "\u00ad\u200b\u2060\ufeff" + "".join(
    map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
)
_CONTROL = "\x00-\x1f\x7f-\x9f"
_SURROGATE = re.compile("[\ud800-\udfff]")
_DROP = re.compile(f"[{_INVISIBLE}]+")
_SPACE = re.compile(rf"[\s{_CONTROL}]+")
_UNTIDY = re.compile(rf"[{_INVISIBLE}\ud800-\udfff{_CONTROL}]|[^\S ]|  |\A | \Z")


def normalize(text: str, check: Check | None = None) -> str:
    r"""Bring a text into the form that models are trained on and summaries are returned in.

    In this order: surrogate halves that form a pair become their character, lone ones U+FFFD;
    invisible formatting is dropped (soft hyphen, U+200B, U+2060, U+FEFF, bidirectional
    embeddings, overrides and isolates); each run of white space (``\s``: also U+0085, U+00A0,
    U+2028, U+2029, U+3000) and control characters becomes one space; spaces at both ends go;
    the rest becomes NFC. Zero-width joiner and non-joiner stay: emoji and several scripts need
    them. Applying it twice changes nothing.

    Args:
        text: Any Python string.
        check: Called between the parts of a long text, to give up.

    Returns:
        The normalised text, which always encodes to UTF-8; empty if nothing visible was there.
    """
    if check is not None and is_long(text):
        # Nothing of what is done here reaches across a space.
        parts = []
        for part in cut_at_spaces(text):
            check()
            parts.append(normalize(part))
        return " ".join(filter(None, parts))
    if _UNTIDY.search(text):
        if _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        text = _SPACE.sub(" ", _DROP.sub("", text)).strip(" ")
    return nfc(text)
