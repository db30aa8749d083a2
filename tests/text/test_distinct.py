"""Near-doubles: the rule in examples, and the fast grouping against a plain one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.text.distinct import Distinct, distinct

WORDS = (
    "Bridge",
    "bridge,",
    "closes",
    "shut",
    "for",
    "of",
    "the",
    "not",
    "may",
    "six",
    "weeks",
    "橋",
    "🎉",
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Harbour bridge to close", "harbour bridge to close"),
        ("Harbour bridge to close", "“Harbour” bridge to close!"),
        ("Harbour bridge to close", "The harbour bridge is to close"),
        ("Harbour bridge to close", "Harbour bridge to close Monday"),
        ("Harbour bridge to close", "Bridge to close"),
        ("Mayor’s bridge closes", "Mayor's bridge closes"),
        ("Sales rise 1,000", "Sales rise 1000"),
        ("Straße gesperrt", "STRASSE gesperrt"),
        ("港の橋を閉鎖", "港の橋を閉鎖へ"),
        ("Мост закроют", "мост закроют сегодня"),
        ("Launch 🎉", "Launch"),
        ("Council closes bridge", "Council closed bridges"),
        ("Boiler stopped with error", "Boiler stops with error"),
        ("Sales fall again", "Sales falling again"),
        ("Pool closed because of pump", "Pool closed because with pump"),
        ("Airline will no longer fly", "Airline to no longer fly"),
        ("Council repairs its bridge", "Council repairs their bridge"),
    ],
)
def test_near_doubles_are_one_group(first: str, second: str) -> None:
    assert distinct([first, second]) == [first]
    assert distinct([second, first]) == [second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Harbour bridge to close", "Council repairs harbour bridge"),
        ("Bank sues mayor", "Mayor sues bank"),
        ("Bridge closes", "Bridge not closes"),
        ("The bridge is closed", "The bridge isn’t closed"),
        ("Bridge may close", "Bridge close"),
        ("Bridge closes unless repaired", "Bridge closes repaired"),
        ("Sales rise 5%", "Sales rise 6%"),
        ("Costs $5 more", "Costs €5 more"),
        ("橋を閉鎖", "橋を不閉鎖"),
        ("Bridge closes six weeks", "Bridge closes"),
        ("Flights from Oslo", "Flights to Oslo"),
        ("Bridge closes before Monday", "Bridge closes after Monday"),
        ("Council may repair bridge", "Council will repair bridge"),
        ("Council repairs its bridge", "Council repairs old bridge"),
        ("Talks for peace by Monday", "Talks on peace at Monday"),
    ],
)
def test_texts_that_say_something_else_are_kept(first: str, second: str) -> None:
    assert distinct([first, second]) == [first, second]


def test_only_as_many_are_drawn_as_are_wanted() -> None:
    texts = iter(["one two three", "four five six", "seven eight nine"])
    assert distinct(texts, 2) == ["one two three", "four five six"]
    assert list(texts) == ["seven eight nine"]
    assert distinct(["one"], 0) == []


def test_what_has_a_text_is_compared_by_it() -> None:
    pairs = [("Bridge closes", 1), ("bridge closes", 2), ("Mayor sues bank", 3)]
    assert distinct(pairs, text=lambda pair: pair[0]) == [pairs[0], pairs[2]]


def plain_words(text: str) -> list[str]:
    words = [word.strip(",").lower().removesuffix("s") for word in text.split()]
    words = [word.removesuffix("e") if len(word) > 4 else word for word in words]
    return [word for word in words if word != "the"]


def are_near(first: str, second: str) -> bool:
    short, long = sorted((plain_words(first), plain_words(second)), key=len)
    if short == long:
        return True
    differing = [pair for pair in zip(short, long, strict=False) if pair[0] != pair[1]]
    if len(short) == len(long) and [set(pair) for pair in differing] == [{"for", "of"}]:
        return True
    if len(long) != len(short) + 1 or not short:
        return False
    return any(
        long[:place] + long[place + 1 :] == short and long[place] not in ("not", "may")
        for place in range(len(long))
    )


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=8))
def test_the_first_of_each_group_stays(texts: list[str]) -> None:
    expected: list[str] = []
    for text in texts:
        if not any(are_near(text, kept) for kept in expected):
            expected.append(text)
    assert distinct(texts) == expected
    known = Distinct()
    assert [known.add(text) for text in texts].count(True) == len(expected) == len(known)


@given(st.lists(st.text(max_size=12), max_size=6))
def test_any_texts_are_grouped(texts: list[str]) -> None:
    kept = distinct(texts)
    assert kept == distinct(kept)
    for first, second in itertools.combinations(kept, 2):
        assert distinct([second, first]) == [second, first]
