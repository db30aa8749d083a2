"""Objects of a caller as rerankers: two simple forms, and how they become a `Chooser`.

Owns what such an object must have, and the check of its orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.errors import ConfigError
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.rerank.chooser import Chooser, ListPlan, Ranked, TextRead, keeps_order, n_competing

__all__ = ["AnyReranker", "GraphReranker", "Reranker", "as_chooser"]


@runtime_checkable
class Reranker(Protocol):
    """Anything that orders candidates by their texts."""

    @property
    def name(self) -> str:
        """What messages call it."""
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
        """What messages call it."""
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


AnyReranker = Reranker | GraphReranker | Chooser
"""What ``rerank`` may be beside a name or a directory."""


def as_chooser(value: object) -> Chooser | None:
    """Make a chooser of an object.

    Args:
        value: A chooser, or an object of a form above.

    Returns:
        The chooser; ``None`` if the object is nothing of the kind.
    """
    if isinstance(value, Chooser):
        return value
    texts = value if isinstance(value, Reranker) else None
    graphs = value if isinstance(value, GraphReranker) else None
    if texts is not None:
        return _Adapted(texts.name, texts.n_candidates, texts, graphs)
    if graphs is not None:
        return _Adapted(graphs.name, 1, None, graphs)
    return None


class _Adapted(Chooser):
    """An object of a caller; one that has both forms orders twice."""

    def __init__(
        self, name: str, n_read: int, texts: Reranker | None, graphs: GraphReranker | None
    ) -> None:
        self._name, self._texts, self._graphs = name, texts, graphs
        self._plan = ListPlan(n_read)
        if graphs is not None:
            self._plan = ListPlan(n_read, graphs.n_candidates, graphs.after_best)

    @property
    def name(self) -> str:
        return self._name

    @property
    def plan(self) -> ListPlan:
        return self._plan

    def rank_found(self, text: TextRead, found: Sequence[Hypothesis], deadline: Deadline) -> Ranked:
        if self._graphs is None:
            return super().rank_found(text, found, deadline)
        return Ranked(self._checked(self._graphs.rank(text.dag, found), len(found)))

    def rank_texts(
        self, text: TextRead, candidates: Sequence[Candidate], deadline: Deadline
    ) -> Ranked:
        if self._texts is None or keeps_order(candidates, deadline):
            return super().rank_texts(text, candidates, deadline)
        n_read = n_competing(candidates, self._plan.n_read)
        texts = [candidate.text for candidate in candidates[:n_read]]
        nbest = [candidate.hypothesis for candidate in candidates[:n_read]]
        order = self._checked(self._texts.rerank(text.source, texts, nbest), n_read)
        return Ranked([*order, *range(n_read, len(candidates))])

    def _checked(self, order: Sequence[int], n_ordered: int) -> Sequence[int]:
        if sorted(order) != list(range(n_ordered)):
            raise ConfigError(
                f"reranker {self.name!r} must return each of 0 to {n_ordered - 1} once, was "
                f"{list(order)}"
            )
        return order
