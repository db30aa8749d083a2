"""Weights read back from an exported graph make the network that was exported."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from sumfit.errors import IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models import DAT, DATConfig, export_onnx, load_model, save_model
from sumfit.models.exported import exported_file, exported_weights
from tests.models.test_export import FIELDS, N_VERTICES, SOURCE, make_model


def read_back(model: DAT, path: Path, precision: str) -> DAT:
    export_onnx(model, path, words_per_vertex=3, precision=precision)
    found = DAT(model.config).eval()
    found.load_state_dict(exported_weights(path, model.config))
    return found


@torch.no_grad()
def largest_difference(one: DAT, other: DAT) -> float:
    mask = torch.arange(12) < N_VERTICES[:, None]
    words, links = zip(*(model(SOURCE, mask) for model in (one, other)), strict=True)
    assert (links[0].isneginf() == links[1].isneginf()).all()
    finite = links[0].isfinite()
    off = (links[0] - links[1])[finite].abs().max()
    return float(torch.maximum(off, (words[0] - words[1])[mask][:, 4:].abs().max()))


def test_a_float_graph_gives_the_network_back(tmp_path: Path) -> None:
    model = make_model()
    found = read_back(model, tmp_path / "m.onnx", "fp32")
    assert largest_difference(model, found) < 0.02
    kept = dict(model.named_parameters())
    for name, values in found.named_parameters():
        if not name.startswith(("links", "vertex_entry", "embedding")):
            torch.testing.assert_close(values, kept[name])


def test_an_int8_graph_gives_a_network_near_it(tmp_path: Path) -> None:
    model = make_model()
    found = read_back(model, tmp_path / "m.onnx", "int8")
    assert 0 < largest_difference(model, found) < 1.0
    again = read_back(found, tmp_path / "again.onnx", "int8")
    assert largest_difference(found, again) < 0.1  # rounding once more changes little
    first, second = (
        {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(file).graph.initializer}
        for file in (tmp_path / "m.onnx", tmp_path / "again.onnx")
    )
    for name in ("encoder.0.self_qkv", "decoder.1.ffn.out"):
        assert (first[name] == second[name]).all()


def test_vertex_inputs_are_unfolded_from_their_norm(tmp_path: Path) -> None:
    model = make_model()
    with torch.no_grad():  # a norm of its own, as after training
        model.vertex_entry.norm.weight.mul_(1 + 0.1 * torch.sin(torch.arange(48.0)))
        model.vertex_entry.norm.bias.add_(0.1 * torch.cos(torch.arange(48.0)))
    found = read_back(model, tmp_path / "m.onnx", "fp32")
    for reads in (1, 2, 3):  # bos, eos, mask
        words = [net.embedding.weight[reads].expand(1, 24, -1) for net in (model, found)]
        with torch.no_grad():
            one, other = model.vertex_entry(words[0]), found.vertex_entry(words[1])
        places = slice(0, 1) if reads == 1 else slice(1, 24)
        torch.testing.assert_close(one[:, places], other[:, places], atol=0.05, rtol=0)


def test_a_directory_without_weights_loads_from_its_graph(tmp_path: Path) -> None:
    model = make_model()
    save_model(model, tmp_path)
    assert exported_file(tmp_path) is None
    (tmp_path / "model.safetensors").unlink()
    export_onnx(model, tmp_path / "model.onnx", words_per_vertex=3, precision="int8")
    assert largest_difference(model, load_model(tmp_path)) < 1.0
    export_onnx(model, tmp_path / "model.fp32.onnx", words_per_vertex=3, precision="fp32")
    assert exported_file(tmp_path) == tmp_path / "model.fp32.onnx"
    assert largest_difference(model, load_model(tmp_path)) < 0.02


def test_another_architecture_or_file_is_one_clear_error(tmp_path: Path) -> None:
    config = DATConfig.from_dict(FIELDS)
    with pytest.raises(ModelNotFoundError, match="is not there; give an exported model"):
        exported_weights(tmp_path / "m.onnx", config)
    (tmp_path / "m.onnx").write_bytes(b"\x00nothing")
    with pytest.raises(ModelFormatError, match="damaged"):
        exported_weights(tmp_path / "m.onnx", config)
    save_model(make_model(), tmp_path)
    (tmp_path / "model.safetensors").unlink()
    export_onnx(make_model(), tmp_path / "model.onnx", words_per_vertex=3)
    deeper = DATConfig.from_dict({**FIELDS, "n_encoder_layers": 3})
    with pytest.raises(IncompatibleModelError, match=r"has no encoder\.2\.self_qkv"):
        exported_weights(tmp_path / "model.onnx", deeper)
    graph = onnx.load(tmp_path / "model.onnx")
    graph.graph.input.append(
        onnx.helper.make_tensor_value_info("style", onnx.TensorProto.INT64, ["B"])
    )
    onnx.save(graph, tmp_path / "other.onnx")
    with pytest.raises(IncompatibleModelError, match="asks for style, which this version"):
        exported_weights(tmp_path / "other.onnx", config)
    graph.graph.input.pop()
    for tensor in graph.graph.initializer:
        if tensor.name == "vertex_inner":
            values = np.array(numpy_helper.to_array(tensor)) + 5
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    onnx.save(graph, tmp_path / "model.onnx")
    with pytest.raises(IncompatibleModelError, match="vertex inputs are those of no layer norm"):
        exported_weights(tmp_path / "model.onnx", config)


def test_a_graph_of_another_width_is_refused(tmp_path: Path) -> None:
    model = make_model()
    export_onnx(model, tmp_path / "m.onnx", words_per_vertex=3, precision="fp32")
    for change in ({"width": 24}, {"max_vertices": 25}):
        other = dataclasses.replace(model.config, **change)  # type: ignore[arg-type]
        with pytest.raises(IncompatibleModelError) as caught:
            exported_weights(tmp_path / "m.onnx", other)
        size, here = model.config, 2 * other.width + other.n_link_heads
        rows = 2 * size.width + size.n_link_heads
        assert str(caught.value) == (
            f"{tmp_path / 'm.onnx'}: links and their positions are ({rows}, {size.width}) and "
            f"({size.max_vertices}, {rows}) there, ({here}, {other.width}) and "
            f"({other.max_vertices}, {here}) in this architecture; use the config.json that came "
            "with it"
        )


def test_wrong_shapes_are_named(tmp_path: Path) -> None:
    save_model(make_model(), tmp_path)
    export_onnx(make_model(), tmp_path / "model.onnx", words_per_vertex=3)
    (tmp_path / "model.safetensors").unlink()
    text = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(text.replace('"vocab_size": 90', '"vocab_size": 91'))
    with pytest.raises(IncompatibleModelError, match=r"embedding\.weight is"):
        load_model(tmp_path)
    shutil.rmtree(tmp_path)
