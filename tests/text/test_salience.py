"""Which sentence of a short text says most, by learned weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sumfit.text.passages import sentences_of
from sumfit.text.points import main_first
from sumfit.text.salience import features_of, salience

ROOT = Path(__file__).parents[2]

BURIED = [
    (
        "Ten of us met at the mill. Tea was served. Jo read the letter from the bank aloud. The "
        "club will buy the mill for 40,000 pounds if the bank agrees by Friday. Ana brought cake.",
        "The club will buy the mill",
    ),
    (
        "It rained. We waited for an hour at the counter. My son was hungry. The soup was "
        "excellent and worth every minute of the wait, but they only take cash. We sat outside.",
        "The soup was excellent",
    ),
]
PLAIN = [
    "The council of Odell will close the old bridge on Monday. Its piers are cracked. Buses will "
    "take another way.",
    "A court in Lund fined the bank 4 million euros on Friday. The bank will appeal. Its shares "
    "fell.",
]


@pytest.mark.parametrize(("text", "point"), BURIED)
def test_a_point_behind_an_opening_is_read_first(text: str, point: str) -> None:
    found = main_first(text)
    assert found is not None
    assert found.text.startswith(point)
    assert found.n_sentences == found.of_sentences
    for sentence in sentences_of(text):
        assert sentence.rstrip(".") in found.text


@pytest.mark.parametrize("text", PLAIN)
def test_what_begins_with_its_point_stays(text: str) -> None:
    assert main_first(text) is None
    scores = salience(sentences_of(text))
    assert max(scores) == scores[0]


def test_a_score_looks_at_words_place_and_marks() -> None:
    first, asks, last = features_of(["The lift is broken.", "Why?", "A new lift comes on 4 May!"])
    assert {"w:lift", "b:is_broken", "s:the", "first", "length"} <= first.keys()
    assert {"asks", "short", "second", "last but one"} <= asks.keys()
    assert {"last", "calls", "digit", "behind a question", "titled"} <= last.keys()
    assert last["shared"] > 0


def test_weights_are_learned_from_texts_with_lines(tmp_path: Path) -> None:
    """The script finds that the sentence with 'decided' is what the lines are about."""
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    rows = []
    for number in range(40):
        what = ["bridge", "tower", "harbour", "museum"][number % 4]
        said = ["It rained all day.", "Tea was served.", f"We decided to paint the {what} red."]
        said = said[number % 3 :] + said[: number % 3]
        rows.append({"text": " ".join(said), "lines": [f"Club to paint the {what} red"]})
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_salience.py"), str(file), "--held", "0.3"],
        capture_output=True,
        text=True,
        check=True,
    )
    chosen, _, best = (float(word.rstrip(",")) for word in done.stdout.split()[-5::2])
    assert chosen == best > 0.5
