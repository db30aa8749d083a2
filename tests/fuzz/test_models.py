"""Fuzzing what comes with a model, and recipes: errors of their own kind, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from sumfit.constraints.lexicon import Lexicon
from sumfit.errors import ConfigError, ModelError, ModelFormatError
from sumfit.models.checkpoint import read_architecture
from sumfit.models.manifest import MANIFEST, ModelFiles, write_manifest
from sumfit.models.onnx_files import check_self_contained
from sumfit.rerank.neural import read_config
from sumfit.rerank.phrases import Phrases
from sumfit.runtime import ModelDirectory
from sumfit.text import Tokenizer
from tests.fuzz.fuzzing import allowing, damaged, fuzz

RECIPES = Path(__file__).parent.parent.parent / "recipes"


@pytest.fixture
def model(tiny_model: Path, tmp_path: Path) -> Path:
    place = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    (place / MANIFEST).unlink(missing_ok=True)
    return place


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.just(10**400)
    | st.just(-1),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=3,
)


@st.composite
def changed(draw: st.DrawFn, config: dict[str, Any]) -> bytes:
    """A configuration that is JSON, with values that are not what they should be."""
    values = json.loads(json.dumps(config))
    for _ in range(draw(st.integers(1, 3))):
        place = values
        if isinstance(values.get("architecture"), dict) and draw(st.booleans()):
            place = values["architecture"]
        key = draw(st.sampled_from(sorted(place) or ["x"]) | st.text(max_size=3))
        place[key] = draw(VALUES)
    return json.dumps(values).encode()


def test_configuration(model: Path) -> None:
    file = model / "config.json"
    seeds = [file.read_bytes()]

    def check(data: bytes) -> None:
        file.write_bytes(data)
        for use in (ModelDirectory.open, read_architecture):
            with allowing(ModelError):
                use(model)

    fuzz(damaged(seeds) | changed(json.loads(seeds[0])), check)


def test_manifest(model: Path) -> None:
    file = write_manifest(model)
    good = file.read_bytes()

    def check(data: bytes) -> None:
        file.write_bytes(data)
        with allowing(ModelFormatError):
            files = ModelFiles(model)
            files.check()
            assert files.has_manifest

    fuzz(damaged([good]) | changed(json.loads(good)), check)


def test_tokenizer(model: Path) -> None:
    good = (model / "tokenizer.json").read_bytes()

    def check(data: bytes) -> None:
        with allowing(ModelError):
            found = Tokenizer(data.decode("utf-8", "replace"))
            assert len(found.piece_bytes) == found.vocab_size
            found.decode(found.encode("some words"))

    fuzz(damaged([good[:6000] + good[-2000:], good]), check)


def test_lexicon(model: Path) -> None:
    file = model / "lexicon.txt.xz"

    def check(data: bytes) -> None:
        for place in (file, model / "words.txt"):
            place.write_bytes(data)
            with allowing(ModelFormatError, naming=place):
                words = list(Lexicon.load(place))
                assert words == sorted(set(words))

    fuzz(damaged([file.read_bytes(), b"a\nb\nc\n", "caf\u00e9\n\u65e5\n".encode()]), check)


def test_phrases(tmp_path: Path) -> None:
    file = tmp_path / "phrases.npz"
    seeds = []
    for size in (1, 40):
        numbers = np.arange(size)
        words, bytes_ = numbers.astype(np.uint32), numbers.astype(np.uint8)
        Phrases(words, bytes_, bytes_, bytes_.astype(np.int8), words, bytes_).save(file)
        seeds.append(file.read_bytes())

    def check(data: bytes) -> None:
        file.write_bytes(data)
        with allowing(ModelFormatError, naming=file):
            Phrases.load(file).kept(["word"])

    fuzz(damaged(seeds), check)


def test_network(model: Path) -> None:
    file = model / "model.fp32.onnx"
    whole = file.read_bytes()

    def check(data: bytes) -> None:
        file.write_bytes(data)
        with allowing(ModelFormatError, naming=file):
            check_self_contained(file, remedy="")

    fuzz(damaged([whole[:2000], whole[-3000:]]), check)


RERANKER = {
    "format": "sumfit-reranker-1",
    "name": "r",
    "architecture": {"encoder": "none"},
    "tokenizer_sha256": "0" * 64,
    "models": ["m"],
    "profiles": ["natural"],
    "features": [],
    "mbr_temperature": 2.0,
    "n_listed": 20,
    "after_best": 0,
    "network_weight": 1.0,
    "weight": 0.0,
    "f1_weight": 0.0,
}


def test_configuration_of_a_reranker(tmp_path: Path) -> None:
    file = tmp_path / "config.json"

    def check(data: bytes) -> None:
        file.write_bytes(data)
        with allowing(ModelError):
            read_config(file)

    seeds = [json.dumps(RERANKER).encode()]
    fuzz(damaged(seeds) | changed(RERANKER), check)


def test_recipes(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training is not installed")
    from sumfit.training.recipe import load_recipe
    from sumfit.training.reranking.recipe import load_reranker_recipe

    names = ("tiny", "dat-default", "dat-risk", "at-leninfo-gigaword", "reranker", "reranker-light")
    seeds = [(RECIPES / f"{name}.toml").read_bytes() for name in names]
    file = tmp_path / "recipe.toml"

    def check(data: bytes) -> None:
        file.write_bytes(data)
        for load in (load_recipe, load_reranker_recipe):
            with allowing(ConfigError, ModelError):
                load(file)

    fuzz(damaged(seeds), check)
