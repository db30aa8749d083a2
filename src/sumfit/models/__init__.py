"""The network, its start weights and its files; everything but `DATConfig` needs torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sumfit.errors import MissingExtraError
from sumfit.models.config import DATConfig

if TYPE_CHECKING:
    from sumfit.models.dat import DAT

__all__ = ["DAT", "DATConfig"]

_HOMES = {"DAT": "sumfit.models.dat"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train") from error
