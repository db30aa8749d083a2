"""Baselines that need no training: they fit, and say when they had to cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import InputError
from sumfit.evaluation.baselines import LLMBaseline, bare_answer, cut_at_words, lead
from sumfit.evaluation.endpoint import Endpoint, EndpointOptions
from sumfit.length import measure

TEXTS = st.lists(st.text("ab,é😀-", min_size=1, max_size=6), max_size=8).map(" ".join)


@given(text=TEXTS, limit=st.integers(0, 30), unit=st.sampled_from(["words", "chars", "bytes"]))
def test_a_cut_fits_and_is_as_long_as_can_be(text: str, limit: int, unit: str) -> None:
    cut = cut_at_words(text, limit=limit, unit=unit)
    words = " ".join(text.split())
    assert measure(cut.text, unit) <= limit
    assert cut.truncated == (measure(words, unit) > limit)
    heads = [" ".join(text.split()[:n]).rstrip(" ,;:-–—([") for n in range(len(text.split()) + 1)]
    fitting = [head for head in heads if measure(head, unit) <= limit]
    assert cut.text == (words if not cut.truncated else max(fitting, key=len))


def test_the_lead_drops_a_loose_comma() -> None:
    result = lead("Storm cuts power, thousands freeze", limit=3)
    assert (result.text, result.truncated) == ("Storm cuts power", True)


def test_nothing_fits_in_a_limit_below_the_first_word() -> None:
    assert lead("Extraordinary", limit=4, unit="chars").text == ""


def baseline(server: Any, max_calls: int) -> LLMBaseline:
    endpoint = Endpoint(EndpointOptions(server.url, "m", wait_s=0.0, max_tokens=40))
    return LLMBaseline(endpoint, max_calls=max_calls)


def test_a_model_that_keeps_the_limit_is_asked_once(chat_server: Any) -> None:
    chat_server.rule = lambda prompt: '"Storm cuts power"'
    model = baseline(chat_server, max_calls=3)
    with model.endpoint:
        result = model("A storm cut the power.", 3)
    assert (result.text, result.truncated, result.n_calls) == ("Storm cuts power", False, 1)
    asked = chat_server.bodies[0]["messages"][0]["content"]
    assert "at most 3 words" in asked
    assert asked.endswith("Text: A storm cut the power.")


def test_a_model_that_breaks_the_limit_is_told_by_how_much(chat_server: Any) -> None:
    chat_server.rule = lambda prompt: (
        "Storm cuts power" if "That has 5 words" in prompt else "A storm cuts off power"
    )
    model = baseline(chat_server, max_calls=2)
    with model.endpoint:
        result = model("s", 3)
    assert (result.text, result.truncated, result.n_calls) == ("Storm cuts power", False, 2)
    roles = [message["role"] for message in chat_server.bodies[1]["messages"]]
    assert roles == ["user", "assistant", "user"]


@pytest.mark.parametrize("max_calls", [1, 3])
def test_what_stays_too_long_is_cut_and_marked(chat_server: Any, max_calls: int) -> None:
    chat_server.rule = lambda prompt: "A storm cuts off power"
    model = baseline(chat_server, max_calls=max_calls)
    with model.endpoint:
        result = model("s", 3)
    assert (result.text, result.truncated, result.n_calls) == ("A storm cuts", True, max_calls)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Storm hits", "Storm hits"),
        ("“Storm hits”", "Storm hits"),
        ("**Headline:** Storm hits", "Storm hits"),
        ("Summary: 'Storm hits'\n\nI kept it short.", "Storm hits"),
        ("Storm\nhits", "Storm hits"),
        ("'Storm' hits 'coast'", "'Storm' hits 'coast'"[1:-1]),
        ("", ""),
    ],
)
def test_framing_is_taken_off(answer: str, text: str) -> None:
    assert bare_answer(answer) == text


def test_a_model_must_be_asked_at_least_once(chat_server: Any) -> None:
    model = baseline(chat_server, max_calls=0)
    with model.endpoint, pytest.raises(InputError, match="max_calls must be at least 1, was 0"):
        model("s", 3)
