"""``sumfit bench``: sentences and words per second on this machine, one at a time and many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sumfit.errors import ConfigError
from sumfit.evaluation.files import read_sources
from sumfit.evaluation.table import render
from sumfit.pipeline import Summarizer
from sumfit.reproduction.baselines import load_baselines
from sumfit.reproduction.speed_table import SYSTEMS, Cells, Timing, offered
from sumfit.reproduction.speed_texts import TEXTS

__all__ = ["bench"]


def bench(
    texts: Annotated[
        Path | None, typer.Argument(help="Texts to summarise; a dozen news leads if left out")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Model directory; the default model if left out")
    ] = None,
    backends: Annotated[
        str, typer.Option("--backend", help="onnx, onnx-fp32, cpu or cuda (torch), by commas")
    ] = "onnx",
    systems: Annotated[
        str, typer.Option("--systems", help="Systems to time, by commas; all if left out")
    ] = "",
    baseline: Annotated[
        list[str] | None,
        typer.Option(help="Time a trained baseline too: its checkpoint; on cuda or the CPU"),
    ] = None,
    limit: Annotated[int, typer.Option(help="Length limit", min=1)] = 60,
    unit: Annotated[str, typer.Option(help="Unit of the limit")] = "chars",
    number: Annotated[int, typer.Option("--number", "-n", help="Texts to time", min=1)] = 100,
    warmup: Annotated[int, typer.Option(help="Texts before the clock starts", min=1)] = 10,
    workers: Annotated[
        int | None, typer.Option(help="Threads for many texts; one per processor")
    ] = None,
    format: Annotated[
        Literal["text", "markdown", "json"], typer.Option(help="Output format")
    ] = "text",
) -> None:
    """Measure speed: one text after another, and many at once."""
    chosen = [name.strip() for name in systems.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in SYSTEMS]
    if unknown:
        raise ConfigError(f"systems must be among {', '.join(SYSTEMS)}, was {unknown[0]!r}")
    sources = list(read_sources(texts)) if texts else list(TEXTS)
    timed = [sources[i % len(sources)] for i in range(number)]
    names = [name.strip() for name in backends.split(",")]
    timing = Timing(timed, warmup, limit, unit)
    rows: list[Cells] = []
    for backend in names:
        fit = _summarizer(model, backend, workers)
        rows += timing.systems(fit, chosen or offered(fit))
    for device in dict.fromkeys("cuda" if name == "cuda" else "cpu" for name in names):
        rows += timing.baselines(load_baselines(baseline or (), device=device))
    typer.echo(render([timing.table(rows)], format))


def _summarizer(model: Path | None, backend: str, workers: int | None) -> Summarizer:
    known: dict[str, dict[str, Any]] = {
        "onnx": {"backend": "onnx"},
        "onnx-fp32": {"backend": "onnx", "precision": "fp32"},
        "cpu": {"backend": "torch", "device": "cpu"},
        "cuda": {"backend": "torch", "device": "cuda"},
    }
    if backend not in known:
        raise ConfigError.of("backend", backend, f"must be among {', '.join(known)}")
    return Summarizer.from_pretrained(model, n_workers=workers, **known[backend])
