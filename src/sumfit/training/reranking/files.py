"""Checkpoints of a reranker and the directories that summarizers read.

Owns ``config.json`` of both and which files they hold. Does not own the graph
(`sumfit.models.export_reranker`) or reading a directory at run time (`sumfit.rerank.neural`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from sumfit.errors import ConfigError, IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models.checkpoint import load_weights, save_weights
from sumfit.models.manifest import write_manifest
from sumfit.models.reranker import Reranker
from sumfit.models.reranker_config import RERANKER_FORMAT, RerankerShape, reader_file
from sumfit.training.checkpoints import (
    TrainingState,
    read_training,
    write_atomically,
    write_training,
)
from sumfit.training.pieces import averaged_weights

__all__ = [
    "export_reranker",
    "is_reranker",
    "load_reranker",
    "load_training",
    "save_checkpoint",
]

_GRAPHS = {"int8": "model.onnx", "fp32": "model.fp32.onnx"}


def save_checkpoint(
    folder: Path,
    *,
    model: Reranker,
    fields: Mapping[str, Any],
    tokenizer: Path,
    training: Mapping[str, Tensor] | None = None,
    state: TrainingState | None = None,
) -> None:
    """Write a checkpoint folder, whole or not at all.

    Args:
        folder: The folder to make.
        model: The network.
        fields: Further fields of ``config.json``.
        tokenizer: The encoder's tokenizer file, or the table of phrases if there is no encoder.
        training: Named tensors of the optimiser, if training is to go on from here.
        state: Where the run stands.
    """
    config = {**fields, "format": RERANKER_FORMAT, "architecture": model.shape.to_dict()}

    def fill(part: Path) -> None:
        save_weights(model.state_dict(), part / "model.safetensors")
        text = json.dumps(config, indent=1, ensure_ascii=False)
        (part / "config.json").write_text(text + "\n", encoding="utf-8")
        shutil.copyfile(tokenizer, part / reader_file(model.shape.encoder))
        write_training(part, training, state)

    write_atomically(folder, fill, is_checkpoint=True)


def load_training(folder: Path, model: Reranker) -> tuple[TrainingState, dict[str, Tensor]]:
    """Read a checkpoint back; the weights go into the network.

    Args:
        folder: A folder that `save_checkpoint` wrote.
        model: Network of the same shape.

    Returns:
        Where the run stood, and the optimiser's tensors.

    Raises:
        ModelFormatError: If files are missing or damaged.
    """
    load_weights(model, folder / "model.safetensors")
    return read_training(folder)


def is_reranker(folder: str | Path) -> bool:
    """Say whether a directory holds a reranker rather than a summarizer.

    Args:
        folder: The directory.

    Returns:
        The verdict; ``False`` where there is no readable ``config.json``.
    """
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        return bool(config.get("format") == RERANKER_FORMAT)
    except (OSError, ValueError, AttributeError):
        return False


def load_reranker(folder: str | Path) -> tuple[Reranker, dict[str, Any]]:
    """Build the network of a checkpoint from its averaged weights, ready for evaluation.

    Args:
        folder: A checkpoint, ``best``, or pieces joined again.

    Returns:
        The network, and ``config.json``.

    Raises:
        ModelNotFoundError: If a file is not there.
        ModelFormatError: If a file is damaged.
        IncompatibleModelError: If it is no reranker of this version.
    """
    file = Path(folder) / "config.json"
    if not file.is_file():
        raise ModelNotFoundError(f"{file} is not there; give the checkpoint of a reranker")
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
        found, architecture = config.get("format"), config.get("architecture", {})
    except (ValueError, AttributeError) as error:
        raise ModelFormatError(f"{file} is damaged: {error}") from error
    if found != RERANKER_FORMAT:
        raise IncompatibleModelError(
            f"{file} has format {found!r}, a reranker's is {RERANKER_FORMAT!r}"
        )
    try:
        model = Reranker(RerankerShape.from_dict(architecture))
        weights = averaged_weights(folder)
        model.load_state_dict({name: value.float() for name, value in weights.items()})
    except (ConfigError, RuntimeError) as error:
        raise ModelFormatError(f"{folder} is damaged: {error}") from error
    return model.eval(), config


def export_reranker(
    checkpoint: str | Path,
    output: str | Path,
    *,
    name: str = "",
    precisions: Sequence[Literal["int8", "fp32"]] = ("int8",),
    keep_weights: bool = False,
) -> Path:
    """Write the directory of a reranker that runs without torch.

    Args:
        checkpoint: A checkpoint folder or ``best``.
        output: Directory to make; one that exists keeps its model card.
        name: Name of the reranker; the recipe's if empty.
        precisions: Graphs to write.
        keep_weights: Also write ``model.safetensors`` (float16).

    Returns:
        The directory.

    Raises:
        ConfigError: If no precision, or one that is unknown, is asked for.
    """
    from sumfit.models.export_reranker import export_reranker_onnx

    checkpoint, output = Path(checkpoint), Path(output)
    unknown = [value for value in precisions if value not in _GRAPHS]
    if unknown or not precisions:
        raise ConfigError(f"precisions must be among int8, fp32, were {list(precisions)}")
    model, config = load_reranker(checkpoint)
    config["name"] = name or config.get("name", output.name)
    recipe = dict(config.get("recipe", {}))
    # What is of the machine; "lists" says what it learned from.
    for place in ("output_dir", "start", "train", "valid", "phrases"):
        recipe.pop(place, None)
    if model.has_encoder:
        recipe["encoder"] = {**recipe.get("encoder", {}), "start": ""}
    config["recipe"] = recipe

    def fill(part: Path) -> None:
        for precision in precisions:
            export_reranker_onnx(model, part / _GRAPHS[precision], precision=precision)
        text = json.dumps(config, indent=1, ensure_ascii=False)
        (part / "config.json").write_text(text + "\n", encoding="utf-8")
        reader = reader_file(model.shape.encoder)
        shutil.copyfile(checkpoint / reader, part / reader)
        if keep_weights:
            save_weights(model.state_dict(), part / "model.safetensors", dtype=torch.float16)
        if (output / "README.md").is_file():
            shutil.copyfile(output / "README.md", part / "README.md")
        write_manifest(part)

    write_atomically(output, fill)
    return output
