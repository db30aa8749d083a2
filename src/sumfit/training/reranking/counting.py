"""Count the table of phrases of a reranker from pairs of texts and summaries.

Owns counting, smoothing and pruning. Does not own the table (`sumfit.rerank.phrases`).
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sumfit.data.readers import read_pairs
from sumfit.errors import ConfigError
from sumfit.processors import checked_workers
from sumfit.rerank.phrases import END, START, STEP, Phrases, hash_pairs, hash_words
from sumfit.text.split import split_words
from sumfit.workers import Workers

__all__ = ["Counts", "count_file", "count_phrases", "phrases_of"]

_DISCOUNT = 0.7
_UNSEEN = 0.3  # what a word that is not kept counts
_KEPT, _LEFT_OUT = 1.0, 3.0  # added to the counts of words that summaries keep and leave out


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of pairs of texts and summaries.

    Attributes:
        words: Words of summaries, with their begin and end.
        pairs: Neighbours in summaries.
        sources: Texts that hold each word.
        kept: Those of them whose summary holds it as well.
    """

    words: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def add(self, source: str, summary: str) -> None:
        """Count one pair.

        Args:
            source: The text.
            summary: Its summary.
        """
        words = split_words(summary)
        of_source = set(split_words(source))
        line = [START, *words, END]
        self.words.update(line)
        self.pairs.update(itertools.pairwise(line))
        self.sources.update(of_source)
        self.kept.update(of_source & set(words))

    def merge(self, other: Counts) -> None:
        """Add other counts to these.

        Args:
            other: The counts.
        """
        for name in ("words", "pairs", "sources", "kept"):
            getattr(self, name).update(getattr(other, name))


def count_file(path: str, most: int) -> Counts:
    """Count the pairs of a file.

    Args:
        path: The file.
        most: Pairs at most, drawn evenly; all if 0.

    Returns:
        The counts.
    """
    pairs = [(pair.source, pair.summaries[0]) for pair in read_pairs(path, on_bad="skip")]
    if most and len(pairs) > most:
        pairs = random.Random(1).sample(pairs, most)
    counts = Counts()
    for source, summary in pairs:
        counts.add(source, summary)
    return counts


def count_phrases(
    files: Mapping[str, int],
    *,
    least_words: int,
    least_pairs: int,
    n_workers: int = 0,
    on_progress: Callable[[int, int, float], None] | None = None,
) -> Phrases:
    """Count a table from files of pairs.

    Args:
        files: Pairs to take at most of each file, all if 0.
        least_words: Leave out words that occur less often in summaries.
        least_pairs: Leave out pairs that occur less often.
        n_workers: Processes; 0 for one per core.
        on_progress: Called with bytes done, bytes in all and seconds left.

    Returns:
        The table.

    Raises:
        ConfigError: If nothing is left.
    """
    started = time.monotonic()
    # The largest first, so that no process is left with one at the end.
    sizes = {path: Path(path).stat().st_size for path in files if Path(path).is_file()}
    jobs = sorted(files.items(), key=lambda job: -sizes.get(job[0], 0))
    done, n_bytes = 0, sum(sizes.values())
    total = Counts()
    n_workers = min(len(files), checked_workers(n_workers))
    with contextlib.closing(_counted(jobs, n_workers)) as counted:
        for path, counts in counted:
            total.merge(counts)
            done += sizes.get(path, 0)
            if on_progress and done:
                left_s = (time.monotonic() - started) * (n_bytes - done) / done
                on_progress(done, n_bytes, left_s)
    names = ", ".join(Path(path).name for path in files)
    table = phrases_of(total, least_words=least_words, least_pairs=least_pairs)
    if table is None:
        raise ConfigError(f"{names}: no pair of words is frequent enough; lower least_pairs")
    return table


def _counted(
    jobs: Sequence[tuple[str, int]], n_workers: int
) -> Generator[tuple[str, Counts], None, None]:
    """Count files, in their order."""
    if n_workers > 1:
        with Workers(n_workers) as workers:
            yield from workers.map(_count, jobs)
    else:
        yield from map(_count, jobs)


def _count(job: tuple[str, int]) -> tuple[str, Counts]:
    return job[0], count_file(*job)


def phrases_of(counts: Counts, *, least_words: int, least_pairs: int) -> Phrases | None:
    """Turn counts into a table.

    Args:
        counts: The counts.
        least_words: Leave out words that occur less often in summaries.
        least_pairs: Leave out pairs that occur less often.

    Returns:
        The table; ``None`` if it would be empty.
    """
    n_all = sum(counts.words.values())
    words = [word for word, n in counts.words.items() if n >= least_words]
    known = set(words)
    pairs = [
        (pair, n)
        for pair, n in counts.pairs.items()
        if n >= least_pairs and pair[0] in known and pair[1] in known
    ]
    if not pairs:
        return None
    spent = dict.fromkeys(words, 0.0)  # what is left for kept pairs after each word
    for (first, _), n in pairs:
        spent[first] += n - _DISCOUNT
    alone = {word: (counts.words[word] + _UNSEEN) / n_all for word in words}
    rest = {word: max(1 - spent[word] / counts.words[word], 1e-3) for word in words}
    joint = [
        (n - _DISCOUNT) / counts.words[first] + rest[first] * alone[second]
        for (first, second), n in pairs
    ]
    word_hashes = hash_words(words)
    order = np.argsort(word_hashes, kind="stable")
    pair_hashes = hash_pairs(
        hash_words([pair[0] for pair, _ in pairs]), hash_words([pair[1] for pair, _ in pairs])
    )
    pair_order = np.argsort(pair_hashes, kind="stable")
    kept = [
        math.log(counts.kept[word] + _KEPT)
        - math.log(counts.sources[word] - counts.kept[word] + _LEFT_OUT)
        for word in words
    ]
    return Phrases(
        words=word_hashes[order],
        log_p=_steps([alone[word] for word in words])[order],
        log_rest=_steps([rest[word] for word in words])[order],
        log_kept=np.clip(np.rint(np.array(kept) / STEP), -127, 127).astype(np.int8)[order],
        pairs=pair_hashes[pair_order],
        pair_log_p=_steps(joint)[pair_order],
    )


def _steps(shares: Sequence[float]) -> npt.NDArray[np.uint8]:
    """Minus the logarithms, in steps."""
    steps = np.rint(-np.log(np.array(shares)) / STEP)
    return np.asarray(np.clip(steps, 0, 255).astype(np.uint8))
