"""Timetables, agendas and programmes, whose lines begin with the times that they are about.

Owns how these are told from chats, logs and chapters, whose times say nothing of what is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["is_plan"]

_TIMED = re.compile(
    r"[ \t]{0,40}(?:[-*•–][ \t]{1,4})?(\d{1,2})[:.](\d\d)(?:[ \t]?([ap])\.?m\b\.?)?"
    r"(?:[ \t]{0,4}(?:[-–]|to|until)[ \t]{0,4}\d{1,2}[:.]\d\d(?:[ \t]?[ap]\.?m\b\.?)?)?"
    r"(?![:.,]?\d)[ \t]{0,8}(?:[-–—|:,][ \t]{0,8})?(\S.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"\b(?:time-?table|schedule|agenda|program(?:me)?|itinerary|line-?up|running (?:order|times)|"
    r"order of (?:the day|events)|plan (?:for|of) the day|departures|arrivals)\b",
    re.IGNORECASE,
)
_TRAVELS = re.compile(
    r"\b(?:departs?|departures?|dep\.?|arrives?|arrivals?|arr\.?|leaves?|calls at|boarding|"
    r"check-in)(?:[ \t,]|\Z)",
    re.IGNORECASE,
)
_LOGGED = re.compile(  # what happens or has happened, and who says so
    r"\b(?:\w{3,40}ed|am|is|are|was|were|has|have|had|did|went|began|came|said|says|down|error|fails?|"
    r"i|we|you|he|she|they|it|me|us)\b|[?!]",
    re.IGNORECASE,
)
_MOST_LOGGED = 0.34  # share of lines
_FEWEST_ROUND = 3  # lines
_MOST_WORDS = 8
_DAY = 24 * 60  # minutes


def is_plan(lines: Sequence[str]) -> bool:
    """Tell whether lines are a timetable or an agenda.

    Their times are of a day and rise. Above them a heading says so, or most of them tell of
    departures, or all times are round and what stands behind them is short and no sentence.

    Args:
        lines: Lines of a text, none of them empty.

    Returns:
        The verdict.
    """
    timed = [found for found in map(_TIMED.fullmatch, lines) if found]
    if len(timed) < 2 or 2 * len(timed) < len(lines):
        return False
    minutes = [_minute(found) for found in timed]
    falls = sum(one > two for one, two in pairwise(minutes))
    if falls > 1 or minutes[0] == 0 or max(minutes) >= _DAY:
        return False
    said = [found.group(4).strip() for found in timed]
    n_logged = sum(_LOGGED.search(one) is not None for one in said)
    if n_logged > _MOST_LOGGED * len(said):
        return False
    first = next(at for at, line in enumerate(lines) if _TIMED.fullmatch(line))
    if any(map(_HEADING.search, lines[:first])):
        return True
    are_short = all(len(one.split()) <= _MOST_WORDS for one in said)
    if 2 * sum(_TRAVELS.search(one) is not None for one in said) >= len(said):
        return are_short
    are_round = len(said) >= _FEWEST_ROUND and all(minute % 5 == 0 for minute in minutes)
    return are_round and are_short and all(not one[0].islower() for one in said)


def _minute(time: re.Match[str]) -> int:
    hour, minute, half = int(time.group(1)), int(time.group(2)), (time.group(3) or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    return 60 * hour + minute
