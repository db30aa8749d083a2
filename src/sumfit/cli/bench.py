"""``sumfit bench``: sentences and words per second on this machine, one at a time and many."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sumfit.cli.bench_texts import TEXTS
from sumfit.errors import ConfigError
from sumfit.evaluation.files import read_sources
from sumfit.evaluation.table import Table, render
from sumfit.pipeline import Summarizer
from sumfit.reproduction.baselines import ROWS, load_baselines
from sumfit.reproduction.speed import Mode, Speed, machine, measure_speed

if TYPE_CHECKING:
    from sumfit.baselines.base import Baseline

__all__ = ["bench"]

_SYSTEMS: dict[str, dict[str, Any]] = {
    "pathmap": {"method": "pathmap", "constraints": False},
    "seqmap": {"method": "seqmap"},
    "seqmap-unconstrained": {"method": "seqmap", "constraints": False},
    "seqmap-mbr": {"method": "seqmap", "rerank": "mbr"},
    "seqmap-neural": {"method": "seqmap", "rerank": "neural"},
    "seqmap-beam": {"method": "seqmap-beam", "constraints": False},
    "seqmap-table": {"method": "seqmap-table", "constraints": False},
    "greedy": {"method": "greedy", "constraints": False, "on_infeasible": "cut"},
}
_COLUMNS = (
    "system",
    "backend",
    "mode",
    "sentences/s",
    "words/s",
    "p50 ms",
    "p95 ms",
    "forward ms",
    "decode ms",
    "no summary",
)


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
    unknown = [name for name in chosen if name not in _SYSTEMS]
    if unknown:
        raise ConfigError(f"systems must be among {', '.join(_SYSTEMS)}, was {unknown[0]!r}")
    sources = list(read_sources(texts)) if texts else list(TEXTS)
    timed = [sources[i % len(sources)] for i in range(number)]
    budget = {"max_length": limit, "unit": unit}
    names = [name.strip() for name in backends.split(",")]
    timing = _Timing(timed, warmup, budget)
    rows: list[_Cells] = []
    for backend in names:
        fit = _summarizer(model, backend, workers)
        rows += timing.systems(fit, chosen or _offered(fit))
    for device in dict.fromkeys("cuda" if name == "cuda" else "cpu" for name in names):
        rows += timing.baselines(load_baselines(baseline or (), device=device))
    note = (
        f"{number} texts, {statistics.mean(len(t.split()) for t in timed):.0f} words each on "
        f"average; at most {limit} {unit}; {warmup} texts of warm-up; {machine()}"
    )
    typer.echo(render([Table("Speed", _COLUMNS, tuple(rows), (note,))], format))


_MODES: tuple[Mode, ...] = ("one", "many")
_ONE = "one at a time"
_Cells = tuple[str | float | int | None, ...]


@dataclass(frozen=True, slots=True)
class _Timing:
    """Texts to time under one limit; makes the rows of the table."""

    texts: Sequence[str]
    n_warmup: int
    budget: Mapping[str, Any]

    def systems(self, fit: Summarizer, names: Sequence[str]) -> Iterator[_Cells]:
        many = f"many, {fit.n_workers} threads"
        for name in names:
            yield from self._rows(name, fit, fit.backend.name, _SYSTEMS[name], many)

    def baselines(self, loaded: Mapping[str, Baseline]) -> Iterator[_Cells]:
        for label, row in ROWS.items():
            if row.system in loaded:
                trained = loaded[row.system]
                many = f"many, batches of {trained.batch_size}"
                yield from self._rows(label, trained, trained.name, row.keywords, many)

    def _rows(
        self,
        label: str,
        fit: Summarizer | Baseline,
        backend: str,
        keywords: Mapping[str, Any],
        many: str,
    ) -> Iterator[_Cells]:
        for mode in _MODES:
            asked = {**keywords, **self.budget}
            speed = measure_speed(fit, self.texts, mode=mode, n_warmup=self.n_warmup, **asked)
            yield _row(label, backend, many if mode == "many" else _ONE, speed)


def _summarizer(model: Path | None, backend: str, workers: int | None) -> Summarizer:
    known: dict[str, dict[str, Any]] = {
        "onnx": {"backend": "onnx"},
        "onnx-fp32": {"backend": "onnx", "precision": "fp32"},
        "cpu": {"backend": "torch", "device": "cpu"},
        "cuda": {"backend": "torch", "device": "cuda"},
    }
    if backend not in known:
        raise ConfigError(f"backend must be among {', '.join(known)}, was {backend!r}")
    return Summarizer.from_pretrained(model, n_workers=workers, **known[backend])


def _offered(fit: Summarizer) -> list[str]:
    """All systems; that of a model's own reranker where there is one."""
    has_own = fit.model.own_reranker is not None
    return [name for name in _SYSTEMS if has_own or _SYSTEMS[name].get("rerank") != "neural"]


def _row(name: str, backend: str, shown: str, speed: Speed) -> tuple[str | float | int | None, ...]:
    ordered = sorted(speed.latencies_s)
    middle = 1000 * statistics.median(ordered) if ordered else None
    late = 1000 * ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else None
    return (
        name,
        backend,
        shown,
        speed.sentences_per_s,
        speed.words_per_s,
        middle,
        late,
        1000 * speed.forward_s,
        1000 * speed.decode_s,
        speed.n_failed,
    )
