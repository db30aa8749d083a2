"""Making a text ready: what is read of a long one, and where it is cut."""

from __future__ import annotations

import time

import pytest

from sumfit import Summarizer, Tokenizer
from sumfit.pipeline.source import prepare

SENTENCE = "The old bridge will open on Tuesday after an inspection. "


def test_a_short_text_is_read_whole(tiny_tokenizer: Tokenizer) -> None:
    source = prepare(SENTENCE, tokenizer=tiny_tokenizer, profile="natural", max_source=96)
    assert source.text == source.read == SENTENCE.strip()
    assert list(source.ids) == tiny_tokenizer.encode(SENTENCE)
    assert not source.is_truncated


def test_a_long_text_is_cut_at_a_sentence_end(tiny_tokenizer: Tokenizer) -> None:
    text = SENTENCE * 40
    source = prepare(text, tokenizer=tiny_tokenizer, profile="natural", max_source=50)
    assert source.is_truncated
    assert source.read.endswith("inspection.")
    assert source.text.startswith(source.read)
    assert 25 <= len(source.ids) <= 50
    assert list(source.ids) == tiny_tokenizer.encode(source.read)
    assert source.text == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "word " * 4000,
        "x" * 9000,
        "東京の中心部で地下鉄の信号が故障した。" * 400,
        "?!" * 5000,
        "🎉" * 3000,
    ],
)
def test_a_text_without_sentences_is_cut_all_the_same(tiny_tokenizer: Tokenizer, text: str) -> None:
    source = prepare(text, tokenizer=tiny_tokenizer, profile="natural", max_source=64)
    assert source.is_truncated
    assert 0 < len(source.ids) <= 64
    assert source.text.startswith(source.read)


def test_exactly_as_long_as_the_model_reads(tiny_tokenizer: Tokenizer) -> None:
    n_pieces = len(tiny_tokenizer.encode(SENTENCE))
    fits = prepare(SENTENCE, tokenizer=tiny_tokenizer, profile="natural", max_source=n_pieces)
    assert not fits.is_truncated
    less = prepare(SENTENCE, tokenizer=tiny_tokenizer, profile="natural", max_source=n_pieces - 1)
    assert less.is_truncated


def test_a_hundred_thousand_words(fit: Summarizer) -> None:
    text = SENTENCE * 10_000
    fit(SENTENCE, max_chars=40)  # compiles
    started = time.process_time()  # what else the machine does is not counted
    summary = fit(text, max_chars=60)
    assert time.process_time() - started < 5
    assert summary.source_truncated
    assert 0 < summary.length <= 60
    assert not fit(SENTENCE, max_chars=40).source_truncated


@pytest.mark.parametrize(
    "text",
    [
        "Terminal \x1b[31mred\x1b[0m text and \x07 bells \x00 ring in the old library on Sundays.",
        "Lone \ud800 surrogates \udfff in a text about the old bridge and the central bank.",
        "Right \u202eto left\u202c overrides in a text about the old bridge and the central bank.",
        "<script>alert('x')</script> in a text about the old bridge and the central bank.",
        "a\u0301" * 60,
        "👩‍👩‍👧‍👦 " * 30,
        "\ufeff\u200bZero width \u00ad in a text about the old bridge and the central bank.",
    ],
)
def test_hostile_texts_give_harmless_strings(fit: Summarizer, text: str) -> None:
    summary = fit(text, max_chars=30, on_infeasible="cut", on_error="return")
    summary.text.encode("utf-8")
    assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in summary.text)
    assert "\u202e" not in summary.text
    assert len(summary.text) <= 30
    assert summary.text or summary.error is not None


class Liar(str):
    """A string that counts, joins and strips in its own way, as those of templates do."""

    def __len__(self) -> int:
        return 3

    def __str__(self) -> str:
        return "another text"

    def strip(self, characters: str | None = None, /) -> str:
        raise AssertionError

    def __add__(self, other: str, /) -> str:
        return "much longer than it should be" * 9

    __radd__ = __add__


@pytest.mark.parametrize("text", ["The old bridge.", "The old bridge over the river is closed."])
def test_a_kind_of_string_is_the_text_that_it_holds(fit: Summarizer, text: str) -> None:
    asked = {"max_chars": 20, "prefix": "A: ", "on_infeasible": "cut"}
    one, other = fit(Liar(text), **asked), fit(text, **asked)
    assert type(one.text) is str
    assert (one.text, one.length) == (other.text, len(other.text))
    assert fit([Liar(text)], **asked)[0].text == other.text
