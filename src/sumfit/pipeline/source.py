"""A user's text made ready for the model: normalised, in its profile, cut to what is read.

Owns what counts as an empty text, and where a long text is cut. Does not own normalisation or
profiles (`sumfit.text`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sumfit.errors import EmptyInputError
from sumfit.length.units import checked_text
from sumfit.text import Tokenizer, get_profile, normalize

__all__ = ["Source", "prepare"]

_CHARS_PER_PIECE = 8  # first guess of how much text fills the model; doubled until it does
_SENTENCE_END = re.compile(r"[.!?…؟।](?:[\"'”’»)\]]*)(?=\s)|[。！？]")
_LEAST_SHARE = 0.5  # a sentence end in the first half of what fits is too early a cut


@dataclass(frozen=True, slots=True)
class Source:
    """One text, ready.

    Attributes:
        text: The whole text, normalised and in its profile's form.
        ids: Vocabulary ids of the part that the model reads, at least one.
        read: That part.
        is_truncated: The model does not see the end of the text.
    """

    text: str
    ids: tuple[int, ...]
    read: str
    is_truncated: bool


def prepare(text: object, *, tokenizer: Tokenizer, profile: str, max_source: int) -> Source:
    """Normalise a text and cut it, at a sentence end where there is one, to what is read.

    Only about as much of a long text is encoded as the model reads, so 100,000 words cost little
    more than 500.

    Args:
        text: What the caller gave.
        tokenizer: The model's tokenizer.
        profile: Name of a text profile.
        max_source: Most pieces that the model reads.

    Returns:
        The text, ready.

    Raises:
        InputError: If it is not a string.
        EmptyInputError: If there is nothing in it but white space and control characters.
    """
    plain = str.__str__(checked_text(text))  # a subclass may count, join or strip in its own way
    whole = get_profile(profile).apply_source(normalize(plain))
    if not whole:
        raise EmptyInputError("the text is empty: nothing in it but white space; leave it out")
    n_chars = max_source * _CHARS_PER_PIECE
    while True:
        part = whole if n_chars >= len(whole) else _at_space(whole[:n_chars])
        ids = tokenizer.encode(part)
        if len(ids) > max_source:
            break
        if part == whole:
            return Source(text=whole, ids=tuple(ids), read=whole, is_truncated=False)
        n_chars *= 2
    read = _at_sentence_end(tokenizer.decode(ids[:max_source]))
    kept = tokenizer.encode(read)[:max_source] or ids[:max_source]
    return Source(text=whole, ids=tuple(kept), read=read, is_truncated=True)


def _at_space(text: str) -> str:
    head, space, _ = text.rpartition(" ")
    return head if space else text


def _at_sentence_end(text: str) -> str:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if ends and ends[-1] >= _LEAST_SHARE * len(text):
        return text[: ends[-1]]
    head, space, _ = text.rpartition(" ")
    return head if space and len(head) >= _LEAST_SHARE * len(text) else text
