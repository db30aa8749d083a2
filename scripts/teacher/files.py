"""Files of texts and lines, and the style that each genre is told. Needs no language model."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

STYLES = {
    "news": "news",
    "commit": "commit",
    "pr_commit": "commit",
    "paper": "title",
    "mail": "subject",
    "emails": "subject",
    "package": "synopsis",
}
"""Style of each genre that has one of its own; ``plain`` for all others."""


def records(path: str | Path) -> list[dict[str, Any]]:
    """Read JSON lines, compressed by xz or not."""
    opened = lzma.open if str(path).endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def write_records(path: str | Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write JSON lines, each as it comes."""
    with Path(path).open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def style_of(genre: str) -> str:
    """Name the style that the summarizer is told for a genre."""
    return STYLES.get(genre, "plain")


def shard(rows: Sequence[Any], part: str) -> Sequence[Any]:
    """Take every n-th of some rows; ``part`` is as ``0/2``."""
    place, n_parts = map(int, part.split("/"))
    return rows[place::n_parts]
