"""``sumfit evaluate``: score summaries against references, and against another system."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from sumfit.cli.options import with_flags
from sumfit.evaluation import report
from sumfit.evaluation.fidelity import load_lexicon
from sumfit.evaluation.files import (
    SummaryItem,
    check_paired,
    read_references,
    read_summaries,
)
from sumfit.evaluation.report import EvaluationOptions, comparison_table, evaluation_tables
from sumfit.evaluation.rouge import RougeOptions
from sumfit.evaluation.significance import BootstrapOptions
from sumfit.evaluation.table import render

__all__ = ["evaluate"]


@dataclass(frozen=True)
class RougeFlags:
    """How ROUGE counts."""

    measure: Annotated[
        Literal["f1", "recall", "precision"], typer.Option(help="What ROUGE reports")
    ] = "f1"
    stem: Annotated[bool, typer.Option(help="Porter stemming")] = True
    tokenizer: Annotated[
        Literal["ascii", "unicode"], typer.Option(help="How ROUGE splits words")
    ] = "ascii"
    rouge_l: Annotated[
        Literal["sentence", "summary"], typer.Option(help="Which ROUGE-L: rougeL or rougeLsum")
    ] = "sentence"
    multi: Annotated[
        Literal["best", "mean", "jackknife", "pooled"] | None,
        typer.Option(help="What several references give: best, or mean with --duc, if left out"),
    ] = None
    max_bytes: Annotated[int | None, typer.Option(help="Cut at this many bytes before scoring")] = (
        None
    )
    duc: Annotated[
        bool, typer.Option("--duc", help="DUC 2004: recall at 75 bytes, mean over references")
    ] = False
    samples: Annotated[int, typer.Option(help="Bootstrap samples")] = 1000
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap")] = 12345

    def options(self) -> RougeOptions:
        """The same for the library.

        Returns:
            Options of ROUGE, measure and cut of DUC 2004 in place of the others where asked.
        """
        return RougeOptions(
            measure="recall" if self.duc else self.measure,
            stem=self.stem,
            tokenizer=self.tokenizer,
            l_kind=self.rouge_l,
            references=self.multi or ("mean" if self.duc else "best"),
            max_bytes=75 if self.duc else self.max_bytes,
            bootstrap=BootstrapOptions(n_samples=self.samples, seed=self.seed),
        )


@dataclass(frozen=True)
class PromiseFlags:
    """What else a summary should keep."""

    unit: Annotated[str | None, typer.Option(help="Unit of the limit: words, chars, ...")] = None
    limit: Annotated[int | None, typer.Option(help="Limit that all summaries had to keep")] = None
    budget_rule: Annotated[str, typer.Option(help="Length rule in words, for the signature")] = ""
    lexicon: Annotated[Path | None, typer.Option(help="File of known words, one a line")] = None
    novelty: Annotated[
        bool, typer.Option("--novelty", help="Measure word novelty and reordering too")
    ] = False

    def options(self, rouge: RougeOptions) -> EvaluationOptions:
        """The same for the library.

        Args:
            rouge: How ROUGE counts.

        Returns:
            Options of the evaluation, the lexicon read from its file.
        """
        return EvaluationOptions(
            rouge=rouge,
            unit=self.unit,
            limit=self.limit,
            budget_rule=self.budget_rule,
            lexicon=load_lexicon(self.lexicon) if self.lexicon else None,
            with_novelty=self.novelty,
        )


@with_flags(promises=PromiseFlags, rouge=RougeFlags)
def evaluate(
    summaries: Annotated[
        str,
        typer.Argument(help="Lines, JSONL, CSV, TSV or Parquet; - for lines on stdin"),
    ],
    references: Annotated[
        list[Path],
        typer.Option("--references", "-r", help="References; several files give alternatives"),
    ],
    against: Annotated[
        Path | None, typer.Option(help="Summaries of another system, for a paired test")
    ] = None,
    field: Annotated[str | None, typer.Option(help="Field of the summaries")] = None,
    reference_field: Annotated[str | None, typer.Option(help="Field of the references")] = None,
    source_field: Annotated[str | None, typer.Option(help="Field of the sources")] = None,
    items: Annotated[
        Path | None, typer.Option(help="File for the scores of each item, JSONL")
    ] = None,
    input_format: Annotated[
        Literal["lines", "jsonl", "json", "csv", "tsv", "parquet"] | None,
        typer.Option(help="Format of the summaries; told from the name if left out"),
    ] = None,
    format: Annotated[
        Literal["text", "markdown", "json"], typer.Option(help="Output format")
    ] = "text",
    *,
    promises: PromiseFlags,
    rouge: RougeFlags,
) -> None:
    """Score summaries: ROUGE with intervals, limits, endings, repetition, faithfulness."""
    options = promises.options(rouge.options())
    gold = read_references(references, field=reference_field, source_field=source_field)
    name, texts = _summaries(summaries, field, input_format)
    check_paired(texts, gold, names=(f"summaries in {name}", "references"))
    result = report.evaluate(texts, gold, options)
    tables = list(evaluation_tables(name, result))
    if against is not None:
        other_name, others = _summaries(str(against), field, input_format)
        check_paired(others, gold, names=(f"summaries in {other_name}", "references"))
        other = report.evaluate(others, gold, options)
        tables += evaluation_tables(other_name, other)
        tables.append(comparison_table((name, other_name), result.rouge, other.rouge))
    if items is not None:
        report.write_items(items, texts, gold, result.rouge)
    typer.echo(render(tables, format))


def _summaries(path: str, field: str | None, format: str | None) -> tuple[str, list[SummaryItem]]:
    if path == "-":
        found = read_summaries(sys.stdin.buffer, field=field, format=format or "lines")
        return "stdin", found
    return Path(path).name, read_summaries(Path(path), field=field, format=format)
