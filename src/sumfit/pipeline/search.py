"""The strings a graph offers, each measured again.

Owns what a decoder may spend on one graph, and which of its hypotheses keep their promise as
strings. Does not own how many are listed (`sumfit.pipeline.listing`), decoding (`sumfit.decoding`)
or units (`sumfit.length`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np
import regex

from sumfit.dag import DAG
from sumfit.deadline import Check, Deadline
from sumfit.decoding import METHODS, Method
from sumfit.errors import InfeasibleBudgetError, given
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.length import (
    FORBIDDEN,
    LengthBudget,
    LengthRequest,
    UnitCosts,
    measure,
    unit_costs,
)
from sumfit.length.unit import Additive
from sumfit.length.units import Encoder
from sumfit.pipeline.bonus import LengthBonus
from sumfit.pipeline.options import Options
from sumfit.rerank.chooser import Ranked
from sumfit.text import Tokenizer, ends_completely
from sumfit.text.capitalization import Capitalizer
from sumfit.text.distinct import distinct
from sumfit.text.endings import CLITICS
from sumfit.text.scripts import keeps_scripts
from sumfit.text.surface import Surface
from sumfit.truth.joints import Joints

if TYPE_CHECKING:
    from sumfit.constraints.compile import CompiledConstraints

__all__ = [
    "GraphSearch",
    "asked",
    "infeasible",
    "lowered",
    "says_something",
    "source_length",
    "without_proof",
]

_LONE_CLITIC = re.compile(rf"(?<!\w)['’](?:{'|'.join(CLITICS)})(?!\w)")  # of no word
_LATE_S = 0.01  # in which what the search has found by its end is still looked at
_PROBE_CHARS = 20_000
_LOW_PRESETS = frozenset({"git-subject", "git-subject-hard", "synopsis"})  # where many begin low
_HALF_EMOJI = regex.compile(  # a flag is two regional indicators; a joiner joins two pictures
    r"(?<!\p{RI})(?:\p{RI}{2})*\p{RI}(?!\p{RI})|^\u200d|\u200d$"
)


def source_length(
    text: str, request: LengthRequest, tokenizer: Encoder, check: Check | None = None
) -> int:
    """Length of the source in the request's unit, or enough of it to know that it is too long.

    Args:
        text: The source.
        request: The length request.
        tokenizer: For ``tokens``.
        check: Called between the parts of a long text, to give up.

    Returns:
        The length; of a very long source that exceeds the limit early, a part of it.
    """
    if len(text) > _PROBE_CHARS:
        head = text[:_PROBE_CHARS].rpartition(" ")[0] or text[:_PROBE_CHARS]
        length = measure(head, request.unit, tokenizer=tokenizer)
        if length > request.limit:
            return length
    return measure(text, request.unit, tokenizer=tokenizer, check=check)


@dataclass(frozen=True, slots=True)
class GraphSearch:
    """The search of one text's graph, for one length request or several.

    Attributes:
        dag: The graph.
        options: Method, beam and search limits.
        ending: ``"eos"`` or ``"any"``.
        constraints: Compiled constraints, or ``None``.
        tokenizer: For decoding ids into text.
        source: The text, whose writing system a summary keeps.
        case: Sets the capitals of a summary, before it is measured; ``None`` for none.
        surface: Looks at what comes out; ``None`` for nobody.
        joints: Parts clauses of different sentences by a semicolon; ``None`` for nobody.
    """

    dag: DAG
    options: Options
    ending: str
    constraints: CompiledConstraints | None
    tokenizer: Tokenizer
    source: str
    case: Capitalizer | None = None
    surface: Surface | None = None
    joints: Joints | None = None

    @property
    def method(self) -> Method:
        """What the decoder declares."""
        return METHODS[self.options.method]

    @property
    def wants_distinct(self) -> bool:
        """Whether near-doubles of a candidate are no alternatives to it."""
        return self.options.n_best > 1 and not self.options.near_doubles

    def has_enough(self, candidates: Sequence[Candidate]) -> bool:
        """Return whether there are as many candidates as the caller asks for.

        Args:
            candidates: The candidates.

        Returns:
            The verdict; near-doubles count once, unless the options allow them.
        """
        n_best = self.options.n_best
        if len(candidates) < n_best or not self.wants_distinct:
            return len(candidates) >= n_best
        return len(distinct(candidates, n_best, text=lambda one: one.text)) == n_best

    def settings(
        self, costs: UnitCosts, budget: LengthBudget, bonus: LengthBonus, deadline: Deadline
    ) -> Mapping[str, Any]:
        """What a decoder is asked for, whatever the method and the length of the list.

        Args:
            costs: Costs in the unit of the budget.
            budget: What may be spent.
            bonus: Score added for length.
            deadline: When to end with what there is.

        Returns:
            Keywords of `sumfit.decoding.decode`.
        """
        options = self.options
        settings = {
            "unit_cost": costs.cost,
            "first_cost": costs.first_cost,
            "budget": budget,
            "ending": self.ending,
            "bonus": bonus.per_token,
            "unit_bonus": bonus.per_unit,
            "beam_size": options.beam_size,
            "words_per_vertex": options.words_per_vertex,
            "constraints": self.constraints,
            "deadline": deadline,
            "seed": options.seed,
        }
        limit = options.max_expansions
        return settings if limit is None else {**settings, "max_expansions": limit}

    def costs(self, request: LengthRequest, deadline: Deadline) -> UnitCosts:
        """Measure the vocabulary in a request's unit, if that was not done before.

        Args:
            request: The length request.
            deadline: Asked where a function of the caller's measures.

        Returns:
            The costs.

        Raises:
            TimeLimitError: If the time runs out; another call goes on from there.
        """

        def check(_needs_s: float = 0.0, /) -> None:
            deadline.check("a function of the caller's measured the vocabulary")

        return unit_costs(self.tokenizer, request.unit, check)

    def spendable(self, budget: LengthBudget, longest: int, costs: UnitCosts) -> LengthBudget:
        """Lower a request's interval to what the source and the graph can spend at all.

        Args:
            budget: The interval.
            longest: Most that the summary itself may measure beside the request's limit.
            costs: Costs in the request's unit.

        Returns:
            The interval for the decoder.
        """
        payable = costs.cost[self.dag.word_ids]
        payable = payable[payable < FORBIDDEN]
        capacity = int(payable.max(initial=0)) * (self.dag.n_vertices - 2) + 1
        high = max(min(budget.high, longest, capacity), budget.low)
        return budget if high >= budget.high else lowered(budget, high)

    def verified(
        self,
        found: Sequence[Hypothesis],
        request: LengthRequest,
        longest: int,
        *,
        ranked: Ranked | None = None,
        n_wanted: int | None = None,
        deadline: Deadline | None = None,
    ) -> tuple[list[Candidate], int]:
        """Keep the hypotheses whose strings keep every promise.

        Args:
            found: Hypotheses, best score first.
            request: The length request.
            longest: Most that the summary itself may measure beside the request's limit.
            ranked: Another order to look at them in, and what it was made from.
            n_wanted: Stop after so many; ``None`` for all.
            deadline: Some milliseconds after its end, one that was kept is enough.

        Returns:
            The candidates, and by how much the nearest of the others is too long (0: none is).
        """
        kept: list[Candidate] = []
        seen: set[str] = set()
        least_excess = 0
        for rank in range(len(found)) if ranked is None else ranked.order:
            if n_wanted is not None and len(kept) >= n_wanted:
                break
            if kept and deadline is not None and deadline.is_over_by(_LATE_S):
                deadline.stop()
                break
            text = self._offered(found[rank], request)
            if not text or text in seen:
                continue
            seen.add(text)
            excess = self._excess(text, request, longest)
            if excess > 0:
                least_excess = min(excess, least_excess or excess)
            elif request.accepts(text, tokenizer=self.tokenizer) and self._is_sound(text):
                kept.append(_candidate(text, found, rank, ranked))
        return kept, least_excess

    def _offered(self, hypothesis: Hypothesis, request: LengthRequest) -> str:
        """A hypothesis as it would be shown; empty if it says nothing that may be shown."""
        text = self._shown(self.string(hypothesis), request)
        if not says_something(text) or not keeps_scripts(text, self.source):
            return ""
        if self.options.has_label_once and request.without_label(text) != text:
            return ""
        return text

    def _excess(self, text: str, request: LengthRequest, longest: int) -> int:
        """By how much a text is too long; 0 or less if it fits."""
        most = max(longest, request.budget.low)
        whole = request.measure(text, tokenizer=self.tokenizer) + request.reserve
        own = measure(text, request.unit, tokenizer=self.tokenizer)
        return max(whole - request.limit, own - most)

    def string(self, hypothesis: Hypothesis) -> str:
        """Turn a hypothesis into text.

        Args:
            hypothesis: The hypothesis.

        Returns:
            Its text; empty if its bytes are not UTF-8, or half an emoji sequence.
        """
        try:
            self.tokenizer.decode_bytes(hypothesis.words).decode("utf-8")
        except UnicodeDecodeError:
            return ""
        text = self.tokenizer.decode(hypothesis.words)
        return text if text.isascii() or not _HALF_EMOJI.search(text) else ""

    def _is_sound(self, text: str) -> bool:
        """Return whether a text looks as the constraints promise; the last look at it."""
        options = self.options
        if self.constraints is None:
            return True
        if not options.dangling_end and not ends_completely(text):
            return False
        if self.surface is None or not self.method.keeps_constraints:
            return True
        fault = self.surface.fault(
            text, whole_words=options.whole_words, tidy=not options.dangling_end
        )
        return fault is None

    def _shown(self, text: str, request: LengthRequest) -> str:
        """A hypothesis's text with its capitals set; none that nobody asked for costs the limit."""
        if self.joints is not None:
            parted = self.joints.parted(text)
            if parted != text and request.accepts(parted, tokenizer=self.tokenizer):
                text = parted
        if self.case is None:
            return text
        cased = self.case(text, prefix=request.prefix, keeps=request.preset in _LOW_PRESETS)
        is_asked = self.options.capitalization is not None or self.options.profile == "gigaword"
        if cased == text or is_asked or request.accepts(cased, tokenizer=self.tokenizer):
            return cased
        return text

    def is_certain(self, request: LengthRequest) -> bool:
        """Return whether the sum of costs is the measured length, so that a proof holds.

        Args:
            request: The length request.

        Returns:
            The verdict.
        """
        if request.unit.additive in (Additive.ALWAYS, Additive.AS_SPELLED):
            return True
        if request.unit.additive is Additive.NEVER:
            return False
        pieces = self.tokenizer.piece_bytes
        return all(pieces[int(word)].isascii() for word in self.dag.word_ids)


def _candidate(
    text: str, found: Sequence[Hypothesis], rank: int, ranked: Ranked | None
) -> Candidate:
    """A candidate, in another order with the gap that the best score of the list leaves it."""
    hypothesis, best = found[rank], found[0]
    if ranked is None:
        return Candidate(text, hypothesis, rank)
    gap = max(0.0, best.score + best.gap - hypothesis.score)  # the best may never be looked at
    behind = replace(hypothesis, optimal=best.optimal and gap == 0, gap=gap)
    return Candidate(text, behind, rank, ranked.f1(rank))


def lowered(budget: LengthBudget, high: int) -> LengthBudget:
    """Lower the top of an interval.

    Args:
        budget: The interval.
        high: Its new top.

    Returns:
        The lower interval.
    """
    return LengthBudget(min=budget.low, max=high) if budget.low else LengthBudget(max=high)


def says_something(text: str) -> bool:
    """Return whether a text is more than punctuation: a letter, a digit, or a picture.

    Args:
        text: The text.

    Returns:
        The verdict; an ``'s`` or ``'t`` of no word says nothing.
    """
    rest = _LONE_CLITIC.sub("", text)
    return any(character.isalnum() or category(character) == "So" for character in rest)


def without_proof(candidate: Candidate) -> Candidate:
    """A candidate of a unit whose sums prove nothing.

    Args:
        candidate: The candidate.

    Returns:
        The same without certificate.
    """
    hypothesis = replace(candidate.hypothesis, optimal=False, gap=float(np.inf))
    return replace(candidate, hypothesis=hypothesis)


def infeasible(request: LengthRequest, *, is_foreign: bool = False) -> InfeasibleBudgetError:
    """Make the error for a text without a summary that fits.

    Args:
        request: The length request.
        is_foreign: What the model wrote is in another writing than the text.

    Returns:
        The error to raise.
    """
    if is_foreign:
        return InfeasibleBudgetError(
            "the model produced no summary in the script of this text; use a model trained on its "
            "language, or ask for ",
            given("on_infeasible", "cut"),
        )
    return InfeasibleBudgetError(
        f"no summary of this text measures {asked(request)}; "
        "change the limit, loosen the constraints, or ask for ",
        given("on_infeasible", "cut"),
    )


def asked(request: LengthRequest) -> str:
    """Say what a length request asks for, for a message.

    Args:
        request: The length request.

    Returns:
        The interval with its unit, and what it is left of.
    """
    budget = request.budget
    less = ""
    if budget.high < request.limit:
        less = f" (what prefix, suffix and reserve leave of {request.limit})"
    return f"{budget} {request.unit_name}{less}"
