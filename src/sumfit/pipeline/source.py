"""A user's text made ready for the model: cleaned, normalised, in its profile, cut to what is read.

Owns what counts as an empty text, and where a long text is cut. Does not own cleaning
(`sumfit.cleaning`), normalisation or profiles (`sumfit.text`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from sumfit.cleaning import Cleaned, check_cleanable
from sumfit.deadline import Check
from sumfit.errors import EmptyInputError
from sumfit.hypothesis import SourceSelection
from sumfit.length.units import Unit, checked_text
from sumfit.parts import is_long
from sumfit.text import Tokenizer, get_profile, normalize
from sumfit.text.language import language_of
from sumfit.text.passages import Passages, TextForm, select
from sumfit.text.points import Parts, parts_of

__all__ = ["MOST_HELD", "Cleaner", "Source", "prepare", "short_form", "with_first"]

MOST_HELD = 200_000
"""Characters at which a text is long: its head has all that matters by then."""

_KEPT_IN_COPIES = frozenset({"links", "emoji-codes"})
_CHARS_PER_PIECE = 8  # first guess of how much text fills the model; doubled until it does
_SENTENCE_END = re.compile(r"[.!?…؟।](?:[\"'”’»)\]]*)(?=\s)|[。！？]")
_AT_THE_CUT = 1000
_LEAST_SHARE = 0.5  # a sentence end in the first half of what fits is too early a cut
_MORE = 4  # times as much of a text is cleaned if too little was left of it
_PAGE = 10  # times as much of a page, whose tags are closed, and whose main part begins, far below


class Cleaner(Protocol):
    """Takes out of a text what is not content."""

    def __call__(self, text: str, /, *, check: Check | None = None) -> Cleaned:
        """Clean a text; ``check`` is called in between, to give up."""


@dataclass(frozen=True)
class Source:
    """One text, ready.

    Attributes:
        given: The whole text, as it was given.
        clean: What it is cleaned by.
        profile: Name of its profile.
        head: The whole text, cleaned, normalised and in its profile's form; of a long one so much
            of that from its beginning.
        is_whole: ``head`` is the whole text.
        ids: Vocabulary ids of the part that the model reads, at least one.
        read: That part.
        is_truncated: The model does not see all of the text.
        cleaned: What was taken out of the text or put right, see `sumfit.cleaning.Cleaned`.
        selected: How much of the text ``read`` is, where its sentences were chosen; ``None``
            where it is the beginning, or all.
        parts: Its sentences, while it is open which of them is read first; ``None`` otherwise.
        lengths: What was measured already, by unit and limit.
    """

    given: str
    clean: Cleaner = field(repr=False, compare=False)
    profile: str
    head: str
    is_whole: bool
    ids: tuple[int, ...]
    read: str
    is_truncated: bool
    cleaned: tuple[str, ...] = ()
    selected: SourceSelection | None = None
    parts: Parts | None = None
    lengths: dict[tuple[Unit, int], int] = field(default_factory=dict, repr=False, compare=False)

    _whole: list[str] = field(default_factory=list, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The whole text, normalised and in its profile's form; takes seconds for 10 MB."""
        return self.whole()

    def whole(self, check: Check | None = None) -> str:
        """The whole text in its form, made when it is first asked for.

        Without what cleaning takes out, but for links and emoji codes, if there is no more: the
        model should not read these, but a copy of the text keeps them.

        Args:
            check: Called between pieces of that work, to give up.

        Returns:
            The text.
        """
        if self.is_whole and not self.is_copied_as_given:
            return self.head
        if not self._whole:
            plain = self.given
            if self.cleaned and not self.is_copied_as_given:
                plain = self.clean(plain, check=check).text
            self._whole.append(get_profile(self.profile).apply_source(plain, check))
        return self._whole[0]

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
    clean: Cleaner | None = None,
    long: str = "lead",
    most_held: int = MOST_HELD,
    check: Check | None = None,
) -> Source:
    """Clean and normalise a text and cut it, at a sentence end if there is one, to what is read.

    Only about as much of a long text is encoded as the model reads, and only its head is cleaned
    and normalised, so 50 MB cost no more than 200,000 characters.

    Args:
        text: What the caller gave.
        tokenizer: The model's tokenizer.
        profile: Name of a text profile.
        max_source: Most pieces that the model reads.
        clean: Takes out what is not content; nothing if not given.
        long: What is read of a text that is too long: ``"lead"`` for its beginning, or
            ``"select"`` for the sentences that say most. Of a short text the one that says most is
            read first: if a label names it, or else by `with_first`.
        most_held: Characters of the head of a long text.
        check: Called between pieces of work, to give up.

    Returns:
        The text, ready.

    Raises:
        InputError: If it is not a string.
        InputTooLongError: If there is something to clean in too long a text.
        EmptyInputError: If there is nothing in it but white space and control characters.
    """
    given = str.__str__(checked_text(text))  # a subclass may count, join or strip in its own way
    clean = clean or _as_given
    form = get_profile(profile).apply_source
    cleaned, head, is_whole = _head(given, clean, form, most_held, check)
    ids = _encoded(head, tokenizer, max_source)
    if not is_whole and len(ids) <= max_source:
        cleaned = clean(given, check=check)
        head, is_whole = form(cleaned.text, check), True
        ids = _encoded(head, tokenizer, max_source)
    if check is not None and is_long(head):
        check()
    if not head:
        raise EmptyInputError("the text is empty: nothing in it but white space; leave it out")
    read, is_truncated = head, len(ids) > max_source
    chosen, parts = None, None
    if long == "select" and profile == "natural":
        if is_truncated:
            chosen = _selected(cleaned, tokenizer, max_source, most_held)
        elif (parts := parts_of(cleaned.text, short_form(cleaned))) is not None:
            chosen = _normalized(parts.read(parts.named or 0))
    if chosen is not None:
        read, ids = chosen.text, tokenizer.encode(chosen.text)[:max_source]
        is_truncated = is_truncated or chosen.n_sentences < chosen.of_sentences
    elif is_truncated:
        read = _at_sentence_end(tokenizer.decode(ids[:max_source]))
        ids = tokenizer.encode(read)[:max_source] or ids[:max_source]
    return Source(
        given,
        clean,
        profile,
        head,
        is_whole,
        tuple(ids),
        read,
        is_truncated,
        cleaned.removed,
        _counts(chosen, min(len(cleaned.text), most_held)),
        parts if parts is not None and parts.is_open else None,
    )


def with_first(source: Source, best: int, tokenizer: Tokenizer, max_source: int) -> Source:
    """Read the sentence of a text that says most before the others.

    Args:
        source: A text whose ``parts`` are open.
        best: The place of that sentence.
        tokenizer: The model's tokenizer.
        max_source: Most pieces that the model reads.

    Returns:
        The text, in that order.
    """
    parts = source.parts
    chosen = None if parts is None else _normalized(parts.read(best))
    if parts is None or chosen is None:
        return replace(source, parts=None)
    return replace(
        source,
        read=chosen.text,
        ids=tuple(tokenizer.encode(chosen.text)[:max_source]),
        is_truncated=source.is_truncated or chosen.n_sentences < chosen.of_sentences,
        selected=_counts(chosen, parts.n_chars),
        parts=None,
    )


def _as_given(text: str, /, *, check: Check | None = None) -> Cleaned:
    """Clean nothing."""
    del check
    return Cleaned(text)


def _selected(
    cleaned: Cleaned, tokenizer: Tokenizer, max_source: int, most_held: int
) -> Passages | None:
    """The sentences of a long text that say most, if any fits."""
    found = select(
        cleaned.text[:most_held],
        lambda sentence: len(_first_ids(sentence, tokenizer, max_source)),
        most=max_source,
        form=_text_form(cleaned),
    )
    return _normalized(found)


def _normalized(passages: Passages | None) -> Passages | None:
    if passages is None:
        return None
    text = normalize(passages.text)
    return replace(passages, text=text) if text else None


def _counts(passages: Passages | None, of_chars: int) -> SourceSelection | None:
    """How much of a text was chosen; ``None`` for all of it, though in another order."""
    if passages is None or passages.n_sentences == passages.of_sentences:
        return None
    return SourceSelection(
        passages.n_sentences, passages.of_sentences, len(passages.text), of_chars
    )


def short_form(cleaned: Cleaned) -> TextForm:
    """Tell what a text that fits is: talk, a thread (also one message, with a greeting), or other.

    Args:
        cleaned: The text.

    Returns:
        Its form.
    """
    form = _text_form(cleaned)
    return "thread" if form == "article" and "openers" in cleaned.removed else form


def _text_form(cleaned: Cleaned) -> TextForm:
    forms: dict[str, TextForm] = {"mail": "thread", "transcript": "talk"}
    return next((forms[name] for name in cleaned.removed if name in forms), "article")


def _head(
    given: str,
    clean: Cleaner,
    form: Callable[[str, Check | None], str],
    most_held: int,
    check: Check | None,
) -> tuple[Cleaned, str, bool]:
    """The first part of a text, cleaned; the same in its form; and whether that is all of it."""
    size = most_held
    while True:
        part = given[:size]
        cleaned = clean(part, check=check)
        check_cleanable(len(given), cleaned.removed)
        if "html" in cleaned.removed and size == most_held < len(given):
            size *= _PAGE
            continue
        if len(cleaned.text) > most_held or len(part) < len(given):
            # What comes after the cut may change the form of what stands before it, but not so far.
            head = _at_near_space(form(cleaned.text[:most_held], check)[:-_AT_THE_CUT])
            if len(head) > most_held // 2:  # else mostly markup, or nothing that is seen
                return cleaned, head, False
        if len(part) == len(given):
            return cleaned, form(cleaned.text, check), True
        size *= _MORE


def _encoded(text: str, tokenizer: Tokenizer, max_source: int) -> list[int]:
    """Ids of a text; of one that has more than ``max_source`` those of a part that has."""
    n_chars = max_source * _CHARS_PER_PIECE
    while n_chars < len(text):
        ids = tokenizer.encode(_at_space(text[:n_chars]))
        if len(ids) > max_source:
            return ids
        n_chars *= 2
    return _first_ids(text, tokenizer, max_source)


def _first_ids(text: str, tokenizer: Tokenizer, most: int) -> list[int]:
    """More than so many ids from a text's beginning, some thousand more at most; or all."""
    ids: list[int] = []
    for part in tokenizer.encode_parts(text):
        ids += part
        if len(ids) > most:
            break
    return ids


def _at_space(text: str) -> str:
    head, space, _ = text.rpartition(" ")
    return head if space else text


def _at_near_space(text: str) -> str:
    """A text to its last space, or all of it if that is far away: one word may be very long."""
    head = _at_space(text)
    return head if len(head) > len(text) // 2 else text


def _at_sentence_end(text: str) -> str:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if ends and ends[-1] >= _LEAST_SHARE * len(text):
        return text[: ends[-1]]
    head, space, _ = text.rpartition(" ")
    return head if space and len(head) >= _LEAST_SHARE * len(text) else text
