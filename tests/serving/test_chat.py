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
    assert not any("usage" in chunk for chunk in chunks)


def test_the_usage_of_a_stream_comes_last_and_only_if_asked_for(client: httpx.Client) -> None:
    whole = chat(client, max_chars=40, stream_options={"include_usage": True}).json()
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    response = chat(client, max_chars=40, **asked)
    events = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    chunks = [json.loads(event) for event in events[:-1]]
    assert [chunk["usage"] for chunk in chunks] == [None, None, whole["usage"]]
    assert [len(chunk["choices"]) for chunk in chunks] == [1, 1, 0]
    assert chunks[1]["sumfit"] == whole["sumfit"]
    asked["stream_options"] = {"include_usage": False, "include_obfuscation": False}
    assert "usage" not in chat(client, max_chars=40, **asked).text


HARMLESS: dict[str, Any] = {
    "stop": ["\nObservation", "</s>"],
    "stream": None,
    "stream_options": None,
    "response_format": {"type": "text"},
    "modalities": ["text"],
    "logit_bias": {},
    "logprobs": False,
    "top_logprobs": 0,
    "tools": [{"type": "function", "function": {"name": "search"}}],
    "tool_choice": "none",
    "functions": [],
    "function_call": "auto",
    "audio": None,
    "web_search_options": None,
    "moderation": None,
    "prediction": {"type": "content", "content": "x"},
    "parallel_tool_calls": True,
    "reasoning_effort": "low",
    "verbosity": "low",
    "service_tier": "auto",
    "store": False,
    "metadata": {"run": "1"},
    "safety_identifier": "someone",
    "prompt_cache_key": "key",
    "prompt_cache_options": {},
    "prompt_cache_retention": "24h",
    "n": None,
    "seed": None,
    "user": None,
    "max_tokens": None,
    "max_completion_tokens": None,
}


def test_what_clients_send_and_cannot_change_a_summary_is_taken(client: httpx.Client) -> None:
    plain = chat(client, max_chars=40).json()["choices"]
    for name, value in HARMLESS.items():
        others = {"tool_choice": "none"} if name == "tools" else {}
        response = chat(client, max_chars=40, **{name: value}, **others)
        assert response.status_code == 200, (name, response.text)
    assert chat(client, max_chars=40, **HARMLESS).json()["choices"] == plain
    nulls = dict.fromkeys(HARMLESS)
    assert chat(client, max_chars=40, **nulls).json()["choices"] == plain


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        (
            "response_format",
            {"type": "json_object"},
            'must be {"type": "text"}: a summary is plain',
        ),
        ("response_format", {"type": "json_schema", "json_schema": {}}, "a summary is plain text"),
        ("modalities", ["text", "audio"], 'must be ["text"]'),
        ("logit_bias", {"50256": -100}, "must be empty; for words use banned or required"),
        ("logprobs", True, "sumfit.log_prob of the reply"),
        ("top_logprobs", 3, "must be 0"),
        ("tools", [{"type": "function"}], "must be empty, or tool_choice 'none'"),
        ("functions", [{"name": "f"}], "must be empty, or function_call 'none'"),
        ("audio", {"voice": "x"}, "must be null"),
        ("web_search_options", {"user_location": None}, "must be null: nothing is looked up"),
        ("moderation", {"model": "x"}, "must be null"),
        ("stop", [1], "stop"),
        ("stream_options", {"include": True}, "unknown field 'stream_options.include'"),
    ],
)
def test_what_would_change_a_summary_is_refused_with_a_reason(
    client: httpx.Client, field: str, value: Any, rule: str
) -> None:
    response = chat(client, max_chars=40, **{field: value})
    error = response.json()["error"]
    assert response.status_code == 422
    assert error["param"].partition(".")[0] == field
    assert rule in error["message"]


def test_a_stop_sequence_that_would_cut_is_refused(client: httpx.Client) -> None:
    content = chat(client, max_chars=40).json()["choices"][0]["message"]["content"]
    middle = content[3:9]
    for stop in (middle, ["</s>", middle]):
        response = chat(client, max_chars=40, stop=stop)
        error = response.json()["error"]
        assert (response.status_code, error["param"]) == (422, "stop")
        assert f"the summary holds the stop sequence {middle!r}" in error["message"]
    assert chat(client, max_chars=40, stop="").status_code == 200


def test_replies_may_be_sent_back_as_they_came(client: httpx.Client) -> None:
    reply = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": TEXTS[2]},
        {**reply, "tool_calls": [call], "audio": None},
        {"role": "tool", "tool_call_id": "1", "content": "found"},
        *USER,
    ]
    plain = chat(client, max_chars=40).json()["choices"]
    assert chat(client, max_chars=40, messages=messages).json()["choices"] == plain


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
        ({"max_chars": 9, "tool": []}, 422, "unknown_field", "did you mean 'tools'?"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    client: httpx.Client, body: dict[str, Any], status: int, kind: str, message: str
) -> None:
    response = chat(client, **body)
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (status, kind)
    assert message in error["message"]
