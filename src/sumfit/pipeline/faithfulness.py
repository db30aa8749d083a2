"""Whether candidates say only what their source says, and the choice of one that does.

Owns the verdict on a text of a source of any length and the choice among candidates. The rules are
those of `sumfit.truth`; names and numbers are kept out by the search itself
(`source_numbers_only`, `source_names_only`), so this is what a search cannot see: negation,
possibility, who did what to whom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sumfit.deadline import Deadline
from sumfit.hypothesis import Candidate
from sumfit.pipeline.source import Source
from sumfit.truth import Support, support

__all__ = ["faithful_first", "support_of"]

_MOST_JUDGED = 2_000_000  # characters of a source that is judged whole
_JUDGED_PER_S = 500_000  # the same for each second of a time limit, a fifth of which it takes


def support_of(text: str, source: Source, *, time_limit_s: float | None = None) -> Support:
    """Judge a text by what the model read; by more of a long source where that lacks something.

    Args:
        text: The text.
        source: Its source.
        time_limit_s: Of a long source, no more than can be judged in a part of it.

    Returns:
        What speaks against the text, of the part of the source for which that is least.
    """
    found = support(source.read, text)
    parts = [source.head] if source.head != source.read else []
    most = _MOST_JUDGED
    if time_limit_s is not None:
        most = min(most, int(_JUDGED_PER_S * time_limit_s))
    if not source.is_whole and len(source.given) <= most:
        parts.append(source.text)
    for part in parts:
        if found.supported:
            break
        found = min(found, support(part, text), key=lambda one: one.penalty)
    return found


def faithful_first(
    candidates: Sequence[Candidate], judge: Callable[[str], Support], deadline: Deadline
) -> list[Candidate]:
    """Put the first supported candidate before all others.

    Args:
        candidates: The candidates, the one to return first.
        judge: The verdict on one text.
        deadline: Once it is over, no more are looked at.

    Returns:
        The same candidates; if none is supported, the one that least speaks against comes first.
    """
    best, least = 0, float("inf")
    for place, candidate in enumerate(candidates):
        if place and deadline.is_over:
            deadline.stop()
            break
        found = judge(candidate.text)
        if found.supported:
            best = place
            break
        if found.penalty < least:
            best, least = place, found.penalty
    return [candidates[best], *candidates[:best], *candidates[best + 1 :]]
