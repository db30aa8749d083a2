"""A model and everything that may be asked of it, as plain data.

Owns one dictionary, shown by the command line and the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sumfit._version import __version__
from sumfit.decoding import METHODS
from sumfit.length import PRESETS, UNITS
from sumfit.pipeline.options import Options
from sumfit.runtime import ModelConfig

__all__ = ["describe"]


def describe(config: ModelConfig, backend: str, styles: Sequence[str] = ()) -> dict[str, Any]:
    """Describe a model and what may be asked of it.

    Args:
        config: The model's configuration.
        backend: Name of the backend.
        styles: Styles that the model can be told to write.

    Returns:
        JSON types alone: ``name``, ``version``, ``backend``, ``units`` and ``presets`` with their
        descriptions, ``unit_display``, ``styles``, ``methods``, ``defaults`` and ``config``.
    """
    return {
        "name": config.name,
        "version": __version__,
        "backend": backend,
        "units": {name: unit.description for name, unit in UNITS.items()},
        "unit_display": {
            name: {
                "singular": unit.singular or name,
                "plural": unit.plural or name,
                "slider": list(unit.slider),
                "start": unit.start,
            }
            for name, unit in UNITS.items()
        },
        "presets": {name: asdict(preset) for name, preset in PRESETS.items()},
        "styles": list(styles),
        "methods": sorted(METHODS),
        "defaults": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(Options()).items()
            if name != "is_cancelled"  # which no JSON can say
        },
        "config": {
            "architecture": config.architecture.to_dict(),
            "max_source": config.max_source,
            "tokenizer_sha256": config.tokenizer_sha256,
            "words_per_vertex": config.words_per_vertex,
            "pinned_words": config.pinned_words,
            "ending": config.ending,
            "bonus": dict(config.bonus),
            "unit_bonus": dict(config.unit_bonus),
            "mbr_weight": config.mbr_weight,
            "mbr_temperature": config.mbr_temperature,
            "profiles": list(config.profiles),
        },
    }
