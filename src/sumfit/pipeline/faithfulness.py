"""An optional filter over candidates: what they name and number must be in the source.

Owns the verdict on one text and the choice among several. The search itself can be held to much the
same (`source_numbers_only`, `source_names_only`), which finds the best output of the model that is
faithful; this filter only looks through the candidates that there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sumfit.deadline import Deadline
from sumfit.hypothesis import Candidate

__all__ = ["faithful_first", "is_faithful"]

_MASKED_NUMBER = re.compile(r"#(?:[#.,]*#)?")  # Gigaword form has # for every digit


def is_faithful(text: str, source: str) -> bool:
    """Say whether a text has no number and no capitalised name that its source lacks.

    Args:
        text: The text.
        source: The source. What is faithful to a part of it is so to the whole.

    Returns:
        The verdict.
    """
    # Only here: a summarizer that is not asked for this does not load the scorers.
    from sumfit.evaluation.fidelity import unsupported_names, unsupported_numbers

    known = set(_MASKED_NUMBER.findall(source))
    return (
        known.issuperset(_MASKED_NUMBER.findall(text))
        and not unsupported_numbers(text, source)
        and not unsupported_names(text, source)
    )


def faithful_first(
    candidates: Sequence[Candidate], is_faithful: Callable[[str], bool], deadline: Deadline
) -> list[Candidate]:
    """Put the first faithful candidate before all others.

    Args:
        candidates: The candidates, the one to return first.
        is_faithful: The verdict on one text.
        deadline: Once it is over, no more are looked at.

    Returns:
        The same candidates; in their own order if none is faithful.
    """
    for place, candidate in enumerate(candidates):
        if place and deadline.is_over:
            deadline.stop()
            break
        if is_faithful(candidate.text):
            return [candidate, *candidates[:place], *candidates[place + 1 :]]
    return list(candidates)
