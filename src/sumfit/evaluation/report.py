"""Everything about one system on one data set, and against another, as tables.

Owns what an evaluation reports and in which words. The measures are their modules'.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sumfit.errors import InputError
from sumfit.evaluation.fidelity import Fidelity, fidelity
from sumfit.evaluation.files import ReferenceItem, SummaryItem
from sumfit.evaluation.novelty import Novelty, novelty
from sumfit.evaluation.rouge import METRICS, RougeOptions, RougeResult, compare_rouge, rouge
from sumfit.evaluation.significance import PairedResult
from sumfit.evaluation.table import Table
from sumfit.length import UnitLike
from sumfit.length.units.words import UNIT as WORDS
from sumfit.text.split import split_words

__all__ = [
    "Evaluation",
    "EvaluationOptions",
    "comparison_table",
    "evaluate",
    "evaluation_tables",
    "write_items",
]

_LABELS = {
    "n": "summaries",
    "n_empty": "empty summaries",
    "mean_length": "mean length",
    "violations": "limit broken, %",
    "exact_hits": "exactly at the limit, %",
    "fill": "limit used, %",
    "truncated": "truncated, %",
    "complete": "complete endings, %",
    "repeated_neighbour": "a word repeats its neighbour, %",
    "repeated_word": "a content word occurs twice, %",
    "unknown_word": "a word in neither source nor lexicon, %",
    "unsupported_number": "a number not in the source, %",
    "unsupported_name": "a name not in the source, %",
}
_COUNTS = ("n", "n_empty", "mean_length")


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What to measure.

    Attributes:
        rouge: Settings of the scorer.
        unit: Unit of the limits; ``None`` to take what the summaries' records name.
        limit: One limit for all; ``None`` to take what the summaries' records name.
        budget_rule: The length rule in words, for the signature.
        lexicon: Known words; ``None`` to leave that rate out.
        with_novelty: Fit an aligner and measure word novelty and reordering.
    """

    rouge: RougeOptions = field(default_factory=RougeOptions)
    unit: UnitLike | None = None
    limit: int | None = None
    budget_rule: str = ""
    lexicon: Collection[str] | None = None
    with_novelty: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Scores of one system on one data set.

    Attributes:
        rouge: Overlap with the references.
        fidelity: Length and text fidelity.
        novelty: Departure from the sources, if it was asked for.
    """

    rouge: RougeResult
    fidelity: Fidelity
    novelty: Novelty | None = None


def evaluate(
    summaries: Sequence[SummaryItem],
    references: Sequence[ReferenceItem],
    options: EvaluationOptions | None = None,
) -> Evaluation:
    """Measure one system.

    Args:
        summaries: Its summaries.
        references: What to compare them with, as many.
        options: What to measure.

    Returns:
        The scores.

    Raises:
        InputError: If the counts differ, there is nothing to score, or novelty is asked for
            without sources.
    """
    options = options or EvaluationOptions()
    texts = [item.text for item in summaries]
    sources = [item.source for item in references]
    known = [source for source in sources if source is not None]
    has_sources = len(known) == len(sources)
    unit, limits = _limits(summaries, options)
    departures = None
    if options.with_novelty:
        if not has_sources:
            raise InputError("novelty needs the source of every item; give files with sources")
        departures = novelty(
            [split_words(source) for source in known], [split_words(text) for text in texts]
        )
    return Evaluation(
        rouge=rouge(
            texts,
            [item.texts for item in references],
            options=options.rouge,
            budget_rule=options.budget_rule,
        ),
        fidelity=fidelity(
            texts,
            unit=unit,
            limits=limits,
            sources=known if has_sources else None,
            lexicon=options.lexicon,
        ),
        novelty=departures,
    )


def evaluation_tables(name: str, evaluation: Evaluation) -> tuple[Table, ...]:
    """Lay an evaluation out.

    Args:
        name: The system's name.
        evaluation: Its scores.

    Returns:
        A table of overlap scores and one of fidelity.
    """
    result = evaluation.rouge
    scores = tuple(
        (metric, interval.value, interval.low, interval.high)
        for metric, interval in result.scores.items()
    )
    notes = [f"signature: {result.signature}"]
    if result.n_empty:
        notes.append(f"{result.n_empty} of {result.n} summaries have no word and score 0")
    if result.n_empty_references:
        notes.append(f"{result.n_empty_references} items have no word in any reference")
    percent = f"{100 * _confidence(result):g} %"
    return (
        Table(
            f"Overlap: {name}",
            ("metric", "score", f"low, {percent}", f"high, {percent}"),
            scores,
            tuple(notes),
        ),
        Table(f"Fidelity: {name}", ("measure", "value"), tuple(_fidelity_rows(evaluation))),
    )


def comparison_table(names: tuple[str, str], one: RougeResult, two: RougeResult) -> Table:
    """Lay the paired comparison of two systems out.

    Args:
        names: Names of the two systems.
        one: Scores of the first.
        two: Scores of the second.

    Returns:
        A table of differences with intervals and p-values.
    """
    paired: Mapping[str, PairedResult] = compare_rouge(one, two)
    rows = tuple(
        (
            metric,
            one.scores[metric].value,
            two.scores[metric].value,
            result.delta,
            result.low,
            result.high,
            f"{result.p_value:.4f}",
            "yes" if result.is_significant else "no",
        )
        for metric, result in paired.items()
    )
    return Table(
        f"{names[0]} against {names[1]}, paired bootstrap",
        ("metric", names[0], names[1], "difference", "low", "high", "p", "significant"),
        rows,
        (f"signature: {one.signature}",),
    )


def _limits(
    summaries: Sequence[SummaryItem], options: EvaluationOptions
) -> tuple[UnitLike, int | list[int] | None]:
    recorded = {item.unit for item in summaries if item.unit is not None}
    unit = options.unit or (next(iter(recorded)) if len(recorded) == 1 else WORDS.name)
    if options.limit is not None:
        return unit, options.limit
    limits = [item.limit for item in summaries if item.limit is not None]
    is_usable = len(limits) == len(summaries) and recorded <= {unit}
    return unit, limits if is_usable else None


def _fidelity_rows(evaluation: Evaluation) -> list[tuple[str, float | int]]:
    rows: list[tuple[str, float | int]] = [
        (_LABELS[name], value if name in _COUNTS else 100 * value)
        for name, value in evaluation.fidelity
    ]
    found = evaluation.novelty
    if found is not None:
        rows.append(("words not in the source, %", 100 * found.word_novelty))
        rows.append(("reordered pairs of aligned words, %", 100 * found.reordering))
    return rows


def _confidence(result: RougeResult) -> float:
    return float(dict(result.signature.entries)["boot"].split("-")[1])


def write_items(
    path: Path,
    summaries: Sequence[SummaryItem],
    references: Sequence[ReferenceItem],
    result: RougeResult,
) -> None:
    """Write the texts and the scores of each item, one JSON object a line.

    Args:
        path: The file.
        summaries: The summaries.
        references: Their references.
        result: Their scores.
    """
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for item, gold, scores in zip(summaries, references, result.items, strict=True):
            record = {
                "summary": item.text,
                "references": gold.texts,
                **dict(zip(METRICS, (round(float(score), 4) for score in scores), strict=True)),
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
