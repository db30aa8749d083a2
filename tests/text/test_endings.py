"""The rule for a complete ending, on texts one can judge by reading."""

from __future__ import annotations

import pytest

from sumfit.text.endings import DANGLING_WORDS, ends_completely

COMPLETE = [
    "Storm cuts power to thousands",
    "Storm cuts power to thousands.",
    "What is all the money for?",
    "Factory shuts down",
    "Minister: 'I will not resign'",
    'Minister says "no deal"',
    "Minister says “no deal”",
    "Workers' union calls strike",
    "Rock 'n' roll is back",
    "Songs of the '90s return",
    "Bank (finally) cuts rates",
    "工場が再開した",
    "Don't stop",
    "5% more for nurses",
    "Simplify main()",
    "Make list[] and dict{} alike in repr()",
    "prime minister 's party wins in ####",
    "injury leaves kwan 's hopes in limbo",
    "Learn C#",
    "Meeting moved to 9 am",
    "Shop opens at 9:30 AM",
    "Mill to close in May",
    "Vote set for 12 May",
    "Strike could last until late May",
    "Series moves to Disney Plus",
]
INCOMPLETE = [
    "He said he may",
    "What He May",
    "I am",
    "May",
    "Ten people plus",
    "",
    "   ",
    "Storm cuts power to",
    "Storm cuts power,",
    "Storm cuts power -",
    "Storm cuts power...",
    "Storm cuts power…",
    "Storm and the",
    "Storm and THE.",
    "Bank (finally cuts rates",
    'Minister says "no deal',
    "Minister says “no deal",
    "Minister says 'no deal is better",
    "Minister says ‘no deal",
    "Court rejects Mr.",
    "china 's",
    "Prices rise by $",
    "Call main(",
    "Fix main() in",
]


@pytest.mark.parametrize("text", COMPLETE)
def test_finished_texts_are_complete(text: str) -> None:
    assert ends_completely(text)


@pytest.mark.parametrize("text", INCOMPLETE)
def test_unfinished_texts_are_not(text: str) -> None:
    assert not ends_completely(text)


def test_a_full_stop_rescues_a_preposition_but_not_an_article() -> None:
    assert ends_completely("Something to hold on to.")
    assert not ends_completely("Something to hold the.")


@pytest.mark.parametrize("word", sorted(DANGLING_WORDS))
def test_no_text_is_complete_on_a_dangling_word(word: str) -> None:
    assert not ends_completely(f"Parliament votes {word}")
    assert not ends_completely(f"Parliament votes {word.upper()}")
