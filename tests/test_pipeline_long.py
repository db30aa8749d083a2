"""Texts longer than the model's window: what matters is read, and how much is said."""

from dataclasses import replace
from typing import Any

import pytest

from sumfit import Options, Summarizer, Summary
from sumfit.errors import ConfigError
from tests.long_texts import DECISION, THREAD_END, thread, transcript

WINDOW = 192


def read_of(fit: Summarizer, text: str, **options: Any) -> str:
    """What a model with the default model's window would read."""
    engine = fit._engine
    whole = engine.model.config
    engine.model.config = replace(whole, max_source=WINDOW)
    try:
        return engine.preparer.source(text, Options(**options)).read
    finally:
        engine.model.config = whole


def test_the_decision_of_an_hour_of_talk_is_read(fit: Summarizer) -> None:
    read = read_of(fit, transcript())
    assert DECISION in read
    assert "[00:" not in read
    assert "ANNA" not in read
    assert "can you all hear me" not in read
    assert DECISION not in read_of(fit, transcript(), long="lead")
    assert len(fit.tokenizer.encode(read)) <= WINDOW


def test_what_forty_mails_agreed_on_is_read(fit: Summarizer) -> None:
    read = read_of(fit, thread())
    assert THREAD_END in read
    for mark in (">", "@", "Subject", "regards", "Hi all"):
        assert mark not in read
    assert THREAD_END not in read_of(fit, thread(), long="lead")


def test_how_much_was_read_is_said(fit: Summarizer) -> None:
    summary: Summary = fit(transcript(), max_chars=60)
    read = summary.source_selected
    assert summary.source_truncated
    assert read is not None
    assert 0 < read.n_sentences < read.of_sentences
    assert 0 < read.n_chars < read.of_chars
    assert "transcript" in summary.cleaned
    lead = fit(transcript(), max_chars=60, long="lead")
    assert lead.source_truncated
    assert lead.source_selected is None
    assert fit("It rained all day in Dunmore.", max_chars=20).source_selected is None


def test_a_text_of_one_endless_word_is_read_from_its_beginning(fit: Summarizer) -> None:
    summary = fit("a" * 5000, max_chars=40, on_infeasible="cut", on_error="return")
    assert summary.source_selected is None


def test_how_to_read_long_texts_is_checked() -> None:
    with pytest.raises(ConfigError, match="long must be one of 'select', 'lead', was 'tail'"):
        Options(long="tail")


CHAT = (
    "Ina: is anybody still using the old wiki server?\nTom: not us, we moved to the new one in May."
    "\nIna: ok, then let's close the old wiki server at the end of June.\nTom: great, thanks"
)


def test_a_short_talk_that_fits_is_returned_whole(fit: Summarizer) -> None:
    whole = fit(CHAT, max_chars=400)
    assert (whole.origin, whole.source_selected) == ("source", None)
    assert "not us" in whole.text


def test_of_a_short_talk_all_is_read_where_a_least_length_is_asked_for(fit: Summarizer) -> None:
    least = fit(CHAT, min_words=12, max_words=20)
    assert len(least.text.split()) >= 12
    assert (least.source_selected, least.source_truncated) == (None, False)


def test_required_phrases_may_come_from_all_of_a_short_talk(fit: Summarizer) -> None:
    summary = fit(CHAT, max_chars=80, required=["moved"])
    assert "moved" in summary.text
    assert summary.source_selected is None
