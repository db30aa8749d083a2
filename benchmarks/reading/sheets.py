"""Blind sheets: the lines of all systems under letters, and the keys that tell whose they are.

Equal lines of a text are one line, so nobody marks them differently. Every sheet has its own order
of texts and its own letters, so a place on the page favours no system.
"""

from __future__ import annotations

import json
import random
import string
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumfit.errors import ConfigError, DataFormatError

NUMBERS = ("log_prob", "rouge")
MARKS = ("grammatical", "true", "main", "publish")


@dataclass(frozen=True)
class Line:
    """A line of a text, of one system or of several that agree.

    Attributes:
        text: The line.
        systems: Who wrote it, each with the numbers that it carries (see `NUMBERS`).
    """

    text: str
    systems: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Item:
    """A text and the lines of all systems.

    Attributes:
        genre: Its kind.
        source: The text.
        limit: The limit in words, for readers; empty if not told.
        lines: The distinct lines.
    """

    genre: str
    source: str
    limit: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Plan:
    """Who reads what.

    Attributes:
        n_readers: Sheets to make.
        shared: Share of the texts of a genre that stand on every sheet, 0 to 1; the others are
            dealt out.
        per_genre: Most texts of a genre.
        seed: Of all shuffling.
    """

    n_readers: int = 2
    shared: float = 0.5
    per_genre: int = 50
    seed: int = 1

    def __post_init__(self) -> None:
        if self.n_readers < 1:
            raise ConfigError(f"readers must be at least 1, was {self.n_readers}")
        if not 0 <= self.shared <= 1:
            raise ConfigError(f"shared must lie between 0 and 1, was {self.shared}")
        if self.per_genre < 1:
            raise ConfigError(f"per-genre must be at least 1, was {self.per_genre}")


@dataclass
class _Sheet:
    blocks: list[str] = field(default_factory=list)
    keys: dict[str, Any] = field(default_factory=dict)


def read_outputs(path: Path) -> list[Item]:
    """Read what the systems wrote.

    Args:
        path: JSONL: ``source``, ``systems`` (name to line, or to an object with ``text`` and any of
            `NUMBERS`), and if wanted ``genre`` and ``limit``.

    Returns:
        One item a text; empty lines are left out.

    Raises:
        DataFormatError: If a record is not like that, or there is none.
    """
    items = []
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not row.strip():
            continue
        place = f"{path}:{number}"
        try:
            record = json.loads(row)
            source, systems = record["source"], record["systems"]
            lines = _merged(systems, place)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataFormatError(
                f"{place} must be an object with 'source' and 'systems' (name to line): {error!r}"
            ) from error
        if lines:
            genre, limit = str(record.get("genre", "all")), str(record.get("limit", ""))
            items.append(Item(genre, str(source), limit, lines))
    if not items:
        raise DataFormatError(f"{path} holds no text with a line; give one record a text")
    return items


def write(items: Sequence[Item], plan: Plan, folder: Path, keys: Path) -> int:
    """Write the sheets, and their keys apart from them.

    Args:
        items: Texts with lines.
        plan: Who reads what.
        folder: Where ``sheet-1.md`` ... go; made if it is not there.
        keys: The file of keys.

    Returns:
        How many texts are read.

    Raises:
        ConfigError: If the keys would lie among the sheets, or a text has more lines than letters.
    """
    if keys.resolve().is_relative_to(folder.resolve()):
        raise ConfigError(f"keys must not lie in the folder of the sheets {folder}, was {keys}")
    rng = random.Random(plan.seed)
    dealt = _deal(items, plan, rng)
    sheets = [_sheet(items, places, f"{n}", rng) for n, places in enumerate(dealt, 1)]
    used = sorted({place for places in dealt for place in places})
    folder.mkdir(parents=True, exist_ok=True)
    keys.parent.mkdir(parents=True, exist_ok=True)
    for n, sheet in enumerate(sheets, 1):
        (folder / f"sheet-{n}.md").write_text("\n".join(sheet.blocks), encoding="utf-8")
    texts = {
        place: {
            "genre": items[place].genre,
            "lines": [{"text": line.text, "systems": line.systems} for line in items[place].lines],
        }
        for place in used
    }
    letters = {label: key for sheet in sheets for label, key in sheet.keys.items()}
    content = json.dumps({"texts": texts, "letters": letters}, ensure_ascii=False, indent=1)
    keys.write_text(content + "\n", encoding="utf-8")
    return len(used)


def _merged(systems: Mapping[str, Any], place: str) -> tuple[Line, ...]:
    lines: dict[str, Line] = {}
    for name, given in systems.items():
        found = {"text": given} if isinstance(given, str) or given is None else given
        text = " ".join((found["text"] or "").split())
        if text:
            numbers = {key: float(found[key]) for key in NUMBERS if found.get(key) is not None}
            lines.setdefault(text, Line(text, {})).systems[name] = numbers
    if len(lines) > len(string.ascii_uppercase):
        raise ConfigError(f"{place} has {len(lines)} distinct lines; at most 26 have a letter")
    return tuple(lines.values())


def _deal(items: Sequence[Item], plan: Plan, rng: random.Random) -> list[list[int]]:
    """Places of the texts of each sheet."""
    genres: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        genres[item.genre].append(place)
    sheets: list[list[int]] = [[] for _ in range(plan.n_readers)]
    turn = 0
    for places in genres.values():
        chosen = rng.sample(places, min(plan.per_genre, len(places)))
        n_shared = round(plan.shared * len(chosen))
        for sheet in sheets:
            sheet.extend(chosen[:n_shared])
        for place in chosen[n_shared:]:
            sheets[turn % plan.n_readers].append(place)
            turn += 1
    return sheets


def _sheet(items: Sequence[Item], places: list[int], name: str, rng: random.Random) -> _Sheet:
    sheet = _Sheet()
    rng.shuffle(places)
    for number, place in enumerate(places, 1):
        item, label = items[place], f"{name}-{number:03d}"
        order = rng.sample(range(len(item.lines)), len(item.lines))
        letters = dict(zip(string.ascii_uppercase, order, strict=False))
        limit = f", limit {item.limit}" if item.limit else ""
        shown = [f"{letter}: {item.lines[i].text}" for letter, i in letters.items()]
        head = [f"### {label} ({item.genre}{limit})", f"SOURCE: {' '.join(item.source.split())}"]
        sheet.blocks.append("\n".join([*head, *shown, ""]))
        sheet.keys[label] = {"text": place, "lines": letters}
    return sheet
