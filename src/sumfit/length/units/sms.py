"""Text messages: the GSM 7-bit alphabet, septets, encodings and segments (3GPP TS 23.038, 23.040).

Owns the unit, `sms_septets`, and `sms_info`, what a gateway will bill. The sum of costs is the
septets, where a piece outside the alphabet is forbidden, since it would more than double the cost
of all others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sumfit.errors import given
from sumfit.length.pieces import FORBIDDEN, PerCharacter
from sumfit.length.unit import Alphabet, Unit

__all__ = ["GSM7", "UNIT", "SMSInfo", "sms_info", "sms_septets"]

_BASIC = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENSION = "\f^{}\\[~]|€"
GSM7: dict[str, int] = dict.fromkeys(_BASIC, 1) | dict.fromkeys(_EXTENSION, 2)
"""Septets of each character of the GSM 7-bit default alphabet and its extension table."""
_OTHER = re.compile(f"[^{re.escape(_BASIC + _EXTENSION)}]")


@dataclass(frozen=True, slots=True)
class SMSInfo:
    """How a text travels as a text message.

    Attributes:
        encoding: ``"GSM-7"`` or ``"UCS-2"``.
        units: Septets, or UTF-16 code units.
        segments: Messages billed: 160 septets or 70 code units alone, 153 or 67 each when
            joined; an escaped character or a surrogate pair is never split. 1 for an empty text.
    """

    encoding: str
    units: int
    segments: int


def sms_septets(text: str) -> int:
    r"""7-bit places that a text takes in the payload, so that 160 is one message in any script.

    A text within the GSM 7-bit alphabet takes 1 place a character, 2 for ``^{}\[~]|€``. Any
    other character turns the whole text into UCS-2, 16 bits a code unit: ``ceil(16 n / 7)``, so
    70 code units are 160 places and 71 are 163.

    Args:
        text: The text.

    Returns:
        Places, 0 or more.
    """
    if _OTHER.search(text) is None:
        return len(text) + sum(map(text.count, _EXTENSION))
    n_units = len(text) + sum(character > "\uffff" for character in text)
    return -(-16 * n_units // 7)


def sms_info(text: str) -> SMSInfo:
    """Encoding, units and segments of a text message.

    Args:
        text: The text, taken as it is.

    Returns:
        What a gateway counts.
    """
    if all(character in GSM7 for character in text):
        sizes, alone, joined, encoding = [GSM7[c] for c in text], 160, 153, "GSM-7"
    else:
        sizes, alone, joined, encoding = [1 + (c > "\uffff") for c in text], 70, 67, "UCS-2"
    units = sum(sizes)
    segments = 1 if units <= alone else _packed(sizes, joined)
    return SMSInfo(encoding, units, segments)


def _packed(sizes: list[int], capacity: int) -> int:
    segments, used = 1, 0
    for size in sizes:
        if used + size > capacity:
            segments, used = segments + 1, 0
        used += size
    return segments


def _cost(character: str) -> int:
    return GSM7.get(character, FORBIDDEN)


UNIT = Unit(
    "sms",
    sms_septets,
    description="7-bit places of a text message's payload",
    cost=PerCharacter(_cost, FORBIDDEN, FORBIDDEN, FORBIDDEN),
    alphabet=Alphabet(
        "the GSM 7-bit alphabet",
        GSM7,
        ("replace it, or use ", given("max_length", 70), ", ", given("unit", "utf16")),
    ),
    tuned_like="chars",
    singular="message septet",
    plural="message septets",
    slider=(20, 160),
    start=160,
    order=100,
)
