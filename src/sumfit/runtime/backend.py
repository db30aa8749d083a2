"""Choosing a backend by name, importing only that one.

Owns the names users give. Does not own the backends.
"""

from __future__ import annotations

import importlib.util

from sumfit.errors import ConfigError, Keyword, MissingExtraError, given
from sumfit.runtime.directory import ModelDirectory
from sumfit.runtime.graph import Backend

__all__ = ["load_backend"]


def load_backend(
    model: ModelDirectory,
    *,
    backend: str = "onnx",
    device: str | None = None,
    precision: str | None = None,
    n_threads: int = 1,
) -> Backend:
    """Load a model's network.

    Args:
        model: An opened model directory.
        backend: ``"onnx"`` (CPU, the default) or ``"torch"``.
        device: Torch device such as ``"cuda"`` or ``"cpu"``; ``None`` picks a GPU if there is one.
        precision: ``"int8"`` or ``"fp32"`` (onnx), ``"bf16"``, ``"fp16"`` or ``"fp32"`` (torch);
            ``None`` is the best of those at hand.
        n_threads: Threads inside one onnx call.

    Returns:
        The backend.

    Raises:
        ConfigError: If the backend is unknown or does not take these options.
        MissingExtraError: If torch is asked for and not installed.
        ModelFormatError: If the network's file is missing or damaged.
        IncompatibleModelError: If the network is not of this version.
    """
    if backend == "onnx":
        if device not in (None, "cpu"):
            needs = (" needs ", given("backend", "torch"), "; ", given("backend", "onnx"))
            raise ConfigError(given("device", device), *needs, " runs on the CPU")
        if precision not in (None, "int8", "fp32"):
            rule = (" must be 'int8' or 'fp32' with ", given("backend", "onnx"))
            raise ConfigError(Keyword("precision", "", precision), *rule, f", was {precision!r}")
        from sumfit.runtime.onnx import OnnxBackend

        return OnnxBackend(model, precision=precision, n_threads=n_threads)
    if backend == "torch":
        if importlib.util.find_spec("torch") is None:
            raise MissingExtraError("torch", "train")
        from sumfit.runtime.torch import TorchBackend

        return TorchBackend(model, device=device, precision=precision)
    raise ConfigError.of("backend", backend, "must be 'onnx' or 'torch'")
