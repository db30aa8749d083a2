"""Trees that say how likely a line is to be printed, and what they look at."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sumfit import Summarizer
from sumfit.errors import ModelFormatError
from sumfit.rerank.confidence import Evidence
from sumfit.rerank.lines import N_COLUMNS, N_NUMBERS, SourceWords, columns_of
from sumfit.rerank.trees import TREES_FILE, Trees
from sumfit.runtime import default_model_path

ROOT = Path(__file__).parents[2]
MOST = 1 << 20
# x0 <= 1 ? 0.5 : (x1 <= -2 ? -1 : 2), and one leaf alone
TREES = Trees(
    roots=np.array([0, 5]),
    columns=np.array([0, -1, 1, -1, -1, -1]),
    thresholds=np.array([1.0, 0.0, -2.0, 0.0, 0.0, 0.0]),
    children=np.array([[1, 2], [0, 0], [3, 4], [0, 0], [0, 0], [0, 0]]),
    values=np.array([0.0, 0.5, 0.0, -1.0, 2.0, 0.25]),
    base=-0.75,
)
ROWS = np.array([[1.0, 9.0], [1.5, -2.0], [1.5, 0.0]])
TEXT = "The old mill in Ardle burned down on Friday. Police say the fire began in a shed."


def test_each_line_goes_down_every_tree() -> None:
    logits = np.array([0.5, -1.0, 2.0]) + 0.25 - 0.75
    np.testing.assert_allclose(TREES.chances(ROWS), 1 / (1 + np.exp(-logits)))


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / TREES_FILE
    TREES.save(file)
    found = Trees.load(file, 2, MOST)
    np.testing.assert_allclose(found.chances(ROWS), TREES.chances(ROWS), rtol=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": np.array([0, -1, 2, -1, -1, -1])},  # there are two columns
        {"children": np.array([[1, 2], [0, 0], [0, 4], [0, 0], [0, 0], [0, 0]])},  # goes round
        {"children": np.array([[1, 2], [0, 0], [3, 6], [0, 0], [0, 0], [0, 0]])},  # leaves
        {"roots": np.array([0, 6])},
        {"roots": np.zeros(0, dtype=np.int64)},
        {"values": np.array([0.0, np.nan, 0.0, -1.0, 2.0, 0.25])},
        {"thresholds": np.array([1.0])},
    ],
)
def test_trees_that_cannot_be_walked_are_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    file = tmp_path / TREES_FILE
    replace(TREES, **wrong).save(file)  # type: ignore[arg-type]
    with pytest.raises(ModelFormatError, match="holds no trees over 2 numbers"):
        Trees.load(file, 2, MOST)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / TREES_FILE
    TREES.save(file)
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(ModelFormatError, match=r"trees\.npz is damaged"):
        Trees.load(file, 2, MOST)


def test_numbers_tell_what_was_joined_said_twice_and_put_in() -> None:
    source = SourceWords(TEXT)
    copied = source.numbers_of("The old mill in Ardle burned down")
    joined = source.numbers_of("Old mill burned; burned shed, Police rebuilding?")
    assert len(copied) == len(joined) == N_NUMBERS
    assert copied[:6] == [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    assert joined[0] > 3
    assert joined[2] == 0.0
    assert joined[6] == 1.0  # burned
    assert joined[7:9] == [1.0, 1.0]  # rebuilding
    assert joined[10:14] == [1.0, 1.0, 0.0, 1.0]
    assert copied[14] == 1.0
    assert copied[15] == 0.0
    assert source.numbers_of("…")[2] == 1.0


def test_columns_compare_with_the_best_candidate() -> None:
    known = [Evidence(*map(float, range(n, n + 9))) for n in (0, 3)]
    lines = ["The old mill burned down", "Police say the fire began in a shed"]
    columns = columns_of(SourceWords(TEXT), lines, [1.0, -2.0], known, 0)
    assert columns.shape == (2, N_COLUMNS)
    half = N_COLUMNS // 2
    np.testing.assert_allclose(columns[0, half:], 0.0)
    np.testing.assert_allclose(columns[1, half:], columns[1, :half] - columns[0, :half])
    assert list(columns[1, half : half + 3]) == [-3.0, 3.0, 3.0]


def test_the_first_line_does_not_depend_on_how_many_are_asked_for() -> None:
    fit = Summarizer.from_pretrained()
    one, many = fit(TEXT, max_chars=40), fit(TEXT, max_chars=40, n_best=9)
    assert (one.text, one.confidence) == (many.text, many.confidence)
    logit = np.log(one.confidence or 0.0) - np.log1p(-(one.confidence or 0.0))
    assert one.choice_score is not None
    assert one.choice_score <= logit + 1e-6


def test_a_model_without_trees_chooses_by_score(tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(default_model_path(), model, ignore=shutil.ignore_patterns("manifest.json"))
    (model / TREES_FILE).unlink()
    summary = Summarizer.from_pretrained(model)(TEXT, max_chars=40)
    assert 0.0 < (summary.confidence or 0.0) < 1.0


def test_trees_are_grown_from_marks(tmp_path: Path) -> None:
    """Readers who never print a line with 'shed' in it are understood."""
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    model = tmp_path / "model"
    shutil.copytree(default_model_path(), model)
    lines = ["Old mill in Ardle burned down on Friday", "Fire began in a shed, police say"]
    row = {"source": TEXT, "limit": 44, "c": [*lines, "Old mill burned down"], "m": [2, 0, 0]}
    file = tmp_path / "marked.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for _ in range(240)), encoding="utf-8")
    script = ROOT / "scripts" / "teacher" / "grow.py"
    done = subprocess.run(
        [sys.executable, str(script), str(model), str(file), "--write"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "by trees 1.000" in done.stdout
    assert (model / TREES_FILE).read_bytes() != (default_model_path() / TREES_FILE).read_bytes()
