"""Look at data before it is trained on: counts, lengths, overlaps, suspicious rows.

Owns what ``sumfit data check`` and ``sumfit train --validate-only`` say of files. Does not own the
filters of packing (`sumfit.data.pack_worker`).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sumfit.data.corpus import PackedCorpus
from sumfit.data.pack_worker import Task, Worker, text_hash
from sumfit.data.readers import (
    Columns,
    Pair,
    ReadReport,
    file_format,
    read_line_pairs,
    read_pairs,
)
from sumfit.data.sets import PackOptions, SetSpec, missing_files, read_set
from sumfit.errors import ConfigError, DataFormatError, InputError

__all__ = ["FileCheck", "Packer", "check_files", "check_pairs", "check_sets", "overlaps"]

_EDGES = (0, 4, 8, 16, 32, 64, 128, 256, 512)  # words; lower ends of the histogram's bins
_MAX_SHOWN = 5
_BLOCK_PAIRS = 2048  # tokenised at once
_MOST_NEW = 0.4  # share of validation words that training never shows, before it is said
_MORE_NEW = 0.2  # how far it must be above what so few texts of one kind would have
_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST_REPEAT = 3  # words; shorter summaries stand in many sources by chance


@dataclass(slots=True)
class FileCheck:
    """What one file holds.

    Attributes:
        name: The file.
        n_pairs: Pairs read.
        n_bad: Records that do not parse.
        source_words: Histogram of source lengths, by lower end of the bin.
        summary_words: The same for summaries.
        suspicious: Rows by reason.
        examples: For each reason the first line numbers.
        messages: The first records that do not parse.
        hashes: Hash of each source, for overlaps.
        words: Words of the summaries, lower-cased, with counts.
        left_out: Pairs that packing would leave out, by reason.
        error: Why reading ended before the end of the file.
    """

    name: str
    n_pairs: int = 0
    n_bad: int = 0
    source_words: Counter[int] = field(default_factory=Counter)
    summary_words: Counter[int] = field(default_factory=Counter)
    suspicious: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[int]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    hashes: Counter[int] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    error: str = ""

    def lines(self) -> Iterator[str]:
        """Say it in lines of text.

        Yields:
            Count, two histograms, suspicious rows, pairs that packing leaves out, records that
            do not parse.
        """
        yield f"{self.name}: {self.n_pairs:,} pairs, {self.n_bad:,} bad records"
        yield f"  source words   {_histogram(self.source_words)}"
        yield f"  summary words  {_histogram(self.summary_words)}"
        for reason, count in self.suspicious.most_common():
            shown = ", ".join(map(str, self.examples[reason]))
            yield f"  {count:,} suspicious: {reason} (lines {shown}{', ...' * (count > 5)})"
        for reason, count in self.left_out.most_common():
            yield f"  {count:,} left out when packing: {reason}"
        for message in (*self.messages, self.error):
            if message:
                yield f"  {message}"

    def take(self, report: ReadReport) -> None:
        """Add what reading left out.

        Args:
            report: From the reader, after the last pair.
        """
        self.n_bad, self.messages = report.n_skipped, report.messages[:_MAX_SHOWN]


def check_files(
    paths: Sequence[str | Path],
    *,
    columns: Columns | None = None,
    summary_lines: Sequence[str | Path] = (),
) -> list[FileCheck]:
    """Check files of text-summary pairs.

    Args:
        paths: The files, in any format that `read_pairs` reads.
        columns: Which columns to take.
        summary_lines: Where ``paths`` hold sources one a line: the parallel file of each.

    Returns:
        One result for each file; what ends the reading of one is its ``error``.

    Raises:
        ConfigError: If there are not as many parallel files as files, or a file's format cannot
            be told from its name.
    """
    if summary_lines and len(summary_lines) != len(paths):
        raise ConfigError(
            f"{len(summary_lines)} files of summaries were given for {len(paths)} files of "
            "sources; give one for each, in the same order"
        )
    checks = []
    for index, path in enumerate(paths):
        report = ReadReport()
        if summary_lines:
            pairs = read_line_pairs(path, summary_lines[index], report=report)
        else:
            _refuse_lines(path)
            pairs = read_pairs(path, columns=columns, on_bad="skip", report=report)
        check = check_pairs(str(path), pairs)
        check.take(report)
        checks.append(check)
    return checks


def _refuse_lines(path: str | Path) -> None:
    hint = "name the file of their summaries with --summary-lines"
    try:
        format = file_format(path)
    except ConfigError as error:
        raise ConfigError(f"{error}; if it holds sources one a line, {hint}") from None
    if format == "lines":
        raise ConfigError(f"{path} holds lines; {hint}")


def check_pairs(name: str, pairs: Iterable[Pair]) -> FileCheck:
    """Check a stream of pairs.

    Args:
        name: What to call it.
        pairs: The pairs.

    Returns:
        What they are like; where reading them fails, what those before are like, and the error.
    """
    check = FileCheck(name)
    try:
        _look_at(pairs, check)
    except InputError as error:
        check.error = str(error)
    return check


def _look_at(pairs: Iterable[Pair], check: FileCheck) -> None:
    for pair in pairs:
        check.n_pairs += 1
        n_source = len(pair.source.split())
        check.source_words[_bin(n_source)] += 1
        key = text_hash(pair.source)
        if check.hashes[key]:
            _note(check, "source seen before in this file", pair.line)
        check.hashes[key] += 1
        for summary in pair.summaries:
            n_summary = len(summary.split())
            check.summary_words[_bin(n_summary)] += 1
            check.words.update(_WORD.findall(summary.lower()))
            for reason in _suspicions(pair.source, summary, n_source, n_summary):
                _note(check, reason, pair.line)


def overlaps(checks: Sequence[FileCheck]) -> Iterator[str]:
    """Name the pairs of files that share sources.

    Args:
        checks: Results of `check_pairs`.

    Yields:
        One sentence for each two files that share any.
    """
    for first, second in itertools.combinations(checks, 2):
        shared = len(first.hashes.keys() & second.hashes.keys())
        if shared:
            yield f"{shared:,} sources stand in both {first.name} and {second.name}"


def check_sets(
    sets: Sequence[SetSpec],
    data_dir: Path,
    *,
    problems: list[str],
    packer: Packer | None = None,
    corpus: Path | None = None,
) -> Iterator[str]:
    """Read all files of a recipe and report on them.

    Args:
        sets: The sets.
        data_dir: Where relative file names start.
        problems: Problems of files that make training impossible are added here.
        packer: Tells what packing would leave out; needs a tokenizer.
        corpus: The packed corpus that is trained on, whatever the files, if it is there.

    Yields:
        Lines of the report.
    """
    checks = []
    for index, spec in enumerate(sets):
        if missing_files([spec], data_dir):
            continue  # named already
        for split in ("train", "valid", "test"):
            if not spec.has(split):
                continue
            report = ReadReport()
            pairs = read_set(spec, split, data_dir, "skip", report)
            left_out: Counter[str] = Counter()
            if packer is not None and split != "test":
                pairs = packer.through(pairs, index, split, left_out)
            check = check_pairs(f"{spec.name} {split}", pairs)
            check.left_out = left_out
            check.take(report)
            yield from check.lines()
            checks.append(check)
            if check.error:
                problems.append(f"set {spec.name}: {check.error}")
            elif not check.n_pairs:
                first = f"; {check.messages[0]}" if check.messages else ""
                problems.append(f"set {spec.name}: its {split} file holds no usable pair{first}")
    yield from overlaps(checks)
    yield from _strange_validation(checks)
    yield from _without_validation(sets, corpus, problems)


def _without_validation(
    sets: Sequence[SetSpec], corpus: Path | None, problems: list[str]
) -> Iterator[str]:
    """Say so if nothing is held out; a packed corpus that cannot be read is a problem."""
    told = "training cannot tell when to stop"
    if corpus is None:
        if sets and not any(spec.has("valid") for spec in sets):
            yield f"no set has a validation file: {told}"
        return
    try:
        if not len(PackedCorpus.open(corpus, "valid")):
            yield f"the packed corpus {corpus} has no validation pair: {told}"
    except DataFormatError as error:
        problems.append(str(error))


class Packer:
    """Counts on the way what the filters of packing would leave out.

    Attributes:
        longest_source: Pieces of the longest source so far that would be trained on.
    """

    longest_source: int

    def __init__(
        self, tokenizer_path: str | Path, sets: Sequence[SetSpec], options: PackOptions
    ) -> None:
        """Load the tokenizer.

        Args:
            tokenizer_path: Its file.
            sets: The sets of the recipe.
            options: The recipe's filters.
        """
        self._worker = Worker(str(tokenizer_path), tuple(sets), options)
        self._trained_on = [
            {entry.profile for entry in spec.packed_sets if entry.weight > 0} for spec in sets
        ]
        self.longest_source = 0

    def through(
        self, pairs: Iterator[Pair], set_index: int, split: str, left_out: Counter[str]
    ) -> Iterator[Pair]:
        """Pass pairs on.

        Args:
            pairs: Pairs of one file.
            set_index: Which set it belongs to.
            split: ``train`` or ``valid``.
            left_out: Counts by reason are added here; a pair counts once for each text profile,
                and in training once for each summary.

        Yields:
            The same pairs.
        """
        while block := list(itertools.islice(pairs, _BLOCK_PAIRS)):
            packed = self._worker.pack(Task(set_index, split, "", 0, block))
            left_out.update(packed.dropped)
            for form in packed.forms if split == "train" else ():
                if form.profile in self._trained_on[set_index]:
                    longest = int(form.source_lengths.max(initial=0))
                    self.longest_source = max(self.longest_source, longest)
            yield from block


def _strange_validation(checks: Sequence[FileCheck]) -> Iterator[str]:
    """Name validation files whose words training never shows: another language or domain.

    Few texts leave out many words of their own language. How many more of them would come next is
    estimated from the words that they hold once (Good and Turing); one standard error of the
    validation words is allowed for besides.
    """
    known: Counter[str] = Counter()
    for check in checks:
        if check.name.endswith(" train"):
            known += check.words
    once = sum(count == 1 for count in known.values()) / max(1, sum(known.values()))
    for check in checks:
        total = sum(check.words.values())
        if known and check.name.endswith(" valid") and total:
            new = sum(count for word, count in check.words.items() if word not in known)
            if new / total > max(_MOST_NEW, once + _MORE_NEW + total**-0.5):
                yield (
                    f"{100 * new / total:.0f} % of the summary words of {check.name} occur in no "
                    "training summary: another language or another kind of text"
                )


def _suspicions(source: str, summary: str, n_source: int, n_summary: int) -> Iterator[str]:
    if not source.strip() or not summary.strip():
        yield "empty source or summary"
        return
    if n_summary > n_source:
        yield "summary has more words than its source"
    if source.strip() == summary.strip():
        yield "summary equals its source"
    elif n_summary >= _SHORTEST_REPEAT and source.startswith(summary.rstrip(".")):
        yield "source begins with the summary"
    if "<unk>" in summary:
        yield "summary holds <unk>"
    if "\ufffd" in source or "\ufffd" in summary:
        yield "replacement character U+FFFD: decoded wrongly once"
    if any(mark in source for mark in ("Ã©", "â€™", "â€œ", "Ã¼")):
        yield "UTF-8 read as Latin-1 once"
    if "<p>" in source or "</" in source or "&amp;" in source or "&quot;" in source:
        yield "HTML in the source"


def _note(check: FileCheck, reason: str, line: int) -> None:
    check.suspicious[reason] += 1
    shown = check.examples.setdefault(reason, [])
    if len(shown) < _MAX_SHOWN:
        shown.append(line)


def _bin(n_words: int) -> int:
    return max(edge for edge in _EDGES if edge <= n_words)


def _histogram(counts: Counter[int]) -> str:
    total = max(1, sum(counts.values()))
    parts = []
    for edge, following in zip(_EDGES, (*_EDGES[1:], None), strict=True):
        if counts[edge]:
            span = f"{edge}-{following - 1}" if following else f"{edge}+"
            parts.append(f"{span}: {100 * counts[edge] / total:.1f} %")
    return "  ".join(parts) or "none"
