"""Word novelty and reordering degree: how far summaries depart from their sources.

Owns the two measures of the paper's Table 5. Alignment is `sumfit.evaluation.alignment`'s.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sumfit.errors import InputError
from sumfit.evaluation.alignment import Aligner

__all__ = ["Novelty", "novelty", "reordered_pairs", "word_novelty"]

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Novelty:
    """How far a system's summaries depart from their sources.

    Attributes:
        word_novelty: Share of the summaries' words that their source does not have.
        reordering: Share of source-ordered pairs of aligned words whose order is reversed;
            ``nan`` if no summary has two words aligned to different places.
        n_words: Summary words counted.
        n_pairs: Pairs counted.
        aligned: Share of summary words that are aligned to a source word.
    """

    word_novelty: float
    reordering: float
    n_words: int
    n_pairs: int
    aligned: float


def novelty(
    sources: Sequence[Words], summaries: Sequence[Words], *, aligner: Aligner | None = None
) -> Novelty:
    """Measure word novelty and reordering of a system.

    Args:
        sources: Words of each source, lower-cased.
        summaries: Words of each summary, lower-cased.
        aligner: Fitted aligner; ``None`` fits one to these very pairs. Give the same one to all
            systems of a table.

    Returns:
        The measures, over all words and all pairs of the data set.

    Raises:
        InputError: If the counts differ, or there is nothing to count.
    """
    new, n_words = word_novelty(sources, summaries)
    aligner = aligner or Aligner.fit(sources, summaries)
    n_reversed = n_pairs = n_aligned = 0
    for source, summary in zip(sources, summaries, strict=True):
        links = aligner.align(source, summary)
        n_aligned += sum(link is not None for link in links)
        counts = reordered_pairs(links)
        n_reversed += counts[0]
        n_pairs += counts[1]
    return Novelty(
        word_novelty=new / n_words,
        reordering=n_reversed / n_pairs if n_pairs else float("nan"),
        n_words=n_words,
        n_pairs=n_pairs,
        aligned=n_aligned / n_words,
    )


def word_novelty(sources: Sequence[Words], summaries: Sequence[Words]) -> tuple[int, int]:
    """Count the summary words that their source does not have.

    Args:
        sources: Words of each source.
        summaries: Words of each summary.

    Returns:
        New words, and all words.

    Raises:
        InputError: If the counts differ, or the summaries have no word at all.
    """
    if len(sources) != len(summaries):
        raise InputError(f"there are {len(sources)} sources but {len(summaries)} summaries")
    n_words = sum(len(summary) for summary in summaries)
    if not n_words:
        raise InputError("the summaries have no word; there is no novelty to measure")
    new = 0
    for source, summary in zip(sources, summaries, strict=True):
        known = set(source)
        new += sum(word not in known for word in summary)
    return new, n_words


def reordered_pairs(links: Sequence[int | None]) -> tuple[int, int]:
    """Count the pairs of aligned words whose order in the summary reverses the source's.

    Args:
        links: Source position of each summary word, or ``None``.

    Returns:
        Reversed pairs, and all pairs at two different source positions.
    """
    places = [link for link in links if link is not None]
    n_equal = sum(math.comb(count, 2) for count in Counter(places).values())
    return _inversions(places)[1], math.comb(len(places), 2) - n_equal


def _inversions(places: list[int]) -> tuple[list[int], int]:
    """The places sorted, and how many pairs stood in the other order. Time O(n log n)."""
    if len(places) < 2:
        return places, 0
    middle = len(places) // 2
    left, n_left = _inversions(places[:middle])
    right, n_right = _inversions(places[middle:])
    n_between, at = 0, 0
    for place in left:
        while at < len(right) and right[at] < place:
            at += 1
        n_between += at
    return sorted(left + right), n_left + n_right + n_between  # two runs: merged in linear time
