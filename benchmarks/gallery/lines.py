"""The texts of the gallery, what the model makes of them, and what a reader said of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumfit import Summarizer, __version__

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Text:
    """One text.

    Attributes:
        name: What to call it.
        kind: News, commit, mail and so on.
        limit: Length keywords of the call.
        text: The text.
    """

    name: str
    kind: str
    limit: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Mark:
    """What a reader said of a line.

    Attributes:
        is_good: It can be used as it is.
        why: What is wrong, or worth saying.
    """

    is_good: bool
    why: str = ""


def read_texts() -> list[Text]:
    """Read the texts, in the order of the page.

    Returns:
        The texts.
    """
    lines = (FOLDER / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    return [Text(**json.loads(line)) for line in lines]


def read_marks() -> dict[tuple[str, str], Mark]:
    """Read the marks.

    Returns:
        Name of the text and line -> mark.
    """
    path = FOLDER / "marks.jsonl"
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(one["name"], one["line"]): Mark(one["good"], one.get("why", "")) for one in records}


def summarise(fit: Summarizer, texts: Iterable[Text]) -> dict[str, Any]:
    """Summarise every text as a user would, with nothing but its limit.

    Args:
        fit: The summarizer.
        texts: The texts.

    Returns:
        JSON types: model, version, and the lines by name.
    """
    lines = {}
    for one in texts:
        summary = fit(one.text, **one.limit)
        lines[one.name] = {
            "text": summary.text,
            "length": summary.length,
            "unit": summary.unit,
            "limit": summary.limit,
            "doubts": list(summary.unsupported),
        }
    return {"model": fit.config.name, "version": __version__, "lines": lines}
