"""A trained reranker at run time: it computes what torch does, and refuses what does not fit."""

from __future__ import annotations

import dataclasses
import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sumfit.deadline import Deadline
from sumfit.errors import (
    ConfigError,
    IncompatibleModelError,
    ModelFormatError,
    ModelNotFoundError,
)
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.models.manifest import MANIFEST
from sumfit.models.reranker import Reranker
from sumfit.pipeline import Summarizer
from sumfit.rerank.features import ListNumbers
from sumfit.rerank.graph import GraphMBRReranker
from sumfit.rerank.neural import NeuralReranker
from sumfit.training.reranking.files import export_reranker
from tests.tiny_model import TEXTS, write_model
from tests.tiny_reranker import write_checkpoint

SOURCE = TEXTS[0]
CANDIDATES = ["bridge closed", "engineers closed the old bridge", "cracks found in supports"]


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("m") / "model")


@pytest.fixture(scope="module")
def reranker_dir(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("r")
    checkpoint, _ = write_checkpoint(model_dir, folder / "checkpoint")
    return export_reranker(checkpoint, folder / "reranker", precisions=["fp32"])


def candidates(texts: list[str]) -> list[Candidate]:
    return [
        Candidate(text, Hypothesis((5,) * (k + 2), -3.0 - k, -2.0 - k, 4), k, 0.5 + 0.1 * (k % 2))
        for k, text in enumerate(texts)
    ]


def torch_logits(network: Reranker, loaded: NeuralReranker, texts: list[str]) -> np.ndarray:
    reader = loaded._reader
    source = torch.tensor(reader.encode([SOURCE], most=48))
    encoded = reader.encode(texts, most=24)
    ids = torch.zeros(1, len(texts), max(map(len, encoded)), dtype=torch.int64)
    for row, pieces in enumerate(encoded):
        ids[0, row, : len(pieces)] = torch.tensor(pieces)
    features = None
    if network.shape.n_features:
        numbers = ListNumbers.of(candidates(texts))
        features = torch.from_numpy(loaded._features(SOURCE, texts, numbers))[None]
    with torch.no_grad():
        return network(source, ids, features)[0].numpy()


@pytest.mark.parametrize("precision", ["fp32", "int8"])
@pytest.mark.parametrize(
    "changes", [{}, {"head": "rank", "n_features": 0}, {"rank_embedding": False, "n_features": 0}]
)
def test_scores_are_those_of_torch(
    model_dir: Path, tmp_path: Path, precision: Any, changes: dict[str, Any]
) -> None:
    checkpoint, network = write_checkpoint(model_dir, tmp_path / "c", **changes)
    loaded = NeuralReranker(export_reranker(checkpoint, tmp_path / "r", precisions=[precision]))
    scores = loaded.score(SOURCE, candidates(CANDIDATES))
    expected = torch_logits(network, loaded, CANDIDATES)
    expected += 0.1 * np.array([0.0, -1.0, -2.0]) + 3.0 * np.array([-0.1, 0.0, -0.1])
    if precision == "fp32":
        np.testing.assert_allclose(scores, expected, atol=2e-4, rtol=1e-4)
    else:
        assert np.abs(scores - expected).max() < 0.15 * max(1.0, float(np.abs(expected).max()))


def test_a_batch_with_missing_candidates_is_that_of_torch(model_dir: Path, tmp_path: Path) -> None:
    import onnxruntime

    checkpoint, network = write_checkpoint(model_dir, tmp_path / "c", n_features=0)
    folder = export_reranker(checkpoint, tmp_path / "r", precisions=["fp32"])
    session = onnxruntime.InferenceSession(
        str(folder / "model.fp32.onnx"), providers=["CPUExecutionProvider"]
    )
    source = torch.tensor([[7, 8, 9, 10], [11, 12, 0, 0]])
    ids = torch.tensor([[[7, 8, 0], [9, 10, 11], [12, 0, 0]], [[11, 0, 0], [12, 13, 0], [0, 0, 0]]])
    with torch.no_grad():
        expected = network(source, ids).numpy()
    (logits,) = session.run(
        ["logits"], {"source_ids": source.numpy(), "candidate_ids": ids.numpy()}
    )
    np.testing.assert_allclose(logits, expected, atol=2e-4, rtol=1e-4)
    assert np.isneginf(logits[1, 2])


def test_order_follows_the_scores_and_lists_of_any_length_work(reranker_dir: Path) -> None:
    loaded = NeuralReranker(reranker_dir)
    assert loaded.name == "tiny-reranker"
    assert loaded.n_candidates == 5
    assert loaded.order(SOURCE, []) == ()
    assert loaded.order(SOURCE, candidates(["one"])) == (0,)
    scores = loaded.score(SOURCE, candidates(CANDIDATES))
    order = loaded.order(SOURCE, candidates(CANDIDATES))
    assert list(order) == sorted(range(3), key=lambda k: -scores[k])
    many = [f"{CANDIDATES[k % 3]} {k}" for k in range(8)]
    longer = loaded.order(SOURCE, candidates(many))
    assert sorted(longer[:5]) == list(range(5))
    assert longer[5:] == (5, 6, 7)  # beyond what it was trained with: behind, in their order


def test_identical_candidates_keep_their_order(model_dir: Path, tmp_path: Path) -> None:
    checkpoint, _ = write_checkpoint(
        model_dir, tmp_path / "c", rank_embedding=False, n_features=0, n_candidates=5
    )
    loaded = NeuralReranker(export_reranker(checkpoint, tmp_path / "r", precisions=["fp32"]))
    for name in ("weight", "f1_weight"):
        object.__setattr__(loaded.config, name, 0.0)
    assert loaded.order(SOURCE, candidates(["same words"] * 4)) == (0, 1, 2, 3)


def test_minimum_bayes_risk_is_what_is_left_without_the_network(
    model_dir: Path, reranker_dir: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "r"
    copy(reranker_dir, folder)
    change(folder, network_weight=0.0, weight=1.0, f1_weight=50.0)
    fit = Summarizer.from_pretrained(model_dir)
    tokenizer = fit.model.tokenizer
    mbr = GraphMBRReranker.of(tokenizer, weight=50.0, n_candidates=8, after_best=16)
    for text in TEXTS:
        found = fit(text, max_chars=40, rerank=str(folder))
        assert found == dataclasses.replace(
            fit(text, max_chars=40, rerank=mbr), timings=found.timings
        )
    loaded = NeuralReranker(folder)
    listed = candidates(CANDIDATES)
    expected = [one.hypothesis.score + 50 * one.expected_f1 for one in listed]
    np.testing.assert_allclose(
        loaded.score(SOURCE, listed), np.array(expected) - (-2.0 + 50 * 0.6), atol=1e-9
    )


def test_the_list_is_that_of_training_and_the_best_of_it_are_read(
    model_dir: Path, reranker_dir: Path
) -> None:
    fit = Summarizer.from_pretrained(model_dir)
    loaded = NeuralReranker(reranker_dir)
    lister = loaded.lister(fit.model.tokenizer)
    assert lister is not None
    assert (lister.n_candidates, lister.after_best, lister.weight) == (8, 16, 50.0)
    seen: list[list[Candidate]] = []
    order = loaded.order
    loaded.order = lambda source, some: (seen.append(list(some)), order(source, some))[1]  # type: ignore[method-assign,assignment]
    found = fit(TEXTS[1], max_chars=40, rerank=loaded)
    mbr = fit(TEXTS[1], max_chars=40, rerank=lister, n_best=5, near_doubles=True)
    assert [one.text for one in seen[0]] == [mbr.text, *(one.text for one in mbr.alternatives)]
    value = [one.hypothesis.score + 50 * one.expected_f1 for one in seen[0]]
    assert value == sorted(value, reverse=True)
    assert all(0 < one.expected_f1 <= 1 for one in seen[0])
    assert found.rank in [one.rank for one in seen[0]]


def test_a_reranked_summary_keeps_its_promises(model_dir: Path, reranker_dir: Path) -> None:
    fit = Summarizer.from_pretrained(model_dir)
    lister = NeuralReranker(reranker_dir).lister(fit.model.tokenizer)
    plain = fit(
        TEXTS[1], max_chars=40, n_best=5, near_doubles=True, constraints=False, rerank=lister
    )
    reranked = fit(
        TEXTS[1],
        max_chars=40,
        n_best=5,
        near_doubles=True,
        rerank=str(reranker_dir),
        constraints=False,
    )
    assert all(one.optimal is False for one in (reranked, *reranked.alternatives) if one.rank)
    listed = [plain, *plain.alternatives]
    again = [reranked, *reranked.alternatives]
    assert {one.text for one in again} == {one.text for one in listed}
    by_text = {one.text: one for one in listed}
    for one in again:
        assert one.length <= 40
        assert one.log_prob == by_text[one.text].log_prob
        assert one.rank == by_text[one.text].rank
    assert fit(TEXTS[1], max_chars=40, rerank=reranker_dir, constraints=False).text == (
        reranked.text
    )


def test_a_model_may_hold_its_own_reranker(
    model_dir: Path, reranker_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="'tiny-copy' has no reranker of its own"):
        Summarizer.from_pretrained(model_dir)(TEXTS[1], max_chars=40, rerank="neural")
    both = tmp_path / "model"
    shutil.copytree(model_dir, both)
    shutil.copytree(reranker_dir, both / "reranker")
    own = Summarizer.from_pretrained(both)(TEXTS[1], max_chars=40, rerank="neural")
    given = Summarizer.from_pretrained(both)(TEXTS[1], max_chars=40, rerank=reranker_dir)
    assert own.text == given.text


def test_a_reranker_of_another_tokenizer_is_refused(
    model_dir: Path, reranker_dir: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    copy(reranker_dir, other)
    change(other, tokenizer_sha256="0" * 64)
    fit = Summarizer.from_pretrained(model_dir)
    with pytest.raises(
        IncompatibleModelError,
        match="'tiny-reranker' was trained on candidates of 'tiny-copy', whose tokenizer is 0000",
    ):
        fit(TEXTS[1], max_chars=40, rerank=str(other))
    with pytest.raises(ConfigError, match="was trained on profile 'natural', profile was 'giga"):
        fit(TEXTS[1], max_chars=40, rerank=str(reranker_dir), profile="gigaword")


def copy(reranker: Path, folder: Path) -> None:
    """A copy to damage on purpose: without the manifest that would tell."""
    shutil.copytree(reranker, folder, ignore=shutil.ignore_patterns(MANIFEST))


def change(folder: Path, **fields: Any) -> None:
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(values | fields))


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"format": "sumfit-model-1"}, IncompatibleModelError, "this is a model, not a reranker"),
        ({"format": None}, IncompatibleModelError, "has format None"),
        ({"features": ["words"]}, IncompatibleModelError, "train the reranker again"),
        ({"architecture": {"depth": 1}}, IncompatibleModelError, "architecture cannot be used"),
        ({"architecture": 3}, ModelFormatError, "'architecture' is 3, must be a dict"),
        ({"name": None}, ModelFormatError, "'name' is None, must be a str"),
        ({"weight": "x"}, ModelFormatError, "'weight' is 'x', must be a number"),
        ({"mbr_temperature": 0}, ModelFormatError, "is 0, must be a number above 0"),
        ({"f1_weight": -1}, ModelFormatError, "'f1_weight' is -1, must be a number of at least 0"),
        ({"after_best": 1.5}, ModelFormatError, "'after_best' is 1.5, must be a whole number"),
    ],
)
def test_a_damaged_config_is_named(
    reranker_dir: Path, tmp_path: Path, fields: dict[str, Any], kind: type, message: str
) -> None:
    folder = tmp_path / "r"
    copy(reranker_dir, folder)
    change(folder, **fields)
    with pytest.raises(kind, match=message):
        NeuralReranker(folder)


def test_missing_and_damaged_files_are_named(reranker_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="there is no reranker directory"):
        NeuralReranker(tmp_path / "nowhere")
    for name, kind, message in (
        ("tokenizer.json", ModelFormatError, "is missing; the directory of a reranker holds"),
        ("model.fp32.onnx", ModelFormatError, r"holds no model\.onnx or model\.fp32\.onnx"),
    ):
        folder = tmp_path / name
        copy(reranker_dir, folder)
        (folder / name).unlink()
        with pytest.raises(kind, match=message):
            NeuralReranker(folder)
    folder = tmp_path / "damaged"
    copy(reranker_dir, folder)
    (folder / "model.fp32.onnx").write_bytes(b"no")
    with pytest.raises(ModelFormatError, match="does not load as a network"):
        NeuralReranker(folder)
    folder = tmp_path / "mixed"
    copy(reranker_dir, folder)
    values = json.loads((folder / "config.json").read_text())
    change(folder, architecture={**values["architecture"], "n_features": 0})
    with pytest.raises(IncompatibleModelError, match="reads candidate_ids, features, source_ids"):
        NeuralReranker(folder)


def test_a_faithful_candidate_comes_first(model_dir: Path) -> None:
    from sumfit.pipeline.faithfulness import faithful_first
    from sumfit.truth import support

    source = "Anna Lee paid 1,200 euros, said twenty people. #.## billion"
    assert support(source, "Lee pays 1200, 20 say").supported
    assert not support(source, "Lee pays 1300").supported
    assert not support(source, "says Bob").supported
    assert support(source, "#.## billion").supported
    assert not support(source, "## billion").supported
    listed = candidates(["paid Bob 9", "paid 9", "paid 1,200", "people"])
    judge = partial(support, source)
    assert [one.rank for one in faithful_first(listed, judge, Deadline())] == [2, 0, 1, 3]
    assert [one.rank for one in faithful_first(listed[:2], judge, Deadline())] == [
        1,
        0,
    ]  # the lesser fault
    fit = Summarizer.from_pretrained(model_dir)
    found = fit(TEXTS[1], max_chars=40, faithful=True)
    assert found.faithful is support(TEXTS[1], found.text).supported
    plain = fit(TEXTS[1], max_chars=40)
    assert plain.faithful is all(plain.checks.values())
