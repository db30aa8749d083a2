"""The reranker's network: what is masked, what moves with what, what it starts from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer as HFTokenizer
from tokenizers import models, pre_tokenizers

from sumfit.errors import (
    ConfigError,
    IncompatibleModelError,
    ModelFormatError,
    ModelNotFoundError,
)
from sumfit.models.layers import masked_mean
from sumfit.models.pretrained import encoder_directory, fill_encoder, read_encoder
from sumfit.models.reranker import Reranker
from sumfit.models.reranker_config import RerankerShape

FIELDS: dict[str, Any] = {
    "vocab_size": 40,
    "width": 16,
    "n_heads": 2,
    "ffn_width": 24,
    "n_layers": 2,
    "n_positions": 16,
    "max_source": 12,
    "max_candidate": 8,
    "n_candidates": 4,
    "head_width": 8,
    "dropout": 0.0,
}
SOURCE = torch.tensor([[5, 6, 7, 8], [9, 10, 0, 0]])
CANDIDATES = torch.tensor([[[5, 6, 0], [7, 8, 9], [6, 0, 0]], [[9, 10, 11], [10, 0, 0], [0, 0, 0]]])


def make(**changes: Any) -> Reranker:
    torch.manual_seed(3)
    model = Reranker(RerankerShape.from_dict({**FIELDS, **changes})).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.mul_(8)  # far from the start, so that every part matters
    return model


@pytest.fixture(params=["rank", "pooled"])
def model(request: pytest.FixtureRequest) -> Reranker:
    return make(head=request.param)


def test_missing_candidates_cannot_be_chosen(model: Reranker) -> None:
    logits = model(SOURCE, CANDIDATES)
    assert logits.shape == (2, 3)
    assert torch.isneginf(logits[1, 2])
    assert torch.isfinite(logits[0]).all()
    assert torch.isfinite(logits[1, :2]).all()


def test_padding_and_missing_candidates_change_nothing(model: Reranker) -> None:
    """Pieces, places and whole candidates of padding: the released code pools over them."""
    logits = model(SOURCE, CANDIDATES)
    wide_source = torch.nn.functional.pad(SOURCE, (0, 5))
    wide = torch.nn.functional.pad(CANDIDATES, (0, 4, 0, 1))
    padded = model(wide_source, wide)
    torch.testing.assert_close(padded[:, :3], logits, atol=1e-5, rtol=1e-5)
    assert torch.isneginf(padded[:, 3]).all()
    alone = model(SOURCE[1:, :2], CANDIDATES[1:, :2])
    torch.testing.assert_close(alone, logits[1:, :2], atol=1e-5, rtol=1e-5)


def test_without_rank_embedding_scores_move_with_their_candidates() -> None:
    model = make(head="pooled", rank_embedding=False)
    order = torch.tensor([2, 0, 1])
    logits = model(SOURCE[:1], CANDIDATES[:1])
    moved = model(SOURCE[:1], CANDIDATES[:1][:, order])
    torch.testing.assert_close(moved, logits[:, order], atol=1e-5, rtol=1e-5)


def test_with_rank_embedding_the_order_matters() -> None:
    model = make(head="pooled")
    order = torch.tensor([2, 0, 1])
    logits = model(SOURCE[:1], CANDIDATES[:1])
    moved = model(SOURCE[:1], CANDIDATES[:1][:, order])
    assert (moved - logits[:, order]).abs().max() > 1e-2


def test_every_part_is_read(model: Reranker) -> None:
    logits = model(SOURCE, CANDIDATES)
    other_source = SOURCE.clone()
    other_source[:, 0] = 30
    assert (model(other_source, CANDIDATES) - logits)[0].abs().max() > 1e-3
    other = CANDIDATES.clone()
    other[:, 1, 0] = 30
    change = (model(SOURCE, other) - logits)[0].abs()
    assert change[0] > 1e-4  # the first candidate sees the second


def test_features_reach_the_scores() -> None:
    model = make(n_features=2)
    features = torch.zeros(2, 3, 2)
    logits = model(SOURCE, CANDIDATES, features)
    features[0, 1, 0] = 1
    changed = model(SOURCE, CANDIDATES, features)
    assert changed[0, 1] != logits[0, 1]
    assert changed[0, 0] == logits[0, 0]


def test_without_an_encoder_features_are_all_that_is_read() -> None:
    model = make(encoder="none", n_features=3)
    assert {name.split(".")[0] for name, _ in model.named_parameters()} == {"head"}
    features = torch.randn(2, 3, 3)
    logits = model(SOURCE, CANDIDATES, features)
    assert torch.isneginf(logits[1, 2])
    torch.testing.assert_close(model(SOURCE + 9, CANDIDATES, features), logits)
    torch.testing.assert_close(
        model(SOURCE[:1], CANDIDATES[:1, 1:], features[:1, 1:]), logits[:1, 1:]
    )
    features[0, 1] += 1
    assert model(SOURCE, CANDIDATES, features)[0, 1] != logits[0, 1]


def test_gradients_are_finite_with_missing_candidates(model: Reranker) -> None:
    model.train()
    logits = model(SOURCE, CANDIDATES)
    logits[torch.isfinite(logits)].sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name


def test_the_mean_is_over_real_rows() -> None:
    words = torch.tensor([[[1.0], [3.0], [99.0]], [[5.0], [5.0], [5.0]]])
    mask = torch.tensor([[True, True, False], [False, False, False]])
    assert masked_mean(words, mask).tolist() == [[2.0], [0.0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 15}, "width 15 must be a multiple of n_heads 2"),
        ({"head": "top"}, r"head must be one of \('rank', 'pooled'\), was 'top'"),
        ({"n_candidates": 0}, "n_candidates must be at least 1, was 0"),
        ({"max_source": 20}, "max_source 20 and max_candidate 8 must be at most n_positions 16"),
        ({"rank_embedding": 1}, "rank_embedding must be bool, was 1"),
        ({"encoder": "none"}, "n_features above 0, were 'pooled' and 0"),
        ({"encoder": "none", "head": "rank", "n_features": 3}, "head must be 'pooled'"),
        ({"depth": 2}, "unknown architecture field 'depth'"),
    ],
)
def test_impossible_shapes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RerankerShape.from_dict({**FIELDS, **changes})


def write_encoder(folder: Path, *, family: str = "bert", **changes: Any) -> Path:
    """A tiny Hugging Face directory with names and forms of its family."""
    folder.mkdir(parents=True, exist_ok=True)
    prefix = "roberta." if family == "roberta" else ""
    config = {
        "model_type": family,
        "vocab_size": 20,
        "hidden_size": 8,
        "num_attention_heads": 2,
        "intermediate_size": 12,
        "num_hidden_layers": 2,
        "layer_norm_eps": 1e-5,
        "hidden_act": "gelu",
        "max_position_embeddings": 18,
        "pad_token_id": 1 if family == "roberta" else 0,
        **changes,
    }
    torch.manual_seed(1)
    shapes = {
        "embeddings.word_embeddings.weight": (20, 8),
        "embeddings.position_embeddings.weight": (18, 8),
        "embeddings.token_type_embeddings.weight": (1 if family == "roberta" else 2, 8),
        "embeddings.LayerNorm.weight": (8,),
        "embeddings.LayerNorm.bias": (8,),
    }
    for i in range(2):
        layer = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            shapes[f"{layer}.attention.self.{part}.weight"] = (8, 8)
            shapes[f"{layer}.attention.self.{part}.bias"] = (8,)
        for name, size in (
            ("attention.output.dense", (8, 8)),
            ("attention.output.LayerNorm", (8,)),
            ("intermediate.dense", (12, 8)),
            ("output.dense", (8, 12)),
            ("output.LayerNorm", (8,)),
        ):
            shapes[f"{layer}.{name}.weight"] = size
            shapes[f"{layer}.{name}.bias"] = size[:1]
    weights = {prefix + name: torch.randn(size) for name, size in shapes.items()}
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    words = {f"w{i}": i for i in range(20)}
    tokenizer = HFTokenizer(models.WordLevel(words, unk_token="w3"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def plain_encoder(folder: Path, ids: list[int], first_position: int) -> torch.Tensor:
    """BERT's forward pass for one text, written from its definition."""
    from safetensors.torch import load_file

    found = {
        name.removeprefix("roberta."): value
        for name, value in load_file(folder / "model.safetensors").items()
    }

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        normed = (x - mean) / torch.sqrt(var + 1e-5)
        return normed * found[f"{name}.weight"] + found[f"{name}.bias"]

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ found[f"{name}.weight"].T + found[f"{name}.bias"]

    places = torch.arange(len(ids)) + first_position
    x = found["embeddings.word_embeddings.weight"][ids]
    x = x + found["embeddings.position_embeddings.weight"][places]
    x = norm(x + found["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for i in range(2):
        layer = f"encoder.layer.{i}"
        q, k, v = (
            linear(x, f"{layer}.attention.self.{part}").view(-1, 2, 4).transpose(0, 1)
            for part in ("query", "key", "value")
        )
        weights = (q @ k.transpose(1, 2) / 2.0).softmax(-1)
        mixed = (weights @ v).transpose(0, 1).reshape(-1, 8)
        x = norm(x + linear(mixed, f"{layer}.attention.output.dense"),
                 f"{layer}.attention.output.LayerNorm")  # fmt: skip
        inner = torch.nn.functional.gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_an_encoder_from_a_directory_computes_what_its_definition_says(
    tmp_path: Path, family: str
) -> None:
    folder = write_encoder(tmp_path / family, family=family)
    encoder = read_encoder(folder)
    assert encoder.kind == family
    sizes = {"n_candidates": 4, "max_source": 12, "max_candidate": 8}
    model = Reranker(RerankerShape(encoder=encoder.kind, **encoder.fields, **sizes)).eval()
    fill_encoder(model, encoder)
    ids = [4, 9, 17, 5]
    padded = torch.tensor([[*ids, encoder.fields["pad_id"]]])
    with torch.no_grad():
        out, mask = model.encode(padded)
    expected = plain_encoder(folder, ids, 2 if family == "roberta" else 0)
    torch.testing.assert_close(out[0, :4], expected, atol=1e-4, rtol=1e-4)
    assert mask.tolist() == [[True] * 4 + [False]]
    assert read_encoder(folder, n_layers=1).fields["n_layers"] == 1


def test_the_encoder_of_a_summarizer_can_be_taken(tmp_path: Path) -> None:
    from sumfit.models import DAT, DATConfig, save_model

    torch.manual_seed(0)
    shape = DATConfig(
        vocab_size=300,
        width=16,
        n_heads=2,
        n_link_heads=2,
        ffn_width=16,
        n_encoder_layers=2,
        n_decoder_layers=1,
        max_source_tokens=20,
    )
    dat = DAT(shape).eval()
    save_model(dat, tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    encoder = read_encoder(tmp_path)
    sizes = {"max_source": 12, "max_candidate": 8}
    model = Reranker(RerankerShape(encoder=encoder.kind, **encoder.fields, **sizes)).eval()
    fill_encoder(model, encoder)
    ids = torch.tensor([[7, 8, 9, 0]])
    with torch.no_grad():
        torch.testing.assert_close(model.encode(ids)[0], dat.encode(ids)[0])


def test_directories_that_are_no_encoder_say_why(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="there is no encoder directory"):
        encoder_directory(tmp_path / "nowhere")
    folder = write_encoder(tmp_path / "e")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(
        ModelNotFoundError, match=r"holds no model\.safetensors; pytorch_model\.bin is not read"
    ):
        read_encoder(folder)
    for changes, message in (
        ({"model_type": "t5"}, "holds a model of type 't5'; encoders are of type bert, roberta"),
        ({"hidden_act": "relu"}, "hidden_act is 'relu', only 'gelu' is known here"),
    ):
        with pytest.raises(IncompatibleModelError, match=message):
            read_encoder(write_encoder(tmp_path / "f", **changes))
    with pytest.raises(IncompatibleModelError, match="has 2 layers, 3 were asked for"):
        read_encoder(write_encoder(tmp_path / "g"), n_layers=3)
    folder = write_encoder(tmp_path / "h", num_hidden_layers=3)
    with pytest.raises(ModelFormatError, match=r"lacks encoder\.layer\.2"):
        read_encoder(folder)
    (folder / "model.safetensors").write_bytes(b"no")
    with pytest.raises(ModelFormatError, match="is damaged"):
        read_encoder(folder)
