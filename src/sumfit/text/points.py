"""A short text in sentences, one of which may be read before the others.

Owns `Parts`, and what of a short text is not read: section labels that fit any text, a title
said again. A small model makes its summary of where a text begins, which in a chat, a mail or
minutes is a greeting, a question or how it came about. A sentence that a label names as the point
is read first; which one else says most is the matter of `sumfit.text.salience`, the fields of a
ticket that of `sumfit.text.tickets`, long texts that of `sumfit.text.passages`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sumfit.text.passages import Passages, TextForm, sentences_of
from sumfit.text.tickets import without_fields

__all__ = ["Parts", "parted", "parts_of"]

_VERSION = re.compile(
    r"(?:version |release |(?-i:[A-Z])[\w-]{1,20} )?\[?v?\d+(?:\.\d+)+\]?"
    r"(?: ?[-–(] ?[^()]{4,20}\)?)?[.:]?",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"(?:(?:what['’]?s )?new(?: features)?|features|highlights|description|summary|overview|"
    r"introduction|background|details|notes?|general|other|misc(?:ellaneous)?|type of change|"
    r"describe (?:the|any) [^.?:]{3,60}|is your \w+ request [^.?:]{3,60}|what happened|"
    r"(?:steps )?to reproduce|steps|environment|"
    r"(?:expected|actual) (?:behaviou?r|results?)|additional (?:context|information)|bug report|"
    r"added|changed|history|see also|references|external links|install(?:ation)?|usage|"
    r"getting started|"
    r"changelog|release notes|how (?:has|was) (?:this|it) (?:been )?tested|test(?:ing|s)|checklist|"
    r"what does this (?:pr|change) do|why|motivation|related issues)[.:?]",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?:(?:steps )?to reproduce|steps|environment|additional|see also|references|external links|"
    r"install|usage|getting|how (?:has|was)|checklist|type of change|related|test|why|motivation)",
    re.IGNORECASE,
)
_POINT = re.compile(
    r"^(?:(?:key |main |final )?(?:decisions?|conclusions?|outcome|verdict|agreed|resolved|"
    r"interpretation)|in conclusion|bottom line|tl;?dr)[ \t]*(?::|[-–—](?=\s))[ \t]*(?=\S)",
    re.IGNORECASE,
)
_LOWER_START = re.compile(r"(?<=[a-z]{3}[.!?])\s+(?=[a-z])")
_CONTENT = re.compile(r"\w{4,}|\d+")
_STEM = 5  # letters that tell a word
_LONGEST_HEADING = 8  # words
_MOST_SENTENCES = 40
_FEWEST_RANKED = 3


@dataclass(frozen=True, slots=True)
class Parts:
    """A short text in sentences, of which one is to be read first.

    Attributes:
        sentences: Those that are read, in the order of the text.
        n_given: Sentences of the text, those that are not read among them.
        n_chars: Characters of the text.
        named: Place of the one that a label names as the point; ``None`` if none does.
        is_changed: They are not the text itself: fields, labels or a title are left out.
        form: Talk, a thread, or anything else.
    """

    sentences: tuple[str, ...]
    n_given: int
    n_chars: int
    named: int | None
    is_changed: bool
    form: TextForm

    @property
    def is_open(self) -> bool:
        """Whether it is left to the model which sentence says most."""
        return self.named is None and len(self.sentences) >= _FEWEST_RANKED

    def read(self, best: int) -> Passages | None:
        """Put a sentence before the others; without its label, if one names it as the point.

        Args:
            best: Its place.

        Returns:
            The sentences to read; ``None`` where the text should be read as it is.
        """
        if not (best or self.is_changed):
            return None
        kept = self.sentences
        main = _POINT.sub("", kept[best])
        above = kept[_VERSION.fullmatch(kept[0]) is not None : best]  # no heading in the middle
        read = [main[:1].upper() + main[1:], *above, *kept[best + 1 :]]
        return Passages(" ".join(map(_ended, read)), len(read), self.n_given)


def parts_of(text: str, form: TextForm = "article") -> Parts | None:
    """Part a short text into the sentences that are read of it.

    Args:
        text: The text, cleaned, with its line breaks; each turn of talk is a line.
        form: Talk, a thread, or anything else.

    Returns:
        The sentences; ``None`` where the text should be read as it is.
    """
    said, is_ticket = without_fields(text)
    given = parted(said, form)
    if not (1 - is_ticket) < len(given) <= _MOST_SENTENCES:
        return None
    kept = given if form == "talk" else _without_labels(given, said)
    named = next((place for place, one in enumerate(kept) if _POINT.match(one)), None)
    is_changed = is_ticket or len(kept) < len(given)
    return Parts(tuple(kept), len(given), len(text), named, is_changed, form)


def parted(text: str, form: TextForm = "article") -> list[str]:
    """Part a short text into sentences; those of talk may begin with a small letter.

    Args:
        text: The text, cleaned, with its line breaks; each turn of talk is a line.
        form: Talk, a thread, or anything else.

    Returns:
        The sentences, in order.
    """
    if form != "talk":
        return sentences_of(text)
    return [
        part
        for turn in text.split("\n")
        for one in sentences_of(turn)
        for part in _LOWER_START.split(one)
    ]


def _without_labels(sentences: list[str], text: str) -> list[str]:
    """Sentences without section labels that fit any text, and without a title said again.

    Nor is read how to repeat a fault, or where it was seen.
    """
    kept: list[str] = []
    is_aside = False
    for one in sentences:
        if _SECTION.fullmatch(one):
            is_aside = _ASIDE.match(one) is not None
        elif not is_aside:
            kept.append(one)
    if len(kept) < len(sentences) and len(kept) > 1 and _VERSION.fullmatch(kept[0]):
        kept = kept[1:]
    if len(kept) > 1 and text.startswith(kept[0] + "\n") and _is_said_again(kept[0], kept[1]):
        kept = kept[1:]
    return kept or sentences


def _is_said_again(title: str, sentence: str) -> bool:
    words = [word[:_STEM] for word in _CONTENT.findall(title.lower())]
    again = {word[:_STEM] for word in _CONTENT.findall(sentence.lower())}
    if sentence.startswith(title.rstrip(".:") + " "):
        return True
    return _is_heading(title) and len(words) > 1 and again.issuperset(words)


def _is_heading(sentence: str) -> bool:
    return len(sentence.split()) <= _LONGEST_HEADING


def _ended(sentence: str) -> str:
    """A sentence with a full stop unless it ends with a mark."""
    return sentence if sentence[-1:] in '.!?…"”’)' else sentence + "."
