"""Rerankers: choose among the candidates of an n-best list.

Owns the `Reranker` protocol and the lookup by name. A reranker never changes a candidate, so
every length promise of the search still holds for what it chooses.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from sumfit.errors import ConfigError
from sumfit.hypothesis import Hypothesis
from sumfit.rerank.mbr import (
    DEFAULT_TEMPERATURE,
    MBRReranker,
    MBRResult,
    TuningPoint,
    mbr_order,
    tune,
)

__all__ = [
    "MBRReranker",
    "MBRResult",
    "Reranker",
    "TuningPoint",
    "get_reranker",
    "mbr_order",
    "tune",
]


@runtime_checkable
class Reranker(Protocol):
    """Anything that orders candidates."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    @property
    def n_candidates(self) -> int:
        """How long an n-best list it wants."""
        ...

    def rerank(
        self, source_text: str, texts: Sequence[str], nbest: Sequence[Hypothesis]
    ) -> Sequence[int]:
        """Order the candidates of one text, best first.

        Args:
            source_text: The text that was summarised.
            texts: Text of each candidate.
            nbest: The candidates, in the same order, most probable first.

        Returns:
            A permutation of the indices of the candidates.
        """
        ...


def get_reranker(
    rerank: str | os.PathLike[str] | Reranker, *, mbr_temperature: float = DEFAULT_TEMPERATURE
) -> Reranker:
    """Look a reranker up.

    Args:
        rerank: ``"mbr"``, the directory of a trained reranker, or an object that is a reranker
            already.
        mbr_temperature: Temperature that the model was tuned with.

    Returns:
        The reranker.

    Raises:
        ConfigError: If there is no such reranker.
        ModelError: If the directory holds no usable reranker.
    """
    if isinstance(rerank, Reranker):
        return rerank
    if rerank == "mbr":
        return MBRReranker(temperature=mbr_temperature)
    if isinstance(rerank, str | os.PathLike):
        path = Path(rerank)
        if path.is_dir() or len(path.parts) > 1 or not isinstance(rerank, str):
            # Only here: most summaries need no network beside the summarizer's.
            from sumfit.rerank.neural import NeuralReranker

            return NeuralReranker(path)
    raise ConfigError(
        f"rerank must be 'mbr', the directory of a trained reranker or a Reranker, was {rerank!r}"
    )
