"""The stage that finds strings: requests get candidates that fit, by the first way that can.

Owns the ways (`Fitter`): many limits of one graph from one search, and one request after the other.
Does not own the search of one graph (`sumfit.pipeline.search`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from sumfit.deadline import Deadline
from sumfit.decoding import METHODS, decode_all_lengths
from sumfit.errors import SumfitError
from sumfit.hypothesis import Candidate
from sumfit.pipeline.listing import Lister
from sumfit.pipeline.options import Options
from sumfit.pipeline.ranking import Ranking
from sumfit.pipeline.request import Request
from sumfit.pipeline.reranking import Reranking
from sumfit.pipeline.results import ResultMaker
from sumfit.pipeline.search import without_proof

__all__ = ["AllLengths", "Fitter", "OneByOne"]

_SEVERAL = 3  # limits of one text from which one search over all lengths pays
_MOST_JUDGED = 100  # candidates among which a faithful one is sought


class Fitter(Protocol):
    """One way from predicted requests to candidates."""

    def fit(self, requests: Sequence[Request]) -> None:
        """Give requests their candidates; leave those that it cannot take for the next way.

        Args:
            requests: Requests whose graphs are predicted.
        """


@dataclass(frozen=True, slots=True)
class AllLengths:
    """Searches one graph once for several limits of one unit, each "at most".

    Attributes:
        options: The caller's options.
        reranking: How candidates are put in order.
        deadline: When to end with what there is, for all limits together.
    """

    options: Options
    reranking: Reranking
    deadline: Deadline

    def fit(self, requests: Sequence[Request]) -> None:
        """Take all of these, if that pays.

        Args:
            requests: All requests of one graph.
        """
        if self.options.n_best > 1 or self.reranking.is_needed:
            return
        if not METHODS[self.options.method].has_all_lengths:
            return
        mine = [one for one in requests if _is_at_most(one)]
        lengths = [one.searched[0] for one in mine]
        same = {(one.unit, one.prefix, one.suffix, one.reserve) for one in lengths}
        if len(mine) < _SEVERAL or len(same) > 1:
            return
        with suppress(SumfitError):  # each limit is searched by itself and has an error of its own
            for request, candidates in zip(mine, self._best(mine), strict=True):
                request.candidates = candidates

    def _best(self, requests: Sequence[Request]) -> list[list[Candidate]]:
        """For each what `Lister` would find first, if that is known from the one search."""
        (length, predicted), longest = requests[0].searched, max(r.longest for r in requests)
        search = predicted.search
        costs = search.costs(length, self.deadline)
        budgets = [search.spendable(r.searched[0].budget, longest, costs) for r in requests]
        most = max(budgets, key=lambda budget: budget.high)
        settings = search.settings(costs, most, requests[0].bonus, self.deadline)
        found = decode_all_lengths(search.dag, **settings)
        results = []
        for request, budget in zip(requests, budgets, strict=True):
            hypothesis = found.get(min(budget.high, max(found)))
            length = request.searched[0]
            kept, _ = search.verified([hypothesis] if hypothesis else [], length, longest)
            if not search.is_certain(length):
                kept = [without_proof(candidate) for candidate in kept]
            results.append(kept[:1])
        return results


def _is_at_most(request: Request) -> bool:
    """Whether a request has an upper limit alone, and any is left of it."""
    budget = request.searched[0].budget
    return budget.low == 0 < budget.high


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Searches for whatever has no candidates yet, or none that is faithful.

    Attributes:
        options: The caller's options.
        reranking: How candidates are put in order.
    """

    options: Options
    reranking: Reranking

    def fit(self, requests: Sequence[Request]) -> None:
        """Take each of them.

        Args:
            requests: Requests whose deadlines have begun.
        """
        for request in requests:
            _, predicted = request.searched
            ranking = self.reranking.ranking(predicted.read, request.deadline)
            started = time.perf_counter()
            try:
                if not request.candidates:
                    self._find(request, self.reranking.n_wanted, ranking)
                if self.options.faithful and ranking is None:
                    self._find_faithful(request)
            except SumfitError as error:
                request.error = error
            ranked_s = ranking.seconds if ranking else 0.0
            decode_s = predicted.seconds["decode"] + time.perf_counter() - started - ranked_s
            request.seconds = {**predicted.seconds, "decode": decode_s, "rerank": ranked_s}

    def _find(self, request: Request, n_wanted: int, ranking: Ranking | None = None) -> None:
        length, predicted = request.searched
        request.candidates = Lister(
            predicted.search,
            length,
            request.longest,
            request.bonus,
            n_wanted,
            request.deadline,
            ranking,
        ).candidates()

    def _find_faithful(self, request: Request) -> None:
        """Make a longer list where no candidate is faithful; keep them if the time runs out."""
        _, predicted = request.searched
        make = ResultMaker(request.text.source, self.options, predicted.search.tokenizer)
        if request.deadline.is_spent:
            return
        if any(make.judge(one.text).supported for one in request.candidates):
            return
        with suppress(SumfitError):
            self._find(request, max(self.options.n_best, _MOST_JUDGED))
