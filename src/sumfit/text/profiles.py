"""Text profiles: the written form that a model was trained on.

Owns `get_profile`. ``natural`` is text as people write it. ``gigaword`` is the form of the
Gigaword headline corpus: lower case, Penn Treebank tokens with spaces between them, every digit
a ``#``. What a model of that profile returns stays in that form: nothing puts the capitals and
numbers back.
"""

from __future__ import annotations

import re
from typing import Protocol

from sumfit.deadline import Check
from sumfit.errors import ConfigError
from sumfit.parts import is_long
from sumfit.spelling import did_you_mean
from sumfit.text.normalise import normalize

__all__ = ["PROFILES", "GigawordProfile", "NaturalProfile", "Profile", "get_profile"]


class Profile(Protocol):
    """How raw text becomes the text that a model reads and writes."""

    name: str

    def apply_source(self, text: str, check: Check | None = None) -> str:
        """A text to be summarised, in the profile's form; ``check`` is called in between."""
        ...

    def apply_summary(self, text: str) -> str:
        """A summary to be learned from, in the profile's form."""
        ...


class NaturalProfile:
    """Text as people write it: normalised, nothing else.

    Attributes:
        name: ``"natural"``.
    """

    name = "natural"

    def apply_source(self, text: str, check: Check | None = None) -> str:
        """Normalise a source.

        Args:
            text: Any text.
            check: Called between the parts of a long text, to give up.

        Returns:
            The text, normalised.
        """
        return normalize(text, check)

    def apply_summary(self, text: str) -> str:
        """Normalise a summary.

        Args:
            text: Any text.

        Returns:
            The text, normalised.
        """
        return normalize(text)


_BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
# Full stops that belong to the word before them.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'`-])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|[Nn]o|[MDS]rs?|[Mm]s|[Ss]t|[Vv]s|[Jj]r"
    r"|[Cc]orp|[Ii]nc|[Ll]td|[Cc]o|[Bb]ros|[Pp]rof|[Rr]ev|[Hh]on|[Ss]en|[Rr]ep|[Gg]ov|[Gg]en|[Ll]t"
    r"|[Cc]ol|[Ss]gt|[Cc]apt|[Aa]dm|[Mm]aj|[Ee]tc|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$"
)
# One way to read each mark, and few of them: two ways, or any number, would take forever.
_CLOSERS = r"(?:\s*(?:['’)\]}]|-rrb-)){0,30}"
_STOP = re.compile(
    rf"(?<=[^\s.])\.(?={_CLOSERS}\s*$|{_CLOSERS}\s+[`('‘\s]{{0,30}}[A-Z])",
)
_Rules = tuple[tuple[re.Pattern[str], str], ...]


def _compiled(*rules: tuple[str, str]) -> _Rules:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in rules)


_QUOTES = _compiled(
    (r"“|«|(?:(?<=^)|(?<=[\s(\[{—-]))\"", " `` "),
    (r"”|»|\"", " '' "),
    (r"(?:(?<=^)|(?<=[\s(\[{—]))‘", " ` "),
    (r"[‘’]", "'"),
)
_TOKENS = _compiled(
    (r"(?<=[\d#])–(?=[\d#])", "-"),
    (r"\s*[—–]\s*|(?<!-)--(?!-)", " -- "),
    (r"\.{3,}|…", " ... "),
    (r"&(?!amp;)", "&amp;"),
    (r"(?<!\\)/", r"\\/"),
    (r"(?<!&amp);", " ; "),
    (r"([!?])", r" \1 "),
    (r"[,:](?![\d#])|(?<![\d#])[,:]", r" \g<0> "),
    (r"([$€£¥%])", r" \1 "),
    (r"(?i)\b(can)(not)\b", r"\1 \2"),
    (r"(?i)(?<=\w)(n't)(?!\w)", r" \1"),
    (r"(?i)(?<=\w)('(?:s|m|d|re|ve|ll))(?!\w)", r" \1"),
    (r"(?<=\w)'(?![\w'])", " '"),
    (r"(?i)(?:(?<=^)|(?<=\s))'(?=\w)(?!(?:s|m|d|t|re|ve|ll|em|tis|twas|n)\b)", "` "),
    (r"\d", "#"),
    (r"(?:(?<=^)|(?<=\s))UNK(?=\s|$)", "<unk>"),
)
_UNKNOWN = re.compile(r"(?:(?<=^)|(?<= ))<unk>(?= |$)")


class GigawordProfile:
    r"""The form of the Gigaword headline corpus; text already in it stays as it is.

    Lower case; each digit ``#``; punctuation between spaces; ``(`` as ``-lrb-``; quotation marks
    as ```` `` ```` and ``''``; ``'s``, ``n't`` and ``can not`` split; ``/`` as ``\\/`` and ``&``
    as ``&amp;``, as the corpus has them. Accents stay. A full stop is split off at the end of a
    sentence, not after an abbreviation.

    Attributes:
        name: ``"gigaword"``.
    """

    name = "gigaword"

    def apply_source(self, text: str, check: Check | None = None) -> str:
        """Bring a source into the corpus's form.

        The corpus's ``<unk>`` stays: it marks where a rare word stood. Its test part writes ``UNK``
        for that, which becomes the same mark.

        Args:
            text: Natural text, or text already in this form.
            check: Called between the rules for a long text, to give up.

        Returns:
            Lower-case tokens with single spaces between them.
        """
        check = check if check is not None and is_long(text) else _go_on
        text = _substitute(normalize(text, check), _QUOTES, check)
        text = _split_stops(text)
        text = _substitute(text, _TOKENS, check)
        for bracket, token in _BRACKETS.items():
            text = text.replace(bracket, f" {token} ")
        return normalize(text.lower(), check)

    def apply_summary(self, text: str) -> str:
        """Bring a summary into the corpus's form, without its ``<unk>``.

        A model that learns from summaries with ``<unk>`` writes it. Leaving the token out costs
        one word of the reference; references that are scored against keep it.

        Args:
            text: Natural text, or text already in this form.

        Returns:
            Lower-case tokens with single spaces between them.
        """
        return " ".join(_UNKNOWN.sub("", self.apply_source(text)).split())


def _go_on(needs_s: float = 0.0, /) -> None:
    """Give nothing up."""


def _substitute(text: str, rules: _Rules, check: Check) -> str:
    for pattern, replacement in rules:
        check()
        text = pattern.sub(replacement, text)
    return text


def _split_stops(text: str) -> str:
    """Split full stops off the words before them, except those of abbreviations."""
    end = len(text.rstrip("\"'”’)]} "))

    def split(stop: re.Match[str]) -> str:
        is_last = stop.end() >= end
        before = text[max(0, stop.start() - 12) : stop.start()]
        return "." if not is_last and _ABBREVIATION.search(before) else " . "

    return _STOP.sub(split, text)


PROFILES: dict[str, Profile] = {
    profile.name: profile for profile in (NaturalProfile(), GigawordProfile())
}


def get_profile(name: str) -> Profile:
    """The profile of a name.

    Args:
        name: ``"natural"`` or ``"gigaword"``.

    Returns:
        The profile.

    Raises:
        ConfigError: If there is no such profile.
    """
    try:
        return PROFILES[name]
    except (KeyError, TypeError):
        raise ConfigError(
            f"profile {name!r} is not known; use one of {', '.join(PROFILES)}"
            f"{did_you_mean(name, PROFILES)}"
        ) from None
