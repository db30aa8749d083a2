"""ROUGE against ROUGE-1.5.5, against rouge-score itself, and against the laws of its options."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from sumfit.errors import ConfigError, InputError
from sumfit.evaluation.rouge import (
    METRICS,
    RougeOptions,
    compare_rouge,
    cut_bytes,
    rouge,
    rouge_items,
)

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "rouge_155.json").read_text(encoding="utf-8")
)
SUMMARIES = [case["summary"] for case in GOLDEN["cases"]]
REFERENCES = [case["references"] for case in GOLDEN["cases"]]
COLUMNS = {"precision": 0, "recall": 1, "f1": 2}
RUNS: dict[str, Mapping[str, Any]] = {
    "stem-pooled": {"references": "pooled"},
    "stem-best": {"references": "best", "measure": "recall"},
    "plain-pooled": {"references": "pooled", "stem": False},
    "plain-best": {"references": "best", "measure": "recall", "stem": False},
    "stem-75-bytes": {"references": "pooled", "max_bytes": 75},
}
# NLTK's Porter variant, which rouge-score uses, makes "fli" of "flying" and leaves "fly", too
# short to stem; the Porter stemmer inside ROUGE-1.5.5 makes "fly" of both. Where that shows:
STEM_CASES = {10}


def golden(label: str, measure: str) -> np.ndarray:
    run = next(run for run in GOLDEN["runs"] if run["label"] == label)
    columns = [
        [scores[COLUMNS[measure]] for scores in run["scores"][metric]]
        for metric in ("ROUGE-1", "ROUGE-2", "ROUGE-L")
    ]
    return 100 * np.array(columns).T


@pytest.mark.parametrize("label", RUNS)
def test_items_agree_with_rouge_155_but_for_one_stem(label: str) -> None:
    options = RougeOptions(**RUNS[label])
    ours = rouge_items(SUMMARIES, REFERENCES, options=options)[:, :3]
    theirs = golden(label, options.measure)
    apart = np.abs(ours - theirs).max(axis=1) > 0.002
    assert set(np.flatnonzero(apart).tolist()) == (STEM_CASES if options.stem else set())


def test_the_mean_stays_near_rouge_155_even_so() -> None:
    ours = rouge_items(SUMMARIES, REFERENCES, options=RougeOptions(references="pooled"))
    assert np.abs(ours[:, :3].mean(axis=0) - golden("stem-pooled", "f1").mean(axis=0)).max() < 3


@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize("l_kind", ["sentence", "summary"])
def test_one_reference_gives_what_rouge_score_gives(stem: bool, l_kind: Any) -> None:
    kinds = ["rouge1", "rouge2", "rougeL" if l_kind == "sentence" else "rougeLsum"]
    scorer = RougeScorer(kinds, use_stemmer=stem)
    summaries = ["Storm cuts power\nto thousands", "Rates rise; banks fall", "Élan vital"]
    references = ["Thousands lose power\nin storm", "Banks' falling rates rose", "elan vital"]
    ours = rouge_items(summaries, references, options=RougeOptions(stem=stem, l_kind=l_kind))
    for row, (summary, reference) in enumerate(zip(summaries, references, strict=True)):
        theirs = scorer.score(reference, summary)
        expected = [100 * theirs[kind].fmeasure for kind in kinds]
        np.testing.assert_allclose(ours[row, :3], expected, atol=1e-9)


def test_the_two_kinds_of_l_differ_on_two_lines() -> None:
    summary, reference = "b c\na d", "a d\nb c"
    sentence, joined = (
        rouge_items([summary], [reference], options=RougeOptions(l_kind=kind, stem=False))[0, 2]
        for kind in ("sentence", "summary")
    )
    assert sentence == pytest.approx(50)
    assert joined == pytest.approx(100)


def test_rsum_is_the_sum_of_the_three() -> None:
    items = rouge_items(SUMMARIES, REFERENCES)
    np.testing.assert_allclose(items[:, 3], items[:, :3].sum(axis=1))
    assert items.shape == (len(SUMMARIES), len(METRICS))


def test_best_mean_and_jackknife_follow_their_definitions() -> None:
    summary = "bank raises interest rates again"
    references = ["rates rise again", "bank raises rates", "interest rates raised by bank"]
    singles = np.array([rouge_items([summary], [text])[0, :3] for text in references])
    expected = {
        "best": singles.max(axis=0),
        "mean": singles.mean(axis=0),
        "jackknife": np.mean(
            [np.max(pair, axis=0) for pair in itertools.combinations(singles, 2)], axis=0
        ),
    }
    for rule, values in expected.items():
        options = RougeOptions(references=rule)  # type: ignore[arg-type]
        ours = rouge_items([summary], [references], options=options)[0, :3]
        np.testing.assert_allclose(ours, values, err_msg=rule)


@pytest.mark.parametrize("rule", ["best", "mean", "jackknife", "pooled"])
@pytest.mark.parametrize("measure", ["f1", "recall", "precision"])
def test_with_one_reference_every_rule_is_the_same(rule: Any, measure: Any) -> None:
    first = [texts[0] for texts in REFERENCES]
    plain = rouge_items(SUMMARIES, first, options=RougeOptions(measure=measure))
    ours = rouge_items(SUMMARIES, first, options=RougeOptions(measure=measure, references=rule))
    np.testing.assert_allclose(ours, plain, atol=1e-9)


def test_duc_cuts_at_75_bytes_and_takes_recall() -> None:
    reference = "storm cuts power to thousands of homes in the north as winds pass records"
    assert len(reference) < 75
    padded = reference + " and more words that do not count for anything at all"
    options = RougeOptions.duc()
    assert rouge_items([padded], [reference], options=options)[0, 0] == pytest.approx(100)
    assert rouge_items([padded], [reference])[0, 0] < 80
    assert rouge_items([reference[:30]], [reference], options=options)[0, 0] < 50


def test_duc_averages_over_the_references() -> None:
    several = [["storm cuts power", "storm cuts", "rates rise", "cuts"]]
    (item,) = rouge_items(["storm cuts power"], several, options=RougeOptions.duc())
    assert item[0] == pytest.approx(100 * (1 + 1 + 0 + 1) / 4)
    assert item[1] == pytest.approx(100 * (1 + 1 + 0 + 0) / 4)
    result = rouge(["storm cuts power"], several, options=RougeOptions.duc())
    assert "refs:4-mean" in str(result.signature)


@pytest.mark.parametrize("max_bytes", range(1, 9))
def test_a_byte_cut_never_splits_a_character(max_bytes: int) -> None:
    text = "añ😀b"
    cut = cut_bytes(text, max_bytes)
    assert text.startswith(cut)
    assert len(cut.encode()) <= max_bytes
    assert len(text) == len(cut) or len(text[: len(cut) + 1].encode()) > max_bytes


def test_empty_and_punctuation_only_summaries_score_zero_and_are_counted() -> None:
    result = rouge(["", ".", "  ", "storm"], ["storm", "storm", "storm", "storm"])
    assert result.n == 4
    assert result.n_empty == 3
    np.testing.assert_allclose(result.items[:, 0], [0, 0, 0, 100])
    assert result.scores["R-1"].value == pytest.approx(25)


def test_references_without_a_word_are_counted() -> None:
    result = rouge(["storm", "storm"], ["...", "storm"])
    assert result.n_empty_references == 1
    assert result.scores["R-1"].value == pytest.approx(50)


@pytest.mark.parametrize(
    "text", ["น้ำท่วมกรุงเทพ", "東京で地震", "Київ під обстрілом", "서울 지진", "हिन्दी समाचार"]
)
def test_unicode_splitting_scores_identical_text_100_where_ascii_gives_0(text: str) -> None:
    unicode_options = RougeOptions(tokenizer="unicode")
    assert rouge_items([text], [text], options=unicode_options)[0, 0] == pytest.approx(100)
    assert rouge_items([text], [text])[0, 0] == 0


def test_unicode_splitting_sees_no_difference_between_nfc_and_nfd() -> None:
    options = RougeOptions(tokenizer="unicode")
    items = rouge_items(["Cafe\u0301 ferme\u0301"], ["Café fermé"], options=options)
    assert items[0, 1] == pytest.approx(100)


def test_the_signature_names_everything_and_finds_differences() -> None:
    one = rouge(["a storm"], ["the storm"], budget_rule="max 8 words")
    text = str(one.signature)
    for part in ("rouge-f1", "porter-nltk", "tok:ascii", "L:sentence", "refs:1-best", "n:1"):
        assert part in text
    assert "budget:max 8 words" in text
    assert "boot:1000-0.95-12345" in text
    other = rouge(["a storm"], ["the storm"], options=RougeOptions(stem=False))
    assert one.signature.differences(other.signature) == ("stem", "budget")
    assert one.signature.differences(one.signature) == ()


def test_scores_of_different_references_are_not_compared() -> None:
    one = rouge(["a storm"], ["the storm"])
    two = rouge(["a storm"], ["the flood"])
    with pytest.raises(InputError, match="the scores differ in data and cannot be compared"):
        compare_rouge(one, two)


def test_a_system_against_itself_differs_by_nothing() -> None:
    one = rouge(SUMMARIES, REFERENCES)
    for paired in compare_rouge(one, one).values():
        assert (paired.delta, paired.low, paired.high) == (0, 0, 0)
        assert paired.p_value == 1
        assert not paired.is_significant


def test_repeated_scoring_gives_the_same_interval() -> None:
    assert rouge(SUMMARIES, REFERENCES).scores == rouge(SUMMARIES, REFERENCES).scores


@pytest.mark.parametrize(
    ("summaries", "references", "message"),
    [
        (["a", "b"], ["a"], "there are 2 summaries but 1 references"),
        ([], [], "there is nothing to score"),
        (["a", "b"], ["a", ""], "item 2 has an empty reference"),
        (["a"], [[]], "item 1 has an empty reference"),
        (["a"], [["b", " "]], "item 1 has an empty reference"),
        ([None], ["a"], "summary 1 is None, not a text"),
    ],
)
def test_unusable_input_is_named(summaries: Any, references: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rouge(summaries, references)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "f2"}, "measure must be one of .*'f2'"),
        ({"references": "worst"}, "references must be one of .*'worst'"),
        ({"l_kind": "text"}, "l_kind must be 'sentence' or 'summary', was 'text'"),
        ({"max_bytes": 0}, "max_bytes must be at least 1, was 0"),
    ],
)
def test_unknown_options_are_named(options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RougeOptions(**options)


def test_two_thousand_summaries_with_intervals_take_seconds() -> None:
    summaries = [f"item {i} {SUMMARIES[i % len(SUMMARIES)]}" for i in range(2000)]
    references = [REFERENCES[(i * 7) % len(REFERENCES)][0] + f" {i}" for i in range(2000)]
    start = time.process_time()
    rouge(summaries, references)
    assert time.process_time() - start < 20
