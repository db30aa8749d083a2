"""Words that make a reader stop are in no docstring, comment, message or page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INSTEAD = {
    "anew": "again",
    "for ever": "forever",
    "mended": "corrected",
    "spelt": "spelled",
    "learnt": "learned",
    "from 0 on": "of at least 0",
    "that is none": "that is not one",
    "is no fit": "does not fit",
}
PATTERN = re.compile(r"\b(" + "|".join(INSTEAD).replace(" ", r"[\s#*/]+") + r")\b", re.IGNORECASE)
FILES = [
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs").rglob("*.md"),
    *(path for kind in ("py", "html", "js") for path in (ROOT / "src").rglob(f"*.{kind}")),
]


def found(text: str) -> list[str]:
    without_links = re.sub(r"\]\([^)]*\)", "]", text)
    return [match.group().lower() for match in PATTERN.finditer(without_links)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It waits for\n    # ever, or starts Anew.", ["for\n    # ever", "anew"]),
        ("[A page](0089-learnt.md) on renewal, for every reader", []),
    ],
)
def test_words_are_found_across_lines_and_not_in_links(text, words):
    assert found(text) == words


def test_nothing_is_said_in_words_that_stop_a_reader():
    places = [
        f"{path.relative_to(ROOT)}: {word!r}"
        for path in FILES
        for word in found(path.read_text(encoding="utf-8"))
    ]
    assert not places, f"{places}; write instead: {INSTEAD}"
