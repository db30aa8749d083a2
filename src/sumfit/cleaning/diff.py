"""Patches as sentences: which file, and what of it changed.

Owns what counts as a patch and how many of its changes are told. Where a patch comes with a
message, the message is what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sumfit.cleaning.diff_lines import is_told_last, tell_run
from sumfit.text.orders import order_of

__all__ = ["clean_diff"]

_FILE = re.compile(r"diff --git \"?a/(.+?)\"? \"?b/(.+?)\"?\s*$")
_OLD = re.compile(r"--- (?:\"?a/)?(\S.*?)\"?(?:\t.*)?\s*$")
_NEW = re.compile(r"\+\+\+ (?:\"?b/)?(\S.*?)\"?(?:\t.*)?\s*$")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@[ \t]*(.*)")
_STATE = re.compile(
    r"index [0-9a-f]+\.\.|(?:new|deleted) file mode |(?:old|new) mode |similarity index |"
    r"rename (?:from|to) |copy (?:from|to) |Binary files |GIT binary patch|dissimilarity index "
)
_COMMIT = re.compile(r"commit [0-9a-f]{7,40}\b|From [0-9a-f]{7,40} ")
_HEADER = re.compile(
    r"(?:Author|AuthorDate|Commit|CommitDate|Date|Merge|From|Subject)(?::)[ \t]+(.*)"
)
_TRAILER = re.compile(
    r"[ \t]*(?:Signed-off-by|Reviewed-by|Acked-by|Tested-by|Co-authored-by|Reported-by|Cc|"
    r"Suggested-by|Change-Id|Reviewed-on|Fixes|Link|Closes):[ \t]"
)
_STATISTIC = re.compile(r" *\S.{0,200} \| +(?:\d+|Bin)\b.*| *\d+ files? changed\b.*|---")
_PATCH_TAG = re.compile(r"\A(?:\[[^\[\]]{1,40}\][ \t]*)+")
_FEWEST_WORDS = 4  # of a message that stands in for its patch
_MOST_FILES = 12
_MOST_CHANGES = 6  # told of each file
_MOST_VALUES = 3  # told of each file in full
_LONGEST_LINE = 160


@dataclass
class _Change:
    """What a patch does to one file."""

    path: str
    verb: str = "Change"
    values: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    place: str = ""
    is_cut: bool = False

    @property
    def room(self) -> int:
        """How many more changes are told."""
        return max(_MOST_CHANGES - len(self.values) - len(self.said) - len(self.told), 0)

    def keep(self, lines: list[str], line: str) -> None:
        """Keep a line of those removed or added, as far as there is room."""
        if len(lines) < _MOST_CHANGES:
            lines.append(" ".join(line[:_LONGEST_LINE].split()))
        else:
            self.is_cut = True

    def close_run(self) -> None:
        """Tell the lines removed and added in one place, as far as there is room."""
        if self.room:
            found = tell_run(self.path, self.removed, self.added, is_cut=self.is_cut)
            self.is_cut |= len(found.values) > self.room
            self.values += found.values[: self.room]
            self.said += found.said[: self.room]
            self.told += found.done[: self.room]
        self.removed, self.added = [], []


def clean_diff(text: str, *, sure: bool = False) -> str:
    """Tell a patch in sentences; other text stays as it is.

    Of ``git show`` and ``git format-patch`` the message stays. Of a patch alone each file becomes
    sentences: what comments, names of tests and messages in its new lines say, values that change,
    and the other lines that were removed and added, at most 6 for each of 12 files.

    Args:
        text: The text.
        sure: No difference: without the marks of a patch there is none.

    Returns:
        The sentences; unchanged if it is no patch.
    """
    if "@@ -" not in text and "diff --git " not in text:
        return text
    lines = text.split("\n")
    start = _first(lines)
    if start is None:
        return text
    message = "\n".join(_message(lines[:start]))
    if len(message.split()) >= _FEWEST_WORDS:
        return message.strip()
    changes, rest = _changes(lines[start:])
    told = "\n".join(_told(changes))
    if "\n" not in told and order_of(told):
        told = told.removesuffix(".")  # a title
    if len(rest.split()) >= _FEWEST_WORDS:
        return f"{message}\n{rest}".strip()
    return "\n".join(part for part in (message.strip(), told, rest.strip()) if part) or text


def _first(lines: list[str]) -> int | None:
    """Where the patch begins."""
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if _FILE.match(line) or (_OLD.match(line) and _NEW.match(below)) or _HUNK.match(line):
            return number
    return None


def _message(lines: list[str]) -> Iterator[str]:
    """What is said above the patch, without the marks of commits."""
    is_commit = any(map(_COMMIT.match, lines))
    for line in lines:
        if _COMMIT.match(line) or _TRAILER.match(line) or _STATISTIC.fullmatch(line.rstrip()):
            continue
        header = _HEADER.match(line) if is_commit else None
        if header is None:
            yield line[4:] if is_commit and line.startswith("    ") else line
        elif line.startswith("Subject"):
            yield _PATCH_TAG.sub("", header.group(1)) + "\n"


def _changes(lines: list[str]) -> tuple[list[_Change], str]:
    """The files of a patch, and the text that follows it."""
    changes: list[_Change] = []
    current = _Change("")
    in_hunk = False
    for number, line in enumerate(lines):
        line = line.rstrip("\r")
        if found := _FILE.match(line):
            current.close_run()
            current = _Change(found.group(2))
            changes.append(current)
            in_hunk = False
        elif hunk := _HUNK.match(line):
            current.close_run()
            if not changes:
                changes.append(current)
            current.place = current.place or hunk.group(1).strip()
            in_hunk = True
        elif not in_hunk or (line.startswith("--- ") and _is_header(lines, number)):
            in_hunk = False
            if (new := _NEW.match(line)) and current.path in ("", "/dev/null", new.group(1)):
                current.path = new.group(1)
            elif old := _OLD.match(line):
                if not changes or current.told or current.removed or current.added:
                    current.close_run()
                    current = _Change("")
                    changes.append(current)
                current.path = current.path or old.group(1)
            elif line.startswith(("new file", "deleted file", "rename to")):
                current.verb = {"n": "Add", "d": "Remove", "r": "Rename to"}[line[0]]
            elif line.strip() and not _STATE.match(line):
                return changes, "\n".join(lines[number:])
        elif line[:1] == "-":
            if current.added:
                current.close_run()
            current.keep(current.removed, line[1:])
        elif line[:1] == "+":
            current.keep(current.added, line[1:])
        else:
            current.close_run()
            if line[:1] not in (" ", "", "\\", "\t", "@"):
                return changes, "\n".join(lines[number:])
    current.close_run()
    return changes, ""


def _is_header(lines: list[str], number: int) -> bool:
    return number + 1 < len(lines) and _NEW.match(lines[number + 1]) is not None


def _values(change: _Change) -> list[str]:
    """The first values that change, the last of them with how many more there are."""
    told = change.values[:_MOST_VALUES]
    n_more = len(change.values) - len(told)
    if n_more:
        more = "more values" if change.is_cut else f"{n_more} more value{'s' * (n_more > 1)}"
        told[-1] += f" and {more}"
    return told


def _told(changes: list[_Change]) -> Iterator[str]:
    for change in sorted(changes[:_MOST_FILES], key=lambda change: is_told_last(change.path)):
        name = change.path.rpartition("/")[2] or "the file"
        place = f", {change.place[:_LONGEST_LINE].rstrip(' {:')}" if change.place else ""
        first = [f"{value[0].upper()}{value[1:]} in {name}" for value in _values(change)]
        first += [said for said in change.said if order_of(said)]
        yield from (f"{told}." for told in first)
        what = "; ".join(change.told)
        if change.verb != "Change":
            yield f"{change.verb} {name}: {what}." if what else f"{change.verb} {name}."
        elif what or not (first or change.said):
            yield f"In {name}{place}: {what}." if what else f"Change {name}."
        yield from (f"{said}." for said in change.said if said not in first)
    if len(changes) > _MOST_FILES:
        yield f"{len(changes) - _MOST_FILES} more files change."
