"""``sumfit nbest``: n-best lists with their gains, to train a reranker on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["nbest"]


def nbest(
    lists: Annotated[Path, typer.Argument(help="Directory of the lists.")],
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE...", help="What to make them of, such as model=DIR corpus=DIR."
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda or cuda:N; the best there is by default.")
    ] = "",
    workers: Annotated[int, typer.Option(help="Processes; 0 for one per core.", min=0)] = 0,
    shard: Annotated[
        str, typer.Option(help="Make only part of them, such as 0/4; run one command for each.")
    ] = "0/1",
) -> None:
    """Make n-best lists to train a reranker on.

    What is there already is kept; the same command goes on where it was stopped.
    """
    from sumfit.config import apply_overrides
    from sumfit.errors import ConfigError
    from sumfit.training.nbest.make import make_lists
    from sumfit.training.nbest.spec import build_spec

    spec = build_spec(apply_overrides({"lists": str(lists)}, settings or ()))
    index, slash, number = shard.partition("/")
    if not (slash and index.isdigit() and number.isdigit() and int(index) < int(number)):
        raise ConfigError(f"shard must be INDEX/NUMBER such as 0/4, was {shard!r}")
    report = make_lists(
        spec,
        device=device,
        n_workers=workers,
        shard=(int(index), int(number)),
        on_progress=_print_line,
    )
    rate = report.n_made / max(report.seconds, 1e-9)
    print(f"{report.meta.model}: {report.meta.data}", file=sys.stderr)
    if report.meta.seen_in_training:
        print("the model was trained on these texts: its lists are too good", file=sys.stderr)
    for reason, count in report.failures.items():
        print(f"{count:>12,}  without a list: {reason}", file=sys.stderr)
    print(
        f"{report.n_made:>12,}  lists made in {report.seconds:.0f} s ({rate:.0f} a second); "
        f"{report.n_kept} parts were there",
        file=sys.stderr,
    )
    print(lists)


def _print_line(done: int, wanted: int, left_s: float) -> None:
    print(f"{done:,} of {wanted:,} texts  {left_s:.0f} s left", file=sys.stderr, flush=True)
