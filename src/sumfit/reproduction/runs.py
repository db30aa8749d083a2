"""Run a model over data sets on several processes, for tables, tuning and benchmarks.

Owns loading of evaluation sets and the process pool. Scoring is `sumfit.evaluation`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from sumfit.data.readers import read_pairs
from sumfit.errors import ConfigError, DataFormatError
from sumfit.evaluation.fidelity import load_lexicon
from sumfit.hypothesis import Summary
from sumfit.pipeline import Summarizer
from sumfit.processors import checked_workers
from sumfit.runtime import LEXICON
from sumfit.workers import Workers

__all__ = [
    "Candidate",
    "EvaluationSet",
    "ModelRunner",
    "RunItem",
    "exact_or_shorter",
    "find_set",
    "spread",
]

Item = TypeVar("Item")
_CHUNK = 16  # texts that a process takes at once
_SUFFIXES = (".jsonl.xz", ".jsonl.gz", ".jsonl.zst", ".jsonl", ".parquet", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Texts with their references.

    Attributes:
        name: What tables call it.
        sources: The texts.
        references: The references of each, at least one.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, path: Path, *, name: str = "", first: int | None = None) -> EvaluationSet:
        """Read a file of pairs.

        Args:
            path: The file.
            name: Name; the file's if not given.
            first: Take so many items, spread evenly over the file; all if ``None``.

        Returns:
            The set.

        Raises:
            DataFormatError: If the file does not parse, has no pair, or an empty reference.
        """
        pairs = spread(list(read_pairs(path)), first)
        if not pairs:
            raise DataFormatError(f"{path} has no pairs")
        for pair in pairs:
            if not all(text.strip() for text in pair.summaries):
                raise DataFormatError(f"{path}:{pair.line}: an empty reference")
        return cls(
            name=name or path.name.split(".")[0],
            sources=tuple(pair.source for pair in pairs),
            references=tuple(pair.summaries for pair in pairs),
        )

    def __len__(self) -> int:
        return len(self.sources)


def spread(items: list[Item], first: int | None) -> list[Item]:
    """Take so many items, spread evenly.

    Args:
        items: The items.
        first: How many to take; all if ``None``.

    Returns:
        Those taken, in order; all if there are no more than asked for.
    """
    if first is None or first >= len(items):
        return items
    return [items[i * len(items) // first] for i in range(first)]


def find_set(data: Path, name: str) -> Path:
    """Find the file of a set such as ``newsapi/test`` below a directory.

    Args:
        data: The directory.
        name: Path below it, without suffix.

    Returns:
        The file.

    Raises:
        ConfigError: If there is none.
    """
    for suffix in _SUFFIXES:
        path = data / (name + suffix)
        if path.exists():
            return path
    raise ConfigError(f"there is no {name} below {data}; tried {', '.join(_SUFFIXES)}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry of an n-best list.

    Attributes:
        text: The text.
        log_prob: Its log-probability.
        score: What the search maximised.
    """

    text: str
    log_prob: float
    score: float


@dataclass(frozen=True, slots=True)
class RunItem:
    """One summary of a run.

    Attributes:
        text: The summary; empty where there is none.
        limit: Its limit.
        origin: ``"model"``, ``"source"`` or ``"cut"``; ``"shorter"`` if no output had exactly the
            length asked for.
        optimal: The search proved it.
        error: Why there is no summary; empty if there is.
        candidates: The n-best list, most probable first, if one was asked for.
        seconds: Time of every stage together.
        truncated: The model wrote more than fits.
    """

    text: str
    limit: int
    origin: str
    optimal: bool
    error: str
    candidates: tuple[Candidate, ...]
    seconds: float
    truncated: bool = False

    @classmethod
    def of(cls, summary: Summary) -> RunItem:
        """Keep what tables need, in types that travel between processes.

        Args:
            summary: The summary.

        Returns:
            The item.
        """
        listed = (summary, *summary.alternatives) if summary.error is None else ()
        ordered = sorted(listed, key=lambda entry: entry.rank)
        return cls(
            text=summary.text,
            limit=summary.limit,
            origin=summary.origin,
            optimal=summary.optimal,
            error=str(summary.error or ""),
            candidates=tuple(
                Candidate(entry.text, entry.log_prob, entry.score) for entry in ordered
            ),
            seconds=sum(summary.timings.values()),
            truncated=summary.text_cut,
        )

    def shortened(self) -> RunItem:
        """Mark as taken because no output had exactly the length asked for.

        Returns:
            A changed copy; the same where there is no text at all.
        """
        return replace(self, origin="shorter") if self.text else self


class ModelRunner:
    """A model in several processes; use it as a context manager."""

    def __init__(
        self,
        model: Path | None,
        *,
        n_processes: int | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> None:
        """Start the processes; each loads the model.

        Args:
            model: Model directory; ``None`` for the default model.
            n_processes: Processes; one per processor if not given, 1 for none besides this.
            on_progress: Called with the number of texts just done.

        Raises:
            ConfigError: If ``n_processes`` is below 1 or far above the number of processors.
            ModelError: If there is no such model.
        """
        n_processes = checked_workers(n_processes, name="n_processes", least=1)
        self.summarizer = Summarizer.from_pretrained(model, n_workers=1)
        self._on_progress = on_progress
        self._workers: Workers | None = None
        if n_processes > 1:
            self._workers = Workers(n_processes, _load, (str(model) if model else None,))

    @cached_property
    def lexicon(self) -> frozenset[str] | None:
        """Words that the model knows, for the rate of unknown words; ``None`` if it has no list."""
        file = self.summarizer.model.files.path(LEXICON)
        return load_lexicon(file) if file.exists() else None

    def __enter__(self) -> ModelRunner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._workers is not None:
            self._workers.close()

    def run(
        self,
        texts: Sequence[str],
        *,
        per_item: Mapping[str, Sequence[int]] | None = None,
        **keywords: Any,
    ) -> list[RunItem]:
        """Summarise texts.

        Args:
            texts: The texts.
            per_item: Length keywords with one value for each text.
            **keywords: As for `sumfit.Summarizer`.

        Returns:
            One item per text, in order.
        """
        return self._run(texts, per_item or {}, keywords, self._on_progress)

    def _run(
        self,
        texts: Sequence[str],
        per_item: Mapping[str, Sequence[int]],
        keywords: Mapping[str, Any],
        on_progress: Callable[[int], None] | None,
    ) -> list[RunItem]:
        tasks = list(_chunks(texts, per_item, keywords))
        chunks: Iterator[list[RunItem]]
        if self._workers is None:
            chunks = (_items(self.summarizer, *task) for task in tasks)
        else:
            chunks = self._workers.map(_work, tasks)
        done: list[RunItem] = []
        for chunk in chunks:
            done += chunk
            if on_progress:
                on_progress(len(chunk))
        return done

    def run_exactly(
        self, texts: Sequence[str], limits: Sequence[int], **keywords: Any
    ) -> list[RunItem]:
        """Summarise texts in exactly so many words, or fewer where nothing has that length.

        Args:
            texts: The texts.
            limits: Words of each summary.
            **keywords: As for `sumfit.Summarizer`.

        Returns:
            One item per text, in order; shorter ones are marked.
        """

        def run(length: str, places: Sequence[int]) -> list[RunItem]:
            is_first = length == "exact_words"
            asked = keywords | ({"on_infeasible": "error"} if is_first else {})
            own = {length: [limits[place] for place in places]}
            # Each text is counted once, however often it is asked for.
            counted = self._on_progress if is_first else None
            return self._run([texts[i] for i in places], own, asked, counted)

        return exact_or_shorter(run, len(texts))


def exact_or_shorter(
    run: Callable[[str, Sequence[int]], list[RunItem]], n_texts: int
) -> list[RunItem]:
    """Ask for exactly the length, and for at most it where no output has exactly it.

    Args:
        run: Summarises the texts at some places by a length keyword.
        n_texts: How many texts there are.

    Returns:
        One item per text, in order; shorter ones are marked.
    """
    items = run("exact_words", range(n_texts))
    missing = [place for place, item in enumerate(items) if not item.text]
    again = run("max_words", missing) if missing else []
    for place, item in zip(missing, again, strict=True):
        items[place] = item.shortened()
    return items


_Task = tuple[list[str], dict[str, Any]]
_LOADED: list[Summarizer] = []


def _chunks(
    texts: Sequence[str], per_item: Mapping[str, Sequence[int]], keywords: Mapping[str, Any]
) -> Iterator[_Task]:
    for start in range(0, len(texts), _CHUNK):
        stop = start + _CHUNK
        own = {name: list(values[start:stop]) for name, values in per_item.items()}
        yield list(texts[start:stop]), {**keywords, **own}


def _load(model: str | None) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    _LOADED.append(Summarizer.from_pretrained(model, n_workers=1))


def _work(task: _Task) -> list[RunItem]:
    return _items(_LOADED[0], *task)


def _items(summarizer: Summarizer, texts: list[str], keywords: dict[str, Any]) -> list[RunItem]:
    return [RunItem.of(summary) for summary in summarizer.stream(texts, **keywords)]
