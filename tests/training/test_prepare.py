"""The lexicon of a training text: which words make it, which do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sumfit.training.prepare import build_lexicon
from sumfit.training.recipe import load_recipe

RECIPE = """
name = "mine"
data_dir = "{directory}"

[[data.sets]]
name = "own"
train = "train.jsonl"
valid = "train.jsonl"
profile = "{profile}"
"""
PAIRS = [
    ("The bridge of Zürich closed as a G train stopped, and I saw 東京 once", "Bridge closed"),
    *[("A bridge closed and I saw the old bridge by the river", "The bridge closed")] * 60,
]


@pytest.mark.parametrize(
    ("profile", "min_count", "words"),
    [
        (
            "natural",
            1,
            "A Bridge I The Zürich a and as bridge by closed of old once river saw stopped "
            "the train",
        ),
        ("natural", 2, "A I The and bridge by closed old river saw the"),
        ("both", 61, "I The a and bridge closed saw the"),  # lower case counts as well
    ],
)
def test_words_of_the_lexicon(tmp_path: Path, profile: str, min_count: int, words: str) -> None:
    lines = (json.dumps({"source": a, "summary": b}, ensure_ascii=False) for a, b in PAIRS)
    (tmp_path / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(RECIPE.format(directory=tmp_path.as_posix(), profile=profile))
    lexicon = build_lexicon(load_recipe(file), min_count=min_count)
    assert {word.decode() for word in lexicon} == set(words.split())
