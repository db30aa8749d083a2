"""Training: recipes, the loop, checkpoints, and models made from them. Needs ``sumfit[train]``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sumfit.errors import MissingExtraError

if TYPE_CHECKING:
    from sumfit.training.export import export_model
    from sumfit.training.recipe import Recipe, load_recipe
    from sumfit.training.run import train

__all__ = ["Recipe", "export_model", "load_recipe", "train"]

_HOMES = {
    "Recipe": "sumfit.training.recipe",
    "export_model": "sumfit.training.export",
    "load_recipe": "sumfit.training.recipe",
    "train": "sumfit.training.run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train") from error
