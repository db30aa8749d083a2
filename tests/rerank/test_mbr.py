"""Minimum Bayes risk against plain loops, and its laws."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import ConfigError, InputError
from sumfit.hypothesis import Hypothesis
from sumfit.rerank import MBRReranker, Reranker, get_reranker, mbr_order, tune
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


@given(candidates=LISTS, data=st.data())
def test_the_order_is_that_of_a_plain_loop(
    candidates: list[list[str]], data: st.DataObject
) -> None:
    n = len(candidates)
    logs = data.draw(st.lists(st.floats(-30, 0), min_size=n, max_size=n))
    temperature = data.draw(st.sampled_from([0.5, 1.0, 3.0]))
    result = mbr_order(candidates, logs, temperature=temperature)
    weights = [math.exp((value - max(logs)) / temperature) for value in logs]
    gains = [
        sum(w * plain_gain(one, two, "rouge") for w, two in zip(weights, candidates, strict=True))
        / sum(weights)
        for one in candidates
    ]
    np.testing.assert_allclose(result.gains, gains, atol=1e-7)
    assert sorted(result.order) == list(range(n))
    ordered = [gains[i] for i in result.order]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(ordered))


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


def test_the_consensus_wins_over_the_most_probable_outlier() -> None:
    candidates = ["x y z", "storm hits coast", "storm hits the coast", "big storm hits coast"]
    logs = np.log([0.3, 0.25, 0.23, 0.22])
    result = mbr_order([text.split() for text in candidates], logs, temperature=1.0)
    assert result.order[0] == 1
    assert result.order[-1] == 0


def test_a_cold_posterior_keeps_the_most_probable_first() -> None:
    candidates = ["x y z", "storm hits coast", "storm hits the coast"]
    result = mbr_order([text.split() for text in candidates], [-1.0, -2.0, -2.1], temperature=0.01)
    assert result.order[0] == 0


def test_equal_candidates_keep_their_order() -> None:
    assert mbr_order([["a", "b"]] * 4, [-4.0, -3.0, -2.0, -1.0]).order == (0, 1, 2, 3)


def test_one_and_no_candidate() -> None:
    assert mbr_order([["a"]], [-3.0]).order == (0,)
    assert mbr_order([], []).order == ()


def test_candidates_without_words_are_ordered_last_not_refused() -> None:
    assert mbr_order([[], ["a", "b"], []], [-1.0, -1.0, -1.0]).order == (1, 0, 2)


def test_an_impossible_candidate_has_no_vote() -> None:
    with_it = mbr_order([["a"], ["b"], ["b"]], [-1.0, -2.0, -math.inf])
    assert with_it.order[0] == 0
    assert with_it.gains[1] == with_it.gains[2]


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        ([-1.0], "there are 2 candidates but 1 log-probabilities"),
        ([-1.0, math.nan], "log-probability of candidate 2 is NaN"),
        ([-math.inf, -math.inf], "no candidate has a finite log-probability"),
    ],
)
def test_unusable_log_probabilities_are_named(logs: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mbr_order([["a"], ["b"]], logs)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_a_temperature_must_be_positive(temperature: float) -> None:
    with pytest.raises(ConfigError, match=f"above 0 and finite, was {temperature}"):
        posterior([-1.0], temperature=temperature)
    with pytest.raises(ConfigError, match="above 0 and finite"):
        MBRReranker(temperature=temperature)


def test_unknown_metric_and_reranker_are_named() -> None:
    with pytest.raises(ConfigError, match=r"metric must be one of \['ngrams', 'rouge'\], was 'x'"):
        pairwise_gains([["a"]], metric="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"rerank must be 'mbr', 'mbr-nbest', .*, was 'best'"):
        get_reranker("best")
    with pytest.raises(ConfigError, match="n_candidates must be at least 1, was 0"):
        MBRReranker(n_candidates=0)


def test_the_reranker_orders_texts_as_the_function_does() -> None:
    texts = ["X y z!", "Storm hits coast", "Storm hits the coast"]
    nbest = [Hypothesis((i,), log_prob, log_prob, 1) for i, log_prob in enumerate([-1, -1.2, -1.3])]
    reranker = get_reranker("mbr-nbest", mbr_temperature=1.0)
    assert isinstance(reranker, Reranker)
    expected = mbr_order(
        [t.lower().strip("!").split() for t in texts], [-1, -1.2, -1.3], temperature=1
    )
    assert tuple(reranker.rerank("source", texts, nbest)) == expected.order
    assert get_reranker(reranker) is reranker


def test_candidates_vote_by_their_score_not_by_their_probability() -> None:
    texts = ["Storm", "Storm hits the northern coast", "Storm hits northern coast towns"]
    log_probs, bonus = [-1.0, -9.0, -9.5], 2.0
    nbest = [
        Hypothesis((i,), log_prob, log_prob + bonus * len(text.split()), 1)
        for i, (text, log_prob) in enumerate(zip(texts, log_probs, strict=True))
    ]
    words = [text.lower().split() for text in texts]
    assert mbr_order(words, log_probs, temperature=1).order[0] == 0
    assert get_reranker("mbr-nbest", mbr_temperature=1.0).rerank("source", texts, nbest)[0] == 1


def test_tuning_finds_the_setting_that_scores_best() -> None:
    consensus = ["x y", "a b c", "a b d", "a b e"]
    candidates = [[text.split() for text in consensus]] * 3
    logs = [[-1.0, -1.5, -1.6, -1.7]] * 3
    scores = [[0.0, 80.0, 10.0, 10.0]] * 3
    points = tune(candidates, logs, scores, temperatures=(0.1, 2.0), sizes=(1, 4))
    assert (points[0].temperature, points[0].n_candidates, points[0].score) == (2.0, 4, 80.0)
    assert points[-1].score == 0
    assert len(points) == 4


def test_tuning_agrees_with_choosing_item_by_item() -> None:
    candidates = [[list("abc"), list("abd"), list("xy")], [list("pq"), list("pqr"), list("z")]]
    logs = [[-1.0, -2.0, -3.0], [-2.0, -2.5, -2.6]]
    scores = [[1.0, 2.0, 3.0], [5.0, 7.0, 11.0]]
    for point in tune(candidates, logs, scores, temperatures=(1.0, 5.0), sizes=(2, 9)):
        size = point.n_candidates
        chosen = [
            values[mbr_order(words[:size], log[:size], temperature=point.temperature).order[0]]
            for words, log, values in zip(candidates, logs, scores, strict=True)
        ]
        assert point.score == pytest.approx(np.mean(chosen))


def test_tuning_needs_whole_items() -> None:
    with pytest.raises(InputError, match="nothing to tune on"):
        tune([], [], [])
    with pytest.raises(InputError, match=r"item 1 has 1 candidates, 2 log-prob.* and 1 scores"):
        tune([[["a"]]], [[-1.0, -2.0]], [[1.0]])


def test_fifty_headlines_take_about_a_millisecond() -> None:
    words = [f"w{i}" for i in range(30)]
    candidates = [[words[(i * 7 + j * (i % 5 + 1)) % 30] for j in range(10)] for i in range(50)]
    logs = [-0.1 * i for i in range(50)]
    mbr_order(candidates, logs)
    times = []
    for _ in range(20):
        start = time.thread_time()  # what else the machine does is not counted
        mbr_order(candidates, logs)
        times.append(time.thread_time() - start)
    assert min(times) < 0.005
