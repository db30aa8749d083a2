r"""Word alignment of summaries to sources: IBM model 1 with a diagonal prior, by EM.

Model of a summary ``y_1..y_U`` given its source ``x_1..x_T``, as in Dyer et al. 2013::

    p(y | x)  = prod_j sum_i prior(i | j) * t(y_j | x_i)
    prior     = p_null at the empty word; else (1 - p_null) * exp(-tension |i/T - j/U|), normalised

``t`` and the tension are fitted by expectation maximisation over the whole corpus at once: all
cells ``(item, j, i)`` lie in flat arrays, so an iteration is a handful of NumPy calls. Time and
memory O(cells).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.errors import ConfigError, InputError

__all__ = ["AlignmentOptions", "Aligner"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_NULL = ""  # the empty source word; no splitter returns it
_MOST_CELLS = 20_000_000  # of one pair: words of the source times words of the summary
_TENSIONS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)


@dataclass(frozen=True, slots=True)
class AlignmentOptions:
    """How an aligner is fitted.

    Attributes:
        n_iterations: Rounds of expectation maximisation.
        p_null: Prior probability that a summary word comes from no source word.
        smoothing: Count added to every seen word pair, as a share of a uniform distribution.
        trust_equal: Both sides are one language: a summary word that its source has comes from
            there, and the model only chooses among several such places.
        fit_tension: Fit the tension too; otherwise it stays at ``tension``.
        tension: Starting value; 0 is IBM model 1.
    """

    n_iterations: int = 6
    p_null: float = 0.08
    smoothing: float = 0.01
    trust_equal: bool = True
    fit_tension: bool = True
    tension: float = 2.0

    def __post_init__(self) -> None:
        if self.n_iterations < 1:
            raise ConfigError(f"n_iterations must be at least 1, was {self.n_iterations}")
        if not 0 < self.p_null < 1:
            raise ConfigError(f"p_null must lie between 0 and 1, was {self.p_null}")
        for name in ("smoothing", "tension"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be 0 or more, was {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class _Cells:
    """Every (item, summary position, source position or null), flat.

    ``pair`` numbers the distinct word pairs; ``first`` is where each summary word's cells begin
    (its null cell, if it has one, first); ``distance`` is ``|i/T - j/U|``, NaN at null.
    ``shape`` numbers the distinct ``(T, U, j)`` of each summary word, whose distances to all
    source positions lie in ``shape_distance`` from ``shape_first`` on: they normalise the prior.
    """

    pair: IntArray
    pair_source: IntArray
    first: IntArray
    group: IntArray
    distance: FloatArray
    shape: IntArray
    shape_first: IntArray
    shape_distance: FloatArray


class Aligner:
    """A fitted aligner; make one with `fit`."""

    def __init__(
        self,
        table: dict[tuple[str, str], float],
        *,
        tension: float,
        log_likelihoods: Sequence[float],
        options: AlignmentOptions,
    ) -> None:
        """Keep what was fitted.

        Args:
            table: ``t(summary word | source word)``.
            tension: Of the diagonal prior.
            log_likelihoods: Of the corpus before each round, in nats.
            options: How it was fitted.
        """
        self._table = table
        self._options = options
        self._tension = tension
        self._log_likelihoods = tuple(log_likelihoods)

    @property
    def tension(self) -> float:
        """Fitted tension of the diagonal prior."""
        return self._tension

    @property
    def log_likelihoods(self) -> tuple[float, ...]:
        """Log-likelihood of the corpus before each round, in nats."""
        return self._log_likelihoods

    @classmethod
    def fit(
        cls,
        sources: Sequence[Sequence[str]],
        summaries: Sequence[Sequence[str]],
        options: AlignmentOptions | None = None,
    ) -> Aligner:
        """Fit an aligner to pairs of texts.

        Args:
            sources: Words of each source.
            summaries: Words of each summary, as many.
            options: How to fit.

        Returns:
            The aligner.

        Raises:
            InputError: If the counts differ, no pair has a word on both sides, or a pair is too
                long.
        """
        options = options or AlignmentOptions()
        if len(sources) != len(summaries):
            raise InputError(f"there are {len(sources)} sources but {len(summaries)} summaries")
        for source, summary in zip(sources, summaries, strict=True):
            _check_size(source, summary)
        cells, pairs = _cells(sources, summaries, trust_equal=options.trust_equal)
        table = _table(np.ones(len(pairs)), cells, options)
        tension = options.tension
        history = []
        for _ in range(options.n_iterations):
            prior = _prior(cells, tension, options.p_null)
            joint = prior * table[cells.pair]
            total = np.add.reduceat(joint, cells.first)
            history.append(float(np.log(total).sum()))
            expected = joint / total[cells.group]
            counts = np.bincount(cells.pair, weights=expected, minlength=len(pairs))
            table = _table(counts.astype(np.float64), cells, options)
            if options.fit_tension:
                tension = _best_tension(cells, expected, options.p_null)
        fitted = dict(zip(pairs, table.tolist(), strict=True))
        return cls(fitted, tension=tension, log_likelihoods=history, options=options)

    def align(self, source: Sequence[str], summary: Sequence[str]) -> tuple[int | None, ...]:
        """Find the most probable source position of each summary word.

        Args:
            source: Words of the source.
            summary: Words of the summary.

        Returns:
            For each summary word, a position in ``source``, or ``None`` for the empty word. Of
            equally probable positions the first wins; a pair never seen while fitting has
            probability 0, unless the words are equal and equal words are trusted.

        Raises:
            InputError: If the pair is too long.
        """
        _check_size(source, summary)
        links: list[int | None] = []
        for j, word in enumerate(summary):
            places = _places(source, word, trust_equal=self._options.trust_equal)
            if not places:
                links.append(None)
                continue
            relative = np.arange(len(source)) / len(source)
            shape = np.exp(-self._tension * np.abs(relative - j / len(summary)))
            prior = (1 - self._options.p_null) * shape / shape.sum()
            table = np.array([self._probability(word, source[i]) for i in places])
            scores = prior[places] * table
            best = int(scores.argmax())
            is_known = self._options.trust_equal and source[places[best]] == word
            null = self._options.p_null * self._table.get((_NULL, word), 0.0)
            links.append(places[best] if is_known or scores[best] > null else None)
        return tuple(links)

    def _probability(self, word: str, source_word: str) -> float:
        if self._options.trust_equal and word == source_word:
            return 1.0
        return self._table.get((source_word, word), 0.0)


def _check_size(source: Sequence[str], summary: Sequence[str]) -> None:
    if len(source) * len(summary) > _MOST_CELLS:
        raise InputError(
            f"a source of {len(source):,} words and a summary of {len(summary):,} cannot be "
            f"aligned: at most {_MOST_CELLS:,} pairs of their words can; cut the source"
        )


def _places(source: Sequence[str], word: str, *, trust_equal: bool) -> list[int]:
    """Source positions that a summary word may come from."""
    if trust_equal and word in source:
        return [i for i, other in enumerate(source) if other == word]
    return list(range(len(source)))


def _cells(
    sources: Sequence[Sequence[str]], summaries: Sequence[Sequence[str]], *, trust_equal: bool
) -> tuple[_Cells, list[tuple[str, str]]]:
    numbers: dict[tuple[str, str], int] = {}
    pair: list[int] = []
    first: list[int] = []
    distance: list[FloatArray] = []
    shapes: dict[tuple[int, int, int], FloatArray] = {}
    shape: list[tuple[int, int, int]] = []
    for source, summary in zip(sources, summaries, strict=True):
        if not source:
            continue
        relative = np.arange(len(source)) / len(source)
        for j, word in enumerate(summary):
            first.append(len(pair))
            places = _places(source, word, trust_equal=trust_equal)
            is_known = trust_equal and word in source
            others = [source[i] for i in places] if is_known else [_NULL, *source]
            pair.extend(numbers.setdefault((other, word), len(numbers)) for other in others)
            shape.append((len(source), len(summary), j))
            gaps = shapes.setdefault(shape[-1], np.abs(relative - j / len(summary)))
            distance.append(gaps[places] if is_known else np.concatenate([[np.nan], gaps]))
    if not first:
        raise InputError("no pair has a word on both sides; there is nothing to align")
    pairs = list(numbers)
    words = {word: index for index, word in enumerate(dict.fromkeys(p[0] for p in pairs))}
    starts = np.array(first, dtype=np.int64)
    order = {key: index for index, key in enumerate(shapes)}
    sizes = np.diff(np.append(starts, len(pair)))
    cells = _Cells(
        pair=np.array(pair, dtype=np.int64),
        pair_source=np.array([words[source] for source, _ in pairs], dtype=np.int64),
        first=starts,
        group=np.repeat(np.arange(starts.size), sizes),
        distance=np.concatenate(distance),
        shape=np.array([order[key] for key in shape], dtype=np.int64),
        shape_first=np.cumsum([0, *(key[0] for key in shapes)], dtype=np.int64)[:-1],
        shape_distance=np.concatenate(list(shapes.values())),
    )
    return cells, pairs


def _table(counts: FloatArray, cells: _Cells, options: AlignmentOptions) -> FloatArray:
    """Turn counts of word pairs into ``t``."""
    smoothed = counts + options.smoothing / counts.size
    totals = np.bincount(cells.pair_source, weights=smoothed)
    return np.asarray(smoothed / np.maximum(totals, np.finfo(float).tiny)[cells.pair_source])


def _prior(cells: _Cells, tension: float, p_null: float) -> FloatArray:
    everywhere = np.exp(-tension * cells.shape_distance)
    total = np.add.reduceat(everywhere, cells.shape_first)[cells.shape]
    is_null = np.isnan(cells.distance)
    shape = np.exp(-tension * np.nan_to_num(cells.distance))
    return np.where(is_null, p_null, (1 - p_null) * shape / total[cells.group])


def _best_tension(cells: _Cells, expected: FloatArray, p_null: float) -> float:
    """Choose the tension of a grid under which the expected alignment is most probable."""
    scores = [float(expected @ np.log(_prior(cells, t, p_null))) for t in _TENSIONS]
    return _TENSIONS[int(np.argmax(scores))]
