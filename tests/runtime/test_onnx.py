"""The onnx backend: what it loads, what it refuses, and that nothing but the text matters."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest

from sumfit.dag import DAG
from sumfit.errors import ConfigError, IncompatibleModelError, ModelFormatError
from sumfit.runtime import GraphRequest, ModelDirectory, load_backend


def requests(model: ModelDirectory, texts: tuple[str, ...]) -> list[GraphRequest]:
    sources = [tuple(model.tokenizer.encode(text)) for text in texts]
    return [GraphRequest(ids, 32 + i) for i, ids in enumerate(sources)]


def same(one: DAG, two: DAG) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("word_ids", "word_logp", "link_logp", "other_logp")
    )


def test_graphs_are_valid_and_have_the_size_asked_for(
    tiny_model: Path, texts: tuple[str, ...]
) -> None:
    model = ModelDirectory.open(tiny_model)
    backend = load_backend(model)
    assert backend.name == "onnx-fp32"
    assert backend.batch_size == 1
    wanted = requests(model, texts)
    for request, dag in zip(wanted, backend.graphs(wanted), strict=True):
        dag.validate()
        assert dag.n_vertices == request.n_vertices
        assert dag.vocab_size == model.tokenizer.vocab_size
        assert dag.word_ids.min() >= 4


def test_a_graph_does_not_depend_on_its_batch_or_thread(
    tiny_model: Path, texts: tuple[str, ...]
) -> None:
    model = ModelDirectory.open(tiny_model)
    backend = load_backend(model)
    wanted = requests(model, texts)
    together = backend.graphs(wanted)
    alone = [backend.graphs([request])[0] for request in reversed(wanted)][::-1]
    with ThreadPoolExecutor(4) as pool:
        threaded = list(pool.map(lambda request: backend.graphs([request])[0], wanted * 3))
    assert all(map(same, together, alone))
    assert all(map(same, together * 3, threaded))


def test_a_damaged_network(tiny_model: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    file = directory / "model.fp32.onnx"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(
        ModelFormatError, match=r"model\.fp32\.onnx does not load as a network \(.*\); copy or"
    ):
        load_backend(ModelDirectory.open(directory))


def test_a_network_with_other_outputs(tiny_model: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    network = onnx.load(str(directory / "model.fp32.onnx"))
    del network.graph.output[3]
    onnx.save(network, str(directory / "model.fp32.onnx"))
    with pytest.raises(
        IncompatibleModelError,
        match=r"has outputs top_ids, cand_logp, other_logp, needed are .*link_logp; export",
    ):
        load_backend(ModelDirectory.open(directory))


def test_a_network_with_another_input(tiny_model: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    network = onnx.load(str(directory / "model.fp32.onnx"))
    network.graph.input.append(
        onnx.helper.make_tensor_value_info("style", onnx.TensorProto.INT64, ["B"])
    )
    onnx.save(network, str(directory / "model.fp32.onnx"))
    with pytest.raises(IncompatibleModelError, match="asks for style, which this version"):
        load_backend(ModelDirectory.open(directory))


def test_unknown_choices(tiny_model: Path) -> None:
    model = ModelDirectory.open(tiny_model)
    with pytest.raises(ConfigError, match="backend must be 'onnx' or 'torch', was 'tensorrt'"):
        load_backend(model, backend="tensorrt")
    with pytest.raises(ConfigError, match="device='cuda' needs backend='torch'"):
        load_backend(model, device="cuda")
    with pytest.raises(ConfigError, match=r"precision must be .* with backend='onnx', was 'int4'"):
        load_backend(model, precision="int4")
