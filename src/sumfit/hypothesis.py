"""What decoding returns: hypotheses, n-best lists, candidates, and the finished summary.

Owns plain frozen data. Does not own how any of it is found (`sumfit.decoding`) or turned into
text (`sumfit.pipeline`).
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, overload

from sumfit.errors import SumfitError
from sumfit.notebook import card, table

__all__ = ["Candidate", "Hypothesis", "NBest", "Picture", "SourceSelection", "Summary"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One word sequence that a decoder found.

    Attributes:
        words: Vocabulary ids, without ``<bos>`` and ``<eos>``.
        log_prob: Natural log of the exact marginal probability of the sequence, Eq. 2
            (``ending="eos"``) or Eq. 3 (``ending="any"``), over all paths of the full graph.
        score: What the decoder maximised: ``log_prob`` plus bonus for sequence
            decoders, the log-probability of the single path (plus bonus) for path decoders.
        cost: Total cost of the words in the budget's unit, as the decoder counted it.
        path: Vertices of the best path that emits these words, start and end vertex left out;
            ``None`` where the decoder keeps no path.
        optimal: ``True`` if it is proved that no sequence of higher score meets the budget
            (for n-best entries after the first: none outside the entries before it).
        gap: Upper bound on how much higher the score of the best sequence that meets the budget
            can be, in nats; 0 if ``optimal``, ``inf`` if the decoder has no bound.
    """

    words: tuple[int, ...]
    log_prob: float
    score: float
    cost: int
    path: tuple[int, ...] | None = None
    optimal: bool = False
    gap: float = float("inf")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hypothesis whose string keeps every promise.

    Attributes:
        text: The summary itself, without prefix and suffix.
        hypothesis: Where it comes from.
        rank: Its place in the decoder's list.
        expected_f1: Its expected F1 of words with what the graph says, see
            `sumfit.rerank.graph`; NaN where no reranker asked for it.
        is_extra: It was listed only because so many were asked for, and a reranker leaves it
            behind all others, so that the first summary is the same however many are wanted.
        choice_score: What the scorer chose by, nats; ``None`` where it did not choose.
        confidence: Chance that a strict reader would print it; ``None`` where it is not known.
    """

    text: str
    hypothesis: Hypothesis
    rank: int
    expected_f1: float = float("nan")
    is_extra: bool = False
    choice_score: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class NBest(Sequence[Hypothesis]):
    """Hypotheses of one graph, best score first, no two with the same words.

    Attributes:
        hypotheses: The list.
        method: Name of the decoder that made it.
        n_expanded: Search nodes or table cells expanded, a measure of work.
        is_complete: ``True`` if the search ended by itself, ``False`` if a node or time limit
            ended it.
    """

    hypotheses: tuple[Hypothesis, ...]
    method: str
    n_expanded: int = 0
    is_complete: bool = True

    @overload
    def __getitem__(self, index: int) -> Hypothesis: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hypothesis, ...]: ...
    def __getitem__(self, index: int | slice) -> Hypothesis | tuple[Hypothesis, ...]:
        return self.hypotheses[index]

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __iter__(self) -> Iterator[Hypothesis]:
        return iter(self.hypotheses)

    @property
    def best(self) -> Hypothesis:
        """The first hypothesis."""
        return self.hypotheses[0]


@dataclass(frozen=True, slots=True)
class SourceSelection:
    """How much of a source the model read, where its sentences were chosen.

    Attributes:
        n_sentences: Sentences read.
        of_sentences: Sentences of the source, or of so much of it as was looked at.
        n_chars: Characters read.
        of_chars: Characters of that, at most 200,000.
    """

    n_sentences: int
    of_sentences: int
    n_chars: int
    of_chars: int


class Picture(Protocol):
    """What can draw the graph behind a summary, as long as somebody else keeps it."""

    def html(self, summary: Summary) -> str:
        """Draw it.

        Args:
            summary: The summary.

        Returns:
            HTML; nothing where there is no graph.
        """


class _Pictured:
    """Room for a picture beside the fields: no part of equality, repr, copies or pickles."""

    __slots__ = ("_picture",)
    _picture: weakref.ref[Picture]


@dataclass(frozen=True, slots=True)
class Summary(_Pictured):
    """One finished summary, measured again on the very string that is returned.

    Attributes:
        text: The summary, NFC. Empty only when ``error`` is set.
        length: Measured length of ``text`` in ``unit``, prefix and suffix included.
        unit: The unit's name.
        limit: Most that ``length`` may be, as asked for.
        min_length: Least that ``length`` and what was reserved may be together, 0 where nothing
            was asked.
        log_prob: Natural log of the exact probability of the model for this token sequence;
            ``nan`` where the text does not come from the model (see ``origin``).
        score: ``log_prob`` plus the length bonus of the search.
        optimal: Proved: no other summary that meets the limit and the constraints scores higher.
        gap: Upper bound on the score anyone could gain, in nats; 0 if ``optimal``.
        complete: The text ends as a sentence or headline should: no dangling function word, no
            open bracket or quotation mark.
        source_truncated: The model did not see all of the source.
        source_selected: How much of the source the model read, where its most important
            sentences were chosen (``long="select"``): of one that is too long, and of a short
            talk, complaint, incident or the like; ``None`` where the model read all in its
            order, or the beginning.
        language: Language of the source, a code of ISO 639-1 such as ``"en"``; ``None`` where it
            cannot be told, as of a short text. The model writes the languages that its
            configuration names, whatever the source.
        cleaned: What of the source was taken out or put right as no content, see
            `sumfit.cleaning.Cleaned`.
        method: Decoder's name.
        origin: ``"model"``; ``"source"`` if the source fitted and is returned as it is;
            ``"cut"`` if the caller allowed a word-boundary cut of the source as a last resort.
        added: Sentences of the source that stand behind the line which was searched for, each
            behind a semicolon, where it left much of a limit of 100 characters or more free;
            ``log_prob``, ``score``, ``optimal``, ``gap`` and ``words`` are those of the line
            before them.
        text_cut: The model wrote more, and ``text`` was cut after the last whole word that fits;
            only the baselines without length control do that.
        rank: Place of this candidate in what the search listed, 0 for the best score (a reranker
            may return another); what was listed because many were asked for comes behind.
        chosen_by: What put this one first: ``"graph"``, the score that the certificate is about;
            ``"scorer"``, the model's reader of whole candidates; ``"reranker"``, another one
            that was asked for.
        choice_score: What the scorer chose by, nats, to compare with the alternatives' alone;
            ``None`` where it did not choose.
        confidence: Chance, 0 to 1, that a strict editor would print the text as it is, as the
            model's card says how often that came true, in a slot of this width; ``None`` where the
            model's scorer did not read it, sentences were ``added``, or the source is not in
            English.
        unfinished: ``time_limit_s`` or ``max_expansions`` ended the search, longer lists of
            candidates or the reranking early: with more, another summary may come out.
        faithful: Whether all of ``checks`` hold; ``None`` where the text does not come from the
            model.
        checks: Whether rules found nothing that the source does not say, by what they look at:
            ``"numbers"``, ``"names"``, ``"negation"``, ``"modality"`` and ``"roles"``, see
            `sumfit.truth`.
        unsupported: What they found, in plain words, and new words, which may be right.
        bonus: Score added per token in the search.
        unit_bonus: Score added per unit of length in the search.
        words: Vocabulary ids of the text, before its capitals were set.
        alternatives: The other candidates, best first, when ``n_best`` asked for them.
        timings: Seconds by stage: ``"encode"``, ``"forward"``, ``"decode"``, ``"rerank"``.
            No part of what makes two summaries equal.
        error: Why there is no text; ``None`` for every good result.
    """

    text: str
    length: int
    unit: str
    limit: int
    min_length: int = 0
    log_prob: float = float("nan")
    score: float = float("nan")
    optimal: bool = False
    gap: float = float("inf")
    complete: bool = False
    source_truncated: bool = False
    source_selected: SourceSelection | None = None
    language: str | None = None
    cleaned: tuple[str, ...] = ()
    method: str = "seqmap"
    origin: str = "model"
    added: tuple[str, ...] = ()
    text_cut: bool = False
    rank: int = 0
    chosen_by: str = "graph"
    choice_score: float | None = None
    confidence: float | None = None
    unfinished: bool = False
    faithful: bool | None = None
    checks: Mapping[str, bool] = field(default_factory=dict, hash=False)
    unsupported: tuple[str, ...] = ()
    bonus: float = 0.0
    unit_bonus: float = 0.0
    words: tuple[int, ...] = ()
    alternatives: tuple[Summary, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    error: SumfitError | None = None

    def __str__(self) -> str:
        """The text itself, so that a summary prints as one."""
        return self.text

    @property
    def truncated(self) -> bool:
        """Former name of ``text_cut``; it goes with the next release."""
        warnings.warn(
            "Summary.truncated is now Summary.text_cut (what was left out of the source is "
            "Summary.source_truncated)",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.text_cut

    def show_with(self, picture: Picture) -> None:
        """Let a notebook draw the graph too, for as long as the picture is kept elsewhere.

        Args:
            picture: What draws it.
        """
        object.__setattr__(self, "_picture", weakref.ref(picture))

    def _repr_html_(self) -> str:
        """The text with its limit as a bar, the alternatives and the graph; for a notebook."""
        reference: weakref.ref[Picture] | None = getattr(self, "_picture", None)
        picture = reference() if reference is not None else None
        return self.html() + (picture.html(self) if picture is not None else "")

    def html(self) -> str:
        """The text with its limit as a bar, the alternatives below.

        Returns:
            HTML.
        """
        if self.error is not None:
            return card("no summary", 0, self.limit, self.unit, [str(self.error)])
        others = [
            (one.text, f"{one.length}", f"{one.log_prob:.2f}", f"{one.score:.2f}")
            for one in self.alternatives
        ]
        shown = card(self.text, self.length, self.limit, self.unit, list(self._facts()))
        names = ("summary", "length", "log prob", "score")
        title = f"{len(others)} alternatives"
        return shown + (table(title, names, others) if others else "")

    def _facts(self) -> Iterator[str]:
        """What is known of it, in words."""
        if self.origin != "model":
            yield {"source": "the text as it is", "cut": "cut from the text"}[self.origin]
        elif self.chosen_by != "graph":
            yield f"chosen by {self.chosen_by}"
        elif self.optimal:
            yield "proved best"
        if self.origin == "model":
            yield f"log probability {self.log_prob:.2f}"
        if self.confidence is not None:
            yield f"confidence {100 * self.confidence:.0f} %"
        yield "ends completely" if self.complete else "ends abruptly"
        if self.added:
            yield f"with {len(self.added)} more of the text's sentences"
        if self.source_truncated:
            yield "not all of the text was read"
        yield from self.unsupported
