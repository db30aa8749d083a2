"""The table of ``sumfit bench``: every system of a model, and trained baselines, timed in one run.

Owns which systems there are and how a row looks. Does not own the clock (`speed`).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sumfit.evaluation.table import Table
from sumfit.pipeline import Summarizer
from sumfit.reproduction.baselines import ROWS
from sumfit.reproduction.speed import Mode, Speed, machine, measure_speed

if TYPE_CHECKING:
    from sumfit.baselines.base import Baseline

__all__ = ["SYSTEMS", "Cells", "Timing", "offered"]

Cells = tuple[str | float | int | None, ...]

SYSTEMS: dict[str, dict[str, Any]] = {
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
_MODES: tuple[Mode, ...] = ("one", "many")
_ONE = "one at a time"


@dataclass(frozen=True, slots=True)
class Timing:
    """Texts to time under one limit; makes the rows of the table.

    Attributes:
        texts: The texts.
        n_warmup: Texts summarised before the clock starts.
        limit: Most that a summary may measure.
        unit: What the limit counts.
    """

    texts: Sequence[str]
    n_warmup: int
    limit: int
    unit: str

    def systems(self, fit: Summarizer, names: Sequence[str]) -> Iterator[Cells]:
        """Time systems of a model.

        Args:
            fit: The loaded model.
            names: Names in `SYSTEMS`.

        Yields:
            Two rows for each system: one text at a time, and many.
        """
        many = f"many, {fit.n_workers} threads"
        for name in names:
            yield from self._rows(name, fit, fit.backend.name, SYSTEMS[name], many)

    def baselines(self, loaded: Mapping[str, Baseline]) -> Iterator[Cells]:
        """Time trained baselines.

        Args:
            loaded: The baselines by system.

        Yields:
            Two rows for each row of the paper that one of them fills.
        """
        for label, row in ROWS.items():
            if row.system in loaded:
                trained = loaded[row.system]
                many = f"many, batches of {trained.batch_size}"
                yield from self._rows(label, trained, trained.name, row.keywords, many)

    def table(self, rows: Sequence[Cells]) -> Table:
        """Put rows into a table that says how they were measured.

        Args:
            rows: What `systems` and `baselines` made.

        Returns:
            The table.
        """
        note = (
            f"{len(self.texts)} texts, {statistics.mean(len(t.split()) for t in self.texts):.0f} "
            f"words each on average; at most {self.limit} {self.unit}; {self.n_warmup} texts of "
            f"warm-up; {machine()}"
        )
        return Table("Speed", _COLUMNS, tuple(rows), (note,))

    def _rows(
        self,
        label: str,
        fit: Summarizer | Baseline,
        backend: str,
        keywords: Mapping[str, Any],
        many: str,
    ) -> Iterator[Cells]:
        for mode in _MODES:
            asked = {**keywords, "max_length": self.limit, "unit": self.unit}
            speed = measure_speed(fit, self.texts, mode=mode, n_warmup=self.n_warmup, **asked)
            yield _row(label, backend, many if mode == "many" else _ONE, speed)


def offered(fit: Summarizer) -> list[str]:
    """Name the systems that a model has.

    Args:
        fit: The loaded model.

    Returns:
        Names in `SYSTEMS`; that of the model's own reranker where it has one.
    """
    has_own = fit.model.own_reranker is not None
    return [name for name in SYSTEMS if has_own or SYSTEMS[name].get("rerank") != "neural"]


def _row(name: str, backend: str, shown: str, speed: Speed) -> Cells:
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
