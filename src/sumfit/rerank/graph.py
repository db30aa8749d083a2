r"""Minimum Bayes risk under the whole graph: what the model would say, summed over all paths.

A candidate's expected gain is its expected unigram F1 with an output of the graph, from the
expected number of times that the graph says each of its words (`sumfit.decoding.expectation`)::

    gain(y) = 2 E[overlap(y)] / (words(y) + E[words])
    choice  = argmax over the candidates of  score(y) + weight * gain(y)

The posterior is the graph itself, not a list of its best outputs, so nothing is sampled, no
candidate is compared with another, and a short list will do: the best that exact search has
finished some expansions after the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.errors import ConfigError
from sumfit.hypothesis import Hypothesis
from sumfit.rerank.chooser import Chooser, ListPlan, Ranked, TextRead
from sumfit.text import PieceClass, Tokenizer

__all__ = ["DEFAULT_WEIGHT", "GraphMBRReranker", "mbr_places"]

DEFAULT_WEIGHT = 100.0
_CANDIDATES = 24
_AFTER_BEST = 128


def mbr_places(
    scores: npt.NDArray[np.floating], expected_f1: npt.NDArray[np.floating], *, weight: float
) -> npt.NDArray[np.int64]:
    """Order a list by ``score + weight * F1``, best first; equal ones keep their order.

    Args:
        scores: ``(N,)`` nats.
        expected_f1: ``(N,)`` expected F1 of each.
        weight: Nats that an F1 of 1 is worth.

    Returns:
        ``(N,)`` places.
    """
    value = np.round(np.float64(scores) + weight * np.float64(expected_f1), 9)
    return np.argsort(-value, kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class GraphMBRReranker(Chooser):
    """Reranks by expected overlap with everything that the graph says.

    Attributes:
        opens: ``(V,)`` whether a piece begins a word.
        joins: ``(V,)`` whether a piece continues one.
        weight: Nats that an expected F1 of 1 is worth; 0 leaves the order of the search.
        n_candidates: How long a list it wants.
        after_best: Expansions that exact search spends on that list once the best is certain;
            ``None`` for an exact list.
    """

    opens: npt.NDArray[np.bool_]
    joins: npt.NDArray[np.bool_]
    weight: float = DEFAULT_WEIGHT
    n_candidates: int = _CANDIDATES
    after_best: int | None = _AFTER_BEST

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise ConfigError(f"weight must be at least 0 and finite, was {self.weight}")
        if self.n_candidates < 1:
            raise ConfigError(f"n_candidates must be at least 1, was {self.n_candidates}")
        if self.after_best is not None and self.after_best < 0:
            raise ConfigError(f"after_best must be at least 0, was {self.after_best}")

    @classmethod
    def of(
        cls,
        tokenizer: Tokenizer,
        *,
        weight: float = DEFAULT_WEIGHT,
        n_candidates: int = _CANDIDATES,
        after_best: int | None = _AFTER_BEST,
    ) -> GraphMBRReranker:
        """Make a reranker for the graphs of a tokenizer's models.

        Args:
            tokenizer: Says which pieces begin words and which continue them.
            weight: See above.
            n_candidates: See above.
            after_best: See above.

        Returns:
            The reranker.

        Raises:
            ConfigError: If a number is out of range.
        """
        kinds, starts = tokenizer.piece_class, tokenizer.starts_word
        is_word = (kinds == PieceClass.LETTERS) | (kinds == PieceClass.DIGITS)
        return cls(
            opens=is_word & starts,
            joins=is_word & ~starts,
            weight=weight,
            n_candidates=n_candidates,
            after_best=after_best,
        )

    @property
    def name(self) -> str:
        """``"mbr"``."""
        return "mbr"

    @property
    def plan(self) -> ListPlan:
        """A list for the graph's order; no texts."""
        return ListPlan(n_listed=self.n_candidates, after_best=self.after_best)

    def rank_found(self, text: TextRead, found: Sequence[Hypothesis], deadline: Deadline) -> Ranked:
        """Order hypotheses as `ranked` does.

        Args:
            text: The text with its graph.
            found: Hypotheses, best score first.
            deadline: Not looked at; the order takes next to no time.

        Returns:
            The order, and the expected F1 of each.
        """
        return self.ranked(text.dag, found)

    def rank(self, dag: DAG, nbest: Sequence[Hypothesis]) -> tuple[int, ...]:
        """Order the hypotheses of a graph, best first; equal ones keep their order.

        Args:
            dag: The graph.
            nbest: Hypotheses of it, best score first.

        Returns:
            A permutation of their indices.
        """
        if len(nbest) < 2:
            return tuple(range(len(nbest)))
        return tuple(self.ranked(dag, nbest).order)

    def ranked(self, dag: DAG, nbest: Sequence[Hypothesis]) -> Ranked:
        """Order the hypotheses as `rank` does, and give the expected F1 of each.

        Args:
            dag: The graph.
            nbest: Hypotheses of it, best score first.

        Returns:
            The order and the F1s.
        """
        # Only here: the name of a reranker is looked up where no compiled loop is wanted.
        from sumfit.decoding.expectation import expected_overlaps

        words = [hypothesis.words for hypothesis in nbest]
        overlaps = expected_overlaps(dag, words, opens=self.opens, joins=self.joins)
        scores = np.array([hypothesis.score for hypothesis in nbest])
        return Ranked(mbr_places(scores, overlaps.f1, weight=self.weight).tolist(), overlaps.f1)
