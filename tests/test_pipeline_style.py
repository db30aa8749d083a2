"""What a model is told to write: the caller's style, or else that of the preset's slot."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sumfit import Options, Summarizer
from sumfit.length import PRESETS
from sumfit.pipeline.engine import Engine
from sumfit.text.controls import STYLES, Controls
from tests.tiny_model import TEXTS


@pytest.fixture(scope="module")
def told(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Summarizer:
    """A model that reads control pieces; this one has no use for them."""
    directory = shutil.copytree(tiny_model, tmp_path_factory.mktemp("told") / "model")
    file = directory / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    config["controls"] = {"styles": {}, "lengths": []}
    file.write_text(json.dumps(config), encoding="utf-8")
    return Summarizer.from_pretrained(directory)


def style_told(fit: Summarizer, options: Options, **length: Any) -> str:
    engine = Engine(fit.model, fit.backend)
    preparer = engine.preparer
    source = preparer.source(TEXTS[0], options)
    ids = preparer.graph_request(source, preparer.length(length, source), options).source_ids
    controls = Controls.of_tokenizer(fit.tokenizer)
    names = {piece: name for name, piece in controls.styles.items()}
    return names.get(ids[0], "")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_its_style_unless_the_caller_has_one(told: Summarizer, name: str) -> None:
    preset = PRESETS[name]
    assert preset.style in ("", *STYLES)
    assert style_told(told, Options(), preset=name) == preset.style
    for style in STYLES:
        assert style_told(told, Options(style=style), preset=name) == style


def test_slots_with_a_style_of_their_own() -> None:
    styles = {name: preset.style for name, preset in PRESETS.items() if preset.style}
    assert styles == {
        "git-subject": "commit",
        "git-subject-hard": "commit",
        "pr-title": "commit",
        "email-subject": "subject",
        "synopsis": "synopsis",
    }


def test_no_style_without_a_slot_or_in_gigaword_form(told: Summarizer) -> None:
    assert style_told(told, Options(), max_chars=50) == ""
    assert style_told(told, Options(profile="gigaword"), preset="git-subject") == ""


def test_styles_are_described_where_the_model_can_be_told(
    told: Summarizer, fit: Summarizer
) -> None:
    assert told.describe()["styles"] == list(STYLES)
    assert fit.describe()["styles"] == []
