"""Making a text ready: what is read of a long one, and where it is cut."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit import Summarizer, Tokenizer
from sumfit.errors import EmptyInputError
from sumfit.pipeline import preparing
from sumfit.pipeline import source as source_module
from sumfit.pipeline.options import Options
from sumfit.pipeline.results import ResultMaker
from sumfit.pipeline.source import prepare
from tests.tiny_model import TEXTS

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


LETTERS = (
    "aZ é\u0301\u0323\u1100\u1161\u11a8東か\u3099🎉👩\u200d\u200b\ufeff\u00ad.,!?\"'“”…1- "
    "\n\t\x00\ud83c\udf89"
)


@given(
    st.lists(st.text(LETTERS, max_size=30) | st.sampled_from([SENTENCE, "x" * 50, " \n" * 30])),
    st.integers(1, 40),
    st.sampled_from(["natural", "gigaword"]),
)
def test_the_head_of_a_long_text_is_read_as_the_whole(
    tiny_tokenizer: Tokenizer, parts: list[str], times: int, profile: str
) -> None:
    text = "".join(parts) * times
    asked: dict[str, Any] = {"tokenizer": tiny_tokenizer, "profile": profile, "max_source": 16}
    try:
        whole = prepare(text, **asked)
    except EmptyInputError:
        whole = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_module, "_AT_THE_CUT", 60)
        if whole is None:
            with pytest.raises(EmptyInputError):
                prepare(text, **asked, most_held=600)
            return
        found = prepare(text, **asked, most_held=600)
    assert (found.ids, found.read) == (whole.ids, whole.read)
    assert found.is_truncated is whole.is_truncated
    assert found.text == whole.text
    assert whole.is_whole
    assert whole.head == whole.text
    # A word without end may be cut within what a later mark still changes.
    if 2 * found.head.rfind(" ") > len(found.head):
        assert whole.text.startswith(found.head)
    if len(text) <= 600:
        assert found.is_whole


@pytest.mark.parametrize(
    "options",
    [
        {"max_chars": 40},
        {"max_words": 6, "n_best": 3},
        {"ratio": 0.001, "unit": "words"},
        {"max_chars": 45, "faithful": True},
        {"max_chars": 45, "faithful": True, "profile": "gigaword"},
        {"max_chars": 45, "source_numbers_only": False, "source_names_only": False},
        {"max_chars": 1_000_000},
        {"max_chars": 30_000},
        {"max_chars": 3, "on_infeasible": "cut", "on_error": "return"},
        {"max_words": 5000, "required": ["nowhere"], "on_infeasible": "cut"},
        {"max_chars": [20, 30, 40, 50]},
    ],
)
def test_a_long_texts_summary_is_that_of_the_full_way(
    fit: Summarizer, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " ".join([*TEXTS, "Nobody answered."]) + " "
    long = text * (20_000 // len(text))
    options = {**options, "long": "lead"}  # what is selected depends on all that is looked at
    expected = fit(long, **options)
    monkeypatch.setattr(preparing, "MOST_HELD", 4000)
    found = fit(long, **options)
    assert found == expected
    for summary in found if isinstance(found, list) else [found]:
        assert summary.source_truncated


def test_what_only_the_end_of_a_long_text_has_is_faithful_all_the_same(
    fit: Summarizer,
) -> None:
    long = SENTENCE * 200
    for end, verdict in (("It cost 9,731 euros, said Zebulon.", True), ("", False)):
        source = prepare(
            long + end, tokenizer=fit.tokenizer, profile="natural", max_source=96, most_held=4000
        )
        assert not source.is_whole
        make = ResultMaker(source, Options(), fit.tokenizer)
        assert make.judge("An inspection for 9,731 by Zebulon").supported is verdict
        assert make.judge("The old bridge").supported


@pytest.mark.parametrize("unit", ["x", "\u200d", "\u0301", "1.", "日", "\u200dx"])
@pytest.mark.parametrize("long", ["lead", "select"])
def test_of_a_word_without_end_behind_a_sentence_only_the_beginning_is_read(
    unit: str, long: str, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode_parts, n_ids = Tokenizer.encode_parts, 0

    def counted(tokenizer: Tokenizer, text: str) -> Iterator[list[int]]:
        nonlocal n_ids
        for part in encode_parts(tokenizer, text):
            n_ids += len(part)
            yield part

    monkeypatch.setattr(Tokenizer, "encode_parts", counted)
    text = SENTENCE + "a" + unit * (600_000 // len(unit))
    source = prepare(
        text, tokenizer=tiny_tokenizer, profile="natural", max_source=32, long=long,
        most_held=200_000,
    )  # fmt: skip
    assert n_ids < 100_000
    assert len(source.head) <= 200_000
    assert source.is_truncated
    assert source.read.startswith("The old bridge")


def test_fifty_megabytes_take_as_long_as_their_head(fit: Summarizer) -> None:
    fit(SENTENCE, max_chars=40)  # compiles
    text = SENTENCE * 900_000
    started = time.process_time()
    summary = fit(text, max_chars=60)
    assert time.process_time() - started < 3
    assert summary.source_truncated


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
