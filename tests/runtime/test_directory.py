"""Opening model directories: everything that can be wrong is named, with a remedy."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sumfit.errors import IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.runtime import ModelDirectory, default_model_path


@pytest.fixture
def copied(tiny_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model, tmp_path / "model"))


def edit(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    file = directory / "config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    change(values)
    file.write_text(json.dumps(values), encoding="utf-8")


def test_open_reads_everything(tiny_model: Path) -> None:
    model = ModelDirectory.open(tiny_model)
    assert model.config.name == "tiny-copy"
    assert model.config.architecture.max_source_tokens == 96
    assert model.config.bonus_for("words") == 0.4
    assert model.config.bonus_for("cells") == 0.5
    assert model.tokenizer.fingerprint == model.config.tokenizer_sha256
    assert model.lexicon is not None
    assert "bridge" in model.lexicon
    assert list(model.lexicon) == sorted(model.lexicon)
    assert model.graph_file().name == "model.fp32.onnx"


def test_a_unit_with_a_bonus_of_its_own_has_none_per_token(copied: Path) -> None:
    edit(copied, lambda values: values.update(unit_bonus={"words": 2.0}))
    config = ModelDirectory.open(copied).config
    assert (config.bonus_for("words"), config.unit_bonus_for("words")) == (0.0, 2.0)
    assert (config.bonus_for("chars"), config.unit_bonus_for("chars")) == (0.5, 0.0)


def test_the_default_model_lies_inside_the_package() -> None:
    assert default_model_path().parts[-3:] == ("sumfit", "assets", "default")


def test_the_default_model_has_a_name_unless_a_directory_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ModelDirectory.open("default").path == default_model_path()
    (tmp_path / "default").mkdir()
    with pytest.raises(ModelFormatError):
        ModelDirectory.open("default")


def test_no_directory(tmp_path: Path) -> None:
    path = tmp_path / "facebook" / "bart-large-cnn"
    with pytest.raises(ModelNotFoundError) as caught:
        ModelDirectory.open(path)
    assert str(caught.value) == (
        f"there is no model directory {path}; give one that holds config.json, tokenizer.json, "
        "lexicon.txt.xz and model.onnx or model.fp32.onnx (sumfit reads local directories only "
        "and downloads nothing)"
    )
    assert isinstance(caught.value, FileNotFoundError)


def test_a_file_is_no_directory(tiny_model: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"config\.json is a file; give the directory"):
        ModelDirectory.open(tiny_model / "config.json")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()
    with pytest.raises(ModelFormatError, match=rf"{re.escape(str(copied / name))} is missing; "):
        ModelDirectory.open(copied)


def test_a_missing_network_is_named(copied: Path) -> None:
    (copied / "model.fp32.onnx").unlink()
    with pytest.raises(
        ModelFormatError, match=r"holds no model\.onnx or model\.fp32\.onnx; run: sumfit export"
    ):
        ModelDirectory.open(copied).graph_file()


def test_a_missing_precision_is_named(tiny_model: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"holds no model\.onnx; run: sumfit export"):
        ModelDirectory.open(tiny_model).graph_file("int8")


def test_a_config_that_is_no_json(copied: Path) -> None:
    (copied / "config.json").write_text("{nonsense", encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"config\.json cannot be read \(.*\); copy"):
        ModelDirectory.open(copied)
    (copied / "config.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"holds no JSON object but a list"):
        ModelDirectory.open(copied)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 200_000, "nested too deeply"),
        (b'{"format": ' + b"9" * 5000 + b"}", "4300 digits"),
        (b'{"a": "' + b"x" * 5_000_000 + b'"}', "longer than 4,194,304 bytes"),
        (b'{"a": "\xff"}', "invalid start byte"),
    ],
)
def test_a_hostile_config_is_a_model_error(copied: Path, content: bytes, reason: str) -> None:
    (copied / "config.json").write_bytes(content)
    with pytest.raises(ModelFormatError, match=rf"config\.json cannot be read .*{reason}"):
        ModelDirectory.open(copied)


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "a/" * 3000])
def test_a_text_for_a_path_is_no_model(name: str) -> None:
    with pytest.raises(ModelNotFoundError, match="there is no model directory"):
        ModelDirectory.open(name)


def test_a_model_of_another_version(copied: Path) -> None:
    edit(copied, lambda values: values.update(format="sumfit-model-9"))
    with pytest.raises(
        IncompatibleModelError,
        match=r"has format 'sumfit-model-9', but sumfit \S+ reads 'sumfit-model-1'; install",
    ):
        ModelDirectory.open(copied)


def test_a_model_of_something_else(copied: Path) -> None:
    (copied / "config.json").write_text('{"model_type": "bart"}', encoding="utf-8")
    with pytest.raises(IncompatibleModelError, match=r"has format None, but sumfit"):
        ModelDirectory.open(copied)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, r"'name' is 3, must be a str; export the model again"),
        ({"words_per_vertex": 0}, r"'words_per_vertex' is 0, must be 1 or more"),
        ({"pinned_words": -1}, r"'pinned_words' is -1, must be 0 or more"),
        ({"ending": "dot"}, r"'ending' is 'dot', must be one of eos, any"),
        ({"bonus": {"words": "much"}}, r"'bonus\.words' is 'much', must be a number"),
        ({"unit_bonus": {"chars": None}}, r"'unit_bonus\.chars' is None, must be a number"),
        ({"mbr_temperature": 0}, r"'mbr_temperature' is 0\.0, must be above 0"),
        ({"profiles": "natural"}, r"'profiles' is 'natural', must be a list"),
        ({"profiles": [1]}, r"'profiles' holds 1, must hold names"),
        ({"scripts": [None]}, r"'scripts' holds None, must hold names"),
        ({"unit_bonus": {"chars": math.nan}}, r"'unit_bonus\.chars' is nan, must be a finite num"),
        ({"bonus": {"default": -math.inf}}, r"'bonus\.default' is -inf, must be a finite number"),
        ({"bonus": {"words": 10**400}}, r"'bonus\.words' is inf, must be a finite number"),
        ({"mbr_weight": math.nan}, r"'mbr_weight' is nan, must be a finite number"),
        ({"ending": ["eos"]}, r"'ending' is \['eos'\], must be one of"),
    ],
)
def test_a_wrong_value_is_named(copied: Path, changes: dict[str, Any], message: str) -> None:
    edit(copied, lambda values: values.update(changes))
    with pytest.raises(ModelFormatError, match=message):
        ModelDirectory.open(copied)


def test_a_missing_value_is_named(copied: Path) -> None:
    edit(copied, lambda values: values.pop("architecture"))
    with pytest.raises(ModelFormatError, match=r"'architecture' is missing, must be a dict"):
        ModelDirectory.open(copied)


def test_an_architecture_of_a_later_version(copied: Path) -> None:
    edit(copied, lambda values: values["architecture"].update(n_experts=8))
    with pytest.raises(IncompatibleModelError, match=r"unknown architecture field 'n_experts'"):
        ModelDirectory.open(copied)


def test_the_tokenizer_of_another_model(copied: Path, tiny_model: Path) -> None:
    edit(copied, lambda values: values.update(tokenizer_sha256="0" * 64))
    with pytest.raises(
        IncompatibleModelError,
        match=r"tokenizer\.json is not the tokenizer this model was trained with: its sha256 is "
        r"[0-9a-f]{12}\.\.\., config\.json says 000000000000\.\.\.; restore the file",
    ):
        ModelDirectory.open(copied)


def test_a_tokenizer_that_is_none(copied: Path) -> None:
    (copied / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"tokenizer\.json is not a readable tokenizer"):
        ModelDirectory.open(copied)


def test_a_tokenizer_of_another_size(copied: Path) -> None:
    edit(copied, lambda values: values["architecture"].update(vocab_size=9999))
    with pytest.raises(IncompatibleModelError, match=r"has \d+ pieces, the network 9999; export"):
        ModelDirectory.open(copied)


def test_a_damaged_lexicon(copied: Path) -> None:
    (copied / "lexicon.txt.xz").write_bytes(b"not xz")
    with pytest.raises(ModelFormatError, match=r"lexicon\.txt\.xz is not a readable lexicon"):
        _ = ModelDirectory.open(copied).lexicon


def test_a_model_trained_on_shorter_sources_reads_no_more(copied: Path) -> None:
    assert ModelDirectory.open(copied).config.max_source == 96
    edit(copied, lambda values: values.update(max_source=40))
    assert ModelDirectory.open(copied).config.max_source == 40
    edit(copied, lambda values: values.update(max_source=4000))
    assert ModelDirectory.open(copied).config.max_source == 96


def test_no_lexicon(copied: Path) -> None:
    (copied / "lexicon.txt.xz").unlink()
    assert ModelDirectory.open(copied).lexicon is None
