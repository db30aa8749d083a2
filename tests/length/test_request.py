import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import BudgetError, ConflictingBudgetError, UnknownUnitError
from sumfit.length import (
    PRESETS,
    UNITS,
    LengthBudget,
    Unit,
    expand_limits,
    measure,
    resolve_budget,
)
from sumfit.length.request import KEYWORD_UNITS
from tests.sample_texts import tiny_tokenizer
from tests.strategies import texts

SOURCE = " ".join(["word"] * 30)


@pytest.mark.parametrize("name", KEYWORD_UNITS)
def test_each_unit_has_its_keywords(name: str) -> None:
    request = resolve_budget(**{f"max_{name}": 12})
    assert (request.unit, request.budget) == (UNITS[name], LengthBudget(max=12))
    assert (request.limit, request.min_length, request.unit_name) == (12, 0, name)
    request = resolve_budget(**{f"exact_{name}": 12})
    assert (request.budget, request.limit, request.min_length) == (LengthBudget(exact=12), 12, 12)
    request = resolve_budget(**{f"min_{name}": 5, f"max_{name}": 12})
    assert (request.budget, request.min_length) == (LengthBudget(min=5, max=12), 5)


def test_length_goes_with_a_unit_by_name_object_or_function() -> None:
    assert resolve_budget(max_length=70, unit="utf16").unit is UNITS["utf16"]
    pixels = Unit("pixels", lambda text: 7 * len(text))
    assert resolve_budget(max_length=600, unit=pixels).unit is pixels
    assert resolve_budget(exact_length=6, unit=len).unit_name == "len"


@pytest.mark.parametrize("name", PRESETS)
def test_presets_resolve_to_their_unit_and_limit(name: str) -> None:
    preset = PRESETS[name]
    request = resolve_budget(preset=name)
    assert (request.unit_name, request.limit, request.preset) == (preset.unit, preset.limit, name)
    assert request.budget == LengthBudget(max=preset.limit)


def test_none_counts_as_not_given() -> None:
    assert resolve_budget(max_chars=60, max_words=None, ratio=None, preset=None).limit == 60


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    request = resolve_budget(max_chars=np.int64(60), reserve=np.int32(2))
    assert (request.limit, request.budget) == (60, LengthBudget(max=58))
    assert type(request.limit) is int


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "max_chars must be 0 or more, was -1"),
        (60.0, "max_chars must be a whole number, was 60.0"),
        (math.nan, "max_chars must be a whole number, was nan"),
        (math.inf, "max_chars must be a whole number, was inf"),
        (True, "max_chars must be a whole number, was True"),
        ("60", "max_chars must be a whole number, was '60'; write 60 without quotes"),
        ([60], "max_chars must be a whole number, was [60]"),
        (10**12, "max_chars must be at most 1000000, was 1000000000000"),
        (1_000_001, "max_chars must be at most 1000000, was 1000001"),
    ],
)
def test_a_limit_is_a_whole_number_within_reason(value: object, message: str) -> None:
    with pytest.raises(BudgetError) as caught:
        resolve_budget(max_chars=value)
    assert str(caught.value) == message


@pytest.mark.parametrize("limit", [0, 1, 1_000_000])
def test_limits_at_the_edges_are_accepted(limit: int) -> None:
    assert resolve_budget(max_chars=limit).budget == LengthBudget(max=limit)
    assert resolve_budget(exact_words=limit).budget == LengthBudget(exact=limit)


TWO = "are two length specifications; give one of them"
GOES_WITH = "exclude each other: unit= goes with max_length=, exact_length=, min_length= or ratio="


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"max_words": 8, "max_chars": 60}, f"max_words=8 and max_chars=60 {TWO}"),
        ({"exact_words": 8, "max_words": 9}, f"exact_words=8 and max_words=9 {TWO}"),
        ({"max_words": 8, "ratio": 0.2}, f"max_words=8 and ratio=0.2 {TWO}"),
        ({"max_words": 8, "preset": "sms"}, f"max_words=8 and preset='sms' {TWO}"),
        ({"ratio": 0.2, "preset": "sms"}, f"ratio=0.2 and preset='sms' {TWO}"),
        ({"min_words": 8, "max_chars": 60}, f"max_chars=60 and min_words=8 {TWO}"),
        ({"min_words": 8, "exact_words": 8}, f"exact_words=8 and min_words=8 {TWO}"),
        ({"min_words": 8, "min_chars": 9, "max_chars": 60}, f"min_words=8 and min_chars=9 {TWO}"),
        ({"min_words": 8, "preset": "sms"}, f"preset='sms' and min_words=8 {TWO}"),
        ({"min_words": 8, "ratio": 0.5}, f"ratio=0.5 and min_words=8 {TWO}"),
        ({"min_words": 9, "max_words": 8}, "min_words=9 is above max_words=8; swap them"),
        ({"unit": "chars", "max_words": 8}, f"unit=chars and max_words=8 {GOES_WITH}"),
        ({"unit": len, "preset": "sms"}, f"unit=len and preset='sms' {GOES_WITH}"),
        (
            {"ratio": 0.5, "ratio_rule": "paper-dat", "unit": "chars", "source": "x"},
            "ratio_rule='paper-dat' and unit='chars' exclude each other: "
            "the paper's rules count words",
        ),
        (
            {"max_chars": 10, "prefix": "Breaking: ", "reserve": 2},
            "prefix='Breaking: ' and reserve=2 take 12 chars of max_chars=10; "
            "raise the limit or shorten them",
        ),
        (
            {"max_chars": 10, "reserve": 23},
            "reserve=23 takes 23 chars of max_chars=10; raise the limit or shorten them",
        ),
        (
            {"preset": "app-subtitle", "prefix": "x" * 20, "suffix": "y" * 11},
            f"prefix='{'x' * 20}' and suffix='{'y' * 11}' take 31 chars of preset=30; "
            "raise the limit or shorten them",
        ),
    ],
)
def test_two_specifications_are_one_error_that_names_both(
    keywords: dict[str, object], message: str
) -> None:
    with pytest.raises(ConflictingBudgetError) as caught:
        resolve_budget(**keywords)  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "no length limit was given; give one, for example max_chars=60 or max_words=8"),
        ({"unit": "chars"}, "no length limit was given; give one, for example max_length=60"),
        ({"min_words": 5}, "min_words=5 needs a maximum; add max_words="),
        ({"max_length": 5}, "max_length= needs unit=, for example unit='chars'"),
        ({"max_words": 5, "reserve": -1}, "reserve must be 0 or more, was -1"),
        ({"max_words": 5, "reserve": 1.5}, "reserve must be a whole number, was 1.5"),
        ({"max_words": 5, "prefix": 3}, "prefix must be a string, was 3"),
        (
            {"max_words": 5, "suffix": "\ud83d"},
            r"suffix='\ud83d' holds half a character; UTF-8 has no place for it",
        ),
        (
            {"preset": "sms", "prefix": "Łódź: "},
            "prefix='Łódź: ' holds 'Ł', which is not in the GSM 7-bit alphabet; "
            "replace it, or use max_length=70, unit='utf16'",
        ),
        ({"ratio": 0.2}, "ratio=0.2 needs the source text"),
        (
            {"ratio": 0.2, "ratio_rule": "round", "source": "x"},
            "ratio_rule must be one of floor, paper-dat, paper-truncate, was 'round'",
        ),
        (
            {"max_words": 5, "ratio_rule": "paper-dat"},
            "ratio_rule='paper-dat' needs ratio=, for example ratio=0.25",
        ),
        *(
            (
                {"ratio": bad, "source": "x"},
                f"ratio must be a number above 0 and at most 1, was {bad!r}",
            )
            for bad in (0, 0.0, -0.1, 1.01, 25, math.nan, math.inf, True, "0.25")
        ),
    ],
)
def test_specifications_that_say_too_little_are_refused(
    keywords: dict[str, object], message: str
) -> None:
    with pytest.raises(BudgetError) as caught:
        resolve_budget(**keywords)  # type: ignore[arg-type]
    assert str(caught.value) == message
    assert not isinstance(caught.value, ConflictingBudgetError)


def test_unknown_names_are_listed_with_the_known_ones() -> None:
    with pytest.raises(UnknownUnitError, match=r"^unit 'letters' is not known; use one of words"):
        resolve_budget(max_length=5, unit="letters")
    with pytest.raises(UnknownUnitError, match=r"^preset 'toot' is not known; use one of seo-ti"):
        resolve_budget(preset="toot")
    with pytest.raises(TypeError, match=r"^unknown keyword 'max_letters'; length keywords are max"):
        resolve_budget(max_letters=5)


@pytest.mark.parametrize(
    ("ratio", "rule", "limit"),
    [
        (0.25, "floor", 7),
        (0.25, "paper-dat", 9),
        (0.25, "paper-truncate", 8),
        (0.3, "paper-dat", 10),
        (0.1, "floor", 3),
        (0.01, "floor", 1),
        (1, "floor", 30),
    ],
)
def test_ratio_of_thirty_words(ratio: float, rule: str, limit: int) -> None:
    request = resolve_budget(ratio=ratio, ratio_rule=rule, source=SOURCE)
    assert (request.limit, request.unit_name) == (limit, "words")
    assert request.budget == LengthBudget(max=limit)


def test_ratio_is_the_decimal_that_was_written() -> None:
    source = "x" * 100
    assert 0.29 * 100 < 29  # in binary
    for percent in range(1, 101):
        request = resolve_budget(ratio=percent / 100, unit="chars", source=source)
        assert request.limit == percent


def test_ratio_counts_the_source_in_its_unit() -> None:
    tokenizer = tiny_tokenizer()
    text = "naïve café 日本"
    for unit in ("words", "chars", "bytes", "cells", "tokens"):
        n = measure(text, unit, tokenizer=tokenizer)
        request = resolve_budget(ratio=1.0, unit=unit, source=text, tokenizer=tokenizer)
        assert request.limit == n


@pytest.mark.parametrize(
    ("unit", "prefix", "suffix", "room"),
    [
        ("words", "Sale: ", "", 9),
        ("words", "re-", "…", 10),
        ("words", "a b ", " c", 7),
        ("chars", "Sale: ", "…", 93),
        ("bytes", "Sale: ", "…", 91),
        ("cells", "日本 ", "", 95),
        ("graphemes", "👩\u200d👩\u200d👧\u200d👦 ", "", 98),
        ("tweet", "", " https://example.com/long/path", 76),
        ("sms", "[Bank] ", "", 91),
    ],
)
def test_prefix_and_suffix_take_their_room(unit: str, prefix: str, suffix: str, room: int) -> None:
    limit = 10 if unit == "words" else 100
    request = resolve_budget(max_length=limit, unit=unit, prefix=prefix, suffix=suffix)
    assert request.budget == LengthBudget(max=room)
    assert request.limit == limit


def test_reserve_prefix_and_minimum_go_together() -> None:
    request = resolve_budget(min_chars=20, max_chars=50, prefix="net: ", reserve=3)
    assert request.budget == LengthBudget(min=12, max=42)
    assert (request.limit, request.min_length, request.reserve) == (50, 20, 3)
    assert request.compose("fix it") == "net: fix it"
    assert request.measure("fix it") == 11
    assert not request.accepts("x" * 11)
    assert request.accepts("x" * 12)
    assert request.accepts("x" * 42)
    assert not request.accepts("x" * 43)


def test_exact_length_holds_for_the_whole_string() -> None:
    request = resolve_budget(exact_words=8, prefix="Update: ")
    assert request.budget == LengthBudget(exact=7)
    assert request.accepts("a b c d e f g")
    assert not request.accepts("a b c d e f")


def test_whole_string_is_measured_where_parts_join() -> None:
    request = resolve_budget(max_chars=4, suffix="\u0301")
    assert request.compose("cafe") == "café"
    assert request.accepts("cafe")


@given(texts(), texts(max_fragments=3), texts(max_fragments=3), st.sampled_from(KEYWORD_UNITS))
def test_a_text_within_the_budget_keeps_the_limit_around_spaces(
    text: str, prefix: str, suffix: str, name: str
) -> None:
    tokenizer = tiny_tokenizer()
    prefix, suffix = f"{prefix} ", f" {suffix}"
    request = resolve_budget(
        max_length=500, unit=name, prefix=prefix, suffix=suffix, tokenizer=tokenizer
    )
    length = measure(text, name, tokenizer=tokenizer)
    # Tokenising is not additive: one text may take a piece more beside another.
    slack = 2 if name == "tokens" else 0
    if length <= request.budget.high - slack and text.strip(" ") == text:
        assert request.accepts(text, tokenizer=tokenizer)


def test_a_scalar_is_one_request_for_all() -> None:
    assert expand_limits({"max_chars": 60, "max_words": None}) == [{"max_chars": 60}]
    assert expand_limits({"max_chars": 60}, n_items=3) == [{"max_chars": 60}]


def test_several_limits_of_one_text() -> None:
    expected = [{"max_chars": 30}, {"max_chars": 60}]
    assert expand_limits({"max_chars": [30, 60]}) == expected
    assert expand_limits({"max_chars": np.array([30, 60])}) == expected
    spread = expand_limits({"limits": (30, 60), "unit": "chars", "prefix": "x"}, n_items=5)
    assert spread == [{"unit": "chars", "prefix": "x", "max_length": n} for n in (30, 60)]


def test_one_limit_for_each_item() -> None:
    spread = expand_limits({"max_words": [8, 9], "min_words": [2, 3], "reserve": 1}, n_items=2)
    assert spread == [
        {"max_words": 8, "min_words": 2, "reserve": 1},
        {"max_words": 9, "min_words": 3, "reserve": 1},
    ]


@pytest.mark.parametrize(
    ("keywords", "n_items", "error", "message"),
    [
        (
            {"max_words": [8, 9, 10]},
            2,
            BudgetError,
            "max_words has 3 values for 2 texts; give one for each text, "
            "or limits= for several limits of each",
        ),
        (
            {"max_words": [8, 9], "min_words": [1]},
            2,
            ConflictingBudgetError,
            "max_words has 2 values and min_words has 1; give as many of each",
        ),
        (
            {"max_words": []},
            None,
            BudgetError,
            "max_words is an empty list; give at least one limit, as in max_words=[30]",
        ),
        (
            {"limits": [], "unit": "chars"},
            2,
            BudgetError,
            "limits is an empty list; give at least one limit, as in limits=[30]",
        ),
        (
            {"limits": [30, 60]},
            None,
            BudgetError,
            "limits= needs unit=, for example limits=[30, 60], unit='chars'",
        ),
        (
            {"limits": 30, "unit": "chars"},
            None,
            BudgetError,
            "limits must be a list of whole numbers, was 30; write limits=[30, 60] and "
            "unit='chars', or max_chars=30 for a single limit",
        ),
        (
            {"max_chars": [[30, 40], [50]]},
            2,
            BudgetError,
            "max_chars must be one list of whole numbers, was [[30, 40], [50]]; "
            "write max_chars=[30, 60]",
        ),
        (
            {"limits": [30], "max_chars": 60},
            None,
            ConflictingBudgetError,
            f"limits=[30] and max_chars=60 {TWO}",
        ),
    ],
)
def test_lists_that_do_not_match_are_refused(
    keywords: dict[str, object], n_items: int | None, error: type[BudgetError], message: str
) -> None:
    with pytest.raises(error) as caught:
        expand_limits(keywords, n_items=n_items)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("prefix", "label"),
    [
        ("net: ", "net:"),
        ("[News] ", "[News]"),
        ("fix(net): ", "fix(net):"),
        ("Docs – ", "Docs –"),
        ("", ""),
        ("The ", ""),
        ("1) ", ""),
        ("U.S. ", ""),
        ("- ", ""),
    ],
)
def test_a_label_has_a_letter_and_ends_with_a_mark(prefix: str, label: str) -> None:
    request = resolve_budget(max_chars=50, prefix=prefix)
    assert request.label == label
    text = "bridge closed"
    assert request.without_label(text) == text
    for again in (prefix, prefix.upper(), prefix.rstrip()):
        assert request.without_label(again + text) == (text if label else again + text)
    assert request.without_label(label) == label
