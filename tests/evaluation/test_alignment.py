"""The aligner on planted alignments, against a plain loop of EM, and the novelty measures."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import ConfigError, InputError
from sumfit.evaluation.alignment import Aligner, AlignmentOptions
from sumfit.evaluation.novelty import novelty, reordered_pairs, word_novelty


def planted(
    n_items: int, *, equal_words: bool
) -> tuple[list[list[str]], list[list[str]], list[list[int]]]:
    """Sources of random words; summaries say some of them in another order, in other words."""
    generator = np.random.default_rng(7)
    sources, summaries, links = [], [], []
    for _ in range(n_items):
        source = [f"w{i}" for i in generator.choice(60, size=9, replace=False)]
        places = [int(i) for i in generator.choice(9, size=4, replace=False)]
        said = [source[i] if equal_words else source[i].replace("w", "v") for i in places]
        sources.append(source)
        summaries.append(said)
        links.append(places)
    return sources, summaries, links


@pytest.mark.parametrize("equal_words", [True, False])
def test_planted_alignments_are_found(equal_words: bool) -> None:
    sources, summaries, links = planted(400, equal_words=equal_words)
    aligner = Aligner.fit(sources, summaries, AlignmentOptions(n_iterations=12))
    found = [aligner.align(s, y) for s, y in zip(sources, summaries, strict=True)]
    right = sum(
        a == b for one, two in zip(found, links, strict=True) for a, b in zip(one, two, strict=True)
    )
    assert right / (4 * 400) > 0.98


def test_the_planted_order_gives_the_planted_reordering() -> None:
    sources, summaries, links = planted(400, equal_words=False)
    aligner = Aligner.fit(sources, summaries, AlignmentOptions(n_iterations=12))
    counts = np.array([reordered_pairs(places) for places in links]).sum(axis=0)
    measured = novelty(sources, summaries, aligner=aligner)
    assert measured.reordering == pytest.approx(counts[0] / counts[1], abs=0.02)
    assert measured.word_novelty == 1
    assert measured.aligned > 0.98


def test_the_likelihood_never_falls() -> None:
    sources, summaries, _ = planted(80, equal_words=False)
    options = AlignmentOptions(n_iterations=10, smoothing=0.0)
    history = Aligner.fit(sources, summaries, options).log_likelihoods
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(history))
    assert history[-1] > history[0] + 10


def test_one_round_is_that_of_a_plain_loop() -> None:
    sources = [["a", "b"], ["b", "c", "a"]]
    summaries = [["x"], ["y", "x"]]
    tension, p_null = 1.5, 0.1
    options = AlignmentOptions(
        n_iterations=2,
        p_null=p_null,
        smoothing=0.0,
        fit_tension=False,
        tension=tension,
    )
    history = Aligner.fit(sources, summaries, options).log_likelihoods
    table: dict[tuple[str, str], float] = {}
    for source, summary in zip(sources, summaries, strict=True):
        for other in ("", *source):
            for word in summary:
                table[other, word] = 1.0
    table = normalised(table)
    for expected in history:
        counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        likelihood = 0.0
        for source, summary in zip(sources, summaries, strict=True):
            for j, word in enumerate(summary):
                shape = [
                    math.exp(-tension * abs(i / len(source) - j / len(summary)))
                    for i in range(len(source))
                ]
                joint = {"": p_null * table["", word]}
                for value, other in zip(shape, source, strict=True):
                    joint[other] = (1 - p_null) * value / sum(shape) * table[other, word]
                total = sum(joint.values())
                likelihood += math.log(total)
                for other, value in joint.items():
                    counts[other, word] += value / total
        assert likelihood == pytest.approx(expected)
        table = normalised(counts)


def normalised(table: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    totals: defaultdict[str, float] = defaultdict(float)
    for (other, _), value in table.items():
        totals[other] += value
    return {key: value / totals[key[0]] for key, value in table.items()}


def test_equal_words_align_even_if_never_seen() -> None:
    aligner = Aligner.fit([["a", "b"]], [["b"]])
    assert aligner.align(["new", "old"], ["old", "other"]) == (1, None)
    assert aligner.align([], ["old"]) == (None,)


def test_a_rare_word_aligns_with_itself_rather_than_with_a_rare_neighbour() -> None:
    filler = [["the", "a"], ["a", "the"]] * 3
    sources = [["the", "zebra", "ate", "a", "yak"], *filler]
    summaries = [["yak", "munched"], *filler]
    assert Aligner.fit(sources, summaries).align(sources[0], summaries[0])[0] == 4
    doubting = Aligner.fit(sources, summaries, AlignmentOptions(trust_equal=False))
    assert doubting.align(sources[0], summaries[0])[0] != 4


def test_a_diagonal_corpus_raises_the_tension() -> None:
    words = [f"w{i}" for i in range(12)]
    copies = [words[i:] + words[:i] for i in range(12)]
    assert Aligner.fit(copies, copies).tension >= 8
    backwards = [text[::-1] for text in copies]
    assert Aligner.fit(copies, backwards).tension == 0


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ((0, 1, 2), (0, 3)),
        ((2, 1, 0), (3, 3)),
        ((1, None, 0), (1, 1)),
        ((4, 4), (0, 0)),
        ((), (0, 0)),
        ((5, 2, 7, 2), (3, 5)),
    ],
)
def test_reversed_pairs_are_counted(
    links: tuple[int | None, ...], expected: tuple[int, int]
) -> None:
    assert reordered_pairs(links) == expected


def test_novelty_counts_words_of_the_whole_set() -> None:
    sources = [["a", "b"], ["c"]]
    assert word_novelty(sources, [["a", "x", "b"], ["c", "c", "y"]]) == (2, 6)
    measured = novelty(sources, [["b", "a"], ["c"]])
    assert measured.word_novelty == 0
    assert (measured.reordering, measured.n_pairs) == (1, 1)


def test_without_a_pair_there_is_no_reordering() -> None:
    assert math.isnan(novelty([["a"]], [["a"]]).reordering)


def test_unusable_input_is_named() -> None:
    with pytest.raises(InputError, match="there are 1 sources but 2 summaries"):
        Aligner.fit([["a"]], [["a"], ["b"]])
    with pytest.raises(InputError, match="no pair has a word on both sides"):
        Aligner.fit([["a"], []], [[], ["b"]])
    with pytest.raises(InputError, match="the summaries have no word"):
        word_novelty([["a"]], [[]])
    with pytest.raises(InputError, match="there are 0 sources but 1 summaries"):
        word_novelty([], [["a"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_iterations": 0}, "n_iterations must be at least 1, was 0"),
        ({"p_null": 0.0}, r"p_null must lie between 0 and 1, was 0\.0"),
        ({"tension": -1.0}, r"tension must be 0 or more, was -1\.0"),
    ],
)
def test_bad_options_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        AlignmentOptions(**options)  # type: ignore[arg-type]


@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), max_size=30))
def test_reordered_pairs_are_those_of_all_pairs(links: list[int | None]) -> None:
    places = [link for link in links if link is not None]
    pairs = list(itertools.combinations(places, 2))
    expected = (sum(a > b for a, b in pairs), sum(a != b for a, b in pairs))
    assert reordered_pairs(links) == expected


def test_pairs_too_long_to_align_are_refused() -> None:
    aligner = Aligner.fit([["a", "b"]], [["a"]])
    source, summary = ["x"] * 50_000, ["y"] * 401
    message = (
        "a source of 50,000 words and a summary of 401 cannot be aligned: at most 20,000,000 "
        "pairs of their words can; cut the source"
    )
    with pytest.raises(InputError, match=message):
        aligner.align(source, summary)
    with pytest.raises(InputError, match=message):
        Aligner.fit([source], [summary])
