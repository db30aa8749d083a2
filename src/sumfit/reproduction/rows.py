"""The runs behind the paper's tables: which system is which, made once and kept.

Owns the settings of every row that the DAT model itself can fill, the paper's length rule, and
rows read from files. Rows of trained baselines are `sumfit.reproduction.baselines`, tables
`sumfit.reproduction.tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumfit.errors import ConfigError, InputError
from sumfit.evaluation.baselines import cut_at_words
from sumfit.evaluation.endpoint import Endpoint
from sumfit.evaluation.files import read_summaries
from sumfit.length import resolve_budget
from sumfit.reproduction import paper
from sumfit.reproduction.baselines import ROWS, profile_of, run_baseline
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, RunItem, spread

if TYPE_CHECKING:
    from sumfit.baselines.base import Baseline

__all__ = [
    "CONSTRAINED",
    "EXACT",
    "MBR",
    "NEURAL",
    "OURS",
    "Reproduction",
    "Row",
    "parse_rerankers",
    "parse_systems",
]

EXACT, CONSTRAINED, MBR, NEURAL = (
    "exact SeqMAP (ours)",
    "exact SeqMAP, constrained (ours)",
    "exact SeqMAP, constrained, MBR (ours)",
    "exact SeqMAP, constrained, reranked (ours)",
)
_PAPERS, _OURS = "paper", "ours"  # names of rerankers that fill more rows than those of Table 9
_TABLE = {"method": "seqmap-table", "constraints": False}
OURS: Mapping[str, Mapping[str, Any]] = {
    paper.PATHMAP: {"method": "pathmap", "constraints": False},
    paper.NO_RERANKER: {**_TABLE, "beam_size": 20, "words_per_vertex": 5},
    EXACT: {"method": "seqmap", "constraints": False},
    CONSTRAINED: {"method": "seqmap"},
    MBR: {"method": "seqmap", "rerank": "mbr"},
}


@dataclass(frozen=True, slots=True)
class Row:
    """The summaries of one system.

    Attributes:
        texts: One for each text of the set; empty where there is none.
        truncated: Which were cut to fit.
        n_shorter: How many have fewer words than were asked for because no output had them all.
    """

    texts: list[str]
    truncated: list[bool]
    n_shorter: int = 0

    @classmethod
    def of(cls, items: Sequence[RunItem]) -> Row:
        """Take what a table needs of a run.

        Args:
            items: The run.

        Returns:
            The row.
        """
        return cls(
            [item.text for item in items],
            [item.truncated for item in items],
            sum(item.origin == "shorter" for item in items),
        )


@dataclass(slots=True)
class Reproduction:
    """Everything the tables are made from.

    Attributes:
        runner: The DAT model.
        part: The test set.
        ending: Objective: ``"eos"``, or ``"any"`` as in the paper.
        files: Summaries by row name, or by ``name@ratio``.
        rerankers: Directories of trained rerankers by name: ``paper`` for the rows of SeqMAP with
            the paper's reranker, ``ours`` for constrained exact SeqMAP with ours (the model's
            own if left out), and the rows of Table 9 by their names. Without one its rows are left
            out.
        baselines: Trained baselines by system.
        endpoint: The judge of Table 4; ``None`` leaves the table out.
        first: The set was thinned to so many items; files are thinned alike.
        on_progress: Called with the number of texts that a baseline has just done; the runner
            counts those of the DAT.
    """

    runner: ModelRunner
    part: EvaluationSet
    ending: str = "eos"
    files: Mapping[str, Path] = field(default_factory=dict)
    rerankers: Mapping[str, str] = field(default_factory=dict)
    baselines: Mapping[str, Baseline] = field(default_factory=dict)
    endpoint: Endpoint | None = None
    first: int | None = None
    on_progress: Callable[[int], None] | None = None
    _done: dict[str, list[RunItem]] = field(default_factory=dict)

    @property
    def profile(self) -> str:
        """Text profile: Gigaword's if the model knows it."""
        return profile_of(self.runner.summarizer)

    def limits(self, ratio: float) -> list[int]:
        """Compute the paper's length of each summary.

        Args:
            ratio: Share of the source's words.

        Returns:
            ``floor(ratio (n + 2)) + 1`` for a source of n words.
        """
        return [
            resolve_budget(ratio=ratio, ratio_rule="paper-dat", source=source).limit
            for source in self.part.sources
        ]

    def run(self, ratio: float, keywords: Mapping[str, Any]) -> list[RunItem]:
        """Summarise the set at the paper's lengths, once for every setting.

        Args:
            ratio: Share of the source's words.
            keywords: Method and options.

        Returns:
            One item per text; at most the length where no output has exactly it.
        """
        key = _key(ratio, keywords)
        if key not in self._done:
            limits = self.limits(ratio)
            shared: dict[str, Any] = {
                "profile": self.profile,
                "keep_short": False,
                "ending": self.ending,
                "bonus": 0.0,  # the length is given, so nothing has to reward it
                **keywords,
            }
            self._done[key] = self.runner.run_exactly(self.part.sources, limits, **shared)
        return self._done[key]

    def row(self, name: str, ratio: float) -> Row | None:
        """Find the summaries of a row: in a file, from a baseline, or from the DAT.

        Args:
            name: Row name.
            ratio: Share of the source's words.

        Returns:
            The summaries; ``None`` if nobody can make them.
        """
        path = self._file(name, ratio)
        if path is not None:
            return self._from_file(path, self.limits(ratio))
        if self._has_baseline(name):
            return Row.of(self._run_baseline(name, ratio))
        keywords = self.keywords(name)
        return Row.of(self.run(ratio, keywords)) if keywords else None

    def run_of(self, name: str, ratio: float, own: Mapping[str, Any] | None = None) -> str | None:
        """Say which run fills a row, for a count of them.

        Args:
            name: Row name.
            ratio: Share of the source's words.
            own: Method and options of a row that is no usual system.

        Returns:
            The same for the same run; ``None`` where none is needed, or nobody can make it.
        """
        if own is not None:
            return None if own.get("rerank", "") is None else _key(ratio, own)
        if self._file(name, ratio) is not None:
            return None
        if self._has_baseline(name):
            return f"{ratio} {name}"
        keywords = self.keywords(name)
        return _key(ratio, keywords) if keywords else None

    def _file(self, name: str, ratio: float) -> Path | None:
        return self.files.get(f"{name}@{ratio * 100:g}") or self.files.get(name)

    def _has_baseline(self, name: str) -> bool:
        return name in ROWS and ROWS[name].system in self.baselines

    def keywords(self, name: str) -> dict[str, Any]:
        """Say how the DAT makes a row.

        Args:
            name: Row name.

        Returns:
            Method and options; empty if it cannot.
        """
        if name == paper.SEQMAP and self.reranker:
            return {**OURS[paper.NO_RERANKER], "rerank": self.reranker}
        if name == NEURAL and (ours := self.our_reranker):
            return {**OURS[CONSTRAINED], "rerank": ours}
        return dict(OURS.get(name, {}))

    @property
    def reranker(self) -> str | None:
        """The paper's reranker, ``None`` if it is not at hand."""
        return self.rerankers.get(_PAPERS)

    @property
    def our_reranker(self) -> str | None:
        """Our reranker: the one given, or else the model's own; ``None`` without either."""
        has_own = self.runner.summarizer.model.own_reranker is not None
        return self.rerankers.get(_OURS) or ("neural" if has_own else None)

    def ablation(self) -> dict[str, dict[str, Any]]:
        """Say how the rows of Table 9 are made: those of its rerankers that are at hand.

        Returns:
            Method and options by row name; a reranker of any other name has a row of its own.
        """
        rows = {**self.rerankers}
        rows.pop(_OURS, None)
        plain = rows.pop(_PAPERS, None)
        first = next(iter(paper.ABLATIONS["table9"]))
        if plain and first not in rows:
            rows = {first: plain, **rows}
        return {
            name: {**_TABLE, "beam_size": _list_length(path), "words_per_vertex": 5, "rerank": path}
            for name, path in rows.items()
        }

    def _run_baseline(self, name: str, ratio: float) -> list[RunItem]:
        key = f"{ratio} {name}"
        if key not in self._done:
            baseline = self.baselines[ROWS[name].system]
            limits = self.limits(ratio)
            self._done[key] = run_baseline(baseline, ROWS[name], self.part.sources, limits)
            if self.on_progress:
                self.on_progress(len(self.part))
        return self._done[key]

    def _from_file(self, path: Path, limits: Sequence[int]) -> Row:
        texts = [item.text for item in read_summaries(path)]
        n_read = len(texts)
        if self.first is not None:
            texts = spread(texts, len(self.part))
        if len(texts) != len(self.part):
            raise InputError(
                f"{path} has {n_read} summaries but the test set has {len(self.part)} items"
            )
        cuts = [cut_at_words(text, limit=limit) for text, limit in zip(texts, limits, strict=True)]
        return Row([cut.text for cut in cuts], [cut.truncated for cut in cuts])


def _key(ratio: float, keywords: Mapping[str, Any]) -> str:
    return f"{ratio} {sorted(keywords.items())}"


def _list_length(reranker: str) -> int:
    """``K`` that a reranker was trained with."""
    from sumfit.rerank.neural import read_config

    return read_config(Path(reranker) / "config.json").architecture.n_candidates


def parse_rerankers(specs: Sequence[str]) -> dict[str, str]:
    """Read ``DIR`` and ``NAME=DIR`` arguments.

    Args:
        specs: The arguments; a directory alone is the paper's reranker.

    Returns:
        Directories by name.

    Raises:
        ConfigError: If a directory does not exist.
    """
    found = {}
    for spec in specs:
        name, _, path = spec.rpartition("=")
        if not Path(path).is_dir():
            raise ConfigError(f"--reranker {name or _PAPERS}: there is no directory {path}")
        found[name or _PAPERS] = path
    return found


def parse_systems(specs: Sequence[str]) -> dict[str, Path]:
    """Read ``NAME=FILE`` and ``NAME@RATIO=FILE`` arguments.

    Args:
        specs: The arguments.

    Returns:
        Files by name.

    Raises:
        ConfigError: If one has no ``=``, or its file does not exist.
    """
    files = {}
    for spec in specs:
        name, found, path = spec.rpartition("=")
        if not found or not name:
            raise ConfigError(f"--system must be NAME=FILE or NAME@RATIO=FILE, was {spec!r}")
        if not Path(path).exists():
            raise ConfigError(f"--system {name}: there is no file {path}")
        files[name] = Path(path)
    return files
