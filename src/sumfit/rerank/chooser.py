"""What a reranker is to the pipeline: the list that it wants, and two orders of it.

Owns `Chooser`, which every reranker is, and what it reads of a text. Does not own any reranker, nor
how objects of a caller become one (`sumfit.rerank.adapters`).

The search lists hypotheses. A chooser may order these before any string is made of them
(`rank_found`), which is cheap; and the candidates, whose strings are checked by then
(`rank_texts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.rerank.confidence import Evidence
from sumfit.rerank.points import Points
from sumfit.text import Tokenizer
from sumfit.text.surface import Surface
from sumfit.truth import joints_of
from sumfit.truth.joints import Joints

__all__ = ["Chooser", "ListPlan", "Ranked", "TextRead", "keeps_order", "n_competing"]

_FAITHFUL_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class ListPlan:
    """Which list a chooser wants.

    Attributes:
        n_read: Texts that it reads; 1 if it reads none.
        n_listed: Hypotheses that the search lists for `Chooser.rank_found`; 0 if these keep the
            order of the search.
        after_best: Expansions that exact search may spend on that list once the best is certain;
            ``None`` for an exact list, which is made longer until there are `n_read` texts.
        n_judged: Texts among which a faithful one is looked for, if that is asked for.
        shorter: For each part of the limit (0.5 is half of it), how many of the best hypotheses
            within that part are listed beside where `Ranked.is_doubtful`: with a bonus for length,
            the first list may hold long ones alone.
    """

    n_read: int = 1
    n_listed: int = 0
    after_best: int | None = None
    n_judged: int = _FAITHFUL_CANDIDATES
    shorter: Mapping[float, int] = field(default_factory=dict)


class Ranked(NamedTuple):
    """An order of hypotheses or candidates, and what it was made from.

    Attributes:
        order: Their places, the best at the front.
        expected_f1: ``(N,)`` expected F1 of each with what the graph says; ``None`` where the
            order was made from something else.
        choice_scores: What they were ordered by, by place, in nats; ``None`` where that is no
            score to show.
        confidences: The chance that a reader would print each, by place; ``None`` where that is
            not known.
        is_doubtful: The first one hardly is what a reader would print.
    """

    order: Sequence[int]
    expected_f1: npt.NDArray[np.float64] | None = None
    choice_scores: Mapping[int, float] | None = None
    confidences: Mapping[int, float] | None = None
    is_doubtful: bool = False

    def f1(self, place: int) -> float:
        """Take the expected F1 of one hypothesis.

        Args:
            place: Its place.

        Returns:
            The F1; NaN if there is none.
        """
        return math.nan if self.expected_f1 is None else float(self.expected_f1[place])


@dataclass(frozen=True, eq=False)
class TextRead:
    """What a chooser may read of one text.

    Attributes:
        dag: Its graph.
        tokenizer: The model's tokenizer.
        source: The text, as the model read it.
        ids: Vocabulary ids of the text.
        memory: What the encoder made of it, for a scorer; ``None`` if there is none.
        vouched: Phrases that the caller asks for.
        style: The style that the model was told; ``""`` for none.
        find_points: Tells which of its sentences say most; asked once, by who wants to know.
        noted: What a chooser has made of hypotheses so far, by their words.
        evidence: What it knows of each beside that, where it is asked how sure it is.
    """

    dag: DAG
    tokenizer: Tokenizer
    source: str
    ids: Sequence[int] = ()
    memory: npt.NDArray[np.float32] | None = None
    vouched: tuple[str, ...] = ()
    style: str = ""
    find_points: Callable[[], Points | None] = lambda: None
    noted: dict[tuple[int, ...], float] = field(default_factory=dict)
    evidence: dict[tuple[int, ...], Evidence] = field(default_factory=dict)

    @cached_property
    def surface(self) -> Surface:
        """Looks at texts about this source."""
        return Surface(self.source, vouched=self.vouched)

    @cached_property
    def joints(self) -> Joints:
        """Looks at the commas of texts about this source."""
        return joints_of(self.source)

    @cached_property
    def points(self) -> Points | None:
        """Which of its sentences say most; ``None`` where that is not open, or cannot be told."""
        return self.find_points()

    @cached_property
    def word_ids(self) -> npt.NDArray[np.int64]:
        """Vocabulary ids that graph and text hold."""
        own = np.asarray(self.ids, dtype=np.int64)
        return np.concatenate([self.dag.word_ids.astype(np.int64), own])


class Chooser:
    """Chooses among the candidates of a text; safe to use from several threads.

    A chooser overrides what it does: an order of hypotheses, an order of texts, or both.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """What messages call it."""
        raise NotImplementedError

    @property
    def plan(self) -> ListPlan:
        """Which list it wants."""
        raise NotImplementedError

    def check_profile(self, profile: str) -> None:
        """Raise ConfigError unless it can read texts of this form.

        Args:
            profile: Name of a text profile.
        """

    def rank_found(self, text: TextRead, found: Sequence[Hypothesis], deadline: Deadline) -> Ranked:
        """Order hypotheses of the text's graph; asked only if the plan lists some.

        Args:
            text: The text.
            found: Hypotheses, best score first.
            deadline: Once it is over, nothing more is read.

        Returns:
            An order of all of them.
        """
        return Ranked(range(len(found)))

    def rank_texts(
        self, text: TextRead, candidates: Sequence[Candidate], deadline: Deadline
    ) -> Ranked:
        """Order the candidates of the text.

        Args:
            text: The text.
            candidates: Candidates, in the order of `rank_found`.
            deadline: Once it is over, nothing more is read.

        Returns:
            An order of all of them, the one to return first.
        """
        return Ranked(range(len(candidates)))


def keeps_order(candidates: Sequence[Any], deadline: Deadline) -> bool:
    """Say whether candidates keep their order: there is but one, or the time is over.

    Args:
        candidates: The candidates.
        deadline: It notes that work was left undone.

    Returns:
        The verdict.
    """
    if len(candidates) < 2:
        return True
    if deadline.is_over:
        deadline.stop()
        return True
    return False


def n_competing(candidates: Sequence[Candidate], n_read: int) -> int:
    """Count the candidates that compete to be the first, so that more wanted change nothing.

    Args:
        candidates: The candidates.
        n_read: Texts that are read at most.

    Returns:
        How many of the first ones compete; the others keep their places behind them.
    """
    return min(sum(not candidate.is_extra for candidate in candidates), n_read)
