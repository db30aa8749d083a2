"""The fluency benchmark: nats are those of the judge's own steps, differences are paired."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import fluency
from sumfit.models.config import BOS, EOS
from sumfit.text import Tokenizer
from tests.tiny_baseline import write_model

SUMMARIES = ("Bridge closed", "", "A storm tore roofs along the coast", "Library opens")


@pytest.fixture(scope="module")
def judge_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("judge"), "at")


@torch.no_grad()
def test_costs_are_those_of_one_piece_after_another(
    judge_directory: Path, texts: tuple[str, ...]
) -> None:
    judge = fluency.Judge(judge_directory)
    sources = texts[: len(SUMMARIES)]
    costs = judge.costs(sources, SUMMARIES)
    tokenizer = Tokenizer.from_file(judge_directory / "tokenizer.json")
    network = judge._network
    for source, summary, (nats, n_pieces) in zip(sources, SUMMARIES, costs, strict=True):
        ids = tokenizer.encode(summary)
        memory, mask = network.encode(torch.tensor([tokenizer.encode(source)[:48]]))
        expected = 0.0
        for n, label in enumerate([*ids, EOS]):
            hidden = network.decode(torch.tensor([[BOS, *ids[:n]]]), memory, mask)[0, -1]
            logits = hidden @ network.embedding.weight.T
            logits[:EOS] = -math.inf
            expected -= float(torch.log_softmax(logits, dim=0)[label])
        assert n_pieces == len(ids) + 1
        assert nats == pytest.approx(expected, rel=1e-4)


def test_the_difference_is_paired_and_per_piece() -> None:
    rng = np.random.default_rng(1)
    pieces = rng.integers(2, 30, size=400).astype(float)
    first = np.stack([pieces * rng.uniform(0.1, 5, size=400), pieces], axis=1)
    second = np.stack([first[:, 0] + 0.25 * pieces, pieces], axis=1)
    base, other = fluency.compared({"a": first, "b": second})
    assert base[0] == "a"
    assert base[2] is None
    value, delta, low, high = other[1:5]
    assert value == pytest.approx(base[1] + 0.25)
    assert [delta, low, high] == pytest.approx([0.25] * 3)  # far less than the texts differ


def test_models_and_references_are_judged(
    judge_directory: Path,
    tiny_model: Path,
    texts: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    records = [{"source": text, "summary": " ".join(text.split()[2:8])} for text in texts]
    path = tmp_path / "news" / "test.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    arguments = ["--data", str(tmp_path), "--judge", str(judge_directory), "--processes", "1"]
    arguments += ["--sets", "news/test=40", "--models", str(tiny_model), "default"]
    assert fluency.main(arguments) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "news/test" in line]
    assert [row.split("|")[3].strip() for row in rows] == [str(tiny_model), "default", "references"]


def test_what_cannot_judge_is_named(
    leninfo_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(tmp_path), "--judge", str(leninfo_directory)]
    assert fluency.main(arguments) == 1
    assert (
        "is of system at-leninfo, which cannot judge; give a checkpoint of"
        in capsys.readouterr().err
    )


@pytest.fixture(scope="module")
def leninfo_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("leninfo"), "at-leninfo")
