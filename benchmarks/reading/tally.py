"""The count of readers' marks: shares, differences, agreement, and what the marks go with.

A text is the unit: its marks are averaged over its readers first, and intervals are drawn over
texts.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.reading.sheets import MARKS, NUMBERS
from sumfit.errors import ConfigError, DataFormatError
from sumfit.evaluation.significance import bootstrap_interval, paired_bootstrap
from sumfit.evaluation.table import Cell, Table

FloatArray = npt.NDArray[np.float64]
Place = tuple[str, int]  # a text, and one of its lines


@dataclass(frozen=True)
class Reading:
    """The marks of all readers, with the keys.

    Attributes:
        texts: Of each text its genre and its lines, as the keys have them.
        marks: Of each reader the marks of each line, in the order of `MARKS`.
    """

    texts: dict[str, Any]
    marks: dict[str, dict[Place, FloatArray]]

    @classmethod
    def load(cls, keys: Path, marks: Sequence[Path]) -> Reading:
        """Read keys and marks.

        Args:
            keys: What the sheets were written with.
            marks: A JSONL file a reader: ``{"text": "1-001", "A": [1, 1, 0, 0], ...}``.

        Returns:
            The reading.

        Raises:
            ConfigError: If two files have one name, which names the reader.
            DataFormatError: If a record does not fit its text on the sheet, or comes twice.
        """
        try:
            key = json.loads(keys.read_text(encoding="utf-8"))
            texts, letters = key["texts"], key["letters"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataFormatError(f"{keys} is no file of keys: {error!r}") from error
        read: dict[str, dict[Place, FloatArray]] = {}
        for path in marks:
            if path.stem in read:
                raise ConfigError(f"two files of marks are called {path.stem!r}; rename one")
            read[path.stem] = _read_marks(path, letters)
        return cls(texts, read)

    def line(self, place: Place) -> dict[str, Any]:
        """A line by its place.

        Args:
            place: Text and line.

        Returns:
            Its ``text`` and ``systems``.
        """
        found: dict[str, Any] = self.texts[place[0]]["lines"][place[1]]
        return found

    def means(self) -> dict[Place, FloatArray]:
        """Average the marks of every line over its readers.

        Returns:
            ``(4,)`` a line.
        """
        found: dict[Place, list[FloatArray]] = defaultdict(list)
        for marks in self.marks.values():
            for place, values in marks.items():
                found[place].append(values)
        return {place: np.mean(values, axis=0) for place, values in found.items()}

    def by_system(self) -> dict[str, dict[str, FloatArray]]:
        """Give every system the marks of its lines.

        Returns:
            By system and text; a line that several wrote counts for each of them.
        """
        found: dict[str, dict[str, FloatArray]] = defaultdict(dict)
        for place, values in self.means().items():
            for name in self.line(place)["systems"]:
                found[name][place[0]] = values
        return dict(sorted(found.items()))


def tables(reading: Reading, compared: Iterable[Sequence[str]] = ()) -> list[Table]:
    """Count.

    Args:
        reading: Marks and keys.
        compared: Pairs of systems.

    Returns:
        Shares; then differences, agreement and correlations where there are any.

    Raises:
        ConfigError: If a system to compare is not there, or the two share no text.
    """
    pairs = list(compared)
    found = [shares(reading)]
    if pairs:
        found.append(differences(reading, pairs))
    found += [table for table in (agreement(reading), correlations(reading)) if table.rows]
    return found


def shares(reading: Reading) -> Table:
    """Lay out the share of each mark by genre and system.

    Args:
        reading: Marks and keys.

    Returns:
        Percentages, each with its 95 % interval over texts.
    """
    rows: list[tuple[Cell, ...]] = []
    systems = reading.by_system()
    genres = sorted({text["genre"] for text in reading.texts.values()})
    for genre in [*genres, "all texts"] if len(genres) > 1 else genres:
        for name, marks in systems.items():
            chosen = [
                values
                for text, values in marks.items()
                if genre in ("all texts", reading.texts[text]["genre"])
            ]
            if chosen:
                intervals = bootstrap_interval(100 * np.array(chosen))
                cells = (f"{one.value:.0f} ({one.low:.0f} to {one.high:.0f})" for one in intervals)
                rows.append((genre, name, len(chosen), *cells))
    note = f"percent, 95 % bootstrap intervals over texts; readers: {', '.join(reading.marks)}"
    return Table("Marks", ("genre", "system", "texts", *MARKS), tuple(rows), (note,))


def differences(reading: Reading, pairs: Sequence[Sequence[str]]) -> Table:
    """Compare pairs of systems on the texts that both wrote a line for.

    Args:
        reading: Marks and keys.
        pairs: Two names each.

    Returns:
        First minus second, in points, each with its 95 % interval over texts.

    Raises:
        ConfigError: If a system is not there, or the two share no text.
    """
    systems = reading.by_system()
    rows: list[tuple[Cell, ...]] = []
    for ours, theirs in pairs:
        for name in (ours, theirs):
            if name not in systems:
                raise ConfigError(f"system must be one of {', '.join(systems)}, was {name!r}")
        both = [text for text in systems[ours] if text in systems[theirs]]
        if not both:
            raise ConfigError(f"{ours} and {theirs} have no text that was read for both")
        values = [[100 * systems[name][text] for text in both] for name in (ours, theirs)]
        cells = (
            f"{one.delta:+.1f} ({one.low:+.1f} to {one.high:+.1f})"
            for one in paired_bootstrap(*values)
        )
        rows.append((f"{ours} minus {theirs}", len(both), *cells))
    return Table("Differences on the same texts", ("systems", "texts", *MARKS), tuple(rows))


def agreement(reading: Reading) -> Table:
    """Compare every two readers on the lines that both read.

    Args:
        reading: Marks and keys.

    Returns:
        Percent of equal marks, and Cohen's kappa.
    """
    rows: list[tuple[Cell, ...]] = []
    for (one, ours), (other, theirs) in itertools.combinations(reading.marks.items(), 2):
        both = [place for place in ours if place in theirs]
        if both:
            a, b = (np.array([marks[place] for place in both]) for marks in (ours, theirs))
            for column, mark in enumerate(MARKS):
                left, right = a[:, column], b[:, column]
                same = 100 * float(np.mean(left == right))
                rows.append((f"{one}, {other}", mark, len(both), same, kappa(left, right)))
    columns = ("readers", "mark", "lines", "equal, %", "kappa")
    return Table("Agreement of readers", columns, tuple(rows))


def kappa(left: FloatArray, right: FloatArray) -> float:
    """Cohen's kappa of two readers' marks, 0 or 1.

    Args:
        left: Marks of one, at least one.
        right: Marks of the other on the same lines.

    Returns:
        1 for full agreement, 0 for what chance gives; ``nan`` where both gave one and the same
        mark to every line, which chance explains too.
    """
    a, b = float(left.mean()), float(right.mean())
    chance = a * b + (1 - a) * (1 - b)
    return math.nan if chance == 1 else (float(np.mean(left == right)) - chance) / (1 - chance)


def correlations(reading: Reading) -> Table:
    """Correlate the marks of lines with their length and the numbers that they carry.

    Args:
        reading: Marks and keys.

    Returns:
        Pearson's coefficient of each mark; lines that several systems wrote count once.
    """
    measures: dict[str, Callable[[dict[str, Any]], float | None]] = {
        "characters": lambda line: float(len(line["text"])),
        **{name: _carried(name) for name in NUMBERS},
    }
    marks = reading.means()
    rows: list[tuple[Cell, ...]] = []
    for name, measure in measures.items():
        known = [(measure(reading.line(place)), values) for place, values in marks.items()]
        pairs = [(number, values) for number, values in known if number is not None]
        if len(pairs) > 2:
            numbers, values = np.array([n for n, _ in pairs]), np.array([v for _, v in pairs])
            cells = (_pearson(numbers, values[:, column]) for column in range(len(MARKS)))
            rows.append((name, len(pairs), *cells))
    note = "Pearson's r over lines of all systems; '-' where one of the two never varies"
    return Table("Marks go with", ("of a line", "lines", *MARKS), tuple(rows), (note,))


def _carried(name: str) -> Callable[[dict[str, Any]], float | None]:
    def mean(line: dict[str, Any]) -> float | None:
        values = [numbers[name] for numbers in line["systems"].values() if name in numbers]
        return sum(values) / len(values) if values else None

    return mean


def _pearson(left: FloatArray, right: FloatArray) -> float:
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return math.nan
    return float(np.corrcoef(left, right)[0, 1])


def _read_marks(path: Path, letters: dict[str, Any]) -> dict[Place, FloatArray]:
    found: dict[Place, FloatArray] = {}
    for place, record in _records(path):
        key = letters.get(record.get("text"))
        if key is None:
            raise DataFormatError(f"{place}: no sheet has a text {record.get('text')!r}")
        given = {letter: value for letter, value in record.items() if letter != "text"}
        if set(given) != set(key["lines"]):
            raise DataFormatError(
                f"{place}: text {record['text']} has the lines {', '.join(key['lines'])}, "
                f"marked were {', '.join(given) or 'none'}; mark every line"
            )
        for letter, value in given.items():
            is_list = isinstance(value, list) and len(value) == len(MARKS)
            if not is_list or any(mark not in (0, 1) for mark in value):
                raise DataFormatError(
                    f"{place}: {letter} must have four marks, 0 or 1 ({', '.join(MARKS)}), "
                    f"was {value!r}"
                )
            line = (str(key["text"]), key["lines"][letter])
            if line in found:
                raise DataFormatError(f"{place}: text {record['text']} was marked before")
            found[line] = np.array(value, dtype=np.float64)
    if not found:
        raise DataFormatError(f"{path} holds no marks")
    return found


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if row.strip():
            place = f"{path}:{number}"
            try:
                record = json.loads(row)
            except ValueError as error:
                raise DataFormatError(f"{place} is no JSON: {error}") from error
            if not isinstance(record, dict):
                raise DataFormatError(f"{place} must be an object, was {row[:40]!r}")
            yield place, record
