"""Baselines that need no training: they fit, and say when they had to cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sumfit.cli.baseline import app
from sumfit.errors import BudgetError, InputError, ServiceError
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


@pytest.fixture
def texts_file(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("A storm, it seems, cut the power\nRates rise\n", encoding="utf-8")
    return path


def records(result: Any) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_command_writes_leads_that_evaluate_can_read(texts_file: Path) -> None:
    result = CliRunner().invoke(app, ["lead", str(texts_file), "--limit", "2"])
    assert records(result) == [
        {"text": "A storm", "limit": 2, "unit": "words", "truncated": True, "n_calls": 0},
        {"text": "Rates rise", "limit": 2, "unit": "words", "truncated": False, "n_calls": 0},
    ]
    assert "2 summaries, 1 of them cut to fit" in result.stderr


def test_the_command_knows_the_papers_rule(texts_file: Path) -> None:
    arguments = ["lead", str(texts_file), "--ratio", "0.25", "--ratio-rule", "paper-dat"]
    assert [record["limit"] for record in records(CliRunner().invoke(app, arguments))] == [3, 2]


def test_the_command_asks_a_model_and_keeps_its_answers(
    chat_server: Any, texts_file: Path, tmp_path: Path
) -> None:
    chat_server.rule = lambda prompt: "far too long a headline"
    arguments = ["llm", str(texts_file), "--endpoint", chat_server.url, "--model", "m"]
    arguments += ["--limit", "2", "--calls", "2", "--cache", str(tmp_path / "answers.jsonl")]
    first = records(CliRunner().invoke(app, arguments))
    assert [record["text"] for record in first] == ["far too", "far too"]
    assert all(record["truncated"] and record["n_calls"] == 2 for record in first)
    assert chat_server.n_requests == 4
    again = CliRunner().invoke(app, arguments)
    assert records(again) == first
    assert f"4 of 4 answers from {tmp_path / 'answers.jsonl'}" in again.stderr
    assert chat_server.n_requests == 4
    arguments[arguments.index(chat_server.url)] = "http://127.0.0.1:9/v1"
    dead = CliRunner().invoke(app, [*arguments, "--retries", "0"])
    assert isinstance(dead.exception, ServiceError)


@pytest.mark.parametrize("arguments", [[], ["--limit", "3", "--ratio", "0.5"]])
def test_the_command_wants_one_limit(texts_file: Path, arguments: list[str]) -> None:
    result = CliRunner().invoke(app, ["lead", str(texts_file), *arguments])
    assert isinstance(result.exception, BudgetError)
    assert "give --limit or --ratio, one of them" in str(result.exception)
