"""The strings a graph offers for one length request, each measured again.

Owns the loop from decoder to verified strings: what the decoder may spend, which of its
hypotheses keep their promise as strings, and when to ask for more of them. Does not own decoding
(`sumfit.decoding`) or units (`sumfit.length`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np
import regex

from sumfit.dag import DAG
from sumfit.deadline import Check, Deadline
from sumfit.decoding import METHODS, Method, decode, decode_all_lengths
from sumfit.errors import InfeasibleBudgetError, NothingFoundError
from sumfit.hypothesis import Candidate, Hypothesis, NBest
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
from sumfit.pipeline.ranking import Ranking
from sumfit.rerank.chooser import Ranked
from sumfit.text import Tokenizer, ends_completely
from sumfit.text.capitalization import Capitalizer
from sumfit.text.distinct import distinct
from sumfit.text.endings import CLITICS
from sumfit.text.scripts import keeps_scripts, scripts_of
from sumfit.text.surface import Surface

if TYPE_CHECKING:
    from sumfit.constraints.compile import CompiledConstraints
from sumfit.truth.joints import Joints

__all__ = [
    "GraphSearch",
    "infeasible",
    "says_something",
    "source_length",
    "without_proof",
]

_LONE_CLITIC = re.compile(rf"(?<!\w)['’](?:{'|'.join(CLITICS)})(?!\w)")  # of no word
_MOST_HYPOTHESES = 64  # how far the list grows when strings fail where sums had fitted
_MOST_BEFORE_LESS = 16  # the same for units that do not add up, before less is spent
_GROWTH = 4
_MOST_LATE = 3  # searches with less to spend after the expansions have run out

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

    def find(
        self,
        request: LengthRequest,
        *,
        longest: int,
        bonus: LengthBonus,
        n_wanted: int,
        deadline: Deadline,
        ranking: Ranking | None = None,
    ) -> list[Candidate]:
        """Decode the graph and keep the hypotheses whose strings fit.

        A string is measured as the caller would measure it, must be more than punctuation, and
        in the writing of its source. Where the first hypotheses fail that (a unit that does not
        add up, characters that NFC joins, bytes that form no character), more are decoded, up to
        64; if all strings are too long, as with a unit whose whole is more than its parts, the
        search is repeated with less to spend.

        Args:
            request: The length request.
            longest: Most that the summary itself may measure beside the request's limit: the
                source's own length, so that no summary is longer than its source.
            bonus: Score added for length.
            n_wanted: Candidates wanted.
            deadline: When to end with what there is.
            ranking: Another order than that of the scores, of a list whose length is its own;
                where more are wanted, those of a longer list come behind it.

        Returns:
            Candidates, no two with one text, best first, at least one: at most ``n_wanted``, or
            more where some of these are near-doubles of others.

        Raises:
            InfeasibleBudgetError: If no hypothesis fits.
            NothingFoundError: If the search ended before it found one.
        """
        costs = unit_costs(self.tokenizer, request.unit)
        most = _MOST_HYPOTHESES if costs.exact else _MOST_BEFORE_LESS
        budget, is_lowered = self.spendable(request.budget, longest, costs), False
        n_late = 0
        while True:
            settings = self._settings(costs, budget, bonus, deadline)
            try:
                kept, excess, found, is_all = self._listed(
                    settings, request, longest, n_wanted, most, ranking
                )
                if ranking is not None and kept and not is_all:
                    kept += self._extra(settings, request, longest, most, ranking, kept, len(found))
            except NothingFoundError as error:
                raise self._not_found(request, str(error).partition(";")[0]) from error
            except InfeasibleBudgetError as error:
                if is_lowered:
                    raise self._not_found(
                        request, "strings that measure less were not found"
                    ) from error
                raise infeasible(request) from error
            if kept or not excess or budget.high - excess < max(budget.low, 1):
                break
            n_late += deadline.is_spent
            if deadline.is_over or n_late > _MOST_LATE:
                deadline.stop()
                raise self._not_found(request, f"the best {len(found)} measure more")
            budget, is_lowered = _lowered(budget, budget.high - excess), True
        if not kept:
            raise self._nothing_kept(request, found, is_sure=is_all and not is_lowered)
        if not self.is_certain(request):
            kept = [without_proof(candidate) for candidate in kept]
        if not self._wants_distinct:
            return kept[:n_wanted]
        more = [one if one.is_extra else replace(one, is_extra=True) for one in kept[n_wanted:]]
        return kept[:n_wanted] + more

    @property
    def _method(self) -> Method:
        return METHODS[self.options.method]

    @property
    def _wants_distinct(self) -> bool:
        return self.options.n_best > 1 and not self.options.near_doubles

    def has_enough(self, candidates: Sequence[Candidate]) -> bool:
        """Return whether there are as many candidates as the caller asks for.

        Args:
            candidates: The candidates.

        Returns:
            The verdict; near-doubles count once, unless the options allow them.
        """
        n_best = self.options.n_best
        if len(candidates) < n_best or not self._wants_distinct:
            return len(candidates) >= n_best
        return len(distinct(candidates, n_best, text=lambda one: one.text)) == n_best

    def _nothing_kept(
        self, request: LengthRequest, found: NBest, *, is_sure: bool
    ) -> InfeasibleBudgetError:
        """The error for hypotheses of which none makes a text that fits.

        Args:
            request: The length request.
            found: The hypotheses.
            is_sure: There are no others.

        Returns:
            The error to raise.
        """
        if not self._method.keeps_limit:
            reason = "ignores the limit, and its output does not fit"
            return self._not_found(request, f"method={self.options.method!r} {reason}")
        texts = [_string(one.words, self.tokenizer) for one in found]
        written = [text for text in texts if scripts_of(text)]
        if scripts_of(self.source) and written:
            if not any(keeps_scripts(text, self.source) for text in written):
                return infeasible(request, is_foreign=True)
        if is_sure:
            return infeasible(request)
        return self._not_found(request, f"none of the {len(found)} best candidates fits the limit")

    def _not_found(self, request: LengthRequest, reason: str) -> NothingFoundError:
        """The error for a text without a summary, though there may be one."""
        remedy = "give a higher max_expansions="
        if self.options.method != "seqmap":
            remedy = "use method='seqmap', a lower bonus or a higher beam_size="
        return NothingFoundError(
            f"no summary of this text that measures {_asked(request)} was found, though there may "
            f"be one ({reason}); raise the limit, loosen the constraints, {remedy}, or ask for "
            "on_infeasible='cut'"
        )

    def find_each(
        self,
        requests: Sequence[LengthRequest],
        *,
        longest: int,
        bonus: LengthBonus,
        deadline: Deadline,
    ) -> list[Candidate | None]:
        """The best candidate for each of several limits, from one search over all lengths.

        Args:
            requests: Requests of one unit that differ in their limit alone, each "at most".
            longest: As in `find`.
            bonus: As in `find`.
            deadline: When to end with what there is, for all limits together.

        Returns:
            What `find` would return first for each request, ``None`` where it has to be asked.
        """
        costs = unit_costs(self.tokenizer, requests[0].unit)
        spendable = [self.spendable(item.budget, longest, costs) for item in requests]
        most = max(spendable, key=lambda item: item.high)
        settings = self._settings(costs, most, bonus, deadline)
        del settings["method"]
        found = decode_all_lengths(self.dag, **settings)
        results: list[Candidate | None] = []
        for request, budget in zip(requests, spendable, strict=True):
            hypothesis = found.get(min(budget.high, max(found)))
            kept = self.verified([hypothesis] if hypothesis else [], request, longest)[0]
            if kept and not self.is_certain(request):
                kept = [without_proof(candidate) for candidate in kept]
            results.append(kept[0] if kept else None)
        return results

    def _settings(
        self, costs: UnitCosts, budget: LengthBudget, bonus: LengthBonus, deadline: Deadline
    ) -> dict[str, Any]:
        options = self.options
        settings: dict[str, Any] = {
            "unit_cost": costs.cost,
            "first_cost": costs.first_cost,
            "budget": budget,
            "method": options.method,
            "ending": self.ending,
            "bonus": bonus.per_token,
            "unit_bonus": bonus.per_unit,
            "beam_size": options.beam_size,
            "words_per_vertex": options.words_per_vertex,
            "constraints": self.constraints,
            "deadline": deadline,
            "seed": options.seed,
        }
        if options.max_expansions is not None:
            settings["max_expansions"] = options.max_expansions
        return settings

    def _listed(
        self,
        settings: dict[str, Any],
        request: LengthRequest,
        longest: int,
        n_wanted: int,
        most: int,
        ranking: Ranking | None,
        *,
        n_extra: int = 0,
    ) -> tuple[list[Candidate], int, NBest, bool]:
        """Decode longer lists until enough strings fit; ``n_extra`` of them beyond the ranked list.

        Also say how much too long others are, and whether the list holds all that there is.
        """
        n_hypotheses, n_enough, ranked = n_wanted, n_wanted, None
        n_kept: int | None = n_wanted
        if self._wants_distinct:
            n_hypotheses, n_kept = max(n_wanted, self.options.n_best * _GROWTH), None
            most = max(most, n_hypotheses)
        if ranking is not None:
            # The list is the same however many are wanted, so that the first one is.
            n_hypotheses = n_extra or ranking.plan.n_listed
            settings = {**settings, "after_best": ranking.plan.after_best}
            # One of a search that ends after its best is as long as it came out.
            n_enough = n_extra or (ranking.plan.n_read if ranking.plan.after_best is None else 1)
            if n_extra and n_extra <= ranking.plan.n_listed:
                n_hypotheses = min(ranking.plan.n_listed * _GROWTH, max(most, n_extra))
                settings["after_best"] = None
        while True:
            found = decode(self.dag, n_best=n_hypotheses, **settings)
            if ranking is not None:
                ranked = ranking.order(found)
            kept, excess = self.verified(
                found,
                request,
                longest,
                ranked=ranked,
                n_wanted=n_kept,
                deadline=settings["deadline"],
            )
            is_short = len(found) < n_hypotheses
            if settings.get("after_best") is not None:
                settings["after_best"] = None  # a second list is made because the first was short
                is_all = False
                if is_short and not kept and not settings["deadline"].is_over:
                    continue
            else:
                is_all = is_short and found.is_complete and self._method.is_exhaustive
            is_enough = len(kept) >= n_enough and (
                (ranking is not None and not n_extra) or self.has_enough(kept)
            )
            if is_enough or is_short or n_hypotheses >= most:
                return kept, excess, found, is_all
            deadline = settings["deadline"]
            if deadline.is_over or (kept and deadline.is_spent):
                deadline.stop()
                return kept, excess, found, False
            n_hypotheses = min(n_hypotheses * _GROWTH, max(most, n_wanted))

    def _extra(
        self,
        settings: dict[str, Any],
        request: LengthRequest,
        longest: int,
        most: int,
        ranking: Ranking,
        kept: list[Candidate],
        n_found: int,
    ) -> list[Candidate]:
        """What a longer list has beside the ranked one, where more candidates are asked for."""
        n_asked = self.options.n_best
        is_short = n_found < ranking.plan.n_listed  # then this is what the search makes of it
        if self.has_enough(kept) or (is_short and n_asked <= ranking.plan.n_listed):
            return []
        if settings["deadline"].is_spent:
            settings["deadline"].stop()
            return []
        more, _, _, _ = self._listed(
            settings, request, longest, n_asked, most, ranking, n_extra=n_asked
        )
        known = {candidate.text for candidate in kept}
        return [
            replace(one, rank=n_found + one.rank, is_extra=True)
            for one in more
            if one.text not in known
        ]

    def spendable(self, budget: LengthBudget, longest: int, costs: UnitCosts) -> LengthBudget:
        """Lower a request's interval to what the source and the graph can spend at all.

        Args:
            budget: The interval.
            longest: As in `find`.
            costs: Costs in the request's unit.

        Returns:
            The interval for the decoder.
        """
        payable = costs.cost[self.dag.word_ids]
        payable = payable[payable < FORBIDDEN]
        capacity = int(payable.max(initial=0)) * (self.dag.n_vertices - 2) + 1
        high = max(min(budget.high, longest, capacity), budget.low)
        return budget if high >= budget.high else _lowered(budget, high)

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
            longest: As in `find`.
            ranked: Another order to look at them in, and what it was made from.
            n_wanted: Stop after so many; ``None`` for all.
            deadline: Some milliseconds after its end, one that was kept is enough.

        Returns:
            The candidates, and by how much the nearest of the others is too long (0: none is).
        """
        must_end = self.constraints is not None and not self.options.dangling_end
        most = max(longest, request.budget.low)
        kept: list[Candidate] = []
        seen: set[str] = set()
        least_excess = 0
        for rank in range(len(found)) if ranked is None else ranked.order:
            if n_wanted is not None and len(kept) >= n_wanted:
                break
            if kept and deadline is not None and deadline.is_over_by(_LATE_S):
                deadline.stop()
                break
            hypothesis = found[rank]
            text = self._shown(_string(hypothesis.words, self.tokenizer), request)
            if text in seen or not says_something(text):
                continue
            seen.add(text)
            if not keeps_scripts(text, self.source):
                continue
            if self.options.has_label_once and request.without_label(text) != text:
                continue
            excess = max(
                request.measure(text, tokenizer=self.tokenizer) + request.reserve - request.limit,
                measure(text, request.unit, tokenizer=self.tokenizer) - most,
            )
            if excess > 0:
                least_excess = min(excess, least_excess or excess)
            elif request.accepts(text, tokenizer=self.tokenizer) and (
                (not must_end or ends_completely(text)) and self._is_sound(text)
            ):
                if ranked is None:
                    kept.append(Candidate(text, hypothesis, rank))
                    continue
                # The best score may never be looked at.
                behind = _behind(hypothesis, found[0])
                kept.append(Candidate(text, behind, rank, ranked.f1(rank)))
        return kept, least_excess

    def _is_sound(self, text: str) -> bool:
        """Return whether a text looks as the constraints promise; the last look at it."""
        options = self.options
        if self.surface is None or self.constraints is None or not self._method.keeps_constraints:
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


def _behind(hypothesis: Hypothesis, best: Hypothesis) -> Hypothesis:
    """The hypothesis with the gap that the best score of its list leaves it."""
    gap = max(0.0, best.score + best.gap - hypothesis.score)
    return replace(hypothesis, optimal=best.optimal and gap == 0, gap=gap)


def _lowered(budget: LengthBudget, high: int) -> LengthBudget:
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


def _string(words: tuple[int, ...], tokenizer: Tokenizer) -> str:
    """Text of the ids; empty if their bytes are not UTF-8, or half an emoji sequence."""
    try:
        tokenizer.decode_bytes(words).decode("utf-8")
    except UnicodeDecodeError:
        return ""
    text = tokenizer.decode(words)
    return text if text.isascii() or not _HALF_EMOJI.search(text) else ""


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
            "language, or ask for on_infeasible='cut'"
        )
    return InfeasibleBudgetError(
        f"no summary of this text measures {_asked(request)}; "
        "change the limit, loosen the constraints, or ask for on_infeasible='cut'"
    )


def _asked(request: LengthRequest) -> str:
    budget = request.budget
    less = ""
    if budget.high < request.limit:
        less = f" (what prefix, suffix and reserve leave of {request.limit})"
    return f"{budget} {request.unit_name}{less}"
