"""All kinds of cleaning in one list, and the one function that applies them.

Owns `clean`, `Cleaned` and the order of the kinds. Does not own any kind.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from sumfit.cleaning.boilerplate import clean_boilerplate
from sumfit.cleaning.capitals import clean_capitals
from sumfit.cleaning.diff import clean_diff
from sumfit.cleaning.emoji import clean_emoji
from sumfit.cleaning.front_matter import clean_front_matter
from sumfit.cleaning.html import clean_entities, clean_html, clean_page
from sumfit.cleaning.hyphens import clean_hyphens
from sumfit.cleaning.latex import clean_latex
from sumfit.cleaning.links import clean_links
from sumfit.cleaning.lists import clean_lists
from sumfit.cleaning.mail import clean_mail
from sumfit.cleaning.markdown import clean_markdown
from sumfit.cleaning.openers import clean_openers
from sumfit.cleaning.paragraphs import clean_paragraphs
from sumfit.cleaning.shortcodes import clean_shortcodes
from sumfit.cleaning.trace import clean_trace
from sumfit.cleaning.transcript import clean_transcript
from sumfit.cleaning.wiki import clean_wiki
from sumfit.deadline import Check
from sumfit.errors import ConfigError, InputTooLongError, given
from sumfit.parts import is_long

__all__ = ["INPUT_KINDS", "MOST_CLEANED", "Cleaned", "check_cleanable", "check_kind", "clean"]

MOST_CLEANED = 10_000_000
"""Most characters of a text that has something to clean."""


class _Step(Protocol):
    def __call__(self, text: str, *, sure: bool = False) -> str: ...


_STEPS: tuple[tuple[str, _Step], ...] = (
    ("front-matter", clean_front_matter),
    ("hyphens", clean_hyphens),  # while lines are as they were
    ("mail", clean_mail),
    ("diff", clean_diff),
    ("trace", clean_trace),
    ("html", clean_page),
    ("latex", clean_latex),
    ("wiki", clean_wiki),
    ("shortcodes", clean_shortcodes),
    ("transcript", clean_transcript),
    ("markdown", clean_markdown),
    ("html", clean_html),  # after code in Markdown is gone
    ("entities", clean_entities),
    ("lists", clean_lists),
    ("boilerplate", clean_boilerplate),
    ("openers", clean_openers),
    ("links", clean_links),
    ("emoji-codes", clean_emoji),
    ("capitals", clean_capitals),
    ("paragraphs", clean_paragraphs),
)
_FORMS = ("html", "markdown", "wiki", "mail", "transcript", "diff", "trace")
INPUT_KINDS = ("auto", "plain", *_FORMS)
"""What a text can be said to be."""

_clock = time.perf_counter
_MOST_PROBED = 200_000  # characters in which something to clean must show


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text without what is not content.

    Attributes:
        text: The text; the very same string if there was nothing to clean.
        kind: What it was: ``"plain"``, or the first of ``"mail"``, ``"diff"``, ``"trace"``,
            ``"html"``, ``"wiki"``, ``"transcript"``, ``"markdown"`` that was found.
        removed: What was taken out or put right, in this order: ``"front-matter"``,
            ``"hyphens"`` (words parted at line ends), ``"mail"`` (headers, quoted mail,
            signatures), ``"diff"``, ``"trace"``, ``"html"``, ``"latex"``, ``"wiki"``,
            ``"shortcodes"`` (BBCode too), ``"transcript"`` (time stamps, speakers, "um"),
            ``"markdown"``, ``"entities"``, ``"lists"``, ``"boilerplate"``,
            ``"openers"`` (greetings, headings such as "Update"), ``"links"``,
            ``"emoji-codes"``, ``"capitals"``, ``"paragraphs"`` (that ended without a mark).
    """

    text: str
    kind: str = "plain"
    removed: tuple[str, ...] = ()


def check_kind(kind: object) -> None:
    """Raise unless a kind of text exists.

    Args:
        kind: What the caller gave.

    Raises:
        ConfigError: If it is none of `INPUT_KINDS`.
    """
    if kind not in INPUT_KINDS:
        known = ", ".join(repr(name) for name in INPUT_KINDS)
        raise ConfigError.of("input_kind", kind, f"must be one of {known}")


def clean(
    text: str,
    kind: str = "auto",
    *,
    known: Callable[[str], bool] | None = None,
    frequent: Callable[[str], bool] | None = None,
    check: Check | None = None,
) -> Cleaned:
    """Take out of a text what is not content: marks, tags, headers, quoted mail, time stamps.

    Plain prose comes back as it is, byte for byte. Linear in the length of the text. Of a text
    above 200,000 characters only its first 200,000 decide what there is to clean.

    Args:
        text: Any text.
        kind: ``"auto"`` to tell by the text itself; ``"html"``, ``"markdown"``, ``"wiki"``,
            ``"mail"``, ``"transcript"``, ``"diff"`` or ``"trace"`` where the caller knows;
            ``"plain"`` for none of these, so that only links, capitals, character references
            and lines around the text are looked at.
        known: Whether a word in small letters is a known one, to tell names in text that has
            capitals everywhere, and words that were parted at line ends; without it only listed
            names are told, and no words joined.
        frequent: Whether a word in small letters is a frequent one, to tell more of the words that
            were parted.
        check: Called between kinds of cleaning of a long text, to give up.

    Returns:
        The text and what was done to it.

    Raises:
        ConfigError: If there is no such kind.
        InputTooLongError: If there is something to clean in more than 10,000,000 characters.
    """
    check_kind(kind)
    steps = [
        (name, partial(step, sure=name == kind))
        for name, step in _STEPS
        if name not in _FORMS or kind in ("auto", name)
    ]
    words: dict[str, dict[str, Any]] = {
        "hyphens": {"known": known, "frequent": frequent},
        "capitals": {"known": known},
    }
    steps = [(name, partial(step, **words.get(name, {}))) for name, step in steps]
    expected: Sequence[float] = ()
    if len(text) > _MOST_PROBED:
        _, wanted, seconds = _applied(text[:_MOST_PROBED], steps, check)
        check_cleanable(len(text), wanted)
        times = len(text) / _MOST_PROBED
        expected = [
            times * one for (name, _), one in zip(steps, seconds, strict=True) if name in wanted
        ]
        steps = [(name, step) for name, step in steps if name in wanted]
    found, removed, _ = _applied(text, steps, check, expected)
    form = next((name for name in removed if name in _FORMS), "plain")
    return Cleaned(found, form if kind in ("auto", "plain") else kind, removed)


def check_cleanable(n_chars: int, removed: Sequence[str]) -> None:
    """Raise for a text that is too long to be cleaned.

    Args:
        n_chars: Characters of the text.
        removed: What there is to clean in it.

    Raises:
        InputTooLongError: If there is something in more than 10,000,000 characters.
    """
    if removed and n_chars > MOST_CLEANED:
        raise InputTooLongError(
            f"the text has {n_chars} characters and {', '.join(removed)} in it; at most "
            f"{MOST_CLEANED} characters are cleaned: cut it, or use ",
            given("clean", False),
        )


def _applied(
    text: str,
    steps: Sequence[tuple[str, partial[str]]],
    check: Check | None,
    expected: Sequence[float] = (),
) -> tuple[str, tuple[str, ...], list[float]]:
    """The text, the names of the steps that changed it, and the seconds of each step.

    ``expected`` are seconds that the steps should take, where that is known.
    """
    given, seconds = text, []
    text = text.replace("\r\n", "\n")
    removed: dict[str, None] = {}
    for (name, step), needs_s in zip(steps, expected or [0.0] * len(steps), strict=True):
        if check is not None and is_long(text):
            check(needs_s)
        begun = _clock()
        found = step(text)
        seconds.append(_clock() - begun)
        if found != text:
            removed[name] = None
            text = found
    return (text, tuple(removed), seconds) if removed else (given, (), seconds)
