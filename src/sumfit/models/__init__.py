"""The network, its start weights and its files; everything but `DATConfig` needs torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sumfit.errors import MissingExtraError
from sumfit.models.config import DATConfig

if TYPE_CHECKING:
    from sumfit.models.checkpoint import load_model, load_weights, save_model, save_weights
    from sumfit.models.dat import DAT
    from sumfit.models.export import export_onnx
    from sumfit.models.minilm import init_from_minilm, write_start_weights

__all__ = [
    "DAT",
    "DATConfig",
    "export_onnx",
    "init_from_minilm",
    "load_model",
    "load_weights",
    "save_model",
    "save_weights",
    "write_start_weights",
]

_HOMES = {
    "DAT": "sumfit.models.dat",
    "export_onnx": "sumfit.models.export",
    "init_from_minilm": "sumfit.models.minilm",
    "load_model": "sumfit.models.checkpoint",
    "load_weights": "sumfit.models.checkpoint",
    "save_model": "sumfit.models.checkpoint",
    "save_weights": "sumfit.models.checkpoint",
    "write_start_weights": "sumfit.models.minilm",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train") from error
