"""What a summary looks like, from end to end: capitals, measured as they are returned."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sumfit import Summarizer, measure
from sumfit.errors import ConfigError
from sumfit.text.capitalization import CAPITALIZATIONS
from sumfit.text.distinct import distinct
from sumfit.text.surface import Surface

LOW = "the old bridge is closed, and the council has to find money for repairs before winter"


def test_a_summary_begins_with_a_capital_unless_its_text_does_not(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    for text in texts:
        assert fit(text, max_chars=40).text[0].isupper()
        listed = fit(text, max_chars=40, n_best=4)
        assert all(one.text[0].isupper() for one in (listed, *listed.alternatives))
    assert fit(LOW, max_chars=40).text[0].islower()
    assert fit(LOW, max_chars=40, capitalization="sentence").text[0].isupper()


def test_only_the_letters_differ(fit: Summarizer, texts: tuple[str, ...]) -> None:
    plain = fit(texts[0], max_chars=40, capitalization="source")
    for case in (None, "sentence", "title"):
        cased = fit(texts[0], max_chars=40, capitalization=case)
        assert cased.text.casefold() == plain.text.casefold()
        assert (cased.words, cased.score, cased.optimal) == (plain.words, plain.score, True)
    title = fit(texts[0], max_chars=40, capitalization="title").text
    assert all(word[0].isupper() or len(word) < 4 for word in title.split())


@pytest.mark.parametrize("preset", ["git-subject", "git-subject-hard", "synopsis"])
def test_slots_where_many_texts_begin_low_keep_what_the_model_writes(
    fit: Summarizer, texts: tuple[str, ...], preset: str
) -> None:
    for text in texts:
        as_written = fit(text, preset=preset, capitalization="source").text
        assert fit(text, preset=preset).text == as_written
        assert fit(text, preset=preset, capitalization="sentence").text[0].isupper()


def test_capitals_behind_a_prefix(fit: Summarizer, texts: tuple[str, ...]) -> None:
    plain = fit(texts[0], max_chars=40, capitalization="source")
    assert plain.text[0].islower()
    for prefix, begins_low in (("News: ", False), ("fix: ", True), ("Today the ", True)):
        text = fit(texts[0], max_chars=50, prefix=prefix).text.removeprefix(prefix)
        assert text[0].islower() is begins_low, prefix


def test_a_capital_that_nobody_asked_for_costs_no_summary(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    for text in texts:
        for limit in range(3, 10):
            asked = {"exact_tokens": limit, "on_error": "return"}
            plain = fit(text, capitalization="source", **asked)
            found = fit(text, **asked)
            assert (found.error is None) is (plain.error is None)
            assert found.text.lower() == plain.text.lower()
            assert found.error is not None or found.length == limit


@pytest.mark.parametrize("unit", ["chars", "bytes", "cells", "graphemes", "tokens", "sms"])
@pytest.mark.parametrize("case", ["sentence", "title", "source"])
def test_the_length_is_that_of_what_comes_out(
    fit: Summarizer, texts: tuple[str, ...], unit: str, case: str
) -> None:
    for text in (texts[1], "Straße und ßig ﬁel aus. " + texts[2]):
        for limit in (9, 14, 25):
            summary = fit(text, max_length=limit, unit=unit, capitalization=case, on_error="return")
            if summary.error is None:
                assert summary.length <= limit
                assert summary.length == measure(summary.text, unit, tokenizer=fit.tokenizer)


def test_a_text_that_fits_has_only_the_capitals_that_were_asked_for(fit: Summarizer) -> None:
    text = "the bridge of Odell is closed"
    assert fit(text, max_chars=40).text == text
    assert fit(text, max_chars=40, capitalization="title").text == "The Bridge of Odell Is Closed"
    longer = "ß bridge"  # 9 characters as "Ss bridge"
    assert fit(longer, max_chars=8).text == longer
    assert fit(longer, max_chars=9, capitalization="title").text == "Ss Bridge"
    found = fit(longer, max_chars=8, capitalization="title", on_error="return")
    assert found.error is not None or found.length <= 8


def test_gigaword_form_is_lower_case(fit: Summarizer, texts: tuple[str, ...]) -> None:
    for text in texts:
        for options in ({}, {"capitalization": "source"}, {"constraints": False}):
            summary = fit(text, max_words=6, profile="gigaword", n_best=3, **options)
            for one in (summary, *summary.alternatives):
                assert one.text == one.text.lower()
    with pytest.raises(ConfigError, match="capitalization was 'title'; leave it out"):
        fit(texts[0], max_words=6, profile="gigaword", capitalization="title")


@pytest.mark.parametrize("value", ["Title", "upper", "", 1, True])
def test_an_unknown_case_is_refused(fit: Summarizer, texts: tuple[str, ...], value: Any) -> None:
    with pytest.raises(ConfigError, match="capitalization must be one of 'sentence', 'title', "):
        fit(texts[0], max_chars=40, capitalization=value)


WORDS = (
    *("Engineers", "closed", "the", "old", "bridge", "after", "two-year-old", "isn't", "O’Brien’s"),
    *(
        "橋を閉鎖した",
        "مرحبا",
        "мост",
        "नमस्ते",
        "x̂y",
        "Straße",
        "ﬁsh",
        "İzmir",
        "👩‍💻",
        "🇫🇷",
        "‘old’",
    ),
    *(
        ":wave:",
        "jo@odell.org",
        "10:30",
        "R&D",
        "12th",
        "€5",
        "(cracks)",
        "run_all",
        "why?",
        "ran.",
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=6, max_size=24),
    unit=st.sampled_from(["chars", "bytes", "cells", "graphemes", "words", "utf16", "tweet"]),
    limit=st.integers(1, 60),
    case=st.sampled_from([None, *CAPITALIZATIONS]),
    n_best=st.sampled_from([1, 4]),
)
def test_whatever_comes_out_is_sound(
    fit: Summarizer, words: list[str], unit: str, limit: int, case: str | None, n_best: int
) -> None:
    source = " ".join(words)
    summary = fit(
        source,
        max_length=limit,
        unit=unit,
        capitalization=case,
        n_best=n_best,
        keep_short=False,
        on_error="return",
    )
    if summary.error is not None:
        return
    listed = [one.text for one in (summary, *summary.alternatives)]
    assert distinct(listed) == listed
    for text in listed:
        assert measure(text, unit) <= limit
        assert Surface(source).fault(text) is None
