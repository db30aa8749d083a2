"""A model with limit buckets is told each limit in pieces; one without is asked as ever."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from sumfit import Summarizer
from sumfit.dag import DAG
from sumfit.errors import ModelFormatError
from sumfit.runtime import Backend, GraphRequest, ModelDirectory, load_backend

RATES = {
    "natural": {"words": 1.5, "chars": 0.25, "graphemes": 0.25, "bytes": 0.2, "cells": 0.3},
    "gigaword": {"words": 1.1},
}


class Recorded:
    """A backend that keeps what it was asked."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.asked: list[GraphRequest] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def graphs(self, requests: list[GraphRequest]) -> list[DAG]:
        self.asked += requests
        return self._backend.graphs(requests)


def change(directory: Path, **fields: Any) -> None:
    file = directory / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    config["architecture"]["n_limit_buckets"] = 21
    file.write_text(json.dumps(config | fields), encoding="utf-8")


@pytest.fixture
def told_model(tiny_model: Path, tmp_path: Path) -> Path:
    """The tiny model with limit buckets: a larger limit makes its links less choosy."""
    directory = Path(shutil.copytree(tiny_model, tmp_path / "told"))
    change(directory, pieces_per_unit=RATES)
    network = onnx.load(str(directory / "model.fp32.onnx"))
    graph, make = network.graph, onnx.helper
    for node in graph.node:
        node.input[:] = ["told_steep" if name == "steep" else name for name in node.input]
    small = onnx.numpy_helper.from_array(np.array(0.02, np.float32), "small")
    graph.initializer.append(small)
    nodes = [
        make.make_node("Cast", ["limit_bucket"], ["bucket"], to=onnx.TensorProto.FLOAT),
        make.make_node("Mul", ["bucket", "small"], ["less"]),
        make.make_node("Add", ["steep", "less"], ["told_steep"]),
    ]
    for place, node in enumerate(nodes):
        graph.node.insert(place, node)
    graph.input.append(make.make_tensor_value_info("limit_bucket", onnx.TensorProto.INT64, ["B"]))
    onnx.save(network, str(directory / "model.fp32.onnx"))
    return directory


def load(directory: Path) -> tuple[Summarizer, list[GraphRequest]]:
    model = ModelDirectory.open(directory)
    backend = Recorded(load_backend(model))
    return Summarizer(model, backend, n_workers=2), backend.asked


@pytest.mark.parametrize(
    ("keywords", "bucket"),
    [
        ({"max_words": 4}, 6),
        ({"exact_words": 4}, 6),
        ({"min_words": 2, "max_words": 4}, 6),
        ({"max_words": 9, "profile": "gigaword"}, 10),
        ({"max_chars": 40}, 10),
        ({"max_graphemes": 40}, 10),
        ({"max_bytes": 40}, 8),
        ({"max_cells": 40}, 12),
        ({"max_cells": 40, "suffix": " ..."}, 11),  # 36 are left for the summary
        ({"max_tokens": 7}, 7),
        ({"max_words": 13}, 20),  # 19.5
        ({"max_words": 14}, 20),  # the last bucket
        ({"max_chars": 40, "profile": "gigaword"}, 0),  # no statistic
        ({"max_length": 40, "unit": "utf16"}, 0),
        ({"max_length": 40, "unit": len}, 0),
    ],
)
def test_a_limit_is_told_in_pieces(
    told_model: Path, texts: tuple[str, ...], keywords: dict[str, Any], bucket: int
) -> None:
    fit, asked = load(told_model)
    fit(texts[0], **keywords)
    assert [request.limit_bucket for request in asked] == [bucket]


def test_a_limit_beyond_the_source_is_that_of_the_source(
    told_model: Path, texts: tuple[str, ...]
) -> None:
    fit, asked = load(told_model)
    text = " ".join(texts[0].split()[:8])
    fit(text, max_words=500, keep_short=False)
    assert asked[0].limit_bucket == 12


def test_each_of_several_limits_has_the_graph_that_it_would_have_alone(
    told_model: Path, texts: tuple[str, ...]
) -> None:
    fit, asked = load(told_model)
    limits = [10, 4, 10, 6, 100]
    together = fit(texts[:3], limits=limits, unit="words")
    assert [request.limit_bucket for request in asked] == [6, 9, 15] * 3
    assert len({request.n_vertices for request in asked}) == 1
    for text, summaries in zip(texts, together, strict=False):
        alone = [fit(text, max_words=limit) for limit in limits]
        found = [(item.text, repr(item.score), item.limit) for item in summaries]  # nan == nan
        assert found == [(item.text, repr(item.score), item.limit) for item in alone]
        assert found[0] == found[2]
        assert summaries[-1].text == text


def test_the_bucket_reaches_the_network(told_model: Path, texts: tuple[str, ...]) -> None:
    fit, asked = load(told_model)
    unknown, short, long = (
        fit.graph(texts[0], **words) for words in ({}, {"max_words": 2}, {"max_words": 9})
    )
    assert [request.limit_bucket for request in asked] == [0, 3, 14]
    assert not np.allclose(unknown.link_logp, short.link_logp)
    assert not np.allclose(short.link_logp, long.link_logp)


def test_a_batch_of_different_limits_changes_nothing(
    told_model: Path, texts: tuple[str, ...]
) -> None:
    fit, _ = load(told_model)
    limits = [4, 5, 6, 7, 8, 9]
    together = [item.score for item in fit(list(texts), max_words=limits)]
    alone = [fit(text, max_words=n).score for text, n in zip(texts, limits, strict=True)]
    assert together == alone


def test_a_model_without_buckets_is_told_nothing(tiny_model: Path, texts: tuple[str, ...]) -> None:
    fit, asked = load(tiny_model)
    fit(texts[0], limits=[4, 6, 8], unit="words")
    assert [request.limit_bucket for request in asked] == [0]  # and one graph serves all limits


def test_buckets_without_a_statistic_are_told_pieces_alone(
    tiny_model: Path, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    directory = Path(shutil.copytree(tiny_model, tmp_path / "old"))
    change(directory)
    fit, asked = load(directory)
    fit(texts[0], max_words=6)
    fit(texts[0], max_tokens=6)
    assert [request.limit_bucket for request in asked] == [0, 6]


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ([], "'pieces_per_unit' is .*, must be a dict"),
        ({"natural": 2}, "'natural' is 2, must be a dict"),
        ({"natural": {"words": 0}}, "'words' is 0.0, must be above 0"),
    ],
)
def test_a_wrong_statistic_is_named(told_model: Path, rates: object, message: str) -> None:
    change(told_model, pieces_per_unit=rates)
    with pytest.raises(ModelFormatError, match=message):
        ModelDirectory.open(told_model)
