"""``sumfit judge``: let a language model compare two systems, pair by pair."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from sumfit.cli.endpoint_flags import EndpointFlags
from sumfit.cli.options import with_flags
from sumfit.errors import ConfigError, ServiceError
from sumfit.evaluation.endpoint import AnswerCache, Endpoint
from sumfit.evaluation.judge import Pair, judge_prompts, read_pairs
from sumfit.evaluation.judge import judge as judge_pairs
from sumfit.evaluation.table import render

__all__ = ["judge"]


@dataclass(frozen=True)
class PriceFlags:
    """What asking costs, and whether that is all right."""

    price_in: Annotated[float, typer.Option(help="Price of a million tokens of questions")] = 0.0
    price_out: Annotated[float, typer.Option(help="Price of a million tokens of answers")] = 0.0
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Print the cost estimate and stop")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before paying")] = False


@with_flags(endpoint=EndpointFlags, price=PriceFlags)
def judge(
    ours: Annotated[Path, typer.Argument(help="Summaries of the system judged")],
    theirs: Annotated[Path, typer.Argument(help="Summaries of the system to compare with")],
    sources: Annotated[
        Path, typer.Option("--sources", "-s", help="The texts summarised, in the same order")
    ],
    cache: Annotated[
        Path, typer.Option(help="File of answers: appended to, and read again to resume")
    ] = Path("judge-answers.jsonl"),
    field: Annotated[str | None, typer.Option(help="Field of the summaries")] = None,
    source_field: Annotated[str | None, typer.Option(help="Field of the sources")] = None,
    first: Annotated[int | None, typer.Option(help="Judge the first N pairs only", min=1)] = None,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of an answer")] = 16,
    parallel: Annotated[int, typer.Option(help="Requests at once")] = 4,
    format: Annotated[
        Literal["text", "markdown", "json"], typer.Option(help="Output format")
    ] = "text",
    *,
    endpoint: EndpointFlags,
    price: PriceFlags,
) -> None:
    """Compare two systems by a language model: win, loss and tie over four questions a pair."""
    pairs = read_pairs(ours, theirs, sources, field=field, source_field=source_field)[:first]
    options = endpoint.options(max_tokens=max_tokens, n_parallel=parallel)
    with Endpoint(options, cache=AnswerCache(cache)) as asked:
        if not _is_agreed(pairs, asked, price):
            return
        result = judge_pairs(pairs, asked)
    typer.echo(render([result.table((ours.stem, theirs.stem))], format))
    if not result.has_verdict:
        raise ServiceError(
            f"none of {result.n_answers} answers names a summary, so nothing is judged; look at "
            f"the answers in {cache}, and use another model or a higher --max-tokens"
        )


def _is_agreed(pairs: Sequence[Pair], asked: Endpoint, price: PriceFlags) -> bool:
    """Say what asking costs; whether to go on."""
    to_ask = [pair for pair in pairs if not pair.is_identical]
    questions = [
        [{"role": "user", "content": prompt}] for pair in to_ask for prompt in judge_prompts(pair)
    ]
    estimate = asked.estimate(questions, price_in=price.price_in, price_out=price.price_out)
    if len(to_ask) < len(pairs):
        n_same = len(pairs) - len(to_ask)
        typer.echo(
            f"{n_same} of {len(pairs)} pairs are identical summaries: ties, not asked about",
            err=True,
        )
    typer.echo(str(estimate), err=True)
    if price.estimate_only:
        return False
    if not price.yes and estimate.n_cached < estimate.n_requests:
        _confirm()
    return True


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise ConfigError("asking costs money; run again with --yes to go on, or with --estimate")
    typer.confirm("Go on?", abort=True, err=True)
