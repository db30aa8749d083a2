"""Data sets of a recipe: which files, which columns, which text profile, how often.

Owns `SetSpec`, the filters `PackOptions`, and reading a split of a set. Does not own the formats
(`sumfit.data.readers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sumfit.data.corpus import PackedSet
from sumfit.data.readers import (
    Columns,
    Pair,
    ReadReport,
    file_format,
    read_line_pairs,
    read_pairs,
)
from sumfit.data.synthetic import synthetic_pairs
from sumfit.errors import ConfigError
from sumfit.text.controls import STYLES

__all__ = ["PackOptions", "SetSpec", "longer_than_graph", "missing_files", "read_set"]


@dataclass(frozen=True, slots=True)
class SetSpec:
    """One data set of a recipe.

    Attributes:
        name: Name in reports and checkpoints' sampling.
        train: File of training pairs, below ``data_dir`` unless absolute; may be empty.
        valid: File of validation pairs; may be empty.
        test: File of test pairs, read only to keep its texts out of training; may be empty.
        train_summaries: Where ``train`` holds sources one a line: the parallel file.
        valid_summaries: The same for ``valid``.
        n_synthetic: Instead of files: made-up training pairs, and a tenth as many for validation.
        profile: Text profile; ``both`` packs each pair in natural and in gigaword form.
        weight: How often an epoch takes each pair, on average.
        gigaword_weight: The same for the gigaword copies of ``both``; ``weight`` if absent.
        source: Column of the source.
        summary: Column of the summary.
        summaries: Column of several summaries.
        style: What a model with control pieces is told of these summaries, one of
            `sumfit.text.controls.STYLES`; empty for nothing.
    """

    name: str
    train: str = ""
    valid: str = ""
    test: str = ""
    train_summaries: str = ""
    valid_summaries: str = ""
    n_synthetic: int = 0
    profile: Literal["natural", "gigaword", "both"] = "natural"
    weight: float = 1.0
    gigaword_weight: float | None = None
    source: str = "source"
    summary: str = "summary"
    summaries: str = "summaries"
    style: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise ConfigError("a set needs a name")
        if self.weight < 0 or (self.gigaword_weight or 0) < 0:
            raise ConfigError(f"weights of set {self.name} must be 0 or more")
        if self.style and self.style not in STYLES:
            raise ConfigError(
                f"style of set {self.name} must be one of {', '.join(STYLES)}, was {self.style!r}"
            )
        if bool(self.train or self.valid) == bool(self.n_synthetic):
            raise ConfigError(f"set {self.name} needs a train or valid file, or n_synthetic")

    def has(self, split: str) -> bool:
        """Say whether the set has a split.

        Args:
            split: ``train``, ``valid`` or ``test``.

        Returns:
            Whether it does.
        """
        return bool(getattr(self, split)) or (self.n_synthetic > 0 and split != "test")

    @property
    def columns(self) -> Columns:
        """Columns to read."""
        return Columns(self.source, self.summary, self.summaries)

    @property
    def packed_sets(self) -> tuple[PackedSet, ...]:
        """One entry for each profile of the set."""
        if self.profile != "both":
            return (PackedSet(self.name, self.profile, self.weight, self.style),)
        second = self.weight if self.gigaword_weight is None else self.gigaword_weight
        return (
            PackedSet(self.name, "natural", self.weight, self.style),
            PackedSet(self.name, "gigaword", second),
        )


@dataclass(frozen=True, slots=True)
class PackOptions:
    """Filters of packing.

    Attributes:
        max_source: Pieces at which a source is cut.
        max_target: Longest summary in pieces; longer ones are left out and counted.
        vertex_scale: Graph vertices per source piece; a summary longer than the inner vertices
            of its graph is left out and counted.
        min_vertices: Smallest graph.
        max_vertices: Largest graph.
        on_bad: Whether a record that does not parse stops packing or is counted.
        max_valid: Validation pairs kept of each set.
    """

    max_source: int = 192
    max_target: int = 64
    vertex_scale: float = 1.0
    min_vertices: int = 32
    max_vertices: int = 128
    on_bad: Literal["raise", "skip"] = "skip"
    max_valid: int = 1000


def longer_than_graph(smallest: int, largest: int) -> str:
    """Say what limit a summary breaks that has no path through the graph of its source.

    Args:
        smallest: Vertices of the graph of a source of few pieces, start and end included.
        largest: Those of the graph of the longest sources.

    Returns:
        What follows "summary is" or "summary".
    """
    limits = f"at most {largest - 2} pieces"
    if smallest < largest:
        limits = f"{smallest - 2} pieces for a short source, up to {largest - 2} for the longest"
    return f"longer than the graph of its source allows ({limits})"


def missing_files(sets: Sequence[SetSpec], data_dir: Path) -> list[str]:
    """List the files that sets name and that are not there or cannot be read as data.

    Args:
        sets: The sets.
        data_dir: Where relative file names start.

    Returns:
        One sentence for each problem.
    """
    problems = []
    for spec in sets:
        for key in ("train", "valid", "test", "train_summaries", "valid_summaries"):
            value = getattr(spec, key)
            if not value:
                continue
            path = data_dir / value
            if not path.exists():
                problems.append(f"set {spec.name}: {key} file {path} does not exist; set data_dir=")
                continue
            try:
                file_format(path)
            except ConfigError as error:
                is_parallel = bool(getattr(spec, f"{key}_summaries", ""))
                if not (key.endswith("summaries") or is_parallel):
                    problems.append(f"set {spec.name}: {error}")
    return problems


def read_set(
    spec: SetSpec,
    split: str,
    data_dir: Path,
    on_bad: Literal["raise", "skip"],
    report: ReadReport | None = None,
) -> Iterator[Pair]:
    """Read the pairs of one split of a set, in any format.

    Args:
        spec: The set.
        split: ``train``, ``valid`` or ``test``.
        data_dir: Where relative file names start.
        on_bad: Whether a record that does not parse raises or is left out.
        report: Counts and messages of what is left out are added here while reading.

    Returns:
        The pairs, lazily; none where the set lacks the split.
    """
    if not spec.has(split):
        return iter(())
    if spec.n_synthetic:
        is_train = split == "train"
        n_pairs = spec.n_synthetic if is_train else max(1, spec.n_synthetic // 10)
        return synthetic_pairs(n_pairs, seed=1 if is_train else 2)
    path = getattr(spec, split)
    summaries = getattr(spec, f"{split}_summaries", "")
    if summaries:
        return read_line_pairs(data_dir / path, data_dir / summaries, report=report)
    return read_pairs(data_dir / path, columns=spec.columns, on_bad=on_bad, report=report)
