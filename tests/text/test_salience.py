"""The layers that score the sentences of a text, and how they are fitted."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sumfit.errors import ModelFormatError
from sumfit.text import Tokenizer
from sumfit.text.salience import (
    N_FEATURES,
    Salience,
    mean_state,
    sentence_features,
    sentence_inputs,
    sentence_spans,
)

ROOT = Path(__file__).parents[2]
WIDTH, HIDDEN = 6, 4
MOST = 1 << 20
SENTENCES = ["The lift is broken.", "Why?", "A new lift comes on 4 May!"]


def random_salience(seed: int = 0) -> Salience:
    draw = np.random.default_rng(seed)
    shapes = [(N_FEATURES + WIDTH, HIDDEN), (HIDDEN,), (HIDDEN,), (WIDTH + 1,)]
    return Salience(*(draw.normal(size=shape).astype(np.float32) for shape in shapes))


def test_scores_are_those_of_two_layers_and_sum_to_one() -> None:
    salience = random_salience()
    memory = np.random.default_rng(1).normal(size=(9, WIDTH)).astype(np.float32)
    scores = salience.scores(memory, [(0, 4), (4, 5), (5, 9)], SENTENCES, "article")
    expected = []
    for row, (begin, end) in zip(
        sentence_features(SENTENCES), [(0, 4), (4, 5), (5, 9)], strict=True
    ):
        mean = memory[begin:end].mean(axis=0)
        states = (mean - mean.mean()) / mean.std()
        hidden = np.maximum(np.concatenate([row, states]) @ salience.inner + salience.inner_bias, 0)
        expected.append(float(hidden @ salience.outer))
    np.testing.assert_allclose(np.diff(scores), np.diff(expected), rtol=1e-3, atol=1e-4)
    assert np.exp(scores).sum() == pytest.approx(1.0)


def test_what_the_model_does_not_read_is_never_chosen() -> None:
    memory = np.ones((5, WIDTH), dtype=np.float32)
    scores = random_salience().scores(memory, [(0, 4), (4, 5), (5, 9)], SENTENCES, "talk")
    assert scores[2] == -np.inf
    assert np.exp(scores[:2]).sum() == pytest.approx(1.0)


def test_numbers_tell_place_length_marks_and_form() -> None:
    first, asks, last = sentence_features(SENTENCES, "talk")
    assert first.shape == (N_FEATURES,)
    assert list(first[[0, 1, 2, 3]]) == [1, 0, 0, 0]
    assert list(last[[0, 1, 2, 3]]) == [0, 0, 1, 0]
    assert asks[8] == 1
    assert last[9] == last[10] == last[11] == 1
    assert first[13] == first[15] == 1
    assert asks[15] == 0


def test_states_are_normalised() -> None:
    memory = np.random.default_rng(2).normal(3.0, 5.0, size=(4, WIDTH)).astype(np.float32)
    states = sentence_inputs(memory, [(0, 2), (2, 4)], SENTENCES[:2], "article")[:, N_FEATURES:]
    np.testing.assert_allclose(states.mean(axis=1), 0.0, atol=1e-5)
    np.testing.assert_allclose(states.var(axis=1), 1.0, atol=1e-3)


def test_the_kind_of_a_text_is_told_from_its_mean_state() -> None:
    salience = random_salience()
    memory = np.random.default_rng(3).normal(size=(5, WIDTH)).astype(np.float32)
    mean = memory.mean(axis=0)
    states = (mean - mean.mean()) / mean.std()
    logit = float(states @ salience.kind[:-1] + salience.kind[-1])
    assert salience.knows_kind(mean_state(memory)) == (logit > 0)
    other = replace(salience, kind=-salience.kind)
    assert other.knows_kind(mean_state(memory)) != salience.knows_kind(mean_state(memory))


def test_spans_are_those_of_the_sentences(tiny_tokenizer: Tokenizer) -> None:
    ids = tiny_tokenizer.encode(" ".join(SENTENCES))
    spans = sentence_spans(SENTENCES, tiny_tokenizer, ids, 2)
    assert spans is not None
    assert spans[0][0] == 2
    assert [begin for begin, _ in spans[1:]] == [end for _, end in spans[:-1]]
    assert spans[-1][1] == len(ids) + 2
    assert sentence_spans(SENTENCES, tiny_tokenizer, ids[:3], 0) is not None
    assert sentence_spans(SENTENCES, tiny_tokenizer, ids[1:], 0) is None


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    salience, file = random_salience(), tmp_path / "salience.npz"
    salience.save(file)
    found = Salience.load(file, WIDTH, MOST)
    np.testing.assert_allclose(found.inner, salience.inner, rtol=1e-3)
    np.testing.assert_allclose(found.outer, salience.outer, rtol=1e-3)


def test_a_file_that_is_damaged_or_of_another_model_is_named(tmp_path: Path) -> None:
    file = tmp_path / "salience.npz"
    random_salience().save(file)
    with pytest.raises(ModelFormatError, match=r"a model of width 8 needs \[\(24, 4\)"):
        Salience.load(file, 8, MOST)
    with pytest.raises(ModelFormatError, match="unpacks to more than 10 bytes"):
        Salience.load(file, WIDTH, 10)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ModelFormatError, match="is damaged"):
        Salience.load(file, WIDTH, MOST)
    spoilt = random_salience()
    spoilt.outer[1] = np.nan
    spoilt.save(file)
    with pytest.raises(ModelFormatError, match="finite numbers"):
        Salience.load(file, WIDTH, MOST)


def test_layers_are_fitted_to_sentences_that_were_named(tmp_path: Path) -> None:
    """The script finds that the sentence with 'decided' is the point, wherever it stands."""
    pytest.importorskip("torch", reason="needs sumfit[train]")
    from sumfit.runtime import default_model_path

    model = tmp_path / "model"
    shutil.copytree(default_model_path(), model)
    before = (model / "salience.npz").read_bytes()
    rows = []
    for number in range(60):
        what = ["bridge", "tower", "harbour", "museum", "mill"][number % 5]
        point = f"We decided to paint the {what} red."
        said = ["It rained all day.", "Tea was served.", "Jo was late.", point]
        said = said[number % 4 :] + said[: number % 4]
        rows.append({"text": " ".join(said), "points": [point], "kind": False})
        rows.append(
            {"text": f"Rename {what}() to {what}_of(). It was wrong. See {what}.c.", "kind": 1}
        )
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    script = ROOT / "scripts" / "make_salience.py"
    done = subprocess.run(
        [sys.executable, str(script), str(model), str(file), "--write"],
        capture_output=True,
        text=True,
        check=True,
    )
    kind, chosen, first = (float(word.rstrip(",")) for word in done.stdout.split()[-5::2])
    assert kind > 0.9
    assert chosen > 0.9 > first
    assert (model / "salience.npz").read_bytes() != before
