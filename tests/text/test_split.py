"""Splitting into words, script by script."""

from __future__ import annotations

import pytest

from sumfit.text.split import split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("... !", []),
        ("U.S. stocks rose 2.5%", ["u", "s", "stocks", "rose", "2", "5"]),
        ("Don't stop", ["don", "t", "stop"]),
        ("Café Übung", ["café", "übung"]),
        ("東京で地震", ["東", "京", "で", "地", "震"]),
        ("iPhone发布", ["iphone", "发", "布"]),
        ("Київ сьогодні", ["київ", "сьогодні"]),
        ("हिन्दी समाचार", ["हिन्दी", "समाचार"]),
    ],
)
def test_unicode_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_ascii_words_break_at_every_other_letter() -> None:
    assert split_words("Café U.S. 2.5", splitter="ascii") == ["caf", "u", "s", "2", "5"]
