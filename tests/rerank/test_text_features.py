"""Features without an encoder: what a slow reading of their definitions gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sumfit.rerank.features import SEARCH_FEATURES, ListNumbers
from sumfit.rerank.mbr import posterior
from sumfit.rerank.phrases import Phrases
from sumfit.rerank.text_features import _SCALES, LIST_FEATURES, text_features
from sumfit.text.split import split_words
from sumfit.training.reranking.counting import Counts, phrases_of

SOURCE = "The old bridge was closed on Monday after engineers found cracks in its old supports."
TEXTS = [
    "Old bridge closed after cracks found",
    "Engineers found cracks in supports",
    "Bridge closed for repairs",
    "Closed",
    "On Monday, the old bridge was closed",
]


@pytest.fixture(scope="module")
def phrases() -> Phrases:
    counts = Counts()
    for source, summary in [(SOURCE, TEXTS[0]), (SOURCE, TEXTS[1]), (SOURCE, "Bridge closed")]:
        counts.add(source, summary)
    table = phrases_of(counts, least_words=1, least_pairs=1)
    assert table is not None
    return table


def compute(phrases: Phrases, source: str, texts: list[str], **changes: Any) -> dict[str, Any]:
    n = len(texts)
    values: dict[str, Any] = {
        "log_probs": -2.0 - np.arange(n),
        "scores": -1.0 - 0.7 * np.arange(n),
        "n_pieces": np.array([len(text) // 4 + 1 for text in texts]),
        "ranks": np.arange(n)[::-1],
        "expected_f1": np.full(n, 0.5),
    }
    numbers = ListNumbers(**{**values, **changes})
    found = text_features(source, texts, numbers, phrases=phrases, temperature=2.0)
    assert found.shape == (n, len(LIST_FEATURES))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    return dict(zip(LIST_FEATURES, found.T, strict=True))


def relative(name: str, values: list[float]) -> np.ndarray:
    array = np.array(values, dtype=float)
    scale = _SCALES[LIST_FEATURES.index(name)]
    return np.clip((array - array.mean()) / scale, -6, 6)


def longest_copy(words: list[str], source: list[str]) -> int:
    best = 1
    for start in range(len(words)):
        for end in range(start + 2, len(words) + 1):
            part = words[start:end]
            pairs = all(
                any(source[i : i + 2] == part[j : j + 2] for i in range(len(source)))
                for j in range(len(part) - 1)
            )
            best = max(best, len(part) if pairs else 0)
    return best


def test_features_are_those_of_their_definitions(phrases: Phrases) -> None:
    found = compute(phrases, SOURCE, TEXTS)
    source = split_words(SOURCE)
    split = [split_words(text) for text in TEXTS]
    weights = posterior(-1.0 - 0.7 * np.arange(5), temperature=2.0)
    vote = {w: sum(p for p, one in zip(weights, split, strict=True) if w in one)
            for one in split for w in one}  # fmt: skip
    expected = {
        "copied": [sum(w in source for w in one) / len(one) for one in split],
        "new_words": [sum(w not in source for w in one) for one in split],
        "longest_copy": [longest_copy(one, source) / len(one) for one in split],
        "place_first": [
            (source.index(one[0]) if one[0] in source else len(source)) / len(source)
            for one in split
        ],
        "place_mean": [
            np.mean([source.index(w) for w in one if w in source]) / len(source) for one in split
        ],
        "letters_share": [len(text) / max(map(len, TEXTS)) for text in TEXTS],
        "vote_words_mean": [np.mean([vote[w] for w in one]) for one in split],
        "vote_words_least": [min(vote[w] for w in one) for one in split],
        "vote_words_covered": [
            sum(vote[w] for w in set(one)) / sum(vote.values()) for one in split
        ],
        "kept_sum": [
            sum(phrases.kept([w])[0] for w in one if w in source) for one in split
        ],
        "kept_least": [
            min(phrases.kept([w])[0] for w in one if w in source) for one in split
        ],
        "phrases_sum": [phrases.score([one]).log_p.sum() for one in split],
        "phrases_least": [phrases.score([one]).log_p.min() for one in split],
    }  # fmt: skip
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], relative(name, values), atol=1e-5, err_msg=name)


def test_features_are_relative_to_their_list(phrases: Phrases) -> None:
    found = compute(phrases, SOURCE, TEXTS)
    again = compute(phrases, SOURCE, TEXTS, scores=-9.0 - 0.7 * np.arange(5))
    for name in LIST_FEATURES:
        np.testing.assert_allclose(found[name], again[name], atol=1e-5, err_msg=name)
    assert found["list_lower_case"].tolist() == [0.0] * 5
    assert compute(phrases, SOURCE.lower(), TEXTS)["list_lower_case"].tolist() == [1.0] * 5


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        (SOURCE, ["Bridge"]),
        (SOURCE, ["..."]),
        (SOURCE, ["...", "Bridge closed"]),
        ("!", ["Bridge closed", "Closed"]),
        (SOURCE, ["Nothing here"] * 3),
        ("橋は閉鎖された", ["橋は閉鎖", "閉鎖"]),
    ],
)
def test_odd_lists_have_features(phrases: Phrases, source: str, texts: list[str]) -> None:
    compute(phrases, source, texts)


def test_expected_f1_and_both_places_are_read(phrases: Phrases) -> None:
    f1 = np.array([0.4, 0.45, 0.5, 0.3, 0.35])
    found = compute(phrases, SOURCE, TEXTS, expected_f1=f1, ranks=np.array([3, 0, 1, 4, 2]))
    assert found["expected_f1"].argsort().tolist() == f1.argsort().tolist()
    assert found["expected_f1"].mean() == pytest.approx(0, abs=1e-6)
    assert found["expected_f1"][2] - found["expected_f1"][0] == pytest.approx(2.0 / 0.8)
    assert found["log_rank"].argsort().tolist() == [1, 2, 4, 0, 3]
    assert found["log_place"].argsort().tolist() == [0, 1, 2, 3, 4]


def test_equal_candidates_differ_by_score_and_rank_alone(phrases: Phrases) -> None:
    found = compute(phrases, SOURCE, ["Bridge closed"] * 3)
    for name, values in found.items():
        if name not in SEARCH_FEATURES:
            np.testing.assert_allclose(values, values[0], atol=1e-6, err_msg=name)
