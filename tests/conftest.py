"""Fixtures that several test directories share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sumfit import Summarizer, Tokenizer


def _load(name: str) -> ModuleType:
    """Import a helper module that lies beside this file, once."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory whose answers are made of the source's words; see `tests/tiny_model.py`."""
    directory: Path = _load("tiny_model").write_model(tmp_path_factory.mktemp("models") / "tiny")
    return directory


@pytest.fixture(scope="session")
def tiny_tokenizer(tiny_model: Path) -> Tokenizer:
    """The tiny model's tokenizer."""
    return Tokenizer.from_file(tiny_model / "tokenizer.json")


@pytest.fixture(scope="session")
def fit(tiny_model: Path) -> Summarizer:
    """A summarizer of the tiny model."""
    return Summarizer.from_pretrained(tiny_model, n_workers=2)


@pytest.fixture(scope="session")
def texts() -> tuple[str, ...]:
    """Texts that the tiny model's tokenizer knows."""
    known: tuple[str, ...] = _load("tiny_model").TEXTS
    return known
