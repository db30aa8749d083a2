"""Made-up news leads with headlines, for trying training out without any data.

Owns a small grammar. Its headlines can be derived from the leads by rule, so a model that learns
anything at all learns them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from sumfit.data.readers import Pair

__all__ = ["synthetic_pairs"]

_PLACES = "Arden Bellport Corvale Dunmere Eastholm Farlow Glenkirk Harwick Ivyton Jarrow".split()
_GROUPS = (
    "city council",
    "harbour authority",
    "school board",
    "fire service",
    "water company",
    "tram drivers",
    "museum trust",
    "football club",
)
_DEEDS = (
    ("approves", "approved", "a new bridge over the river", "new bridge"),
    ("rejects", "rejected", "a plan to close two libraries", "plan to close libraries"),
    ("delays", "delayed", "the opening of the night market", "night market opening"),
    ("doubles", "doubled", "its budget for street repairs", "street repair budget"),
    ("cancels", "cancelled", "the annual boat race", "annual boat race"),
    ("reopens", "reopened", "the old railway tunnel", "old railway tunnel"),
    ("sells", "sold", "a disused power station", "disused power station"),
    ("opens", "opened", "an inquiry into noisy building sites", "inquiry into noisy sites"),
)
_REASONS = (
    "after months of debate",
    "because of heavy rain",
    "following protests by residents",
    "to save money",
    "despite warnings from engineers",
    "under pressure from the region",
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_TAILS = (
    "A spokesman said that details would follow next week.",
    "Local shops welcomed the news.",
    "Nobody could be reached for comment.",
    "The decision had been expected for some time.",
)


def synthetic_pairs(n_pairs: int, *, seed: int) -> Iterator[Pair]:
    """Make leads with headlines.

    Args:
        n_pairs: How many.
        seed: The same seed gives the same pairs.

    Yields:
        The pairs.
    """
    rng = random.Random(seed)
    for line in range(1, n_pairs + 1):
        place, group, day = rng.choice(_PLACES), rng.choice(_GROUPS), rng.choice(_DAYS)
        now, past, thing, short = rng.choice(_DEEDS)
        reason, tail = rng.choice(_REASONS), rng.choice(_TAILS)
        opening = rng.choice(
            (
                f"The {group} of {place} {past} {thing} on {day} {reason}.",
                f"On {day} the {group} of {place} {past} {thing} {reason}.",
                f"{reason.capitalize()}, the {group} of {place} {past} {thing} on {day}.",
            )
        )
        yield Pair(f"{opening} {tail}", (f"{place} {group} {now} {short}",), line)
