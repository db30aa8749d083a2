"""What every baseline promises: limits kept and measured, order kept, errors named."""

from __future__ import annotations

import json
import math

import pytest

from sumfit.baselines import load_baseline
from sumfit.baselines.base import Baseline, Written
from sumfit.errors import (
    BudgetError,
    ConfigError,
    EmptyInputError,
    IncompatibleModelError,
    InfeasibleBudgetError,
    InputError,
    ModelNotFoundError,
)
from sumfit.length import measure
from tests.tiny_baseline import TEXTS, write_model


class Parrot(Baseline):
    """Says the source's words backwards, without caring for the limit."""

    method = "parrot"

    def write(self, wanted, options):
        self.batches = [*getattr(self, "batches", []), len(wanted)]
        return [self._said(item.source.text) for item in wanted]

    def _said(self, text):
        if text.startswith("mute"):
            return Written(())
        if text.startswith("fail"):
            return InfeasibleBudgetError("no")
        words = " ".join(reversed(text.split()))
        return Written(tuple(self.tokenizer.encode(words)), log_prob=-1.5, score=-0.5)


@pytest.fixture(scope="module")
def parrot(at_directory):
    return Parrot.load(at_directory, device="cpu", batch_size=2)


def backwards(text: str) -> list[str]:
    return text.split()[::-1]


def test_what_fits_is_returned_as_it_was_written(parrot):
    summary = parrot(TEXTS[0], max_words=13, keep_short=False)
    assert summary.text == " ".join(backwards(TEXTS[0]))
    assert (summary.length, summary.limit, summary.unit) == (13, 13, "words")
    assert (summary.text_cut, summary.log_prob, summary.score) == (False, -1.5, -0.5)
    assert (summary.method, summary.origin, summary.optimal) == ("parrot", "model", False)
    assert set(summary.timings) == {"encode", "decode"}
    assert parrot.tokenizer.decode(summary.words) == summary.text


@pytest.mark.parametrize(
    "limit",
    [
        {"max_words": 4},
        {"max_chars": 20},
        {"max_bytes": 9},
        {"max_tokens": 7},
        {"preset": "sms"},
        {"ratio": 0.3},
        {"max_chars": 30, "prefix": "News: ", "suffix": " (AP)"},
        {"max_chars": 30, "reserve": 12},
    ],
)
def test_what_is_too_long_is_cut_after_a_whole_word_and_says_so(parrot, limit):
    text = TEXTS[2] * 3
    summary = parrot(text, **limit, keep_short=False)
    bare = summary.text.removeprefix("News: ").removesuffix(" (AP)")
    words = bare.split()
    assert words == [
        word.rstrip(",") if i == len(words) - 1 else word
        for i, word in enumerate(backwards(text)[: len(words)])
    ]
    assert summary.text_cut
    assert math.isnan(summary.log_prob)
    measured = measure(summary.text, summary.unit, tokenizer=parrot.tokenizer)
    assert 0 < measured == summary.length <= summary.limit - limit.get("reserve", 0)
    longer = " ".join([*words, backwards(text)[len(words)]])
    whole = summary.text.replace(bare, longer)
    assert measure(whole, summary.unit, tokenizer=parrot.tokenizer) > summary.limit - limit.get(
        "reserve", 0
    )


def test_a_source_that_fits_is_kept_unless_told_otherwise(parrot):
    assert parrot("Rain fell.", max_words=5).origin == "source"
    assert parrot("Rain fell.", max_words=5).text == "Rain fell."
    assert parrot("Rain fell.", max_words=5, keep_short=False).text == "fell. Rain"


def test_a_soft_baseline_never_pretends_to_have_reached_a_length(parrot):
    assert parrot(TEXTS[0], exact_words=4, keep_short=False).length == 4
    with pytest.raises(InfeasibleBudgetError, match=r"'fell\. Rain' is shorter than 3 words"):
        parrot("Rain fell.", exact_words=3, keep_short=False)
    with pytest.raises(InfeasibleBudgetError, match=r"not even the first word .* fits 2 chars"):
        parrot("Rain fell.", max_chars=2, keep_short=False)
    with pytest.raises(InfeasibleBudgetError, match="the model wrote nothing"):
        parrot("mute swans here", max_words=2, keep_short=False)


def test_many_texts_keep_their_order_and_share_calls(parrot):
    parrot.batches = []
    texts = [*TEXTS, "", 7, "fail now please"]
    found = parrot(texts, max_words=2, keep_short=False)
    assert [summary.text for summary in found[:4]] == [
        " ".join(backwards(text)[:2]) for text in TEXTS
    ]
    assert [type(summary.error) for summary in found[4:]] == [
        EmptyInputError,
        InputError,
        InfeasibleBudgetError,
    ]
    assert parrot.batches == [2, 2, 1]
    with pytest.raises(EmptyInputError):
        parrot(texts, max_words=2, on_error="raise")


def test_a_unit_that_raises_fails_the_texts_it_raises_for(parrot):
    first, second = (" ".join(backwards(text)) for text in TEXTS[:2])

    def fussy(text):
        return len(text) // (text not in (second, TEXTS[2]))

    found = parrot(TEXTS[:3], max_length=200, unit=fussy, keep_short=False)
    assert found[0].text == first
    assert [type(one.error) for one in found] == [type(None), BudgetError, type(None)]
    [kept, refused] = parrot([TEXTS[0], TEXTS[2]], max_length=200, unit=fussy)
    assert (kept.origin, type(refused.error)) == ("source", BudgetError)


def test_one_error_names_every_limit_that_cannot_be_met(parrot):
    with pytest.raises(InfeasibleBudgetError, match=r"^2 of 3 limits cannot be met: .*; .*; leave"):
        parrot("one two three", exact_words=[3, 7, 8], keep_short=False)


def test_several_limits_and_streams_come_in_the_shape_of_a_summarizer(parrot):
    one = parrot(TEXTS[0], max_words=[2, 3], keep_short=False)
    assert [summary.length for summary in one] == [2, 3]
    many = parrot(TEXTS[:2], max_words=[3, 1], keep_short=False)
    assert [summary.length for summary in many] == [3, 1]
    each = parrot(TEXTS[:2], limits=[1, 2], unit="words", keep_short=False)
    assert [[summary.length for summary in row] for row in each] == [[1, 2], [1, 2]]
    stream = parrot((text for text in TEXTS), max_words=1, keep_short=False)
    assert next(stream).text == "Monday."
    assert [summary.length for summary in stream] == [1, 1, 1]


def test_wrong_calls_are_named(parrot):
    with pytest.raises(BudgetError, match="no length limit was given"):
        parrot(TEXTS[0])
    with pytest.raises(BudgetError, match="no length limit was given"):
        parrot(TEXTS)
    with pytest.raises(TypeError, match="unknown keyword 'beam'; options of 'at' are keep_short"):
        parrot(TEXTS[0], max_words=3, beam=3)
    with pytest.raises(ConfigError, match="profile 'natural', profile was 'gigaword'"):
        parrot(TEXTS[0], max_words=3, profile="gigaword")
    with pytest.raises(ConfigError, match="on_error must be 'raise' or 'return', was 'skip'"):
        parrot(TEXTS, max_words=3, on_error="skip")
    with pytest.raises(ConfigError, match="keep_short must be True or False, was 1"):
        parrot(TEXTS[0], max_words=3, keep_short=1)
    with pytest.raises(InputError, match="give a string or an iterable of strings, was int"):
        parrot(7, max_words=3)
    with pytest.raises(InputError, match="was bytes"):
        parrot(b"text", max_words=3)


def test_loading_says_what_is_wrong(at_directory, tmp_path):
    assert load_baseline(at_directory, device="cpu").name == "torch-cpu-fp32"
    assert load_baseline(at_directory, device="cpu", precision="bf16").name == "torch-cpu-bf16"
    with pytest.raises(ConfigError, match="batch_size must be at least 1, was 0"):
        load_baseline(at_directory, batch_size=0)
    with pytest.raises(ConfigError, match="device='abacus' cannot be used here"):
        load_baseline(at_directory, device="abacus")
    with pytest.raises(
        ConfigError, match="precision must be 'fp32' or 'bf16' for a baseline, was 'int8'"
    ):
        load_baseline(at_directory, device="cpu", precision="int8")
    with pytest.raises(ModelNotFoundError, match=r"config\.json is not there"):
        load_baseline(tmp_path)
    other = write_model(tmp_path / "m", "at", tokenizer_sha256="0" * 64)
    with pytest.raises(IncompatibleModelError, match="is not the tokenizer this model was trained"):
        load_baseline(other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "system": "dat"}))
    with pytest.raises(IncompatibleModelError, match="a DAT is exported with sumfit export"):
        load_baseline(other)
