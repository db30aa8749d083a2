"""Numbers about the candidates of a list that need no network: words, source, and phrases.

Owns what a reranker without an encoder reads. Computed alike when it is trained and at run time.

All but the last four are relative to the mean of their list, since only differences within a list
matter; the last four say what kind of list it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.rerank.features import SEARCH_FEATURES, ListNumbers, search_columns
from sumfit.rerank.mbr import pairwise_parts, posterior
from sumfit.rerank.phrases import Phrases
from sumfit.text.split import split_words

__all__ = ["LIST_FEATURES", "text_features"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_CONSENSUS = ("unigrams", "bigrams", "subsequence")
_VOTES = ("mean", "least", "covered")
_PHRASES = (
    ("phrases_mean", 1.0),
    ("phrases_least", 2.0),
    ("phrases_sum", 10.0),
    ("words_mean", 1.0),
    ("attraction_mean", 1.0),
    ("attraction_least", 2.0),
    ("attraction_first", 1.5),
    ("attraction_last", 1.5),
    ("known_pairs", 0.2),
    ("kept_mean", 0.5),
    ("kept_least", 1.0),
    ("kept_sum", 3.0),
    ("kept_covered", 0.1),
)
_SOURCE = (
    ("copied", 0.1),
    ("copied_pairs", 0.15),
    ("longest_copy", 0.2),
    ("new_words", 1.0),
    ("place_mean", 0.1),
    ("place_first", 0.2),
    ("in_order", 0.2),
    ("letters", 0.5),
    ("pieces_per_word", 0.2),
    ("words_share", 0.1),
    ("letters_share", 0.08),
)
LIST_FEATURES = (
    *SEARCH_FEATURES,
    *(f"consensus_{name}" for name in _CONSENSUS),
    *(f"vote_{name}_{kind}" for name in ("words", "pairs") for kind in _VOTES),
    *(name for name, _ in _SOURCE),
    *(name for name, _ in _PHRASES),
    "list_candidates",
    "list_source_words",
    "list_lower_case",
    "list_words",
)
"""Names of the features, in order."""

_SCALES = np.array(
    [1.0, 1.0, 0.3, 0.15, 0.8, 0.8, 0.8]
    + [0.1] * len(_CONSENSUS)
    + [0.1, 0.2, 0.1, 0.15, 0.2, 0.1]
    + [scale for _, scale in (*_SOURCE, *_PHRASES)]
)
_MOST = 6.0  # features are cut here
_MOST_ATTRACTION = (-3.0, 8.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """Words of a list: ``(K, U)`` numbers, ``n_known`` where there is none."""

    ids: IntArray
    is_real: BoolArray
    lengths: IntArray
    numbers: dict[str, int]
    source: list[str]

    @classmethod
    def of(cls, source: str, words: Sequence[Sequence[str]]) -> _Words:
        numbers: dict[str, int] = {}
        lengths = np.array([len(one) for one in words], dtype=np.int64)
        width = max(2, int(lengths.max()))
        rows = [[numbers.setdefault(word, len(numbers)) for word in one] for one in words]
        ids = np.full((len(rows), width), len(numbers), dtype=np.int64)
        for row, found in enumerate(rows):
            ids[row, : len(found)] = found
        is_real = np.arange(width) < lengths[:, None]
        return cls(ids, is_real, np.maximum(lengths, 1), numbers, split_words(source))


def text_features(
    source: str,
    texts: Sequence[str],
    numbers: ListNumbers,
    *,
    phrases: Phrases,
    temperature: float,
) -> npt.NDArray[np.float32]:
    """Compute the features of one list.

    Args:
        source: The text that was summarised.
        texts: The candidates, at least one.
        numbers: What the search says of them.
        phrases: Which words are kept, and which go together.
        temperature: Of the posterior behind votes and consensus.

    Returns:
        ``(K, F)`` float32.
    """
    split = [split_words(text) for text in texts]
    words = _Words.of(source, split)
    weights = posterior(np.asarray(numbers.scores, np.float64), temperature=temperature)
    columns = [
        *search_columns(numbers, words.lengths),
        *(part @ weights for part in pairwise_parts(split)),
        *_votes(words, weights),
        *_source_relations(words, texts, numbers.n_pieces),
        *_phrase_relations(words, split, phrases),
    ]
    relative = np.stack(columns, axis=1)
    relative = (relative - relative.mean(axis=0)) / _SCALES
    kind = np.array(
        [
            len(texts) / 20,
            len(words.source) / 50,
            float(source == source.lower()),
            words.lengths.max() / 10,
        ]
    )
    features = np.hstack([relative, np.broadcast_to(kind, (len(texts), len(kind)))])
    return np.asarray(np.clip(features, -_MOST, _MOST).astype(np.float32))


def _votes(words: _Words, weights: FloatArray) -> list[FloatArray]:
    """Share of the posterior that agrees with a candidate's words and neighbours.

    Their mean, the least of them, and how much of all that the posterior says is covered.
    """
    columns: list[FloatArray] = []
    size = len(words.numbers) + 1
    pairs = words.ids[:, :-1] * size + words.ids[:, 1:]
    for ids, is_real in ((words.ids, words.is_real), (pairs, words.is_real[:, 1:])):
        found, places = np.unique(ids, return_inverse=True)
        places = places.reshape(ids.shape)
        holds = np.zeros((len(ids), len(found)))
        rows = np.broadcast_to(np.arange(len(ids))[:, None], ids.shape)
        holds[rows[is_real], places[is_real]] = 1
        votes = weights @ holds
        each = votes[places]
        n_real = np.maximum(is_real.sum(axis=1), 1)
        columns += [
            (each * is_real).sum(axis=1) / n_real,
            np.where(is_real, each, 1.0).min(axis=1),
            holds @ votes / max(votes.sum(), 1e-9),
        ]
    return columns


def _source_relations(
    words: _Words, texts: Sequence[str], n_pieces: npt.NDArray[np.integer]
) -> list[FloatArray]:
    """What of a candidate is copied from where, and how long its words are."""
    unknown, n_source = len(words.numbers), max(1, len(words.source))
    of_source = np.array([words.numbers.get(word, -1) for word in words.source], dtype=np.int64)
    places = np.full(unknown + 1, -1, dtype=np.int64)
    seen = of_source >= 0
    places[of_source[seen][::-1]] = np.flatnonzero(seen)[::-1]  # the first place stays
    place = places[words.ids]
    copied = place >= 0
    size = unknown + 1
    both = seen[:-1] & seen[1:]
    source_pairs = (of_source[:-1] * size + of_source[1:])[both]
    pairs = words.ids[:, :-1] * size + words.ids[:, 1:]
    copied_pairs = np.isin(pairs, source_pairs) & words.is_real[:, 1:]
    run = longest = np.zeros(len(texts))
    for column in copied_pairs.T:
        run = np.where(column, run + 1, 0)
        longest = np.maximum(longest, run)
    n_copied = copied.sum(axis=1)
    neighbours = copied[:, 1:] & copied[:, :-1]
    forward = (place[:, 1:] > place[:, :-1]) & neighbours
    letters = np.array([len(text) for text in texts])
    word_letters = np.array([*map(len, words.numbers), 0])[words.ids].sum(axis=1)
    return [
        n_copied / words.lengths,
        copied_pairs.sum(axis=1) / np.maximum(words.lengths - 1, 1),
        (longest + 1) / words.lengths,
        words.lengths - n_copied,
        np.where(copied, place, 0).sum(axis=1) / np.maximum(n_copied, 1) / n_source,
        np.where(copied[:, 0], place[:, 0], n_source) / n_source,
        forward.sum(axis=1) / np.maximum(neighbours.sum(axis=1), 1),
        word_letters / words.lengths,
        n_pieces / words.lengths,
        words.lengths / words.lengths.max(),
        letters / max(1, letters.max()),
    ]


def _phrase_relations(
    words: _Words, split: Sequence[Sequence[str]], phrases: Phrases
) -> list[FloatArray]:
    """How a candidate reads, and how likely its words are to be kept of a source."""
    found = phrases.score(split)
    n = found.is_real.sum(axis=1)
    attraction = np.clip(found.log_p - found.alone, *_MOST_ATTRACTION)
    last = attraction[np.arange(len(n)), n - 1]
    of_source = {word: None for word in words.source}
    kept = phrases.kept(tuple(of_source))
    table = np.full(len(words.numbers) + 1, np.nan)
    cover = np.zeros(len(words.numbers) + 1)
    for word, value in zip(of_source, kept.tolist(), strict=True):
        if (number := words.numbers.get(word)) is not None:
            table[number] = value
            cover[number] = np.exp(value)
    each = table[words.ids]
    copied = ~np.isnan(each)
    each = np.where(copied, each, 0.0)
    n_copied = np.maximum(copied.sum(axis=1), 1)
    is_any = copied.any(axis=1)
    holds = np.zeros((len(n), len(cover)))
    holds[np.arange(len(n))[:, None], words.ids] = 1
    return [
        found.log_p.sum(axis=1) / n,
        found.log_p.min(axis=1),
        found.log_p.sum(axis=1),
        found.alone.sum(axis=1) / n,
        attraction.sum(axis=1) / n,
        np.where(found.is_real, attraction, _MOST_ATTRACTION[1]).min(axis=1),
        attraction[:, 0],
        last,
        found.is_known.sum(axis=1) / n,
        np.where(is_any, each.sum(axis=1) / n_copied, -3.0),
        np.where(copied, each, np.where(is_any, 99.0, -3.0)[:, None]).min(axis=1),
        np.where(is_any, each.sum(axis=1), -3.0),
        holds @ cover / max(float(np.exp(kept).sum()), 1e-9),
    ]
