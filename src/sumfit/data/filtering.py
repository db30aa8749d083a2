"""Keep the pairs whose summary follows from its text, and say why the others go.

Owns the rules of form by which training pairs are filtered, and putting headline case right. Most
headlines by people say what their text does not; a model that learns from them learns to invent.
Does not own the check of a summary against its text (`sumfit.truth`), nor reading files.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sumfit.data.readers import Columns, ReadReport, read_pairs
from sumfit.errors import ConfigError
from sumfit.text import ends_completely, normalize
from sumfit.truth import support
from sumfit.writing import naming

__all__ = ["FilterOptions", "FilterReport", "PairFilter", "filter_files", "sentence_case"]

_WORD = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*[+#]*")
_BRACKETS = (("“", "”"), ("(", ")"), ("[", "]"))
_ABOUT_TEXT = re.compile(r"^(?:the|this) (?:text|article|author|passage|document|speaker)\b", re.I)
_MOST_COMMAS = 3
_RULES = {
    "numbers": "a number that the text lacks",
    "names": "a name that the text lacks",
    "negation": "a negation lost or added",
    "modality": "a possibility told as a fact",
    "roles": "who and whom swapped",
}


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """Which pairs are kept.

    Attributes:
        new_words: Content words that a summary may have beyond its text.
        least_words: Fewest words of a summary.
        least_chars: Shortest summary.
        most_chars: Longest summary.
    """

    new_words: int = 1
    least_words: int = 2
    least_chars: int = 8
    most_chars: int = 200

    def __post_init__(self) -> None:
        for name in ("new_words", "least_words", "least_chars", "most_chars"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be 0 or more, was {getattr(self, name)}")


@dataclass(slots=True)
class FilterReport:
    """What a filter did.

    Attributes:
        kept: Pairs kept.
        recased: Of these, summaries put into the case of their text.
        dropped: Pairs left out, by the first rule that they broke.
        messages: The first records that do not parse, each with file and line.
    """

    kept: int = 0
    recased: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Say it in lines of text, the most frequent reason first."""
        rows = [f"{self.kept:>10,}  kept ({self.recased:,} put into the case of their text)"]
        rows += [f"{n:>10,}  dropped: {why}" for why, n in self.dropped.most_common()]
        return rows + self.messages


class PairFilter:
    """Judges pairs one by one and counts."""

    def __init__(self, options: FilterOptions | None = None) -> None:
        """Start counting.

        Args:
            options: Which pairs are kept.
        """
        self.options = options or FilterOptions()
        self.report = FilterReport()

    def keep(self, source: str, summary: str) -> str | None:
        """Judge a pair.

        Args:
            source: The text.
            summary: Its summary.

        Returns:
            The summary as it should be learned, ``None`` if the pair is left out.
        """
        source, text = normalize(source), normalize(summary).rstrip(" .")
        recased = sentence_case(text, source)
        if reason := self._reason(source, recased):
            self.report.dropped[reason] += 1
            return None
        self.report.kept += 1
        self.report.recased += recased != text
        return recased

    def _reason(self, source: str, text: str) -> str:
        options = self.options
        if not options.least_chars <= len(text) <= options.most_chars:
            return "length"
        if len(_WORD.findall(text)) < options.least_words:
            return "too few words"
        if text.lower() == source.lower().rstrip(" ."):
            return "a copy of its text"
        if problem := _form_problem(text):
            return problem
        found = support(source, text)
        for check, holds in found.checks.items():
            if not holds:
                return _RULES[check]
        return "new content words" if len(found.new_words) > options.new_words else ""


def filter_files(
    files: Sequence[str | Path], output: str | Path, judge: PairFilter, *, columns: Columns
) -> None:
    """Write the pairs of files that a filter keeps as JSON lines ``{"source", "summary"}``.

    Args:
        files: Files of pairs, in any format.
        output: File to write.
        judge: The filter; it counts.
        columns: Columns to read.

    Raises:
        DataFormatError: If a file cannot be read; a record that does not parse is left out.
    """
    bad = ReadReport()
    with naming(output), Path(output).open("w", encoding="utf-8", newline="\n") as stream:
        for file in files:
            for pair in read_pairs(file, columns=columns, on_bad="skip", report=bad):
                for summary in pair.summaries:
                    kept = judge.keep(pair.source, summary)
                    if kept is not None:
                        record = {"source": pair.source, "summary": kept}
                        stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    if bad.n_skipped:
        judge.report.dropped["record does not parse"] += bad.n_skipped
        judge.report.messages += bad.messages


def sentence_case(text: str, source: str) -> str:
    """Put a summary In Title Case, or IN CAPITALS, into the case that its text has.

    A word takes the form in which the text has it within a sentence; one that the text lacks loses
    its capital unless it has others. The first letter stays a capital.

    Args:
        text: The summary.
        source: Its text.

    Returns:
        The same words; the summary as it was if it is not in headline case.
    """
    words = _WORD.findall(text)
    long = [word for word in words[1:] if len(word) > 3 and word[0].isalpha()]
    n_capitals = sum(word[0].isupper() for word in long)
    if len(long) < 2 or n_capitals < 0.75 * len(long):
        return text
    forms: dict[str, Counter[str]] = {}
    for word in _WORD.findall(source):
        forms.setdefault(word.lower(), Counter())[word] += 1

    def form(match: re.Match[str]) -> str:
        word, low = match[0], match[0].lower()
        known = forms.get(low)
        if known:
            return low if low in known else known.most_common(1)[0][0]
        is_plain = word[1:] == word[1:].lower() or (word.isupper() and len(word) > 4)
        return low if is_plain else word

    changed = _WORD.sub(form, text)
    return changed[:1].upper() + changed[1:]


def _form_problem(text: str) -> str:
    if text.count('"') % 2 or any(text.count(a) != text.count(b) for a, b in _BRACKETS):
        return "a quotation mark or bracket without its other half"
    if _ABOUT_TEXT.search(text):
        return "speaks of the text itself"
    if not ends_completely(text):
        return "an end that needs another word"
    if text.count(",") > _MOST_COMMAS or "..." in text or "…" in text or " | " in text:
        return "a list, a gap or an outlet's mark"
    if any(a == b for a, b in itertools.pairwise(text.lower().split())):
        return "a word twice in a row"
    return ""
