"""Keep the pairs whose summary follows from its text, and say why the others go.

Owns the rules of form and of support by which training pairs are filtered, and putting headline
case right. Most headlines by people say what their text does not; a model that learns from them
learns to invent. Does not own reading or writing of files.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sumfit.data.readers import Columns, read_pairs
from sumfit.errors import ConfigError
from sumfit.text import normalize
from sumfit.writing import naming

__all__ = ["FilterOptions", "FilterReport", "PairFilter", "filter_files", "sentence_case"]

_WORD = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*[+#]*")
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_QUOTES = (("“", "”"), ("(", ")"), ("[", "]"))
_ABOUT_TEXT = re.compile(r"^(?:the|this) (?:text|article|author|passage|document|speaker)\b", re.I)
_HANGING = re.compile(
    r"(?:[,:;–—-]|\b(?:a|an|the|of|to|in|on|for|with|by|from|and|or|but|at|as|that|is|are|was))$",
    re.I,
)
_PAIRS = {
    "no": "no not none never nobody nothing neither nor without n't cannot denies denied deny "
    "reject rejects rejected decline declines declined refuse refuses refused fails failed false "
    "unable avoid prevent against stop stops halted ban bans banned cancel cancelled canceled "
    "block blocks blocked rule ruled drops dropped lack lacks missing isn't doesn't don't won't",
    "may": "may might could would should if whether possibly possible perhaps likely unlikely "
    "alleged allegedly reportedly rumored rumoured rumor rumour plans planned plan expected expects "
    "considering considers mulls mull proposed proposes potential suspected believed appears seems "
    "to will can hopes hope set",
}
_MARKS = {kind: frozenset(words.split()) for kind, words in _PAIRS.items()}
_ASKED = {
    "no": frozenset(
        "no not none never nobody nothing neither nor without n't cannot denies denied reject "
        "rejects rejected declined refused false isn't doesn't don't won't wasn't aren't "
        "didn't".split()
    ),
    "may": frozenset("may might could alleged allegedly reportedly rumored rumoured".split()),
}
_FUNCTION = frozenset(
    "a an the of to in on for with by from and or but at as that is are was were be been being has "
    "have had do does did not no it its this these those he she they we you i his her their our your "
    "my me him them us who what when where why how which will would can could may might should must "
    "over after before into about than then so if up out off down new more most first how-to via "
    "per vs amid says say said".split()
)
_SMALL = frozenset("a an the of to in on for with by from and or but at as nor vs via".split())
_ENDINGS = ("ies", "ing", "ed", "es", "er", "ly", "s", "e", "y", "d", "'s", "’s", "ion", "al")


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """Which pairs are kept.

    Attributes:
        new_words: Content words that a summary may have beyond its text.
        least_words: Fewest words of a summary.
        most_chars: Longest summary.
        least_chars: Shortest summary.
        copies: Keep summaries that are their whole text.
    """

    new_words: int = 1
    least_words: int = 2
    most_chars: int = 200
    least_chars: int = 8
    copies: bool = False

    def __post_init__(self) -> None:
        for name in ("new_words", "least_words", "most_chars", "least_chars"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be 0 or more, was {getattr(self, name)}")


@dataclass(slots=True)
class FilterReport:
    """What a filter did.

    Attributes:
        kept: Pairs kept.
        recased: Of these, summaries put into the case of their text.
        dropped: Pairs left out, by the first rule that they broke.
    """

    kept: int = 0
    recased: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """Say it in lines of text, the most frequent reason first."""
        rows = [f"{self.kept:>10,}  kept ({self.recased:,} put into the case of their text)"]
        return rows + [f"{n:>10,}  dropped: {why}" for why, n in self.dropped.most_common()]


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
        found = _Source(source)
        recased = sentence_case(text, found.words)
        reason = self._reason(found, recased)
        if reason:
            self.report.dropped[reason] += 1
            return None
        self.report.kept += 1
        self.report.recased += recased != text
        return recased

    def _reason(self, source: _Source, text: str) -> str:
        options, words = self.options, _WORD.findall(text)
        if not options.least_chars <= len(text) <= options.most_chars:
            return "length"
        if len(words) < options.least_words:
            return "too few words"
        if not options.copies and text.lower() == source.text.lower().rstrip(" ."):
            return "a copy of its text"
        if problem := _form_problem(text):
            return problem
        if any(number not in source.numbers for number in _NUMBER.findall(text)):
            return "a number that the text lacks"
        return self._word_problem(source, words)

    def _word_problem(self, source: _Source, words: list[str]) -> str:
        n_new, marks = 0, Counter[str]()
        for place, word in enumerate(words):
            low = word.lower()
            for kind, known in _MARKS.items():
                marks[kind] += low in known or (kind == "no" and low.endswith(("n't", "n’t")))
            if low in _FUNCTION or source.has(low):
                continue
            is_name = word != low and (place > 0 or not source.has_stem_of_length(low, 4))
            if is_name and (place > 0 or word[1:] != word[1:].lower()):
                return "a name that the text lacks"
            n_new += 1
        if n_new > self.options.new_words:
            return "new content words"
        for kind, asked in _ASKED.items():
            if not marks[kind] and source.lead & asked:
                return f"a lost {'negation' if kind == 'no' else 'possibility'}"
        return ""


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
    with naming(output), Path(output).open("w", encoding="utf-8", newline="\n") as stream:
        for file in files:
            for pair in read_pairs(file, columns=columns, on_bad="skip"):
                kept = judge.keep(pair.source, pair.summaries[0])
                if kept is not None:
                    record = {"source": pair.source, "summary": kept}
                    stream.write(json.dumps(record, ensure_ascii=False) + "\n")


class _Source:
    """A text, looked up by word, stem and number."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = _WORD.findall(text)
        self.numbers = frozenset(_NUMBER.findall(text))
        self._low = frozenset(word.lower() for word in self.words)
        parts = {part for word in self._low for part in re.split(r"['’.&-]", word)}
        self._known = self._low | parts
        self._stems = frozenset(map(_stem, self._known))
        # Marks that count are those of the first sentence, which a summary is mostly made of.
        first = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
        self.lead = frozenset(
            "n't" if word.lower().endswith(("n't", "n’t")) else word.lower()
            for word in _WORD.findall(first)
        )

    def has(self, low: str) -> bool:
        """Whether a word in small letters is there, in some form."""
        if low in self._known or _stem(low) in self._stems:
            return True
        parts = re.split(r"['’.&-]", low)
        return len(parts) > 1 and all(
            not part or part in self._known or _stem(part) in self._stems for part in parts
        )

    def has_stem_of_length(self, low: str, n_letters: int) -> bool:
        """Whether some word begins with the same letters, as ``Germany`` and ``German`` do."""
        head = low[: max(n_letters, len(low) - 3)]
        return any(word.startswith(head) for word in self._low)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("ei") if len(word) > 4 else word


def _form_problem(text: str) -> str:
    if text.count('"') % 2 or any(text.count(a) != text.count(b) for a, b in _QUOTES):
        return "a quotation mark or bracket without its other half"
    if _ABOUT_TEXT.search(text):
        return "speaks of the text itself"
    if _HANGING.search(text):
        return "an end that needs another word"
    if text.count(",") > 3 or "..." in text or "…" in text or " | " in text:
        return "a list, a gap or an outlet's mark"
    words = text.lower().split()
    if any(a == b for a, b in zip(words, words[1:], strict=False)):
        return "a word twice in a row"
    return ""


def sentence_case(text: str, source_words: list[str]) -> str:
    """Put a summary In Title Case, or IN CAPITALS, into the case that its text has.

    A word takes the form in which the text has it within a sentence; one that the text lacks loses
    its capital unless it has others. The first letter stays a capital.

    Args:
        text: The summary.
        source_words: The words of its text, in order.

    Returns:
        The same words; the summary as it was if it is not in headline case.
    """
    words = _WORD.findall(text)
    long = [word for word in words[1:] if len(word) > 3 and word[0].isalpha()]
    n_capitals = sum(word[0].isupper() for word in long)
    if len(long) < 2 or n_capitals < 0.75 * len(long):
        return text
    forms: dict[str, Counter[str]] = {}
    for word in source_words:
        forms.setdefault(word.lower(), Counter())[word] += 1

    def form(match: re.Match[str]) -> str:
        word = match[0]
        known = forms.get(word.lower())
        if known:
            small = word.lower()
            return small if small in known else known.most_common(1)[0][0]
        is_plain = word[1:] == word[1:].lower() or (word.isupper() and len(word) > 4)
        return word.lower() if is_plain else word

    changed = _WORD.sub(form, text)
    return changed[:1].upper() + changed[1:]
