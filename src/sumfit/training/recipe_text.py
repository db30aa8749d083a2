"""A recipe with all that it inherits, as text.

Owns the writing. Does not own what a recipe says (`sumfit.training.recipe`).
"""

from __future__ import annotations

from typing import Any

import tomli_w

from sumfit.config import to_mapping
from sumfit.training.recipe import Recipe
from sumfit.training.reranking.recipe import RerankerRecipe

__all__ = ["recipe_text"]


def recipe_text(recipe: Recipe | RerankerRecipe) -> str:
    """Write a recipe as TOML that makes the same recipe.

    Args:
        recipe: What was read from its file.

    Returns:
        TOML, every setting in it.
    """
    values = _without_none(to_mapping(recipe))
    if isinstance(recipe, Recipe):
        del values["model"]["vocab_size"]  # the tokenizer's; a recipe may not set it
    return tomli_w.dumps(values)


def _without_none(value: Any) -> Any:
    """Leave out what is not set, for which TOML has no value."""
    if isinstance(value, dict):
        return {k: _without_none(item) for k, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
