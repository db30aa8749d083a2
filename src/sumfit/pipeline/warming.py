"""Compiling everything beforehand, so that no summary waits for it.

Owns the calls that need every compiled loop. Does not compile (`sumfit.compiled`).
"""

from __future__ import annotations

import os
import time
from typing import Any

from sumfit.decoding import METHODS
from sumfit.pipeline.summarizer import Summarizer

__all__ = ["warm_up"]

_TEXT = (
    "The parish of Lower Mere will rebuild its stone footbridge next spring, after a flood in "
    "November swept away two of the four arches. The work is to cost 90,000 pounds."
)
_CALLS: tuple[dict[str, Any], ...] = (
    {"max_chars": 48},
    {"max_words": 7},
    {"exact_words": 7},
    {"max_chars": [30, 40, 50], "rerank": None},
    {"max_chars": 48, "n_best": 4, "rerank": None},
    {"max_chars": 48, "rerank": "mbr"},
    {"max_chars": 48, "faithful": True, "rerank": None},
    {"max_chars": 48, "banned": ["stone"], "required": ["footbridge"]},
    {"max_chars": 48, "constraints": False, "rerank": None},
    *({"max_words": 7, "method": method} for method in METHODS),
)


def warm_up(model: str | os.PathLike[str] | Summarizer | None = None) -> float:
    """Compile all search loops for this machine and keep them for later runs.

    Without it the first summary does so, which takes about a minute in a new environment. What is
    compiled already is only loaded.

    Args:
        model: A model directory, a `Summarizer`, or ``None`` for the default model.

    Returns:
        Seconds that it took.
    """
    started = time.perf_counter()
    fit = model if isinstance(model, Summarizer) else Summarizer.from_pretrained(model)
    for keywords in _CALLS:
        fit(_TEXT, on_error="return", **keywords)
    return time.perf_counter() - started
