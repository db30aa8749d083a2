"""What a run takes from the model it starts from, besides its weights.

Owns the name ``default`` for the embedded model, and what a recipe with ``start.model`` need not
say: the architecture, the tokenizer, the settings tuned for the model, its lexicon. Does not own
weights (`sumfit.models.checkpoint`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumfit.runtime.directory import DEFAULT_MODEL, LEXICON, default_model_path

if TYPE_CHECKING:
    from sumfit.constraints.lexicon import Lexicon

__all__ = [
    "start_directory",
    "start_fields",
    "start_lexicon",
    "start_system",
    "tokenizer_file",
    "with_start",
]

_TUNED = (
    "ending",
    "bonus",
    "unit_bonus",
    "mbr_temperature",
    "scripts",
    "languages",
    "words_per_vertex",
    "pinned_words",
)


def start_directory(model: str) -> Path:
    """Find the directory that ``start.model`` names.

    Args:
        model: ``default`` for the embedded model, else a directory.

    Returns:
        The directory, whether or not it is there.
    """
    return default_model_path() if model == DEFAULT_MODEL else Path(model)


def tokenizer_file(name: str) -> Path | None:
    """Find the file that ``data.tokenizer`` names.

    Args:
        name: ``default`` for that of the embedded model, else a file; may be empty.

    Returns:
        The file, whether or not it is there; ``None`` if none is named.
    """
    if not name:
        return None
    return default_model_path() / "tokenizer.json" if name == DEFAULT_MODEL else Path(name)


def with_start(values: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in what a recipe leaves to the model it starts from.

    Taken over, each unless the recipe has it: every number of the architecture, the longest source,
    and the tokenizer where there is no packed corpus. A directory that cannot be read changes
    nothing; it is reported with the other files of the recipe.

    Args:
        values: The recipe as read from its file.

    Returns:
        A changed copy; ``values`` itself if it starts from no model.
    """
    start = values.get("start")
    model = start.get("model") if isinstance(start, Mapping) else None
    if not isinstance(model, str) or not model:
        return dict(values)
    directory = start_directory(model)
    config = _config(directory)
    architecture = config.get("architecture")
    result = dict(values)
    section, data = values.get("model", {}), values.get("data", {})
    if isinstance(architecture, Mapping) and isinstance(section, Mapping):
        own = {key: value for key, value in architecture.items() if key != "vocab_size"}
        result["model"] = own | dict(section)
    if isinstance(data, Mapping):
        found: dict[str, Any] = {}
        if isinstance(config.get("max_source"), int):
            found["max_source"] = config["max_source"]
        if not data.get("corpus") and (directory / "tokenizer.json").is_file():
            # By its name: a checkpoint keeps the recipe, and may be read on another machine.
            is_default = model == DEFAULT_MODEL
            found["tokenizer"] = model if is_default else str(directory / "tokenizer.json")
        result["data"] = found | dict(data)
    return result


def start_fields(model: str) -> dict[str, Any]:
    """Read the settings that were tuned for a model.

    Args:
        model: ``start.model``; empty for none.

    Returns:
        Fields for ``config.json``.
    """
    config = _config(start_directory(model)) if model else {}
    return {key: config[key] for key in _TUNED if key in config}


def start_system(model: str) -> str:
    """Read which system a model belongs to.

    Args:
        model: ``start.model``.

    Returns:
        Its name; ``dat`` where its ``config.json`` names none or cannot be read, which is said
        when its weights are.
    """
    return str(_config(start_directory(model)).get("system", "dat"))


def start_lexicon(model: str) -> Lexicon | None:
    """Read the lexicon of a model.

    Args:
        model: ``start.model``; empty for none.

    Returns:
        Its lexicon, if it has one.
    """
    from sumfit.constraints.lexicon import Lexicon

    file = start_directory(model) / LEXICON
    return Lexicon.load(file) if model and file.is_file() else None


def _config(directory: Path) -> dict[str, Any]:
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}
