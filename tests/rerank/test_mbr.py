"""Agreement of candidates against plain loops, and its laws."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import ConfigError, InputError
from sumfit.rerank.mbr import (
    _encode,
    _lcs_by_bits,
    _lcs_by_rows,
    _n_ones,
    pairwise_gains,
    posterior,
)

WORDS = st.lists(st.sampled_from("a b c d e".split()), max_size=9)
LISTS = st.lists(WORDS, min_size=1, max_size=7)


def plain_f1(hits: int, one: int, two: int) -> float:
    return 2 * hits / (one + two) if one + two else 0.0


def plain_ngram_f1(one: Sequence[str], two: Sequence[str], n: int) -> float:
    first = Counter(tuple(one[i : i + n]) for i in range(len(one) - n + 1))
    second = Counter(tuple(two[i : i + n]) for i in range(len(two) - n + 1))
    return plain_f1((first & second).total(), first.total(), second.total())


def plain_lcs(one: Sequence[str], two: Sequence[str]) -> int:
    if not one or not two:
        return 0
    if one[-1] == two[-1]:
        return plain_lcs(one[:-1], two[:-1]) + 1
    return max(plain_lcs(one[:-1], two), plain_lcs(one, two[:-1]))


def plain_gain(one: Sequence[str], two: Sequence[str], metric: str) -> float:
    parts = [plain_ngram_f1(one, two, 1), plain_ngram_f1(one, two, 2)]
    if metric == "rouge":
        parts.append(plain_f1(plain_lcs(one, two), len(one), len(two)))
    return sum(parts) / len(parts)


@pytest.mark.parametrize("metric", ["rouge", "ngrams"])
@given(candidates=LISTS)
def test_gains_are_those_of_a_plain_loop(metric: str, candidates: list[list[str]]) -> None:
    ours = pairwise_gains(candidates, metric=metric)  # type: ignore[arg-type]
    expected = [[plain_gain(one, two, metric) for two in candidates] for one in candidates]
    np.testing.assert_allclose(ours, expected, atol=1e-7)


@given(logs=st.lists(st.floats(-30, 0), min_size=1), temperature=st.sampled_from([0.5, 1.0, 3.0]))
def test_the_posterior_is_a_softmax(logs: list[float], temperature: float) -> None:
    weights = [math.exp((value - max(logs)) / temperature) for value in logs]
    expected = np.array(weights) / sum(weights)
    np.testing.assert_allclose(posterior(logs, temperature=temperature), expected, atol=1e-12)


@given(candidates=st.lists(WORDS, min_size=1, max_size=6))
def test_both_subsequence_tables_agree(candidates: list[list[str]]) -> None:
    ids, _ = _encode(candidates)
    np.testing.assert_array_equal(_lcs_by_bits(ids), _lcs_by_rows(ids))


@given(values=st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_ones_are_counted(values: list[int]) -> None:
    counted = _n_ones(np.array(values, dtype=np.uint64))
    assert counted.tolist() == [value.bit_count() for value in values]


@pytest.mark.parametrize("length", [63, 64, 65, 90])
def test_long_candidates_are_exact_around_the_word_size(length: int) -> None:
    one = [str(i % 17) for i in range(length)]
    two = [str((3 * i) % 17) for i in range(length)]
    table = np.zeros((length + 1, length + 1), dtype=int)
    for i in range(length):
        for j in range(length):
            best = max(table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = table[i, j] + 1 if one[i] == two[j] else best
    gains = pairwise_gains([one, two])
    rest = (plain_ngram_f1(one, two, 1) + plain_ngram_f1(one, two, 2)) / 3
    assert gains[0, 1] == pytest.approx(rest + table[-1, -1] / length / 3)


def test_candidates_that_agree_have_the_greatest_gain() -> None:
    candidates = ["x y z", "storm hits coast", "storm hits the coast", "big storm hits coast"]
    weights = posterior(np.log([0.3, 0.25, 0.23, 0.22]), temperature=1.0)
    gains = pairwise_gains([text.split() for text in candidates]) @ weights
    assert np.argsort(-gains).tolist()[0] == 1
    assert gains.argmin() == 0


def test_a_candidate_without_words_gains_nothing() -> None:
    gains = pairwise_gains([[], ["a", "b"], []])
    assert gains.sum() == gains[1, 1] == 1


def test_an_impossible_candidate_has_no_vote() -> None:
    assert posterior([-1.0, -2.0, -math.inf], temperature=1.0)[2] == 0


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        ([-1.0, math.nan], "log-probability of candidate 2 is NaN"),
        ([-math.inf, -math.inf], "no candidate has a finite log-probability"),
    ],
)
def test_unusable_log_probabilities_are_named(logs: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        posterior(logs, temperature=1.0)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_a_temperature_must_be_positive(temperature: float) -> None:
    with pytest.raises(ConfigError, match=f"above 0 and finite, was {temperature}"):
        posterior([-1.0], temperature=temperature)


def test_an_unknown_metric_is_named() -> None:
    with pytest.raises(ConfigError, match=r"metric must be one of \['ngrams', 'rouge'\], was 'x'"):
        pairwise_gains([["a"]], metric="x")  # type: ignore[arg-type]


def test_fifty_headlines_take_about_a_millisecond() -> None:
    words = [f"w{i}" for i in range(30)]
    candidates = [[words[(i * 7 + j * (i % 5 + 1)) % 30] for j in range(10)] for i in range(50)]
    pairwise_gains(candidates)
    times = []
    for _ in range(20):
        start = time.thread_time()  # what else the machine does is not counted
        pairwise_gains(candidates)
        times.append(time.thread_time() - start)
    assert min(times) < 0.005
