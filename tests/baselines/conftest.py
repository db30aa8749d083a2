from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiny_baseline import write_model


@pytest.fixture(scope="session")
def at_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("at"), "at")


@pytest.fixture(scope="session")
def leninfo_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("at-leninfo"), "at-leninfo")


@pytest.fixture(scope="session")
def ctc_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("ctc"), "ctc")


@pytest.fixture(scope="session")
def bert_crf_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("bert-crf"), "bert-crf")
