"""Rerankers: choose among the candidates of an n-best list.

Owns the `Reranker` protocol and the lookup by name. A reranker never changes a candidate, so
every length promise of the search still holds for what it chooses.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from sumfit.dag import DAG
from sumfit.errors import ConfigError
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.rerank.graph import DEFAULT_WEIGHT, GraphMBRReranker
from sumfit.text import Tokenizer

__all__ = [
    "AnyReranker",
    "GraphMBRReranker",
    "GraphReranker",
    "ListReranker",
    "Reranker",
    "get_reranker",
]

NAMES = ("mbr", "neural")
"""What ``rerank`` may be beside a directory; ``"neural"`` is the reranker in a model's own."""


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


@runtime_checkable
class GraphReranker(Protocol):
    """Anything that orders the hypotheses of a graph before their strings are made."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    @property
    def n_candidates(self) -> int:
        """How long an n-best list it wants."""
        ...

    @property
    def after_best(self) -> int | None:
        """Expansions of exact search for the list after its best; ``None`` for an exact list."""
        ...

    def rank(self, dag: DAG, nbest: Sequence[Hypothesis]) -> Sequence[int]:
        """Order the hypotheses, best first.

        Args:
            dag: The graph.
            nbest: Hypotheses of it, best score first.

        Returns:
            A permutation of their indices.
        """
        ...


@runtime_checkable
class ListReranker(Protocol):
    """Anything that reads both: the graph for the list and its order, and then the strings."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    @property
    def n_candidates(self) -> int:
        """How many strings it reads."""
        ...

    def lister(self, tokenizer: Tokenizer) -> GraphMBRReranker | None:
        """Say how the list is to be made.

        Args:
            tokenizer: Of the model whose graphs are read.

        Returns:
            What orders it before its strings are made; ``None`` for the search's own order.
        """
        ...

    def order(self, source_text: str, candidates: Sequence[Candidate]) -> Sequence[int]:
        """Order the candidates of one text, best first.

        Args:
            source_text: The text that was summarised.
            candidates: The candidates, in the order of `lister`.

        Returns:
            A permutation of their indices.
        """
        ...


AnyReranker = Reranker | GraphReranker | ListReranker


def get_reranker(
    rerank: str | os.PathLike[str] | AnyReranker,
    *,
    tokenizer: Tokenizer | None = None,
    mbr_weight: float = DEFAULT_WEIGHT,
) -> AnyReranker:
    """Look a reranker up.

    Args:
        rerank: ``"mbr"``: minimum Bayes risk under the whole graph; the directory of a trained
            reranker; or an object that is a reranker already.
        tokenizer: Of the model whose graphs are read; needed for ``"mbr"``.
        mbr_weight: Weight that the model was tuned with, for ``"mbr"``.

    Returns:
        The reranker.

    Raises:
        ConfigError: If there is no such reranker, or the tokenizer is missing.
        ModelError: If the directory holds no usable reranker.
    """
    if isinstance(rerank, AnyReranker):
        return rerank
    if rerank == "mbr":
        if tokenizer is None:
            raise ConfigError("rerank='mbr' reads the graphs of a model; give its tokenizer too")
        return GraphMBRReranker.of(tokenizer, weight=mbr_weight)
    if rerank == "mbr-nbest":
        raise ConfigError("rerank='mbr-nbest' has been removed; use rerank='mbr'")
    if isinstance(rerank, str | os.PathLike):
        path = Path(rerank)
        if path.is_dir() or len(path.parts) > 1 or not isinstance(rerank, str):
            # Only here: most summaries need no network beside the summarizer's.
            from sumfit.rerank.neural import NeuralReranker

            return NeuralReranker(path)
    near = difflib.get_close_matches(str(rerank).lower(), NAMES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    other = "the directory of a trained reranker" if isinstance(rerank, str) else "a Reranker"
    raise ConfigError(
        f"rerank must be {', '.join(map(repr, NAMES))} or {other}, was {rerank!r}{hint}"
    )
