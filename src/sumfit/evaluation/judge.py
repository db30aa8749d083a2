"""Pairwise judging by a language model: the paper's prompt, four permutations, a vote.

Owns the prompt, how an answer is read, and how votes become win, loss or tie. A model is not
robust to the order or the names of what it compares, so each pair is asked about four times:
both orders, each with both namings. Every answer is one vote for the system it names; more votes
for than against is a win.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from sumfit.errors import DataFormatError, InputError
from sumfit.evaluation.endpoint import Endpoint
from sumfit.evaluation.files import check_paired, read_sources, read_summaries
from sumfit.evaluation.significance import (
    BootstrapOptions,
    Interval,
    bootstrap_interval,
)
from sumfit.evaluation.table import Table

__all__ = ["Comparison", "JudgeResult", "Pair", "judge", "judge_prompts", "read_pairs", "read_vote"]

PROMPT = """Given the text: {source}
Consider two summaries of the text:
Summary {first_id}: {first}
Summary {second_id}: {second}
A good summary is a shorter piece of text that has the essence of the original and adheres to \
coherence, faithfulness, relevance, and overall quality as defined above. Which summary is better?
Answer:"""

# (our summary comes first, the first summary is called "1")
_PERMUTATIONS = ((True, True), (True, False), (False, True), (False, False))
N_QUESTIONS = len(_PERMUTATIONS)

_IDENTIFIER = re.compile(r"(?<![\w.,])([12])(?![\w]|[.,]\d)")
_OPENING = re.compile(
    r"^[\s*_`\"'(\[]*(?:answer\s*[:=]?\s*)?(?:the\s+(?:better\s+)?)?(?:summary\s*)?"
    r"[\s*_`\"'(#\[]*([12])(?![\w]|[.,]\d)(?!\s*(?:and|or|&|,)\s*(?:summary\s*)?[12])",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"(?:summary\s*)?[*_`\"'(\[]*([12])[*_`\"')\]]*\s+(?:is|seems|appears|would\s+be|reads)\s+"
    r"(?:\w+\s+){0,2}?(?:better|best|superior|preferable|stronger)"
    r"|(?:better|best|prefer(?:red)?|choose|pick|winner)\b[^.\d]{0,30}?([12])(?![\w])",
    re.IGNORECASE,
)

Outcome = Literal["win", "loss", "tie"]


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared.

    Attributes:
        source: The text summarised.
        ours: Summary of the system judged.
        theirs: Summary of the system it is compared with.
    """

    source: str
    ours: str
    theirs: str

    @property
    def is_identical(self) -> bool:
        """Whether there is nothing to choose: a tie that nobody needs to be asked about."""
        return self.ours.strip() == self.theirs.strip()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The vote on one pair.

    Attributes:
        votes: One per question, 1 for ours, -1 for theirs, 0 where the answer names neither; none
            for identical summaries, which are a tie without a question.
        answers: What the model said.
    """

    votes: tuple[int, ...]
    answers: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """Which side has more votes."""
        total = sum(self.votes)
        return "win" if total > 0 else "loss" if total < 0 else "tie"


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """Votes on all pairs.

    Attributes:
        comparisons: The vote on each pair.
        model: Name of the judge.
    """

    comparisons: tuple[Comparison, ...]
    model: str

    def rate(self, outcome: Outcome) -> float:
        """Compute the share of an outcome.

        Args:
            outcome: ``"win"``, ``"loss"`` or ``"tie"``.

        Returns:
            The share, 0..1.
        """
        n_same = sum(comparison.outcome == outcome for comparison in self.comparisons)
        return n_same / len(self.comparisons)

    @property
    def n_identical(self) -> int:
        """Pairs of identical summaries: ties that the judge was not asked about."""
        return sum(not comparison.votes for comparison in self.comparisons)

    @property
    def n_unclear(self) -> int:
        """Answers that name neither summary, or both."""
        return sum(vote == 0 for comparison in self.comparisons for vote in comparison.votes)

    @property
    def n_answers(self) -> int:
        """Answers in all: four for each pair that differs."""
        return sum(len(comparison.votes) for comparison in self.comparisons)

    @property
    def has_verdict(self) -> bool:
        """Whether any answer names a summary, or there was nothing to ask."""
        return self.n_unclear < self.n_answers or not self.n_answers

    @property
    def order_bias(self) -> float:
        """Share of the clear answers that name the summary shown first; 0.5 without bias.

        ``nan`` where no answer is clear.
        """
        clear = first = 0
        for comparison in self.comparisons:
            for vote, (is_first, _) in zip(comparison.votes, _PERMUTATIONS, strict=False):
                clear += vote != 0
                first += vote == (1 if is_first else -1)
        return first / clear if clear else float("nan")

    def advantage(self, options: BootstrapOptions | None = None) -> Interval:
        """Compute wins minus losses, in percent of the pairs, with its interval.

        Args:
            options: How the interval is drawn.

        Returns:
            The interval.
        """
        signs = [float(np.sign(sum(item.votes))) * 100 for item in self.comparisons]
        return bootstrap_interval(signs, options)[0]

    def table(self, names: tuple[str, str], options: BootstrapOptions | None = None) -> Table:
        """Lay the result out.

        Args:
            names: Names of the two systems.
            options: How the interval is drawn.

        Returns:
            One row: win, loss and tie in percent, the advantage, and the share of answers without
            a verdict; where none has one, ``nan`` stands for the rates.
        """
        n = len(self.comparisons)
        rates: tuple[float, ...] = (math.nan,) * (len(_OUTCOMES) + 3)
        if self.has_verdict:
            margin = self.advantage(options)
            rates = tuple(100 * self.rate(outcome) for outcome in _OUTCOMES)
            rates += (margin.value, margin.low, margin.high)
        unclear = 100 * self.n_unclear / self.n_answers if self.n_answers else 0.0
        notes = [
            f"judge: {self.model}; {N_QUESTIONS} questions a pair, {n} pairs; more votes wins",
            f"identical summaries, ties without a question: {self.n_identical} of {n}",
            f"answers without a verdict: {self.n_unclear} of {self.n_answers}",
        ]
        if self.n_unclear < self.n_answers:
            notes[-1] += f"; answers for the summary shown first: {100 * self.order_bias:.1f} %"
        return Table(
            f"{names[0]} against {names[1]}, judged",
            ("pair", "win, %", "loss, %", "tie, %", "win - loss", "low", "high", "unclear, %"),
            ((f"{names[0]} vs. {names[1]}", *rates, unclear),),
            tuple(notes),
        )


_OUTCOMES: tuple[Outcome, ...] = ("win", "loss", "tie")


def judge_prompts(pair: Pair) -> tuple[str, ...]:
    """Write the four questions about a pair.

    Args:
        pair: What is compared.

    Returns:
        The prompts: ours first named 1, ours first named 2, theirs first named 1, theirs first
        named 2.
    """
    prompts = []
    for is_first, is_one in _PERMUTATIONS:
        first, second = (pair.ours, pair.theirs) if is_first else (pair.theirs, pair.ours)
        ids = ("1", "2") if is_one else ("2", "1")
        prompts.append(
            PROMPT.format(
                source=pair.source, first_id=ids[0], first=first, second_id=ids[1], second=second
            )
        )
    return tuple(prompts)


def read_vote(answer: str) -> int:
    """Read which summary an answer names.

    Args:
        answer: The model's words.

    Returns:
        1 or 2, or 0 if the answer names neither or cannot be told.
    """
    opening = _OPENING.match(answer)
    if opening:
        return int(opening.group(1))
    verdicts = {match.group(1) or match.group(2) for match in _VERDICT.finditer(answer)}
    if len(verdicts) == 1:
        return int(verdicts.pop())
    named = set(_IDENTIFIER.findall(answer))
    return int(named.pop()) if len(named) == 1 else 0


def judge(pairs: Sequence[Pair], endpoint: Endpoint) -> JudgeResult:
    """Let a model judge all pairs, but those of identical summaries, which are ties.

    Args:
        pairs: What is compared.
        endpoint: The model.

    Returns:
        The votes.

    Raises:
        InputError: If there are no pairs.
        ServiceError: If the endpoint goes on failing; answers paid for stay in its cache.
    """
    if not pairs:
        raise InputError("there is nothing to judge; give at least one pair")
    prompts = [prompt for pair in pairs if not pair.is_identical for prompt in judge_prompts(pair)]
    answers = endpoint.ask_all(prompts)
    return JudgeResult(tuple(_votes(answers, pairs)), endpoint.model)


def _votes(answers: Iterator[object], pairs: Sequence[Pair]) -> Iterator[Comparison]:
    for pair in pairs:
        votes, texts = [], []
        for is_first, is_one in () if pair.is_identical else _PERMUTATIONS:
            text = str(getattr(next(answers), "text", ""))
            our_id = 1 if is_first == is_one else 2
            named = read_vote(text)
            votes.append(0 if not named else 1 if named == our_id else -1)
            texts.append(text)
        yield Comparison(tuple(votes), tuple(texts))


def read_pairs(
    ours: Path, theirs: Path, sources: Path, *, field: str | None, source_field: str | None
) -> list[Pair]:
    """Read the summaries of two systems and their sources.

    Args:
        ours: File of one system.
        theirs: File of the other.
        sources: File of the sources.
        field: Field of the summaries.
        source_field: Field of the sources.

    Returns:
        One pair for each source.

    Raises:
        DataFormatError: If a file cannot be read, or the files differ in length.
    """
    one, two = read_summaries(ours, field=field), read_summaries(theirs, field=field)
    texts = read_sources(sources, field=source_field)
    check_paired(one, two, names=(f"summaries in {ours}", f"summaries in {theirs}"))
    if len(one) != len(texts):
        raise DataFormatError(
            f"there are {len(one)} summaries in {ours} but {len(texts)} sources in {sources}"
        )
    return [
        Pair(source, mine.text, other.text)
        for source, mine, other in zip(texts, one, two, strict=True)
    ]
