"""Fixtures that several test directories share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sumfit import Summarizer, Tokenizer
from tests.tiny_model import TEXTS, write_model

# A busy machine is slow at times, which is not a fault of the code under test.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# Processes that tests interrupt would inherit it from a run that was started in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory whose answers are made of the source's words; see `tests.tiny_model`."""
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


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
    return TEXTS
