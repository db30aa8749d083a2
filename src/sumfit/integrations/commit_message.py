"""The message of a commit: its subject, whether that fits, and what to propose instead.

Owns what counts as a subject and which subjects are left alone. Does not own git: the texts come
in without git's comments (`sumfit.integrations.git`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sumfit.errors import BudgetError
from sumfit.length import PRESETS, measure
from sumfit.length.request import MAX_LIMIT
from sumfit.length.units.chars import UNIT as CHARS

__all__ = [
    "LONGEST_SUBJECT",
    "CommitMessage",
    "check_limit",
    "over_limit",
    "parse_message",
    "subject_options",
]

LONGEST_SUBJECT = 72
"""Characters of a first line above which hosting sites cut it: such a line is a paragraph."""

_MADE_BY_GIT = re.compile(
    r"(?:fixup|squash|amend)! |Revert \"|"
    r"Merge (?:(?:remote-tracking )?branch(?:es)?|tags?|commits?|pull request) "
)
_SIGNED = re.compile(r"(?:[A-Z][a-z]+(?:-[a-z]+)*-by|Change-Id): \S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A message, parted as git parts it.

    Attributes:
        subject: Lines of the first paragraph, joined by spaces; empty if there is no message.
            Signatures, as of ``git commit --signoff``, belong to no part.
        body: All that follows.
        n_subject_lines: Lines of the first paragraph.
    """

    subject: str
    body: str
    n_subject_lines: int

    @property
    def length(self) -> int:
        """Length of the subject in characters."""
        return measure(self.subject, CHARS)

    @property
    def has_subject(self) -> bool:
        """Whether the first paragraph was meant as a subject: one line of at most 72 characters."""
        return self.n_subject_lines == 1 and self.length <= LONGEST_SUBJECT

    @property
    def is_made_by_git(self) -> bool:
        """Whether git wrote the subject: a merge, a revert, or a note for a rebase."""
        return _MADE_BY_GIT.match(self.subject) is not None

    @property
    def text(self) -> str:
        """What there is to summarise."""
        return f"{self.subject}\n\n{self.body}".strip()


def parse_message(text: str) -> CommitMessage:
    """Part a message into subject and body.

    Args:
        text: The message without git's comments.

    Returns:
        The parts.
    """
    lines = [line.rstrip() for line in text.strip().split("\n")]
    lines = [line for line in lines if not _SIGNED.match(line)] or [""]
    while len(lines) > 1 and not lines[0]:
        del lines[0]
    end = lines.index("") if "" in lines else len(lines)
    subject = " ".join(line.strip() for line in lines[:end])
    n_lines = end if subject else 0
    return CommitMessage(subject, "\n".join(lines[end:]).strip(), n_lines)


def check_limit(max_chars: object) -> int:
    """Refuse a limit that no subject can have.

    Args:
        max_chars: What the caller gave.

    Returns:
        The limit.

    Raises:
        BudgetError: If it is no whole number from 1 up.
    """
    if (
        isinstance(max_chars, bool)
        or not isinstance(max_chars, int)
        or not 1 <= max_chars <= MAX_LIMIT
    ):
        rule = f"must be a whole number from 1 to {MAX_LIMIT}"
        raise BudgetError.of("max_chars", max_chars, rule, "subjects have 50 or 72")
    return max_chars


def over_limit(message: CommitMessage, max_chars: int) -> str:
    """Say that a subject is too long.

    Args:
        message: The message.
        max_chars: The limit.

    Returns:
        A sentence.
    """
    return f"the subject has {message.length} characters, at most {max_chars} were asked for."


def subject_options(max_chars: int) -> dict[str, Any]:
    """Options of a summarizer for the subject of a commit.

    Args:
        max_chars: Most characters of the subject.

    Returns:
        Keyword arguments: the preset of that limit where there is one.
    """
    for name in ("git-subject", "git-subject-hard"):
        if PRESETS[name].limit == max_chars:
            return {"preset": name}
    return {"max_chars": max_chars, "style": "commit"}
