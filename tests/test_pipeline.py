"""One text through the summarizer: limits of every kind, options, and bad input."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

import sumfit
from sumfit import Options, Summarizer, Summary, measure
from sumfit.errors import (
    BudgetError,
    ConfigError,
    ConflictingBudgetError,
    EmptyInputError,
    InfeasibleBudgetError,
    InputError,
    NothingFoundError,
    UnknownUnitError,
)
from sumfit.hypothesis import NBest
from sumfit.pipeline import listing, search
from sumfit.pipeline.constraints_for_text import says_little
from sumfit.text.distinct import distinct


def length_of(fit: Summarizer, summary: Summary) -> int:
    return measure(summary.text, summary.unit, tokenizer=fit.tokenizer)


@pytest.mark.parametrize(
    ("keywords", "unit", "limit"),
    [
        ({"max_words": 6}, "words", 6),
        ({"max_tokens": 6}, "tokens", 6),
        ({"max_chars": 40}, "chars", 40),
        ({"max_graphemes": 40}, "graphemes", 40),
        ({"max_bytes": 40}, "bytes", 40),
        ({"max_cells": 40}, "cells", 40),
        ({"max_length": 40, "unit": "utf16"}, "utf16", 40),
        ({"max_length": 40, "unit": "tweet"}, "tweet", 40),
        ({"max_length": 40, "unit": "sms"}, "sms", 40),
        ({"preset": "app-subtitle"}, "chars", 30),
        ({"ratio": 0.5}, "words", 7),
    ],
)
def test_at_most(
    fit: Summarizer, texts: tuple[str, ...], keywords: dict[str, Any], unit: str, limit: int
) -> None:
    text = texts[0]
    summary = fit(text, **keywords)
    assert summary.origin == "model"
    assert (summary.unit, summary.limit, summary.min_length) == (unit, limit, 0)
    assert 0 < summary.length <= limit
    assert summary.length == length_of(fit, summary)
    assert summary.error is None
    assert str(summary) == summary.text


@pytest.mark.parametrize("unit", ["words", "tokens", "chars", "bytes", "cells"])
def test_exactly(fit: Summarizer, texts: tuple[str, ...], unit: str) -> None:
    limit = 5 if unit in ("words", "tokens") else 31
    summary = fit(texts[0], **{f"exact_{unit}": limit})
    assert summary.length == summary.min_length == summary.limit == limit
    assert length_of(fit, summary) == limit


@pytest.mark.parametrize("unit", ["words", "chars"])
def test_between(fit: Summarizer, texts: tuple[str, ...], unit: str) -> None:
    low, high = (6, 7) if unit == "words" else (44, 50)
    summary = fit(texts[1], **{f"min_{unit}": low, f"max_{unit}": high})
    assert low <= summary.length <= high
    assert (summary.min_length, summary.limit) == (low, high)


def test_a_function_as_the_unit(fit: Summarizer, texts: tuple[str, ...]) -> None:
    def vowels(text: str) -> int:
        return sum(letter in "aeiou" for letter in text)

    summary = fit(texts[0], max_length=8, unit=vowels)
    assert summary.unit == "vowels"
    assert vowels(summary.text) == summary.length <= 8
    assert not summary.optimal, "a unit that need not add up proves nothing"


def test_a_unit_that_does_not_add_up_is_measured_on_the_string(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    def harsh(text: str) -> int:
        words = text.split()
        return len(words) + (len(words) > 2) * 3  # the third word costs four

    summary = fit(texts[0], max_length=5, unit=harsh)
    assert harsh(summary.text) <= 5
    assert len(summary.text.split()) == 2


@pytest.mark.parametrize("keep_short", [True, False])
def test_a_unit_that_raises_fails_the_texts_it_raises_for(
    fit: Summarizer, texts: tuple[str, ...], keep_short: bool
) -> None:
    def fussy(text: str) -> int:
        if text == texts[1]:
            raise KeyError("no such letter")
        return len(text)

    message = "^unit 'fussy' raised KeyError\\('no such letter'\\) for '.{40}'; catch it there$"
    good, bad, last = fit(
        [texts[0], texts[1], texts[2]], max_length=40, unit=fussy, keep_short=keep_short
    )
    assert good == fit(texts[0], max_length=40, unit=fussy)
    assert (good.error, last.error, bad.text) == (None, None, "")
    with pytest.raises(BudgetError, match=message) as caught:
        fit(texts[1], max_length=40, unit=fussy, keep_short=keep_short)
    assert (type(bad.error), str(bad.error)) == (BudgetError, str(caught.value))
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_unit_that_raises_for_what_is_written_fails_that_text_alone(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    written = [one.text for one in fit(list(texts[:2]), max_chars=40)]

    def fussy(text: str) -> int:
        return len(text) // (text != written[0])

    bad, good = fit(list(texts[:2]), max_length=40, unit=fussy)
    assert (type(bad.error), bad.limit, good.text) == (BudgetError, 40, written[1])


def test_one_call_gives_what_the_next_one_gives(fit: Summarizer, texts: tuple[str, ...]) -> None:
    first, second = (fit(texts[0], max_chars=40, n_best=3) for _ in range(2))
    assert first.timings != second.timings
    assert first == second
    assert len({first, second, *first.alternatives}) == 3
    assert first != fit(texts[0], max_chars=30, n_best=3)


def test_prefix_suffix_and_reserve_are_counted(fit: Summarizer, texts: tuple[str, ...]) -> None:
    summary = fit(texts[0], max_chars=40, prefix="fix: ", suffix=" (#12)", reserve=3)
    assert summary.text.startswith("fix: ")
    assert summary.text.endswith(" (#12)")
    assert len(summary.text) + 3 <= 40
    assert summary.length == len(summary.text)
    assert fit(texts[0], max_chars=26).words == summary.words


def test_the_log_probability_is_the_graphs(fit: Summarizer, texts: tuple[str, ...]) -> None:
    from sumfit.decoding import marginal_log_prob

    summary = fit(texts[0], max_chars=40)
    dag = fit.graph(texts[0], max_chars=40)
    exact = marginal_log_prob(dag, summary.words, ending="eos")
    assert math.isclose(summary.log_prob, exact, abs_tol=1e-4)
    assert math.isclose(
        summary.score, summary.log_prob + summary.bonus * len(summary.words), abs_tol=1e-6
    )
    assert summary.optimal
    assert summary.gap == 0


def test_bonus_and_defaults_come_from_the_model(fit: Summarizer, texts: tuple[str, ...]) -> None:
    assert fit(texts[0], max_words=6).bonus == 0.4
    assert fit(texts[0], max_chars=40).bonus == 0.5
    assert fit(texts[0], max_chars=40, bonus=0.0).bonus == 0.0
    facts = fit.describe()
    assert facts["config"]["bonus"] == {"words": 0.4, "default": 0.5}
    assert facts["defaults"]["method"] == "seqmap"
    assert facts["defaults"]["n_best"] == 1


def test_a_bonus_per_unit_replaces_the_models_own(fit: Summarizer, texts: tuple[str, ...]) -> None:
    summary = fit(texts[0], max_chars=60, unit_bonus=0.3)
    assert (summary.bonus, summary.unit_bonus) == (0.0, 0.3)
    assert math.isclose(summary.score, summary.log_prob + 0.3 * summary.length, abs_tol=1e-6)
    assert summary.length >= fit(texts[0], max_chars=60, bonus=0.0).length
    both = fit(texts[0], max_chars=60, bonus=0.2, unit_bonus=0.3, fill="prefer")
    assert (both.bonus, both.unit_bonus) == (0.2, 0.6)


def test_a_model_may_have_a_bonus_per_unit(
    tiny_model: Path, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    directory = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    config["unit_bonus"] = {"words": 1.5}
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    fit = Summarizer.from_pretrained(directory)
    assert fit.describe()["config"]["unit_bonus"] == {"words": 1.5}
    one, many = fit(texts[0], max_words=6), fit(texts[0], max_words=[3, 6, 9])
    assert (one.bonus, one.unit_bonus) == (0.0, 1.5)
    assert [summary.unit_bonus for summary in many] == [1.5] * 3
    assert many[1].text == one.text
    assert (fit(texts[0], max_chars=40).bonus, fit(texts[0], max_chars=40).unit_bonus) == (0.5, 0.0)


def test_fill_uses_more_of_the_slot(fit: Summarizer, texts: tuple[str, ...]) -> None:
    plain = fit(texts[0], max_chars=70, bonus=0.0)
    filled = fit(texts[0], max_chars=70, bonus=0.0, fill="prefer")
    assert filled.length > plain.length
    assert filled.bonus == 1.0


def test_more_room_never_scores_lower(fit: Summarizer, texts: tuple[str, ...]) -> None:
    scores = [summary.score for summary in fit(texts[0], max_chars=[20, 30, 40, 50, 60])]
    assert scores == sorted(scores)


def test_n_best(fit: Summarizer, texts: tuple[str, ...]) -> None:
    summary = fit(texts[0], max_chars=40, n_best=5)
    listed = [summary, *summary.alternatives]
    assert len(listed) == len({one.text for one in listed}) == 5
    assert [one.score for one in listed] == sorted((one.score for one in listed), reverse=True)
    assert [one.rank for one in listed] == sorted(one.rank for one in listed)
    assert all(one.length <= 40 for one in listed)


def test_n_best_are_distinct_and_the_first_is_the_same(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    alone = fit(texts[0], max_chars=40)
    raw = fit(texts[0], max_chars=40, n_best=5, near_doubles=True)
    summary = fit(texts[0], max_chars=40, n_best=5)
    for listed in (raw, summary):
        assert (listed.text, listed.score, listed.optimal) == (alone.text, alone.score, True)
    shown = [one.text for one in (summary, *summary.alternatives)]
    assert len(shown) == 5
    assert distinct(shown) == shown
    everything = [one.text for one in (raw, *raw.alternatives)]
    assert len(distinct(everything)) < len(everything)


def test_mbr_returns_a_candidate_and_says_which(fit: Summarizer, texts: tuple[str, ...]) -> None:
    plain = fit(texts[0], max_chars=40, n_best=200, near_doubles=True)
    chosen = fit(texts[0], max_chars=40, rerank="mbr", n_best=3, near_doubles=True)
    known = {one.text: one for one in [plain, *plain.alternatives]}
    for one in (chosen, *chosen.alternatives):
        assert math.isclose(one.log_prob, known[one.text].log_prob, abs_tol=1e-9)
        assert one.length <= 40
    assert chosen.timings["rerank"] > 0
    assert len({one.rank for one in (chosen, *chosen.alternatives)}) == 3
    assert all((one.gap == 0) == one.optimal for one in (chosen, *chosen.alternatives))


class Backwards:
    """Ranks hypotheses of a graph from the last to the first."""

    name = "backwards"
    n_candidates = 4
    after_best = 10_000

    def rank(self, dag: Any, nbest: Any) -> list[int]:
        assert dag.n_candidates > 0
        return list(reversed(range(len(nbest))))


def test_an_object_may_rank_the_hypotheses_of_a_graph(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    plain = fit(texts[0], max_chars=40, n_best=4, near_doubles=True)
    summary = fit(texts[0], max_chars=40, rerank=Backwards(), n_best=2, near_doubles=True)
    assert [one.text for one in (summary, *summary.alternatives)] == [
        plain.alternatives[2].text,
        plain.alternatives[1].text,
    ]
    assert summary.rank == 3
    for one in (summary, *summary.alternatives):
        assert not one.optimal
        assert one.gap == pytest.approx(plain.score - one.score)


def test_a_ranking_that_loses_hypotheses_is_no_ranking(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    class Lossy(Backwards):
        def rank(self, dag: Any, nbest: Any) -> list[int]:
            return [0] * len(nbest)

    with pytest.raises(ConfigError, match="reranker 'backwards' must return each of 0 to "):
        fit(texts[0], max_chars=40, rerank=Lossy())


class Last:
    name = "last"
    n_candidates = 4

    def rerank(self, source_text: str, texts: Any, nbest: Any) -> list[int]:
        assert len(texts) == len(nbest) == 4
        return [3, 0, 1, 2]


def test_what_scores_below_another_is_never_called_optimal(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    plain = fit(texts[0], max_chars=40, n_best=4, near_doubles=True)
    assert plain.optimal
    assert plain.gap == 0
    for one in plain.alternatives:
        assert not one.optimal
        assert one.gap == pytest.approx(plain.score - one.score)
        assert one.gap > 0
    chosen = fit(texts[0], max_chars=40, n_best=4, near_doubles=True, rerank=Last())
    best = next(one for one in chosen.alternatives if one.text == plain.text)
    assert not chosen.optimal
    assert chosen.gap == pytest.approx(plain.score - chosen.score)
    assert best.optimal
    assert best.gap == 0


def test_an_object_may_rerank(fit: Summarizer, texts: tuple[str, ...]) -> None:
    plain = fit(texts[0], max_chars=40, n_best=4, near_doubles=True)
    assert fit(texts[0], max_chars=40, rerank=Last()).text == plain.alternatives[2].text


@pytest.mark.parametrize("method", ["pathmap", "seqmap", "seqmap-beam", "seqmap-table"])
def test_every_budgeted_method_keeps_the_limit(
    fit: Summarizer, texts: tuple[str, ...], method: str
) -> None:
    if method not in fit.describe()["methods"]:
        pytest.skip(f"{method} is not built in")
    summary = fit(texts[0], max_chars=40, method=method, constraints=False)
    assert summary.method == method
    assert 0 < summary.length <= 40


def test_methods_without_a_budget_are_held_to_it_all_the_same(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    with pytest.raises(InfeasibleBudgetError):
        fit(texts[0], max_chars=12, method="greedy", constraints=False)
    assert fit(texts[0], max_chars=80, method="greedy", constraints=False).length <= 80


def test_several_limits_from_one_pass(fit: Summarizer, texts: tuple[str, ...]) -> None:
    several = fit(texts[0], max_chars=[30, 45, 60])
    assert [one.limit for one in several] == [30, 45, 60]
    assert several == fit(texts[0], limits=[30, 45, 60], unit="chars")
    assert several[0].timings["forward"] == several[2].timings["forward"]
    assert isinstance(fit(texts[0], limits=[40], unit="chars"), list)


@pytest.mark.parametrize("unit", ["chars", "words", "bytes", "graphemes", "tokens"])
def test_many_limits_are_what_each_alone_is(
    fit: Summarizer, texts: tuple[str, ...], unit: str
) -> None:
    limits = list(range(3, 14)) if unit in ("words", "tokens") else list(range(3, 120, 3))
    several = fit(texts[0], limits=limits, unit=unit, on_error="return", prefix="x: ")
    for limit, one in zip(limits, several, strict=True):
        alone = fit(texts[0], max_length=limit, unit=unit, on_error="return", prefix="x: ")
        assert (one.limit, one.text, one.origin) == (limit, alone.text, alone.origin)
        assert one.optimal == alone.optimal
        assert math.isclose(one.score, alone.score, abs_tol=1e-6) or math.isnan(alone.score)
        assert type(one.error) is type(alone.error)


def test_a_limit_has_the_graph_that_it_has_alone(fit: Summarizer, texts: tuple[str, ...]) -> None:
    text, limits = f"{texts[0]} {texts[1]}", [12, 40, 3, 60, 160, 500]
    sizes = {fit.graph(text, max_chars=limit).n_vertices for limit in (12, 60, 160)}
    assert len(sizes) == 2  # the longest limit asks for a larger graph
    several = fit(text, max_chars=limits, on_error="return", n_best=2)
    assert [one.limit for one in several] == limits
    for limit, one in zip(limits, several, strict=True):
        alone = fit(text, max_chars=limit, on_error="return", n_best=2)
        assert (one.text, one.origin, type(one.error)) == (
            alone.text,
            alone.origin,
            type(alone.error),
        )
        if one.origin == "model" and one.error is None:
            assert one.log_prob == alone.log_prob
            assert [other.text for other in one.alternatives] == [
                other.text for other in alone.alternatives
            ]


def test_a_short_source_is_returned_as_it_is(fit: Summarizer) -> None:
    summary = fit("  Ferry service\tresumes\u00a0tomorrow. ", max_chars=60)
    assert summary.text == "Ferry service resumes tomorrow."
    assert (summary.origin, summary.length, summary.complete) == ("source", 31, True)
    assert math.isnan(summary.log_prob)


def test_keep_short_can_be_switched_off(fit: Summarizer, texts: tuple[str, ...]) -> None:
    summary = fit(texts[0], max_chars=500, keep_short=False)
    assert summary.origin == "model"
    assert summary.length <= len(texts[0])


def test_a_summary_is_never_longer_than_its_source(fit: Summarizer) -> None:
    text = "The library will open at noon on Sundays."
    summary = fit(text, max_chars=10_000, keep_short=False, bonus=3.0)
    assert len(summary.text) <= len(text)


def test_one_word(fit: Summarizer) -> None:
    assert fit("Hello", max_words=8).text == "Hello"
    cut = fit("Hello", max_chars=3, on_error="return")
    assert cut.text == "" or len(cut.text) <= 3


@pytest.mark.parametrize("text", ["", "   ", "\n\t\x00\u200b"])
def test_nothing_to_summarise(fit: Summarizer, text: str) -> None:
    with pytest.raises(
        EmptyInputError,
        match="the text is empty: nothing in it but white space; leave it out",
    ):
        fit(text, max_chars=60)
    failed = fit(text, max_chars=60, on_error="return")
    assert failed.text == ""
    assert isinstance(failed.error, EmptyInputError)


@pytest.mark.parametrize(
    ("text", "shown"),
    [(3, "int"), (None, "NoneType"), (b"bytes", "bytes; decode it as UTF-8 first")],
)
def test_what_is_no_text(fit: Summarizer, text: Any, shown: str) -> None:
    with pytest.raises(InputError, match=f"give a string or an iterable of strings, was {shown}"):
        fit(text, max_chars=60)


def test_a_limit_that_nothing_fits(fit: Summarizer, texts: tuple[str, ...]) -> None:
    with pytest.raises(InfeasibleBudgetError) as caught:
        fit(texts[0], max_chars=0)
    assert str(caught.value) == (
        "no summary of this text measures at most 0 chars; change the limit, loosen the "
        "constraints, or ask for on_infeasible='cut'"
    )
    with pytest.raises(InfeasibleBudgetError, match=r"measures at most 0 chars \(what prefix"):
        fit(texts[0], exact_chars=5, prefix="fix: ")
    with pytest.raises(InfeasibleBudgetError, match="measures 299 to 300 words"):
        fit(texts[0], min_words=299, max_words=300)


def test_a_summary_is_more_than_punctuation(fit: Summarizer, texts: tuple[str, ...]) -> None:
    for limit in (1, 2, 3):
        summary = fit(texts[0], max_chars=limit, on_error="return", n_best=5)
        for one in (summary, *summary.alternatives):
            assert one.error or any(letter.isalnum() for letter in one.text)


@pytest.mark.parametrize("limit", [0, 1])
def test_tiny_limits_never_give_an_empty_summary(
    fit: Summarizer, texts: tuple[str, ...], limit: int
) -> None:
    for unit in ("words", "tokens", "chars", "graphemes", "bytes", "cells"):
        summary = fit(texts[0], on_error="return", **{f"max_{unit}": limit})
        if summary.error is None:
            assert 0 < summary.length <= limit
        else:
            assert isinstance(summary.error, InfeasibleBudgetError)
            assert (summary.text, summary.unit, summary.limit) == ("", unit, limit)


def test_a_cut_is_marked(fit: Summarizer, texts: tuple[str, ...]) -> None:
    summary = fit(texts[0], max_chars=24, on_infeasible="cut", required=["zebra"])
    assert (summary.text, summary.origin) == ("Engineers closed the…", "cut")
    assert not summary.complete
    assert summary.length == 21


def test_a_cut_that_does_not_fit_is_an_error(fit: Summarizer, texts: tuple[str, ...]) -> None:
    with pytest.raises(
        InfeasibleBudgetError,
        match=r"not even a cut of the source measures 0 chars \(its first word with an ellipsis "
        r"measures 10\); change the limit",
    ):
        fit(texts[0], max_chars=0, on_infeasible="cut")


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({}, BudgetError, "no length limit was given; give one, for example max_chars=60"),
        ({"max_chars": -1}, BudgetError, "max_chars must be 0 or more, was -1"),
        ({"max_chars": 10**9}, BudgetError, "max_chars must be at most 1000000, was 1000000000"),
        ({"max_chars": "many"}, BudgetError, "max_chars must be a whole number, was 'many'"),
        ({"max_chars": 6.5}, BudgetError, "max_chars must be a whole number, was 6.5"),
        ({"max_chars": True}, BudgetError, "max_chars must be a whole number, was True"),
        (
            {"max_chars": 60, "max_words": 8},
            ConflictingBudgetError,
            "max_chars=60 and max_words=8 are two length specifications; give one of them",
        ),
        (
            {"min_words": 9, "max_words": 8},
            ConflictingBudgetError,
            "min_words=9 is above max_words=8; swap them",
        ),
        (
            {"max_length": 9, "unit": "inches"},
            UnknownUnitError,
            "unit 'inches' is not known; use one of words, tokens",
        ),
        ({"preset": "haiku"}, UnknownUnitError, "preset 'haiku' is not known; use one of "),
        (
            {"max_chars": 8, "prefix": "a prefix"},
            None,
            "",
        ),
        ({"max_chars": 60, "method": "magic"}, ConfigError, "method must be one of '"),
        ({"max_chars": 60, "fill": "full"}, ConfigError, "fill must be one of 'natural', 'prefer'"),
        (
            {"max_chars": 60, "n_best": 0},
            ConfigError,
            "n_best must be a whole number of at least 1",
        ),
        (
            {"max_chars": 60, "seed": -1},
            ConfigError,
            "seed must be a whole number of at least 0, was -1",
        ),
        ({"max_chars": 60, "n_best": 10**6}, ConfigError, "n_best must be at most 1000, was"),
        (
            {"max_chars": 60, "beam_size": 10**8},
            ConfigError,
            "beam_size must be at most 10000, was",
        ),
        ({"max_chars": 60, "bonus": 1e300}, ConfigError, "bonus must be from -10 to 10 nats"),
        ({"max_chars": 60, "bonus": math.inf}, ConfigError, "bonus must be a finite number, was"),
        ({"max_chars": 60, "whole_words": "yes"}, ConfigError, "whole_words must be True or False"),
        ({"max_chars": 60, "banned": "word"}, ConfigError, "banned must be a list of words or"),
        ({"max_chars": 60, "required": [3]}, ConfigError, "required must hold words or phrases"),
        (
            {"max_chars": 60, "rerank": "nowhere"},
            ConfigError,
            "rerank must be 'auto', 'none', 'mbr', 'neural' or the directory of a trained "
            "reranker, was 'nowhere'",
        ),
        (
            {"max_chars": 60, "rerank": "MBRR"},
            ConfigError,
            "rerank must be 'auto', 'none', 'mbr', 'neural' or the directory of a trained "
            "reranker, was 'MBRR'; did you mean 'mbr'?",
        ),
        (
            {"max_chars": 60, "rerank": 3},
            ConfigError,
            "rerank must be 'auto', 'none', 'mbr', 'neural' or a Reranker",
        ),
        ({"max_chars": 60, "on_error": "ignore"}, ConfigError, "on_error must be 'raise' or"),
        ({"max_chars": 60, "time_limit_s": 0}, ConfigError, "time_limit_s must be above 0 seconds"),
        ({"max_chars": 60, "profile": "latin"}, ConfigError, "profile must be one of 'natural'"),
        ({"max_char": 60}, TypeError, "unknown keyword 'max_char'; did you mean 'max_chars'"),
        ({"max_chars": 60, "temperature": 1}, TypeError, "unknown keyword 'temperature'"),
    ],
)
def test_bad_options_are_named(
    fit: Summarizer,
    texts: tuple[str, ...],
    keywords: dict[str, Any],
    error: type[Exception] | None,
    message: str,
) -> None:
    if error is None:
        with pytest.raises(InfeasibleBudgetError, match="at most 0 chars"):
            fit(texts[0], **keywords)
        return
    with pytest.raises(error) as caught:
        fit(texts[0], **keywords)
    assert str(caught.value).startswith(message)
    if "temperature" not in keywords and "max_char" not in keywords:
        with pytest.raises(error):  # lists refuse them before any text is read
            fit([texts[0]], **keywords)


def test_options_may_be_made_once() -> None:
    assert Options(banned=["a b"]).banned == ("a b",)
    assert sumfit.Options().whole_words
    with pytest.raises(ConfigError, match="ending must be one of 'eos', 'any', was 'dot'"):
        Options(ending="dot")


def test_an_unknown_profile_of_the_model(fit: Summarizer, texts: tuple[str, ...]) -> None:
    summary = fit(texts[0], max_words=6, profile="gigaword")
    assert summary.text == summary.text.lower()


def test_inspect(fit: Summarizer, texts: tuple[str, ...]) -> None:
    found = fit.inspect(texts[0], max_words=6, capitalization="source")
    assert found.summary.text == fit(texts[0], max_words=6, capitalization="source").text
    assert list(found.path) == sorted(found.path)
    chosen = [view.chosen for view in found.vertices() if view.chosen is not None]
    assert "".join(chosen).strip() == found.summary.text
    assert sum(link.chosen for link in found.links(1.0)) == len(found.path) + 1
    views = found.vertices(2)
    assert views[0].words == views[-1].words == ()
    assert all(len(view.words) == 2 for view in views[1:-1])
    assert math.isclose(views[-1].reach, 1.0, abs_tol=1e-3)
    assert set(found.to_dict()) == {"summary", "path", "vertices", "links", "read", "n_source"}
    with pytest.raises(InfeasibleBudgetError):
        fit.inspect(texts[0], max_chars=0)


def test_count_tokens(fit: Summarizer, texts: tuple[str, ...]) -> None:
    assert fit.count_tokens(texts[0]) == len(fit.tokenizer.encode(texts[0]))
    with pytest.raises(InputError, match=r"^a text must be a string, was NoneType$"):
        fit.count_tokens(None)  # type: ignore[arg-type]


def test_n_workers_is_checked(fit: Summarizer) -> None:
    with pytest.raises(ConfigError, match="n_workers must be at least 1, was 0"):
        Summarizer(fit.model, fit.backend, n_workers=0)


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("Hello", True),
        ("404, 405 and 406: see 407", True),
        ("Zoë's a\u0301 b", False),
        ("four words are enough", False),
        ("今日は", True),
        ("今日は雨", False),
        ("", True),
    ],
)
def test_what_says_little(source: str, verdict: bool) -> None:
    assert says_little(source) is verdict


def test_a_search_that_ends_early_does_not_claim_that_nothing_fits(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    early = (
        "no summary of this text that measures exactly 20 words was found, though there may be one "
        r"\(a beam of 1 found no sequence that costs exactly 20 and obeys the constraints\); raise "
        "the limit, loosen the constraints, use method='seqmap', a lower bonus or a higher "
        "beam_size=, or ask for on_infeasible='cut'"
    )
    with pytest.raises(NothingFoundError, match=early):
        fit(texts[0], exact_words=20, method="seqmap-beam", beam_size=1)
    with pytest.raises(
        NothingFoundError, match="method='greedy' ignores the limit, and its output"
    ):
        fit(texts[0], max_chars=20, method="greedy", constraints=False)
    greedy = {"method": "greedy", "constraints": False, "on_infeasible": "cut"}
    assert fit(texts[0], max_chars=20, **greedy).origin == "cut"
    with pytest.raises(InfeasibleBudgetError, match="no summary of this text measures exactly 1 "):
        fit(texts[0], exact_chars=1)


def test_only_a_list_of_all_that_there_is_shows_that_nothing_fits(
    fit: Summarizer, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "says_something", lambda text: False)
    with pytest.raises(
        NothingFoundError, match=r"one \(none of the 64 best candidates fits"
    ) as none:
        fit(texts[0], max_chars=40)
    assert "method=" not in str(none.value)  # it is the method asked for already
    assert "give a higher max_expansions=, or ask for" in str(none.value)
    decode, ended_by_itself = listing.decode, {"seqmap": False, "seqmap-beam": True}

    def few(*arguments: Any, **settings: Any) -> NBest:
        listed = decode(*arguments, **settings)
        is_complete = ended_by_itself[listed.method]
        return NBest(listed.hypotheses[:3], listed.method, is_complete=is_complete)

    monkeypatch.setattr(listing, "decode", few)
    for method in ended_by_itself:
        with pytest.raises(NothingFoundError, match="none of the 3 best candidates fits the limit"):
            fit(texts[0], max_chars=40, method=method)
    ended_by_itself["seqmap"] = True
    with pytest.raises(InfeasibleBudgetError, match="no summary of this text measures at most 40"):
        fit(texts[0], max_chars=40)


def test_a_list_cut_short_for_reranking_is_made_again_where_none_of_it_fits(
    fit: Summarizer, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    best = fit(texts[0], max_chars=40).text
    decode, asked = listing.decode, []

    def first_alone(*arguments: Any, **settings: Any) -> NBest:
        asked.append(settings["after_best"])
        listed = decode(*arguments, **settings)
        return listed if asked[-1] is None else NBest(listed.hypotheses[:1], listed.method)

    monkeypatch.setattr(listing, "decode", first_alone)
    monkeypatch.setattr(search, "says_something", lambda text: text != best)
    summary = fit(texts[0], max_chars=40, rerank="mbr")
    assert summary.text not in ("", best)
    assert asked[0] is not None
    assert asked[-1] is None


def test_pathmap_finds_something_whatever_the_bonus(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    for bonus in (0.0, 4.0, 10.0):
        found = fit(texts[0], max_chars=40, method="pathmap", bonus=bonus, max_expansions=30)
        assert 0 < found.length <= 40
        assert found.optimal == (found.gap == 0)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("''s", False),
        ("'t", False),
        ("’ll ''", False),
        ("...", False),
        ("'no'", True),
        ("it's", True),
        ("'90s", True),
        ("😀", True),
    ],
)
def test_a_clitic_of_no_word_says_nothing(text: str, verdict: bool) -> None:
    assert search.says_something(text) is verdict
