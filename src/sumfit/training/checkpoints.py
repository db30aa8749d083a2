"""Checkpoints of a run: written whole or not at all, found again, cleared away.

Owns the folders ``checkpoint-STEP`` and ``best`` below the output directory. Each is also a model
directory (`sumfit.models.checkpoint`) whose ``model.safetensors`` holds the raw weights, with
``training.safetensors`` (moments, moving average) and ``training.json`` beside it; ``best`` holds
the averaged weights and no training state. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from sumfit.config import build, to_mapping
from sumfit.errors import IncompatibleModelError, ModelFormatError, TrainingError
from sumfit.models.checkpoint import (
    fill_network,
    read_architecture,
    require_system,
    save_model,
    save_weights,
)
from sumfit.models.config import architecture_differences
from sumfit.models.network import Network
from sumfit.training.loader import Position
from sumfit.writing import is_full

__all__ = [
    "TrainingState",
    "folders",
    "latest",
    "load_training",
    "read_training",
    "save_checkpoint",
    "write_atomically",
    "write_training",
]

_FOLDER = re.compile(r"checkpoint-(\d+)")


@dataclass(frozen=True, slots=True)
class TrainingState:
    """Where a run stands.

    Attributes:
        step: Steps done.
        position: Place in the stream of batches.
        plan: What the stream was made from; another value means that ``position`` has no meaning.
        n_pairs: Pairs seen.
        elapsed_s: Seconds of training so far, over all calls.
        best: Best validation score; lower is better, ``None`` before the first.
        best_step: Step of the best validation.
        n_stale: Validations since the best one.
    """

    step: int = 0
    position: Position = field(default_factory=Position)
    plan: str = ""
    n_pairs: int = 0
    elapsed_s: float = 0.0
    best: float | None = None
    best_step: int = 0
    n_stale: int = 0


def write_atomically(
    target: Path, fill: Callable[[Path], None], *, is_checkpoint: bool = False
) -> None:
    """Make a directory that appears whole or not at all.

    Args:
        target: The directory; one that exists is replaced.
        fill: Writes the files into the directory it is given.
        is_checkpoint: It is a checkpoint of a run, which can be resumed when there is room.

    Raises:
        TrainingError: If writing fails, for example because the disk is full; what was at
            ``target`` before is still there.
    """
    part = target.with_name(f".{target.name}.part")
    old = target.with_name(f".{target.name}.old")
    try:
        for leftover in (part, old):
            shutil.rmtree(leftover, ignore_errors=True)
        part.mkdir(parents=True)
        fill(part)
        if target.exists():
            target.replace(old)
        part.replace(target)
        shutil.rmtree(old, ignore_errors=True)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(part, ignore_errors=True)
        if old.exists() and not target.exists():
            old.replace(target)
        raise TrainingError(_not_written(target, error, is_checkpoint=is_checkpoint)) from error


def _not_written(target: Path, error: Exception, *, is_checkpoint: bool) -> str:
    """What was not written, why, what is still there and what to do."""
    reason, is_for_room = str(error), False
    if isinstance(error, OSError) and error.strerror:
        reason, is_for_room = error.strerror, is_full(error)
    if is_for_room:
        with suppress(OSError):
            reason += f"; {shutil.disk_usage(target.parent).free / 2**20:.0f} MiB are free there"
    if is_checkpoint:
        remedy = "make room" if is_for_room else f"make {target.parent} a directory to write into"
        return (
            f"cannot write {target}: {reason}. Earlier checkpoints are untouched: {remedy} and "
            "resume"
        )
    remedy = "make room, or give" if is_for_room else "give"
    return f"cannot write {target}: {reason}. Nothing was written: {remedy} another output"


def save_checkpoint(
    folder: Path,
    *,
    model: Network,
    fields: Mapping[str, Any],
    tokenizer: Path,
    training: Mapping[str, Tensor] | None = None,
    state: TrainingState | None = None,
) -> None:
    """Write a checkpoint folder.

    Args:
        folder: The folder to make.
        model: The network, its weights as they are to be saved.
        fields: Further fields of ``config.json``.
        tokenizer: Tokenizer file to copy.
        training: Named tensors of the optimiser, if training is to go on from here.
        state: Where the run stands.
    """

    def fill(part: Path) -> None:
        save_model(model, part, fields=fields)
        shutil.copyfile(tokenizer, part / "tokenizer.json")
        write_training(part, training, state)

    write_atomically(folder, fill, is_checkpoint=True)


def write_training(
    folder: Path, training: Mapping[str, Tensor] | None, state: TrainingState | None
) -> None:
    """Add to a checkpoint folder what training needs to go on from it.

    Args:
        folder: The folder.
        training: Named tensors of the optimiser; ``None`` for a checkpoint to use, not to resume.
        state: Where the run stands; ``None`` likewise.
    """
    if training is not None:
        save_weights(training, folder / "training.safetensors")
    if state is not None:
        digests = {file.name: _digest(file) for file in sorted(folder.glob("*.safetensors"))}
        text = json.dumps({**to_mapping(state), "sha256": digests}, indent=1)
        (folder / "training.json").write_text(text + "\n", encoding="utf-8")


def read_training(folder: Path) -> tuple[TrainingState, dict[str, Tensor]]:
    """Read what `write_training` wrote.

    Args:
        folder: The checkpoint folder.

    Returns:
        Where the run stood, and the optimiser's tensors.

    Raises:
        ModelFormatError: If files are missing or damaged.
    """
    try:
        values = json.loads((folder / "training.json").read_text("utf-8"))
        digests = values.pop("sha256", {}) if isinstance(values, dict) else {}
        for name, digest in digests.items():  # none in checkpoints of earlier versions
            if _digest(folder / name) != digest:
                raise ValueError(f"{name} is not as it was written")
        state = build(TrainingState, values, what="training.json")
        return state, load_file(folder / "training.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise ModelFormatError(
            f"{folder} cannot be resumed from: {error}; copy it again, or take another one"
        ) from error


def _digest(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    sha = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def latest(output: Path) -> Path | None:
    """Find the last checkpoint of a run.

    Args:
        output: Output directory of the run.

    Returns:
        Its folder; ``None`` if there is none.
    """
    found = folders(output)
    return found[-1] if found else None


def folders(output: Path) -> list[Path]:
    """List the checkpoints of a run, damaged or not.

    Args:
        output: Output directory of the run.

    Returns:
        Their folders, that of the most steps last.
    """
    if not output.is_dir():
        return []
    matches = [(_FOLDER.fullmatch(name), output / name) for name in os.listdir(output)]
    found = [(int(match.group(1)), path) for match, path in matches if match]
    return [path for _, path in sorted(found)]


def clear_old(output: Path, *, keep: int, damaged: Collection[Path] = ()) -> None:
    """Remove all but the last checkpoints.

    Args:
        output: Output directory of the run.
        keep: How many to keep.
        damaged: Folders to leave alone and not to count: one of them may be of more steps than
            those that are written now, and must not be kept in their place.
    """
    intact = [folder for folder in folders(output) if folder not in damaged]
    for folder in intact[:-keep]:
        shutil.rmtree(folder, ignore_errors=True)


def load_training(folder: Path, model: Network) -> tuple[TrainingState, dict[str, Tensor]]:
    """Read a checkpoint back; the weights go into the model.

    Args:
        folder: A folder that `save_checkpoint` wrote.
        model: Network of the same architecture.

    Returns:
        Where the run stood, and the optimiser's tensors.

    Raises:
        ModelFormatError: If files are missing or damaged.
        IncompatibleModelError: If it is of another system or architecture.
    """
    load_into(folder, model)
    return read_training(folder)


def load_into(folder: Path, model: Network) -> None:
    """Read the weights of a model directory, after comparing systems and architectures.

    The rule for the size of graphs may be another one, as training goes on, and a verdict that the
    directory lacks starts with random weights.

    Args:
        folder: A model directory, with weights or with an exported graph.
        model: The network to fill.

    Raises:
        ModelFormatError: If files are missing or damaged.
        IncompatibleModelError: If it is of another system or architecture.
    """
    there = read_architecture(folder)
    require_system(folder, model.system)
    if found := architecture_differences(there, model.config, model.system, may_adjust=True):
        raise IncompatibleModelError(
            f"{folder} has another architecture: {found}; use the recipe and tokenizer that its "
            "weights were made with"
        )
    fill_network(model, folder, begins="verdict.")
