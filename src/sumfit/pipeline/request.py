"""One summary that is wanted, from its limit to its candidates.

Owns `Request` and what several of one text share. Does not own any stage that moves one on
(`sumfit.pipeline.engine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sumfit.deadline import Deadline
from sumfit.errors import SumfitError
from sumfit.hypothesis import Candidate
from sumfit.length import LengthRequest
from sumfit.pipeline.bonus import LengthBonus
from sumfit.pipeline.search import GraphSearch
from sumfit.pipeline.source import Source
from sumfit.rerank.chooser import TextRead
from sumfit.rerank.points import Points
from sumfit.runtime import GraphRequest

__all__ = ["Predicted", "Request", "Text"]

_NO_BONUS = LengthBonus(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Text:
    """A text made ready, for all its requests.

    Attributes:
        source: The text, or ``None`` if it cannot be used.
        encode_s: Seconds that making it ready took, its limits included.
        refusal: Why the model cannot read it, if it cannot.
        points: Which of its sentences say most, where that is known from another reading.
    """

    source: Source | None
    encode_s: float = 0.0
    refusal: SumfitError | None = None
    points: Points | None = None


@dataclass(slots=True, eq=False)
class Predicted:
    """A text's graph, for all its requests that asked for the same one.

    Attributes:
        requests: Those requests.
        search: Searches the graph.
        read: What a reranker may read.
        spent_s: Seconds of the time limit that were spent before any search.
        seconds: By stage; ``decode`` is what the requests share of it.
    """

    requests: Sequence[Request]
    search: GraphSearch
    read: TextRead
    spent_s: float
    seconds: dict[str, float]


@dataclass(slots=True, eq=False)
class Request:
    """One summary that is wanted: one text, one limit, and what is known by now.

    Attributes:
        number: Of its text in the call.
        text: Its text.
        length: Its length request; ``None`` if its limit makes no sense.
        graph: What to ask of the backend; ``None`` if it needs no graph.
        longest: Most that a summary may measure beside its limit: the text's own length.
        bonus: Score that its search adds for length.
        predicted: Its graph, once predicted.
        candidates: Verified strings, best first, once found.
        deadline: Its own clock, from the beginning of its search.
        seconds: By stage, once it was searched.
        error: What went wrong; no further stage looks at it.
    """

    number: int
    text: Text
    length: LengthRequest | None = None
    graph: GraphRequest | None = None
    longest: int = 0
    bonus: LengthBonus = _NO_BONUS
    predicted: Predicted | None = None
    candidates: list[Candidate] = field(default_factory=list)
    deadline: Deadline = field(default_factory=Deadline)
    seconds: dict[str, float] = field(default_factory=dict)
    error: SumfitError | None = None

    @property
    def searched(self) -> tuple[LengthRequest, Predicted]:
        """Length request and graph of a request that has both."""
        assert self.length is not None
        assert self.predicted is not None
        return self.length, self.predicted
