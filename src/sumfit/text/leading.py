"""What the readers of short texts share: sentences put before the others, and no more than needed.

Owns `Found` and how much is read behind what a text comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Found", "capital", "ended", "first", "is_plain"]

_PLAIN = 6  # words
_SHARE = 0.5  # of the words of a text that are read at least


@dataclass(frozen=True, slots=True)
class Found:
    """What of a text is read first, and what besides.

    Attributes:
        lead: What is read in any case, in order.
        main: What of it a summary should draw on; empty where that is open.
        rest: What may be read behind it, in order.
        share: How much of the words of the text is read at least, if there is so much.
    """

    lead: Sequence[str]
    main: str = ""
    rest: Sequence[str] = ()
    share: float = _SHARE

    def filled(self, n_words: int, least: int) -> list[str]:
        """Put so much of the rest behind the lead as has to be read.

        Args:
            n_words: Words of the text.
            least: Words that are read at least, if there are so many.

        Returns:
            The sentences to read.
        """
        read = list(self.lead)
        n_read = sum(len(one.split()) for one in read)
        for one in self.rest:
            if n_read >= max(self.share * n_words, least):
                break
            read.append(one)
            n_read += len(one.split())
        return read


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


def is_plain(sentence: str) -> bool:
    """Tell whether a sentence says enough to be read alone.

    Args:
        sentence: The sentence.

    Returns:
        Whether it has so many words; two sentences that say different things are joined into a
        false line by a small model.
    """
    return len(sentence.split()) >= _PLAIN


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
