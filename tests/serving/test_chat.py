"""OpenAI's protocol, as its clients speak it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from sumfit import Summarizer
from tests.tiny_model import TEXTS

USER = [{"role": "user", "content": TEXTS[1]}]


def chat(client: httpx.Client, **body: Any) -> httpx.Response:
    return client.post("/v1/chat/completions", json={"model": "sumfit", "messages": USER, **body})


def test_a_limit_as_an_extra_field(client: httpx.Client, server_summarizer: Summarizer) -> None:
    sampling = {"temperature": 0.7, "presence_penalty": 0.5, "frequency_penalty": -1}
    reply = chat(client, max_chars=40, user="someone", **sampling).json()
    summary = server_summarizer(TEXTS[1], max_chars=40)
    (choice,) = reply["choices"]
    assert choice["message"] == {"role": "assistant", "content": summary.text}
    assert choice["finish_reason"] == "stop"
    assert reply["object"] == "chat.completion"
    assert reply["usage"]["completion_tokens"] == len(summary.words)
    assert reply["usage"]["prompt_tokens"] == server_summarizer.count_tokens(TEXTS[1])
    assert reply["sumfit"]["length"] == summary.length


def test_a_preset_behind_the_models_name(client: httpx.Client) -> None:
    reply = chat(client, model="sumfit:app-subtitle").json()
    assert reply["sumfit"]["limit"] == 30
    assert len(reply["choices"][0]["message"]["content"]) <= 30
    names = [model["id"] for model in client.get("/v1/models").json()["data"]]
    assert names[0] == "sumfit"
    assert "sumfit:app-subtitle" in names


def test_max_completion_tokens_is_a_limit_in_tokens(client: httpx.Client) -> None:
    reply = chat(client, max_completion_tokens=6).json()
    assert reply["sumfit"]["unit"] == "tokens"
    assert reply["usage"]["completion_tokens"] <= 6


def test_choices_are_the_candidates(client: httpx.Client, server_summarizer: Summarizer) -> None:
    reply = chat(client, max_chars=40, n=3).json()
    best = server_summarizer(TEXTS[1], max_chars=40, n_best=3)
    texts = [choice["message"]["content"] for choice in reply["choices"]]
    assert texts == [best.text, *(other.text for other in best.alternatives)]
    assert [choice["index"] for choice in reply["choices"]] == [0, 1, 2]


def test_the_last_user_message_is_the_text(client: httpx.Client) -> None:
    messages = [
        {"role": "system", "content": "You are a poet."},
        {"role": "user", "content": TEXTS[2]},
        {"role": "assistant", "content": "no"},
        {"role": "user", "content": [{"type": "text", "text": TEXTS[1]}]},
    ]
    assert (
        chat(client, messages=messages, max_chars=40).json()["choices"]
        == chat(client, max_chars=40).json()["choices"]
    )


def test_a_stream_is_the_same_summary_in_events(client: httpx.Client) -> None:
    whole = chat(client, max_chars=40).json()
    response = chat(client, max_chars=40, stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    assert all(chunk["object"] == "chat.completion.chunk" for chunk in chunks)
    assert chunks[0]["choices"][0]["delta"] == whole["choices"][0]["message"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["sumfit"] == whole["sumfit"]


@pytest.mark.parametrize(
    ("body", "status", "kind", "message"),
    [
        ({"model": "gpt-4", "max_chars": 9}, 404, "model_not_found", "model 'gpt-4' is not served"),
        ({"model": "sumfit:x"}, 422, "unknown_unit", "preset 'x' is not known"),
        ({"model": "sumfit:tweet", "preset": "sms"}, 422, "invalid_request", "preset and model"),
        ({}, 422, "budget", "max_"),
        ({"messages": [], "max_chars": 9}, 422, "invalid_request", "messages: "),
        (
            {"messages": [{"role": "system", "content": "x"}], "max_chars": 9},
            422,
            "invalid_request",
            "no message of role 'user'",
        ),
        ({"max_chars": [9, 8]}, 422, "invalid_request", "max_chars must be one limit here"),
        ({"max_chars": 9, "n": 51}, 422, "invalid_request", "n is 51"),
        ({"max_chars": 9, "n": 2, "n_best": 3}, 422, "invalid_request", "n_best and n say"),
        (
            {"max_tokens": 5, "max_completion_tokens": 6},
            422,
            "invalid_request",
            "max_tokens and max_completion_tokens",
        ),
        ({"max_chars": 9, "tools": []}, 422, "unknown_field", "unknown field 'tools'"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    client: httpx.Client, body: dict[str, Any], status: int, kind: str, message: str
) -> None:
    response = chat(client, **body)
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (status, kind)
    assert message in error["message"]
