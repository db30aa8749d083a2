"""Carry weights over a narrow door: a checkpoint as float16 pieces of limited size, and back.

Owns the piece files, each a valid safetensors file with some of the tensors. Does not own the
checkpoint (`sumfit.training.checkpoints`).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from sumfit.errors import ModelFormatError, ModelNotFoundError
from sumfit.models.checkpoint import read_architecture, save_weights
from sumfit.models.exported import exported_file, exported_weights

__all__ = ["averaged_weights", "join_pieces", "require_directory", "write_pieces"]

_BESIDE = ("config.json", "tokenizer.json", "phrases.npz")


def averaged_weights(folder: str | Path) -> dict[str, Tensor]:
    """Read the weights of a checkpoint that are worth keeping.

    Args:
        folder: A checkpoint, or any model directory.

    Returns:
        The moving average where the checkpoint has one, else the weights themselves; those of the
        exported graph where there is nothing else.

    Raises:
        ModelNotFoundError: If there are no weights.
        ModelFormatError: If a file is damaged.
    """
    folder = Path(folder)
    require_directory(folder)
    if not (folder / "model.safetensors").is_file():
        graph = exported_file(folder)
        if graph is not None:
            return exported_weights(graph, read_architecture(folder))
        raise ModelNotFoundError(f"{folder} holds no model.safetensors; give a checkpoint")
    try:
        weights = load_file(folder / "model.safetensors")
        training = folder / "training.safetensors"
        if training.is_file():
            for name, value in load_file(training).items():
                if name.startswith("ema."):
                    weights[name.removeprefix("ema.")] = value
    except (SafetensorError, OSError) as error:
        raise ModelFormatError(f"{folder} is damaged: {error}") from error
    return weights


def require_directory(folder: Path) -> None:
    """Raise unless a checkpoint is a directory.

    Args:
        folder: The checkpoint.

    Raises:
        ModelNotFoundError: If there is no such directory.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(
            f"there is no directory {folder}; give a checkpoint or a model directory"
        )


def write_pieces(
    folder: str | Path,
    output: str | Path,
    *,
    max_mib: float = 15.0,
    dtype: torch.dtype = torch.float16,
) -> list[Path]:
    """Write the averaged weights of a checkpoint as files of limited size.

    Args:
        folder: The checkpoint.
        output: Directory for ``weights-00.safetensors``, ``weights-01.safetensors``, ... with
            ``config.json`` and ``tokenizer.json`` beside them.
        max_mib: Largest piece in MiB; a tensor larger than that has a piece of its own.
        dtype: Stored type.

    Returns:
        The pieces.
    """
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    limit = max_mib * 2**20
    groups: list[dict[str, Tensor]] = []
    size = float("inf")
    for name, value in sorted(averaged_weights(folder).items()):
        stored = value.to(dtype)
        n_bytes = stored.numel() * stored.element_size() + 200  # its entry in the header
        if size + n_bytes > limit:
            groups.append({})
            size = 0.0
        groups[-1][name] = stored
        size += n_bytes
    paths = []
    for number, group in enumerate(groups):
        paths.append(output / f"weights-{number:02d}.safetensors")
        save_weights(group, paths[-1])
    for name in _BESIDE:
        if (Path(folder) / name).is_file():
            shutil.copyfile(Path(folder) / name, output / name)
    return paths


def join_pieces(folder: str | Path, output: str | Path) -> Path:
    """Put pieces together into a model directory, float32.

    Args:
        folder: Directory that `write_pieces` filled.
        output: Directory to make.

    Returns:
        The directory; ``model.safetensors``, ``config.json`` and ``tokenizer.json`` are in it.

    Raises:
        ModelNotFoundError: If there are no pieces.
        ModelFormatError: If pieces are damaged or missing.
    """
    folder, output = Path(folder), Path(output)
    paths = sorted(folder.glob("weights-*.safetensors"))
    if not paths:
        raise ModelNotFoundError(f"{folder} holds no weights-NN.safetensors")
    expected = [f"weights-{number:02d}.safetensors" for number in range(len(paths))]
    if [path.name for path in paths] != expected:
        raise ModelFormatError(f"{folder}: pieces are missing; there are {len(paths)}")
    weights: dict[str, Tensor] = {}
    for path in paths:
        try:
            weights |= {name: value.float() for name, value in load_file(path).items()}
        except (SafetensorError, OSError) as error:
            raise ModelFormatError(f"{path} is damaged ({error}); copy it again") from error
    output.mkdir(parents=True, exist_ok=True)
    save_weights(weights, output / "model.safetensors")
    for name in _BESIDE:
        if output.resolve() != folder.resolve() and (folder / name).is_file():
            shutil.copyfile(folder / name, output / name)
    return output
