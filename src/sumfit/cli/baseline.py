"""``sumfit baseline``: summaries of baselines that need no training, to compare with."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from sumfit.cli.endpoint_flags import EndpointFlags
from sumfit.cli.options import with_flags
from sumfit.errors import BudgetError
from sumfit.evaluation.baselines import BaselineText, LLMBaseline, lead
from sumfit.evaluation.endpoint import AnswerCache, Endpoint
from sumfit.evaluation.files import read_sources
from sumfit.length import resolve_budget

__all__ = ["app"]

app = typer.Typer(
    help="Write summaries of baselines that need no training.",
    add_completion=False,
    rich_markup_mode="rich",
    no_args_is_help=True,
)

_Texts = Annotated[Path, typer.Argument(help="Texts: lines, JSONL, CSV, TSV or Parquet")]
_Field = Annotated[str | None, typer.Option(help="Field of the texts")]
_Limit = Annotated[int | None, typer.Option(help="At most so many of --unit")]
_Ratio = Annotated[float | None, typer.Option(help="Share of each text's length instead")]
_Rule = Annotated[
    Literal["floor", "paper-dat", "paper-truncate"], typer.Option(help="How a ratio is rounded")
]
_Unit = Annotated[str, typer.Option(help="What the limit counts")]


@app.command("lead")
def lead_command(
    texts: _Texts,
    limit: _Limit = None,
    ratio: _Ratio = None,
    ratio_rule: _Rule = "floor",
    unit: _Unit = "words",
    field: _Field = None,
) -> None:
    """Take the first words of each text that fit."""
    sources = read_sources(texts, field=field)
    limits = _limits(sources, limit, ratio, ratio_rule, unit)
    _print(sources, limits, unit, lambda source, most: lead(source, limit=most, unit=unit))


@app.command("llm")
@with_flags(endpoint=EndpointFlags)
def llm_command(
    texts: _Texts,
    limit: _Limit = None,
    ratio: _Ratio = None,
    ratio_rule: _Rule = "floor",
    unit: _Unit = "words",
    field: _Field = None,
    calls: Annotated[
        int, typer.Option(help="Most questions a text; above 1 too long answers are shown back")
    ] = 1,
    cache: Annotated[
        Path, typer.Option(help="File of answers: appended to, and read again to resume")
    ] = Path("llm-answers.jsonl"),
    max_tokens: Annotated[int, typer.Option(help="Most tokens of an answer")] = 100,
    *,
    endpoint: EndpointFlags,
) -> None:
    """Ask a language model that is told the limit; what is still too long is cut and marked."""
    sources = read_sources(texts, field=field)
    limits = _limits(sources, limit, ratio, ratio_rule, unit)
    with Endpoint(endpoint.options(max_tokens=max_tokens), cache=AnswerCache(cache)) as asked:
        _print(sources, limits, unit, LLMBaseline(asked, unit=unit, max_calls=calls))
        typer.echo(f"{asked.n_cached} of {asked.n_answers} answers from {cache}", err=True)


def _limits(
    sources: Sequence[str], limit: int | None, ratio: float | None, rule: str, unit: str
) -> list[int]:
    if (limit is None) == (ratio is None):
        raise BudgetError("give --limit or --ratio, one of them")
    if limit is not None:
        return [resolve_budget(max_length=limit, unit=unit).limit] * len(sources)
    return [
        resolve_budget(ratio=ratio, ratio_rule=rule, unit=unit, source=source).limit
        for source in sources
    ]


def _print(
    sources: Sequence[str],
    limits: Sequence[int],
    unit: str,
    make: Callable[[str, int], BaselineText],
) -> None:
    n_cut = 0
    for source, limit in zip(sources, limits, strict=True):
        made = make(source, limit)
        n_cut += made.truncated
        record = {
            "text": made.text,
            "limit": limit,
            "unit": unit,
            "truncated": made.truncated,
            "n_calls": made.n_calls,
        }
        typer.echo(json.dumps(record, ensure_ascii=False))
    typer.echo(f"{len(sources)} summaries, {n_cut} of them cut to fit", err=True)
