"""Longer and longer lists of one graph's hypotheses, until enough of them fit one limit.

Owns how long a list is, when another is made, when less is spent, and what is said where nothing
fits. Does not own which strings keep their promise (`sumfit.pipeline.search`) or decoding
(`sumfit.decoding`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sumfit.deadline import Deadline
from sumfit.decoding import decode
from sumfit.errors import InfeasibleBudgetError, NothingFoundError, Part, TimeLimitError, given
from sumfit.hypothesis import Candidate, NBest
from sumfit.length import LengthBudget, LengthRequest, UnitCosts
from sumfit.pipeline.bonus import LengthBonus
from sumfit.pipeline.ranking import Ranking
from sumfit.pipeline.search import GraphSearch, asked, infeasible, lowered, without_proof
from sumfit.rerank.chooser import ListPlan
from sumfit.text.scripts import keeps_scripts, scripts_of

__all__ = ["Lister"]

_MOST_HYPOTHESES = 64  # how far the list grows when strings fail where sums had fitted
_MOST_BEFORE_LESS = 16  # the same for units that do not add up, before less is spent
_GROWTH = 4
_PARTS = (0.75, 0.5)  # of what may be spent, where nothing else is sound
_MOST_LATE = 3  # searches with less to spend after the expansions have run out


class _Wish(NamedTuple):
    """How long a list of hypotheses is made, and when it is enough.

    Attributes:
        n_hypotheses: How many are asked for at first.
        n_enough: Strings that have to fit.
        n_kept: Strings after which no more are looked at; ``None`` to look at all.
        most: Hypotheses from which on no longer list is made, where one fits or is too long.
        longest: How many a longer list has at most.
        after_best: As in `sumfit.decoding.DecodeOptions`, of the first list.
        is_ranked: A reranker orders it, and what it has is enough whatever is wanted.
    """

    n_hypotheses: int
    n_enough: int
    n_kept: int | None
    most: int
    longest: int
    after_best: int | None = None
    is_ranked: bool = False


class _Listed(NamedTuple):
    """A list of hypotheses, and what is left of it as strings.

    Attributes:
        kept: Candidates that keep every promise.
        excess: By how much the nearest of the others is too long; 0 if none is.
        found: The hypotheses.
        is_all: There are no others.
    """

    kept: list[Candidate]
    excess: int
    found: NBest
    is_all: bool


@dataclass(frozen=True, slots=True)
class Lister:
    """Decodes one graph for one length request, and keeps the hypotheses whose strings fit.

    A string is measured as the caller would measure it, must be more than punctuation, and in the
    writing of its source. Where the first hypotheses fail that (a unit that does not add up,
    characters that NFC joins, bytes that form no character), more are decoded, up to 64; if all
    strings are too long, as with a unit whose whole is more than its parts, the search is repeated
    with less to spend; so it is where all of 64 are unsound in another way.

    Attributes:
        search: The graph.
        request: The length request.
        longest: Most that the summary itself may measure beside the request's limit: the source's
            own length, so that no summary is longer than its source.
        bonus: Score added for length.
        n_wanted: Candidates wanted.
        deadline: When to end with what there is.
        ranking: Another order than that of the scores, of a list whose length is its own; where
            more are wanted, those of a longer list come behind it.
    """

    search: GraphSearch
    request: LengthRequest
    longest: int
    bonus: LengthBonus
    n_wanted: int
    deadline: Deadline
    ranking: Ranking | None = None

    def candidates(self) -> list[Candidate]:
        """Take a list, verify it, and spend less where all of it is too long.

        Returns:
            Candidates, no two with one text, best first, at least one: at most ``n_wanted``, or
            more where some of these are near-doubles of others.

        Raises:
            InfeasibleBudgetError: If no hypothesis fits.
            NothingFoundError: If the search ended before it found one.
        """
        costs = self._costs()
        most = _MOST_HYPOTHESES if costs.exact else _MOST_BEFORE_LESS
        budget = self.search.spendable(self.request.budget, self.longest, costs)
        is_lowered, n_late = False, 0
        while True:
            settings = self.search.settings(costs, budget, self.bonus, self.deadline)
            listed = self._taken(settings, most, is_lowered=is_lowered)
            high = budget.high - listed.excess
            if listed.kept or not listed.excess or high < max(budget.low, 1):
                break
            n_late += self.deadline.is_spent
            if self.deadline.is_over or n_late > _MOST_LATE:
                self.deadline.stop()
                raise self._not_found(f"the best {len(listed.found)} measure more")
            budget, is_lowered = lowered(budget, high), True
        is_open = not (listed.kept or listed.excess or listed.is_all)
        if is_open and self.search.method.keeps_limit:
            listed = self._shorter(settings, most) or listed
        if not listed.kept:
            raise self._nothing_kept(listed.found, is_sure=listed.is_all and not is_lowered)
        kept = listed.kept
        if not self.search.is_certain(self.request):
            kept = [without_proof(candidate) for candidate in kept]
        if not self.search.wants_distinct:
            return kept[: self.n_wanted]
        more = kept[self.n_wanted :]
        more = [one if one.is_extra else replace(one, is_extra=True) for one in more]
        return kept[: self.n_wanted] + more

    def _shorter(self, settings: Mapping[str, Any], most: int) -> _Listed | None:
        """A list of what spends less, where all that was found is unsound though not too long."""
        budget: LengthBudget = settings["budget"]
        for part in _PARTS:
            high = int(part * budget.high)
            if high < max(budget.low, 1) or self.deadline.is_spent:
                return None
            with suppress(NothingFoundError):
                less = {**settings, "budget": lowered(budget, high)}
                listed = self._taken(less, most, is_lowered=True)
                if listed.kept:
                    kept = [without_proof(candidate) for candidate in listed.kept]
                    return listed._replace(kept=kept, is_all=False)
        return None

    def _costs(self) -> UnitCosts:
        try:
            return self.search.costs(self.request, self.deadline)
        except TimeLimitError as error:
            raise self._not_found(str(error).partition(";")[0]) from error

    def _taken(self, settings: Mapping[str, Any], most: int, *, is_lowered: bool) -> _Listed:
        """A list with all that belongs behind it; errors say what the caller asked for."""
        try:
            listed = self._listed(settings, self._wish(most))
            if listed.kept and not listed.is_all:
                listed.kept.extend(self._extra(settings, most, listed))
        except NothingFoundError as error:
            raise self._not_found(str(error).partition(";")[0]) from error
        except InfeasibleBudgetError as error:
            if is_lowered:
                raise self._not_found("strings that measure less were not found") from error
            raise infeasible(self.request) from error
        return listed

    def _wish(self, most: int) -> _Wish:
        """How long the first list is to be."""
        wish = self._unranked(self.n_wanted, most)
        if self.ranking is None:
            return wish
        # The list is the same however many are wanted, so that the first one is; one of a search
        # that ends after its best is as long as it came out.
        plan = self.ranking.plan
        n_enough = plan.n_read if plan.after_best is None else 1
        return wish._replace(
            n_hypotheses=plan.n_listed,
            n_enough=n_enough,
            after_best=plan.after_best,
            is_ranked=True,
        )

    def _unranked(self, n_wanted: int, most: int) -> _Wish:
        """How long a list is to be that keeps the order of the search."""
        if not self.search.wants_distinct:
            return _Wish(n_wanted, n_wanted, n_wanted, most, max(most, n_wanted))
        n_hypotheses = max(n_wanted, self.search.options.n_best * _GROWTH)
        most = max(most, n_hypotheses)
        return _Wish(n_hypotheses, n_wanted, None, most, most)

    def _listed(self, settings: Mapping[str, Any], wish: _Wish) -> _Listed:
        """Decode longer and longer lists until enough strings fit."""
        search, deadline, ranking = self.search, self.deadline, self.ranking
        n, after_best, method = wish.n_hypotheses, wish.after_best, search.options.method
        while True:
            found = decode(search.dag, method=method, n_best=n, after_best=after_best, **settings)
            is_short, was_cut = len(found) < n, after_best is not None
            ranked = ranking.order(found) if ranking is not None else None
            if ranking is not None and ranked is not None and ranked.is_doubtful and was_cut:
                found = self._with_shorter(found, settings, ranking.plan)
                ranked = ranking.order(found)
            kept, excess = search.verified(
                found,
                self.request,
                self.longest,
                ranked=ranked,
                n_wanted=wish.n_kept,
                deadline=deadline,
            )
            after_best = None  # a second list is made because the first was short
            if was_cut and is_short and not kept and not deadline.is_over:
                continue
            is_whole = is_short and found.is_complete and search.method.is_exhaustive
            listed = _Listed(kept, excess, found, is_whole and not was_cut)
            is_enough = len(kept) >= wish.n_enough and (wish.is_ranked or search.has_enough(kept))
            most = wish.most if kept or excess else _MOST_HYPOTHESES  # less to spend is no remedy
            if is_enough or is_short or n >= most:
                return listed
            if deadline.is_over or (kept and deadline.is_spent):
                deadline.stop()
                return listed._replace(is_all=False)
            n = min(n * _GROWTH, max(most, wish.longest))

    def _with_shorter(self, found: NBest, settings: Mapping[str, Any], plan: ListPlan) -> NBest:
        """A list with the best of what spends less, each behind what scores higher."""
        budget: LengthBudget = settings["budget"]
        known = {one.words: one for one in found}
        for part, n in plan.shorter.items():
            high = int(part * budget.high)
            if high < max(budget.low, 1):
                continue
            if self.deadline.is_spent:
                self.deadline.stop()
                break
            with suppress(InfeasibleBudgetError):
                more = decode(
                    self.search.dag,
                    method=self.search.options.method,
                    n_best=n,
                    after_best=plan.after_best,
                    **{**settings, "budget": lowered(budget, high)},
                )
                known.update((one.words, one) for one in more if one.words not in known)
        first, *others = known.values()
        return replace(found, hypotheses=(first, *sorted(others, key=lambda one: -one.score)))

    def _extra(self, settings: Mapping[str, Any], most: int, listed: _Listed) -> list[Candidate]:
        """What a longer list has beside the ranked one, where more candidates are asked for."""
        n_asked, n_found = self.search.options.n_best, len(listed.found)
        if self.ranking is None or self.search.has_enough(listed.kept):
            return []
        plan = self.ranking.plan
        is_within = n_asked <= plan.n_listed
        if is_within and n_found < plan.n_listed:
            return []  # this is what the search makes of it
        if self.deadline.is_spent:
            self.deadline.stop()
            return []
        wish = self._unranked(n_asked, most)._replace(n_hypotheses=n_asked)
        if is_within:
            n_hypotheses = min(plan.n_listed * _GROWTH, wish.longest)
            wish = wish._replace(n_hypotheses=n_hypotheses)
        known = {candidate.text for candidate in listed.kept}
        return [
            replace(one, rank=n_found + one.rank, is_extra=True)
            for one in self._listed(settings, wish).kept
            if one.text not in known
        ]

    def _nothing_kept(self, found: NBest, *, is_sure: bool) -> InfeasibleBudgetError:
        """The error for hypotheses of which none makes a text that fits."""
        search = self.search
        if not search.method.keeps_limit:
            reason = "ignores the limit, and its output does not fit"
            return self._not_found(given("method", search.options.method), f" {reason}")
        written = [text for text in map(search.string, found) if scripts_of(text)]
        if scripts_of(search.source) and written:
            if not any(keeps_scripts(text, search.source) for text in written):
                return infeasible(self.request, is_foreign=True)
        if is_sure:
            return infeasible(self.request)
        return self._not_found(f"none of the {len(found)} best candidates fits the limit")

    def _not_found(self, *reason: Part) -> NothingFoundError:
        """The error for a text without a summary, though there may be one."""
        remedy: tuple[Part, ...] = ("give a higher ", given("max_expansions"))
        if self.search.options.method != "seqmap":
            other = given("method", "seqmap")
            remedy = ("use ", other, ", a lower bonus or a higher ", given("beam_size"))
        return NothingFoundError(
            f"no summary of this text that measures {asked(self.request)} was found, though there "
            "may be one (",
            *reason,
            "); raise the limit, loosen the constraints, ",
            *remedy,
            ", or ask for ",
            given("on_infeasible", "cut"),
        )
