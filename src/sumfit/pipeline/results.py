"""Finished summaries: from verified strings, from a short source, from a cut, from an error.

Owns how `sumfit.Summary` is filled, and the last-resort cut. Does not own the search.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import regex

from sumfit.deadline import Check, Deadline
from sumfit.errors import InfeasibleBudgetError, SumfitError, TimeLimitError
from sumfit.hypothesis import Candidate, Summary
from sumfit.length import LengthRequest
from sumfit.pipeline.bonus import LengthBonus
from sumfit.pipeline.extending import Extender
from sumfit.pipeline.faithfulness import support_of
from sumfit.pipeline.options import Options
from sumfit.pipeline.source import Source
from sumfit.rerank import AUTO
from sumfit.text import Tokenizer, ends_completely
from sumfit.text.capitalization import Capitalizer
from sumfit.text.distinct import distinct
from sumfit.text.language import is_foreign
from sumfit.text.scripts import UNSPACED
from sumfit.truth import Support
from sumfit.truth.names import is_ordinary

__all__ = ["ResultMaker", "case_of"]

_ELLIPSIS = "…"
_LATE_S = 0.025  # in which alternatives that were found in time are still looked at
_CUTTABLE = regex.compile(rf" *(?:(?=[{UNSPACED}])\X[、。，；：！？）」』ー]*|[^ {UNSPACED}]+)")


@dataclass(frozen=True, slots=True)
class ResultMaker:
    """Makes the summaries of one text.

    Attributes:
        source: The text; ``None`` if it cannot be used, and then all that can be made is a
            failure.
        options: The caller's options.
        tokenizer: For lengths in tokens.
    """

    source: Source | None
    options: Options
    tokenizer: Tokenizer

    def from_model(
        self,
        candidates: Sequence[Candidate],
        request: LengthRequest,
        *,
        bonus: LengthBonus,
        timings: Mapping[str, float],
        deadline: Deadline,
        extender: Extender | None = None,
    ) -> Summary:
        """The first candidate as a summary, the others as its alternatives.

        Args:
            candidates: Verified candidates, the one to return first.
            request: The length request.
            bonus: Score that the search added for length.
            timings: Seconds by stage.
            deadline: Some milliseconds after its end no more alternatives are looked at; it knows
                whether a limit left some of the work undone.
            extender: Puts further facts of the text behind each; ``None`` for none.

        Returns:
            The summary.
        """
        alternatives: tuple[Summary, ...] = ()
        # Readers' marks say nothing of other languages.
        is_foreign_text = self.source is not None and is_foreign(self.source.language)
        top = max((candidate.hypothesis for candidate in candidates), key=lambda one: one.score)
        verdicts: list[tuple[Candidate, str, tuple[str, ...], Support]] = []
        for candidate in self._chosen(candidates):
            if verdicts and deadline.is_over_by(_LATE_S):
                deadline.stop()
                break
            text, added = candidate.text, tuple[str, ...]()
            if extender is not None:
                text, added = extender.extended(text)
            if all(text != other for _, other, _, _ in verdicts):
                verdicts.append((candidate, text, added, self.judge(text)))
        for candidate, text, added, judged in reversed(verdicts):
            found = candidate.hypothesis
            is_top = found.score >= top.score  # else a better one is known, whatever is proved
            summary = Summary(
                text=request.compose(text),
                length=request.measure(text, tokenizer=self.tokenizer),
                log_prob=found.log_prob,
                score=found.score,
                optimal=is_top and top.optimal,
                gap=top.score - found.score + top.gap,
                complete=ends_completely(text),
                added=added,
                rank=candidate.rank,
                chosen_by=self._chosen_by(candidate),
                choice_score=candidate.choice_score,
                confidence=None if added or is_foreign_text else candidate.confidence,
                bonus=bonus.per_token,
                unit_bonus=bonus.per_unit,
                words=found.words,
                faithful=judged.supported,
                checks=judged.checks,
                unsupported=judged.reasons,
                unfinished=deadline.was_felt,
                timings=timings,
                alternatives=alternatives if candidate is candidates[0] else (),
                **self._common(request),
            )
            alternatives = (summary, *alternatives)
        return summary

    def _chosen_by(self, candidate: Candidate) -> str:
        if candidate.choice_score is not None:
            return "scorer"
        rerank = self.options.rerank
        return "graph" if rerank is None or rerank == AUTO else "reranker"

    def _chosen(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """As many candidates as the caller wants, of near-doubles the first."""
        if self.options.near_doubles:
            return candidates[: self.options.n_best]
        return distinct(candidates, self.options.n_best, text=lambda one: one.text)

    def accepts_source(self, request: LengthRequest, check: Check | None = None) -> bool:
        """Return whether the source itself keeps the limit and the minimum.

        Args:
            request: The length request.
            check: Called between pieces of work, to give up.

        Returns:
            The verdict, with the capitals that were asked for.
        """
        assert self.source is not None
        plain = request.without_label(self.source.text)
        if not request.accepts(plain, tokenizer=self.tokenizer, check=check):
            return False
        cased = self.cased(plain, request)
        return cased == plain or request.accepts(cased, tokenizer=self.tokenizer, check=check)

    def copied(self, request: LengthRequest, check: Check | None = None) -> Summary:
        """The source itself, which fits as it is.

        Args:
            request: The length request.
            check: Called between pieces of work, to give up.

        Returns:
            A summary of origin ``"source"``.
        """
        assert self.source is not None
        text = self.cased(request.without_label(self.source.text), request)
        copy = replace(self._plain(text, "source", request, check), source_selected=None)
        return replace(copy, cleaned=()) if self.source.is_copied_as_given else copy

    def cut(self, request: LengthRequest, check: Check | None = None) -> Summary:
        """The source's first words that fit, with an ellipsis: a last resort that shows it is one.

        Scripts that are written without spaces are cut between two characters.

        Args:
            request: The length request.
            check: Called between pieces of work, to give up looking beyond a long text's head.

        Returns:
            A summary of origin ``"cut"``, or a failure if not even the first word with an
            ellipsis fits, or no cut is long enough.
        """
        assert self.source is not None
        words = _CUTTABLE.findall(request.without_label(self.source.head))
        low = self._n_fitting(words, request, check)
        if not self.source.is_whole and (low == len(words) or len(words) == 1):
            with suppress(TimeLimitError):
                more = _CUTTABLE.findall(request.without_label(self.source.whole(check)))
                words, low = more, self._n_fitting(more, request, check)
        text = _head(words, low)
        if low and request.accepts(text, tokenizer=self.tokenizer):
            cased = self.cased(text, request)
            fits = request.accepts(cased, tokenizer=self.tokenizer)
            return self._plain(cased if fits else text, "cut", request)
        first = request.measure(_head(words, 1), tokenizer=self.tokenizer)
        error = InfeasibleBudgetError(
            f"not even a cut of the source measures {request.limit} {request.unit_name} "
            f"(its first word with an ellipsis measures {first}); change the limit"
        )
        return self.failed(error, request)

    def judge(self, text: str) -> Support:
        """Say what of a text its source does not say.

        Args:
            text: A candidate's text.

        Returns:
            The verdict.
        """
        assert self.source is not None
        return support_of(text, self.source, time_limit_s=self.options.time_limit_s)

    def failed(self, error: SumfitError, request: LengthRequest | None = None) -> Summary:
        """A summary without text that says why.

        Args:
            error: The reason.
            request: The length request, if it got that far.

        Returns:
            A summary whose ``error`` is set.
        """
        return Summary(
            text="",
            length=0,
            unit=request.unit_name if request else "",
            limit=request.limit if request else 0,
            min_length=request.min_length if request else 0,
            method=self.options.method,
            error=error,
        )

    def cased(self, text: str, request: LengthRequest) -> str:
        """Set the capitals that were asked for in the source's own words.

        Args:
            text: The words.
            request: The length request.

        Returns:
            The words; unchanged where no capitals were asked for.
        """
        if self.source is None or self.options.capitalization is None:
            return text
        return case_of(self.source.head, self.options)(text, prefix=request.prefix)

    def _plain(
        self, text: str, origin: str, request: LengthRequest, check: Check | None = None
    ) -> Summary:
        return Summary(
            text=request.compose(text),
            length=request.measure(text, tokenizer=self.tokenizer, check=check),
            complete=ends_completely(text),
            origin=origin,
            **self._common(request),
        )

    def _n_fitting(
        self, words: list[str], request: LengthRequest, check: Check | None = None
    ) -> int:
        """How many of the first words fit, with an ellipsis; fewer if there is no more time.

        Lengths grow with every word. So few words are tried, then twice as many, and then, in turn,
        where lengths between those of two numbers would fit and the middle of these.
        """
        room = request.limit - request.reserve
        low, high, least, most = 0, len(words) + 1, 0, math.inf  # the last two are their lengths
        guess, is_middle = 1, False
        while high - low > 1:
            try:
                text = _head(words, guess)
                length = request.measure(text, tokenizer=self.tokenizer, check=check)
            except TimeLimitError:
                break
            if length <= room:
                low, least = guess, length
            else:
                high, most = guess, length
            if most == math.inf:
                guess = min(2 * low, high - 1)
                continue
            share = 0.5 if is_middle else (room - least) / (most - least)
            guess = min(high - 1, max(low + 1, low + int(share * (high - low))))
            is_middle = not is_middle
        return low

    def _common(self, request: LengthRequest) -> dict[str, Any]:
        assert self.source is not None
        return {
            "unit": request.unit_name,
            "limit": request.limit,
            "min_length": request.min_length,
            "source_truncated": self.source.is_truncated,
            "source_selected": self.source.selected,
            "language": self.source.language,
            "cleaned": self.source.cleaned,
            "method": self.options.method,
        }


def case_of(source: str, options: Options) -> Capitalizer:
    """What sets the capitals of a text's summaries.

    Args:
        source: The text.
        options: The caller's options; Gigaword form is lower case throughout.

    Returns:
        It.
    """
    case = "lower" if options.profile == "gigaword" else options.capitalization
    return Capitalizer(source, case, is_ordinary, keeps_labels=options.style == "commit")


def _head(words: list[str], n_words: int) -> str:
    return "".join(words[:n_words]).rstrip(",;:-–—(、，；：（") + _ELLIPSIS
