"""A model's weights on disk: safetensors beside a ``config.json``, strict on the way in.

Owns ``model.safetensors`` and the fields ``system`` and ``architecture``. Other fields of
``config.json`` belong to the runtime and are passed through. Optimizer state is the training
loop's. Nothing is pickled.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from sumfit.errors import ConfigError, IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models.config import FORMAT, DATConfig
from sumfit.models.dat import DAT
from sumfit.models.exported import exported_file, exported_weights
from sumfit.models.manifest import ModelFiles
from sumfit.models.network import Network, build_network
from sumfit.unpacking import read_object
from sumfit.writing import write_whole

__all__ = [
    "fill_network",
    "load_model",
    "load_network",
    "load_weights",
    "read_architecture",
    "read_system",
    "require_system",
    "require_weights",
    "save_model",
    "save_weights",
]

WEIGHTS_FILE = "model.safetensors"


def save_model(
    model: Network, directory: str | os.PathLike[str], *, fields: Mapping[str, Any] | None = None
) -> None:
    """Write ``model.safetensors`` and ``config.json``; both appear whole or not at all.

    Args:
        model: The network.
        directory: Made if it is not there.
        fields: Further fields of ``config.json``, such as ``name`` and ``tokenizer_sha256``.
    """
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    save_weights(model.state_dict(), place / WEIGHTS_FILE)
    config = {
        **(fields or {}),
        "format": FORMAT,
        "system": model.system,
        "architecture": model.config.to_dict(),
    }
    write_whole(place / "config.json", json.dumps(config, indent=2).encode() + b"\n")


def load_model(directory: str | os.PathLike[str]) -> DAT:
    """Build the DAT of a model directory, on the CPU, ready for evaluation.

    Args:
        directory: Holds ``config.json`` and ``model.safetensors``, or an exported graph.

    Returns:
        The network in evaluation mode.

    Raises:
        ModelNotFoundError: If a file is not there.
        ModelFormatError: If a file is damaged.
        IncompatibleModelError: If it is of another system, or the weights do not fit.
    """
    require_system(directory, DAT.system)
    network = load_network(directory)
    assert isinstance(network, DAT)
    return network


def load_network(directory: str | os.PathLike[str]) -> Network:
    """Build the network of any system that `save_model` wrote, on the CPU, for evaluation.

    Args:
        directory: Holds ``config.json`` and ``model.safetensors``.

    Returns:
        The network in evaluation mode.

    Raises:
        ModelNotFoundError: If a file is not there.
        ModelFormatError: If a file is damaged.
        IncompatibleModelError: If the system is unknown here, or the weights do not fit.
    """
    config = read_architecture(directory)
    try:
        network = build_network(read_system(directory), config)
    except ConfigError as error:
        raise IncompatibleModelError(f"{directory}: {error}") from error
    fill_network(network, directory)
    return network.eval()


def fill_network(
    model: Network, directory: str | os.PathLike[str], *, begins: str | None = None
) -> None:
    """Fill a network in place from a directory: its weights, or else its exported graph.

    Args:
        model: The network to fill.
        directory: Holds ``model.safetensors``, ``model.fp32.onnx`` or ``model.onnx``; the first of
            these is taken.
        begins: How the names of weights begin that keep their random start if they are not there.

    Raises:
        ModelNotFoundError: If there is none of these.
        ModelFormatError: If the file is damaged.
        IncompatibleModelError: If the weights do not fit the architecture.
    """
    file = Path(directory) / WEIGHTS_FILE
    graph = None if file.is_file() else exported_file(directory)
    if Path(directory).is_dir():
        ModelFiles(directory).path((graph or file).name)
    if graph is not None and isinstance(model, DAT):
        _fill(model, exported_weights(graph, model.config), graph, begins)
    else:
        load_weights(model, file, begins=begins)


def read_system(directory: str | os.PathLike[str]) -> str:
    """Read which system a saved network belongs to.

    Args:
        directory: Holds ``config.json``.

    Returns:
        Its name; ``dat`` where the file names none, as those of the first version do not.

    Raises:
        ModelNotFoundError: If there is no ``config.json``.
        ModelFormatError: If it is damaged.
    """
    system = _read_config(directory).get("system", DAT.system)
    if not isinstance(system, str):
        raise ModelFormatError(f"{directory}: 'system' is {system!r}, must be a name")
    return system


def require_system(directory: str | os.PathLike[str], system: str) -> None:
    """Raise unless a saved network belongs to this system.

    Args:
        directory: Holds ``config.json``.
        system: The system that is wanted.

    Raises:
        IncompatibleModelError: If the directory holds another one.
    """
    found = read_system(directory)
    if found != system:
        raise IncompatibleModelError(
            f"{directory} holds a model of the system {found!r}, but {system!r} is wanted here; "
            "give a model of that system, or load this one with sumfit.baselines.load_baseline"
        )


def require_weights(directory: str | os.PathLike[str], system: str) -> None:
    """Raise unless `fill_network` would find weights in a directory.

    Args:
        directory: A model directory.
        system: Of its network.

    Raises:
        ModelNotFoundError: If there are none.
    """
    file = Path(directory) / WEIGHTS_FILE
    has_graph = system == DAT.system and exported_file(directory) is not None
    if not file.is_file() and not has_graph:
        raise ModelNotFoundError(f"{file} is not there; give the weights of a saved model")


def read_architecture(directory: str | os.PathLike[str]) -> DATConfig:
    """Read the shape of a saved network.

    Args:
        directory: Holds ``config.json``.

    Returns:
        Its configuration.

    Raises:
        ModelNotFoundError: If there is no ``config.json``.
        ModelFormatError: If it is damaged.
        IncompatibleModelError: If it is of another format or names fields unknown here.
    """
    fields = _read_config(directory)["architecture"]
    try:
        return DATConfig.from_dict(fields)
    except ConfigError as error:
        raise IncompatibleModelError(f"{Path(directory) / 'config.json'}: {error}") from error


def save_weights(
    weights: Mapping[str, Tensor],
    path: str | os.PathLike[str],
    *,
    dtype: torch.dtype | None = None,
) -> None:
    """Write tensors as one safetensors file, which appears whole or not at all.

    Args:
        weights: Name and values, for example ``model.state_dict()``.
        path: File to write.
        dtype: Stored type; as they are if ``None``.

    Raises:
        OSError: If writing fails, for example because the disk is full.
    """
    target = Path(path)
    tensors = {
        name: values.detach().to("cpu", dtype or values.dtype).contiguous()
        for name, values in weights.items()
    }
    part = target.with_name(target.name + ".part")
    try:
        part.unlink(missing_ok=True)
        part.touch()
        mode = part.stat().st_mode  # what the umask leaves; safetensors makes files of mode 0600
        save_file(tensors, part)
        part.chmod(mode)
        part.replace(target)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise _write_error(error, target) from error


def load_weights(
    model: nn.Module, path: str | os.PathLike[str], *, begins: str | None = None
) -> None:
    """Fill a network in place from a safetensors file, in the network's own types.

    Args:
        model: The network to fill.
        path: File that `save_weights` wrote, in any floating type.
        begins: As for `fill_network`.

    Raises:
        ModelNotFoundError: If there is no such file.
        ModelFormatError: If it is not a safetensors file.
        IncompatibleModelError: If names or shapes differ; the first difference is named.
    """
    file = Path(path)
    if not file.is_file():
        raise ModelNotFoundError(f"{file} is not there; give the weights of a saved model")
    try:
        weights = load_file(file)
    except (SafetensorError, OSError) as error:
        raise ModelFormatError(f"{file} is damaged ({error}); copy the model again") from error
    _fill(model, weights, file, begins)


def _write_error(error: OSError | SafetensorError, target: Path) -> OSError:
    """The error with the name of the file; that of safetensors has its number in its text alone."""
    found = re.search(r"os error (\d+)", str(error))
    number = error.errno if isinstance(error, OSError) else found and int(found[1])
    return OSError(number or errno.EIO, os.strerror(number) if number else str(error), str(target))


def _fill(
    model: nn.Module, weights: Mapping[str, Tensor], file: Path, begins: str | None = None
) -> None:
    expected = model.state_dict()
    if begins is not None and not any(name.startswith(begins) for name in weights):
        own = {name: value for name, value in expected.items() if name.startswith(begins)}
        weights = {**own, **weights}
    for name in sorted(expected.keys() | weights.keys()):
        shapes = [tuple(part[name].shape) if name in part else None for part in (weights, expected)]
        if shapes[0] != shapes[1]:
            stated = ["absent" if shape is None else str(shape) for shape in shapes]
            raise IncompatibleModelError(
                f"{file}: {name} is {stated[0]} there and {stated[1]} in this architecture; "
                "use the recipe and tokenizer that the weights were made with"
            )
    model.load_state_dict(weights)


def _read_config(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """Read ``config.json``, its format checked, with an ``architecture`` that is a mapping."""
    file = Path(directory) / "config.json"
    if not file.is_file():
        raise ModelNotFoundError(f"{file} is not there; give the directory of a saved model")
    ModelFiles(directory).path(file.name)
    try:
        config = read_object(file)
        found, config["architecture"] = config["format"], dict(config["architecture"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelFormatError(f"{file} is damaged ({error!r}); save the model again") from error
    if found != FORMAT:
        raise IncompatibleModelError(f"{file} has format {found!r}, this version reads {FORMAT!r}")
    return config
