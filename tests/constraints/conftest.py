"""Texts that make trouble for constraints, and a tokenizer and a lexicon of them."""

from __future__ import annotations

import pytest

from sumfit.constraints.lexicon import WORD_PATTERN, Lexicon
from sumfit.text import Tokenizer

TEXTS = [
    "The runner of the race ran on a runway, said the coach (47) of London.",
    "A man and the woman run in London; the man won 12 of 300 races.",
    'She said "the runners ran" and he said the race of the year was on.',
    "Online races: the café of Paris, and the race on the line - 2047 runners!",
    "Is the run on? The man of the race, the woman and the coach ran on.",
    "An over-the-line race (the run of 12) was won in Paris by the women.",
] * 4


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXTS, vocab_size=360)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.from_words(WORD_PATTERN.findall(" ".join(TEXTS)))
