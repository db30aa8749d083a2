"""A user's text made ready for the model: cleaned, normalised, in its profile, cut to what is read.

Owns what counts as an empty text, and where a long text is cut. Does not own cleaning
(`sumfit.cleaning`), normalisation or profiles (`sumfit.text`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from sumfit.cleaning import Cleaned
from sumfit.errors import EmptyInputError
from sumfit.hypothesis import SourceSelection
from sumfit.length.units import Unit, checked_text
from sumfit.text import Tokenizer, get_profile, normalize
from sumfit.text.language import language_of
from sumfit.text.passages import TextForm, select

__all__ = ["Source", "prepare"]

_KEPT_IN_COPIES = frozenset({"links", "emoji-codes"})
_CHARS_PER_PIECE = 8  # first guess of how much text fills the model; doubled until it does
_SENTENCE_END = re.compile(r"[.!?…؟।](?:[\"'”’»)\]]*)(?=\s)|[。！？]")
_MOST_HELD = 200_000  # characters at which a text is long: its head has all that matters by then
_AT_THE_CUT = 1000
_LEAST_SHARE = 0.5  # a sentence end in the first half of what fits is too early a cut


@dataclass(frozen=True)
class Source:
    """One text, ready.

    Attributes:
        raw: The whole text, cleaned if that was asked; as it was given if only links and emoji
            codes were cleaned, which the model should not read but a copy of the text keeps.
        profile: Name of its profile.
        head: The whole text, normalised and in its profile's form; of one of more than 200,000
            characters so much of that from its beginning.
        is_whole: ``head`` is the whole text.
        ids: Vocabulary ids of the part that the model reads, at least one.
        read: That part.
        is_truncated: The model does not see all of the text.
        cleaned: What was taken out of the text or put right, see `sumfit.cleaning.Cleaned`.
        selected: How much of the text ``read`` is, where its sentences were chosen; ``None``
            where it is the beginning, or all.
        lengths: What was measured already, by unit and limit.
    """

    raw: str
    profile: str
    head: str
    is_whole: bool
    ids: tuple[int, ...]
    read: str
    is_truncated: bool
    cleaned: tuple[str, ...] = ()
    selected: SourceSelection | None = None
    lengths: dict[tuple[Unit, int], int] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def text(self) -> str:
        """The whole text, normalised and in its profile's form; takes a second for 10 MB."""
        if self.is_whole and not self.is_copied_as_given:
            return self.head
        return get_profile(self.profile).apply_source(self.raw)

    @cached_property
    def language(self) -> str | None:
        """Language of the text, if it can be told; of Gigaword form it is not asked."""
        return language_of(self.head) if self.profile == "natural" else None

    @property
    def is_copied_as_given(self) -> bool:
        """Whether the text, if it fits, is returned with what cleaning took out."""
        return bool(self.cleaned) and _KEPT_IN_COPIES.issuperset(self.cleaned)


def prepare(
    text: object,
    *,
    tokenizer: Tokenizer,
    profile: str,
    max_source: int,
    clean: Callable[[str], Cleaned] = Cleaned,
    long: str = "lead",
) -> Source:
    """Clean and normalise a text and cut it, at a sentence end if there is one, to what is read.

    Only about as much of a long text is encoded as the model reads, and only its head is
    normalised, so 50 MB cost no more than 200,000 characters.

    Args:
        text: What the caller gave.
        tokenizer: The model's tokenizer.
        profile: Name of a text profile.
        max_source: Most pieces that the model reads.
        clean: Takes out what is not content; nothing if not given.
        long: What is read of a text that is too long: ``"lead"`` for its beginning, or
            ``"select"`` for the sentences that say most.

    Returns:
        The text, ready.

    Raises:
        InputError: If it is not a string.
        EmptyInputError: If there is nothing in it but white space and control characters.
    """
    given = str.__str__(checked_text(text))  # a subclass may count, join or strip in its own way
    cleaned = clean(given)
    plain = cleaned.text
    form = get_profile(profile).apply_source
    head, is_whole = _head(plain, form)
    ids = _encoded(head, tokenizer, max_source)
    if not is_whole and len(ids) <= max_source:
        head, is_whole = form(plain), True
        ids = _encoded(head, tokenizer, max_source)
    if not head:
        raise EmptyInputError("the text is empty: nothing in it but white space; leave it out")
    read, is_truncated = head, len(ids) > max_source
    selected = None
    if is_truncated and long == "select" and profile == "natural":
        found, selected = _selected(cleaned, tokenizer, max_source)
    if selected is not None:
        read, ids = found, tokenizer.encode(found)[:max_source]
    elif is_truncated:
        read = _at_sentence_end(tokenizer.decode(ids[:max_source]))
        ids = tokenizer.encode(read)[:max_source] or ids[:max_source]
    source = Source(
        plain, profile, head, is_whole, tuple(ids), read, is_truncated, cleaned.removed, selected
    )
    return replace(source, raw=given) if source.is_copied_as_given else source


def _selected(
    cleaned: Cleaned, tokenizer: Tokenizer, max_source: int
) -> tuple[str, SourceSelection | None]:
    """The sentences of a long text that say most, and how much of it they are, if any fits."""
    text = cleaned.text[:_MOST_HELD]
    forms: dict[str, TextForm] = {"mail": "thread", "transcript": "talk"}
    form: TextForm = next((forms[name] for name in cleaned.removed if name in forms), "article")
    found = select(
        text, lambda sentence: len(tokenizer.encode(sentence)), most=max_source, form=form
    )
    read = normalize(found.text)
    if not read:
        return "", None
    selection = SourceSelection(
        n_sentences=found.n_sentences,
        of_sentences=found.of_sentences,
        n_chars=len(read),
        of_chars=len(text),
    )
    return read, selection


def _head(plain: str, form: Callable[[str], str]) -> tuple[str, bool]:
    """The first part of a long text in its profile's form, and whether that is all of it."""
    if len(plain) > _MOST_HELD:
        # What comes after the cut may change the form of what stands before it, but not so far.
        head = _at_space(form(plain[:_MOST_HELD])[:-_AT_THE_CUT])
        if len(head) > _MOST_HELD // 2:  # else mostly white space, or nothing that is seen
            return head, False
    return form(plain), True


def _encoded(text: str, tokenizer: Tokenizer, max_source: int) -> list[int]:
    """Ids of a text; of one that has more than ``max_source`` those of a part that has."""
    n_chars = max_source * _CHARS_PER_PIECE
    while n_chars < len(text):
        ids = tokenizer.encode(_at_space(text[:n_chars]))
        if len(ids) > max_source:
            return ids
        n_chars *= 2
    return tokenizer.encode(text)


def _at_space(text: str) -> str:
    head, space, _ = text.rpartition(" ")
    return head if space else text


def _at_sentence_end(text: str) -> str:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if ends and ends[-1] >= _LEAST_SHARE * len(text):
        return text[: ends[-1]]
    head, space, _ = text.rpartition(" ")
    return head if space and len(head) >= _LEAST_SHARE * len(text) else text
