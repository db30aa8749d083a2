"""The fields of a ticket before what is wrong, and the sections that do not tell what is wrong.

Owns what counts as a field ("Priority: high"), as the problem ("Actual: the export hangs") and as
neither: how to repeat it, where it was seen, and what was expected instead.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["without_fields"]

_FIELD = re.compile(
    r"(?:ticket|case|request|issue|incident)\b[^\n.!?]{0,30}|"
    r"[A-Z][\w/ -]{0,20}:[ \t]*\S[^\n]{0,70}",
    re.IGNORECASE,
)
_TICKET_FIELD = re.compile(
    r"(?:ticket|case|request|priority|severity|category|product|component|plan|order|assignee|"
    r"status|"
    r"reporter|affected|operating system|customer)\b",
    re.IGNORECASE,
)
_SHORT_FIELD = re.compile(  # though a full stop may end it
    r"(?:(?:ticket|case|issue|incident)(?: (?:id|no|number))?[ \t#:.-]{0,4}#?"
    r"[\w-]{0,8}\d[\w-]{0,12}|"
    r"(?:priority|severity|category|product|component|assignee|status|reporter|operating system|"
    r"customer)[ \t]*:(?:[ \t]+[\w#/-]+(?:\.\d+){0,3}){1,4})\.?[ \t]*",
    re.IGNORECASE,
)
_SAID = re.compile(r"[.!?]\s*$|^decision\b|(?:\S+\s+){7}\S", re.IGNORECASE)
_OVER_FIELD = re.compile(r"status[ \t]*:[ \t]*resolved[ \t.]*", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:subject|title|summary)[ \t]*:[ \t]*", re.IGNORECASE)

_LABELLED = re.compile(r"[ \t]{0,8}([A-Z][\w/ -]{0,40}?)[ \t]{0,4}:(?:[ \t]+|$)(.*)", re.IGNORECASE)
_SECTIONS = {
    "actual": re.compile(
        r"(?:actual|observed|current)(?: (?:results?|behaviou?rs?|outcomes?))?", re.IGNORECASE
    ),
    "problem": re.compile(
        r"(?:(?:problem|bug|fault|issue|error)(?: (?:description|details))?|description|"
        r"what (?:happens|happened)|symptoms?)",
        re.IGNORECASE,
    ),
    "steps": re.compile(
        r"(?:steps|how to reproduce|to reproduce|repro(?:duction)?(?: steps)?|"
        r"steps to re(?:produce|peat)|environment|attachments?)",
        re.IGNORECASE,
    ),
    "expected": re.compile(
        r"expected(?: (?:results?|behaviou?rs?|outcomes?))?|"
        r"what (?:i|was|you) expected(?: to happen)?",
        re.IGNORECASE,
    ),
}
_REMARK = re.compile(
    r"(?:notes?|work-?around|impact|solution|cause|fix|resolution|update)\b", re.IGNORECASE
)
_MOST_WORDS = 4  # behind the label of a field that a ticket does not have: "Browser: Firefox 3"


class _Line(NamedTuple):
    """What a line of a ticket is (``"text"``, ``"field"``, a section), without its label."""

    kind: str
    content: str


def without_fields(text: str) -> tuple[str, bool]:
    """Take the fields of a ticket away, and the sections that do not tell what is wrong.

    Args:
        text: The text, with its line breaks.

    Returns:
        The text, of which a subject stays, without its label; and whether it is a ticket.
    """
    lines = text.split("\n")
    told = _told(lines)
    if told:
        return "\n".join(told), True
    n = next((i for i, line in enumerate(lines) if line.strip() and not _FIELD.fullmatch(line)), 0)
    fields = [line for line in lines[:n] if line.strip()]
    are_said = any(_is_said(line) and not _SUBJECT.match(line) for line in fields)
    if are_said or not any(map(_TICKET_FIELD.match, fields)):
        return text, False
    return "\n".join([*_titles(fields), *lines[n:]]), True


def _told(lines: list[str]) -> list[str]:
    """What a ticket with sections tells of the problem; nothing if it has none."""
    found = [_line(line) for line in lines]
    kinds = {one.kind for one in found}
    is_report = {"actual", "expected"} <= kinds
    has_sections = not kinds.isdisjoint(_SECTIONS)
    if not is_report and not (has_sections and any(map(_is_own_field, lines))):
        return []
    told, is_read = [], True
    for kind, content in found:
        if kind in _SECTIONS or kind == "field":
            is_read = kind not in ("steps", "expected")
        if is_read and content and kind != "field":
            told.append(content if kind == "text" else content[:1].upper() + content[1:])
    return [*_titles(lines), *told] if told else []


def _line(line: str) -> _Line:
    label = _LABELLED.fullmatch(line)
    if label is None:
        return _Line("field" if _SHORT_FIELD.fullmatch(line) else "text", line.strip())
    name, content = label.groups()
    for kind, section in _SECTIONS.items():
        if section.fullmatch(name) and not _SHORT_FIELD.fullmatch(line):
            return _Line(kind, content.strip())
    is_field = _SUBJECT.match(line) or _is_own_field(line)
    if not is_field and not _REMARK.match(name):
        is_field = not _is_said(line) and 0 < len(content.split()) <= _MOST_WORDS
    return _Line("field" if is_field else "text", line.strip())


def _is_own_field(line: str) -> bool:
    return _TICKET_FIELD.match(line) is not None and not _is_said(line)


def _is_said(line: str) -> bool:
    """Whether a field says something in a sentence."""
    return _SHORT_FIELD.fullmatch(line) is None and _SAID.search(line) is not None


def _titles(lines: list[str]) -> list[str]:
    """The subject among fields, as a sentence; that it is over, if a field says so."""
    is_over = any(map(_OVER_FIELD.fullmatch, lines))
    subjects = [
        line[found.end() :].strip(" \t.") for line in lines if (found := _SUBJECT.match(line))
    ]
    if not is_over:
        return [one if one[-1:] in "!?…" else f"{one}." for one in subjects if one]
    return [f"{one} resolved." for one in subjects if one] or ["Resolved."]
