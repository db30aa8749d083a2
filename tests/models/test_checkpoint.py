"""Saved networks come back bit by bit, and what does not fit is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from sumfit.errors import IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models import DAT, DATConfig, load_model, load_weights, save_model, save_weights

SMALL = DATConfig(
    vocab_size=30,
    width=8,
    n_heads=2,
    n_link_heads=2,
    ffn_width=16,
    n_encoder_layers=1,
    n_decoder_layers=1,
    max_source_tokens=16,
    min_vertices=4,
    max_vertices=16,
)


def test_saved_model_comes_back_with_the_same_outputs(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = DAT(SMALL).eval()
    save_model(model, tmp_path / "model", fields={"name": "small", "bonus": {"default": 0.5}})
    again = load_model(tmp_path / "model")
    assert again.config == SMALL
    source, mask = torch.tensor([[5, 6, 7]]), torch.ones(1, 6, dtype=torch.bool)
    with torch.no_grad():
        for ours, theirs in zip(model(source, mask), again(source, mask), strict=True):
            assert ours.equal(theirs)
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["name"] == "small"
    assert config["format"] == "sumfit-model-1"
    assert not list((tmp_path / "model").glob("*.part"))


def test_half_precision_weights_fill_a_float32_network(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, other = DAT(SMALL), DAT(SMALL)
    save_weights(model.state_dict(), tmp_path / "start.safetensors", dtype=torch.float16)
    load_weights(other, tmp_path / "start.safetensors")
    assert other.embedding.weight.dtype == torch.float32
    torch.testing.assert_close(other.embedding.weight, model.embedding.weight, rtol=1e-3, atol=1e-5)


def test_first_differing_weight_is_named(tmp_path: Path) -> None:
    save_weights(DAT(SMALL).state_dict(), tmp_path / "w.safetensors")
    wider = DATConfig.from_dict({**SMALL.to_dict(), "ffn_width": 20})
    with pytest.raises(
        IncompatibleModelError,
        match=r"decoder\.0\.ffn_in\.bias is \(16,\) there and \(20,\) in this architecture",
    ):
        load_weights(DAT(wider), tmp_path / "w.safetensors")
    deeper = DATConfig.from_dict({**SMALL.to_dict(), "n_decoder_layers": 2})
    with pytest.raises(IncompatibleModelError, match=r"decoder\.1\.cross_kv\.bias is absent there"):
        load_weights(DAT(deeper), tmp_path / "w.safetensors")


def test_missing_damaged_and_foreign_files_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"config\.json is not there"):
        load_model(tmp_path)
    save_model(DAT(SMALL), tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelFormatError, match=r"model\.safetensors is damaged"):
        load_model(tmp_path)
    config = tmp_path / "config.json"
    fields = json.loads(config.read_text())
    config.write_text(json.dumps({**fields, "format": "sumfit-model-9"}))
    with pytest.raises(IncompatibleModelError, match=r"format 'sumfit-model-9'"):
        load_model(tmp_path)
    fields["architecture"]["n_wheels"] = 4
    config.write_text(json.dumps(fields))
    with pytest.raises(IncompatibleModelError, match=r"unknown architecture field 'n_wheels'"):
        load_model(tmp_path)
    config.write_text("{")
    with pytest.raises(ModelFormatError, match=r"config\.json is damaged"):
        load_model(tmp_path)


def test_a_full_disk_is_an_error_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "w.safetensors").write_bytes(b"as it was")

    def full(*_):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("sumfit.models.checkpoint.save_file", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        save_weights(DAT(SMALL).state_dict(), tmp_path / "w.safetensors")
    assert (caught.value.errno, caught.value.filename) == (28, str(tmp_path / "w.safetensors"))
    assert [path.name for path in tmp_path.iterdir()] == ["w.safetensors"]
    assert (tmp_path / "w.safetensors").read_bytes() == b"as it was"
