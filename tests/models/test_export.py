"""The exported graph computes what torch computes, row by row, and is as small as promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from sumfit.errors import ConfigError
from sumfit.models import DAT, DATConfig, export_onnx
from sumfit.models.onnx_graph import quantise

FIELDS = {
    "vocab_size": 90,
    "width": 48,
    "n_heads": 4,
    "n_link_heads": 3,
    "ffn_width": 80,
    "n_encoder_layers": 2,
    "n_decoder_layers": 2,
    "max_source_tokens": 24,
    "min_vertices": 8,
    "max_vertices": 24,
}
SOURCE = torch.tensor([[5, 6, 7, 8, 9, 10, 80], [11, 12, 13, 0, 0, 0, 0], [4, 4, 4, 4, 4, 0, 0]])
N_VERTICES = torch.tensor([12, 8, 10])
M = 3


def make_model(**changes: int) -> DAT:
    torch.manual_seed(0)
    model = DAT(DATConfig.from_dict({**FIELDS, **changes})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # sharper than the start, as after training
    return model


def run(path: Path, source: torch.Tensor, mask: torch.Tensor, **more: Any) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    assert names[:4] == ["top_ids", "cand_logp", "other_logp", "link_logp"]
    assert names[4:] in ([], ["pinned_ids"])
    inputs = {"source_ids": source.numpy(), "vertex_mask": mask.numpy(), **more}
    return list(session.run(None, inputs))


@pytest.fixture(params=["fp32", "int8"])
def precision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_fp32_graph_equals_torch(tmp_path: Path) -> None:
    model = make_model()
    mask = torch.arange(12) < N_VERTICES[:, None]
    with torch.no_grad():
        word_logp, link_logp = model(SOURCE, mask)
    export_onnx(model, tmp_path / "m.onnx", words_per_vertex=M, precision="fp32")
    top_ids, cand_logp, other_logp, links = run(tmp_path / "m.onnx", SOURCE, mask)
    for item, size in enumerate(N_VERTICES.tolist()):
        best = word_logp[item, :size].topk(M)
        assert (top_ids[item, :size] == best.indices.numpy()).all()
        np.testing.assert_allclose(other_logp[item, :size], best.values[:, -1], atol=1e-4)
        columns = torch.from_numpy(top_ids[item].reshape(-1))
        expected = word_logp[item, :size][:, columns]
        np.testing.assert_allclose(cand_logp[item, :size], expected, atol=1e-4)
    # -inf on both sides counts as equal; NaN would not.
    np.testing.assert_allclose(links, link_logp.numpy(), atol=1e-4)
    assert np.isneginf(links[1, :, 8:]).all()
    assert np.isneginf(links[1, 7:]).all()


def test_int8_graph_is_near_torch_and_impossible_links_stay_impossible(tmp_path: Path) -> None:
    model = make_model()
    mask = torch.arange(12) < N_VERTICES[:, None]
    with torch.no_grad():
        word_logp, link_logp = model(SOURCE, mask)
    export_onnx(model, tmp_path / "m.onnx", words_per_vertex=M, precision="int8")
    top_ids, cand_logp, _, links = run(tmp_path / "m.onnx", SOURCE, mask)
    expected = word_logp.gather(2, torch.from_numpy(top_ids).view(3, 1, -1).expand(3, 12, -1))
    real = mask.numpy()
    spread = float(word_logp[mask][:, 4:].std())
    assert spread > 0.5
    assert np.abs(cand_logp - expected.numpy())[real].mean() < 0.1 * spread
    assert (np.isneginf(links) == np.isneginf(link_logp.numpy())).all()
    assert not np.isnan(links).any()
    finite = np.isfinite(links)
    assert np.abs(links[finite] - link_logp.numpy()[finite]).mean() < 0.05


def test_an_item_does_not_depend_on_its_batch(tmp_path: Path, precision: str) -> None:
    export_onnx(make_model(), tmp_path / "m.onnx", words_per_vertex=M, precision=precision)
    mask = torch.arange(12) < N_VERTICES[:, None]
    together = run(tmp_path / "m.onnx", SOURCE, mask)
    alone = run(tmp_path / "m.onnx", SOURCE[1:2, :3], mask[1:2, :8])
    columns = 8 * M
    assert (alone[0][0] == together[0][1, :8]).all()
    np.testing.assert_allclose(alone[1][0], together[1][1, :8, :columns], atol=1e-4)
    np.testing.assert_allclose(alone[2][0], together[2][1, :8], atol=1e-4)
    np.testing.assert_allclose(alone[3][0], together[3][1, :8, :8], atol=1e-4)


def test_special_words_are_never_offered(tmp_path: Path, precision: str) -> None:
    model = make_model()
    with torch.no_grad():
        model.embedding.weight[:4] *= 50  # would win everywhere if they could
    export_onnx(model, tmp_path / "m.onnx", words_per_vertex=M, precision=precision)
    top_ids, cand_logp, _, _ = run(tmp_path / "m.onnx", SOURCE[:1], torch.ones(1, 9) > 0)
    assert top_ids.min() >= 4
    assert np.isfinite(cand_logp).all()


@pytest.mark.parametrize("n_items", [1, 3])
def test_pinned_words_have_their_probabilities_at_every_vertex(
    tmp_path: Path, precision: str, n_items: int
) -> None:
    model, pinned = make_model(), [77, 4, 89, 31]
    settings: dict[str, dict[str, Any]] = {
        "none": {"words_per_vertex": M},
        "some": {"words_per_vertex": M, "pinned_ids": pinned},
        "every": {"words_per_vertex": 86},
    }
    source, mask = SOURCE[:n_items], (torch.arange(12) < N_VERTICES[:, None])[:n_items]
    found = {}
    for name, options in settings.items():
        export_onnx(model, tmp_path / name, precision=precision, **options)
        found[name] = run(tmp_path / name, source, mask)
    *rest, ids = found["some"]
    assert ids.tolist() == pinned
    assert not np.isin(pinned, rest[0]).all()  # else it would show nothing
    np.testing.assert_array_equal(rest[1][:, :, : 12 * M], found["none"][1])
    for place in (0, 2, 3):
        np.testing.assert_array_equal(rest[place], found["none"][place])
    all_ids, all_logp = found["every"][:2]
    for item in range(n_items):
        columns = [int(np.flatnonzero(all_ids[item, 0] == word)[0]) for word in pinned]
        expected = all_logp[item][:, columns]
        np.testing.assert_array_equal(rest[1][item, :, 12 * M :], expected)


def test_each_weight_is_stored_once_and_in_one_byte(tmp_path: Path) -> None:
    model = make_model()
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    sizes = {}
    for precision in ("fp32", "int8"):
        export_onnx(model, tmp_path / precision, words_per_vertex=M, precision=precision)
        graph = onnx.load(tmp_path / precision).graph
        sizes[precision] = sum(np.prod(part.dims, dtype=int) for part in graph.initializer)
        words = [part for part in graph.initializer if 90 in part.dims and 48 in part.dims]
        assert len(words) == 1
    assert sizes["fp32"] < 1.1 * n_parameters
    matrices = [part for part in graph.initializer if len(part.dims) == 2 and 48 in part.dims]
    of_bytes = [part for part in matrices if part.data_type == onnx.TensorProto.INT8]
    assert sum(np.prod(p.dims) for p in of_bytes) > 0.8 * n_parameters


def test_quantised_rows_are_within_half_a_step() -> None:
    weight = np.sin(np.arange(60.0, dtype=np.float32)).reshape(5, 12)
    weight[3] = 0
    values, scale = quantise(weight)
    assert values.dtype == np.int8
    assert 2 * 255 * int(np.abs(values).max()) <= 32767  # no saturation without VNNI
    assert np.abs(values).max() == 64
    assert (np.abs(values * scale[:, None] - weight) <= scale[:, None] * 0.501).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words_per_vertex": 0}, r"words_per_vertex must be in 1\.\.86, was 0"),
        ({"words_per_vertex": 87}, r"words_per_vertex must be in 1\.\.86, was 87"),
        ({"pinned_ids": [4, 3]}, r"pinned_ids must be in 4\.\.89, were \[4, 3\]"),
        ({"pinned_ids": [90]}, r"pinned_ids must be in 4\.\.89, were \[90\]"),
        ({"precision": "int4"}, r"precision must be 'fp32' or 'int8', was 'int4'"),
    ],
)
def test_impossible_options_are_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        export_onnx(make_model(), tmp_path / "m.onnx", **options)
