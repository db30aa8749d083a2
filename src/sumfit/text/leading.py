"""What the readers of short texts share: sentences put before the others, and no more than needed.

Owns `Found` and how much is read behind what a text comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Found", "capital", "ended", "filled", "first"]

_SHARE = 0.5  # of the words of a text that are read at least


@dataclass(frozen=True, slots=True)
class Found:
    """Sentences to read, and what of them a summary should draw on.

    Attributes:
        sentences: What is read, in order.
        main: What a summary should draw on; empty where that is open.
    """

    sentences: list[str]
    main: str = ""


def filled(
    lead: Sequence[str], rest: Sequence[str], sentences: Sequence[str], share: float = _SHARE
) -> list[str]:
    """Add to the first sentences so many of the rest that a share of all words is there.

    Args:
        lead: What is read in any case.
        rest: What may be read besides, in order.
        sentences: All sentences of the text.
        share: How much of their words is read at least.

    Returns:
        The sentences.
    """
    found = list(lead)
    least = share * sum(len(one.split()) for one in sentences)
    n_words = sum(len(one.split()) for one in found)
    for one in rest:
        if n_words >= least:
            break
        found.append(one)
        n_words += len(one.split())
    return found


def first(
    sentences: Sequence[str], holds: Callable[[str], object], *, last: bool = False
) -> int | None:
    """Find the first sentence of which something holds, or the last.

    Args:
        sentences: The sentences.
        holds: What should hold.
        last: Look for the last one.

    Returns:
        Its place; ``None`` if there is none.
    """
    places = range(len(sentences))
    order = reversed(places) if last else places
    return next((place for place in order if holds(sentences[place])), None)


def capital(text: str) -> str:
    """Begin a text with a capital.

    Args:
        text: Any text.

    Returns:
        The text.
    """
    return text[:1].upper() + text[1:]


def ended(sentence: str) -> str:
    """End a sentence with a full stop unless it ends with a mark.

    Args:
        sentence: Any sentence.

    Returns:
        The sentence.
    """
    return sentence if sentence[-1:] in '.!?…"”’)' else sentence + "."
