"""The endpoint client against a real local server: retries, cache, resumption, cost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from sumfit.errors import ConfigError, DataFormatError, ServiceError
from sumfit.evaluation.endpoint import AnswerCache, Endpoint, EndpointOptions


def options(server: Any, **changes: Any) -> EndpointOptions:
    values = {"base_url": server.url, "model": "judge", "wait_s": 0.0, "timeout_s": 5.0}
    return EndpointOptions(**{**values, **changes})


def test_a_question_is_sent_as_a_chat_and_its_answer_read(chat_server: Any) -> None:
    chat_server.rule = lambda prompt: f"said {prompt}"
    with Endpoint(options(chat_server, max_tokens=9)) as endpoint:
        answer = endpoint.ask("hello there")
    assert answer.text == "said hello there"
    assert (answer.n_prompt_tokens, answer.n_answer_tokens) == (2, 3)
    assert chat_server.bodies == [
        {
            "model": "judge",
            "messages": [{"role": "user", "content": "hello there"}],
            "max_tokens": 9,
            "temperature": 0.0,
        }
    ]


def test_a_key_is_sent_only_if_its_variable_is_set(
    chat_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Endpoint(options(chat_server)) as endpoint:
        endpoint.ask("a")
    monkeypatch.setenv("MY_KEY", "secret")
    with Endpoint(options(chat_server, api_key_variable="MY_KEY")) as endpoint:
        endpoint.ask("a")
    assert "Authorization" not in chat_server.headers[0]
    assert chat_server.headers[1]["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "failure",
    [
        500,
        503,
        (429, {"Retry-After": "0"}),
        (429, {"Retry-After": "soon"}),
        b"<html>nonsense",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": null}}]}',
        "drop",
    ],
)
def test_failures_that_pass_are_tried_again(chat_server: Any, failure: Any) -> None:
    chat_server.failures = [failure, failure]
    chat_server.rule = lambda prompt: "fine"
    with Endpoint(options(chat_server)) as endpoint:
        assert endpoint.ask("a").text == "fine"
    assert chat_server.n_requests == 3


def test_a_time_out_is_tried_again(chat_server: Any) -> None:
    chat_server.failures = ["hang"]
    with Endpoint(options(chat_server, timeout_s=1.0)) as endpoint:
        assert endpoint.ask("a").text == "1"


def test_the_server_says_how_long_to_wait(chat_server: Any) -> None:
    waits: list[float] = []
    chat_server.failures = [(429, {"Retry-After": "7"}), 500, 500]
    with Endpoint(options(chat_server, wait_s=1.5), sleep=waits.append) as endpoint:
        endpoint.ask("a")
    assert waits == [7.0, 3.0, 6.0]


def test_every_further_try_is_announced_with_reason_number_and_wait(
    chat_server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    chat_server.failures = [(429, {"Retry-After": "7"}), "drop", 500]
    patient = options(chat_server, wait_s=1.5, max_retries=2)
    with (
        Endpoint(patient, sleep=lambda _: None) as endpoint,
        pytest.raises(ServiceError, match="failed 3 times: HTTP 500"),
    ):
        endpoint.ask("a")
    first, second = (r.getMessage() for r in caplog.records if r.levelname == "WARNING")
    url = chat_server.url + "/chat/completions"
    assert first == f"{url}: HTTP 429 busy; try 1 of 3 failed, the next follows in 7.0 s"
    assert re.fullmatch(
        rf"{url}: (RemoteProtocol|Read)Error: .*; try 2 of 3 failed, the next follows in 3\.0 s",
        second,
    )


def test_what_a_server_writes_stays_on_the_line_of_its_warning(
    chat_server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with Endpoint(options(chat_server, max_retries=1)) as endpoint:
        answer = httpx.Response(503, text="\x1b[31mdown\nfor now")
        endpoint._client = httpx.Client(transport=httpx.MockTransport(lambda _: answer))
        with pytest.raises(ServiceError, match="failed 2 times: HTTP 503"):
            endpoint.ask("a")
    (warning,) = (r.getMessage() for r in caplog.records if r.levelname == "WARNING")
    assert r": 'HTTP 503 \x1b[31mdown\nfor now'; try 1 of 2 failed" in warning


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (500, "failed 3 times: HTTP 500"),
        (b"<html>nonsense", "failed 3 times: the answer is not a chat completion"),
        (b'{"choices": [{"message": {"content": null}}]}', "the answer has no text, but None"),
        ("drop", "failed 3 times: RemoteProtocolError|failed 3 times: ReadError"),
    ],
)
def test_failures_that_stay_end_in_an_error(chat_server: Any, failure: Any, message: str) -> None:
    chat_server.failures = [failure] * 3
    with (
        Endpoint(options(chat_server, max_retries=2)) as endpoint,
        pytest.raises(ServiceError, match=message),
    ):
        endpoint.ask("a")
    assert chat_server.n_requests == 3


def test_a_refusal_is_not_tried_again(chat_server: Any) -> None:
    chat_server.failures = [401]
    with (
        Endpoint(options(chat_server)) as endpoint,
        pytest.raises(ServiceError, match="refused: HTTP 401"),
    ):
        endpoint.ask("a")
    assert chat_server.n_requests == 1


def test_nobody_there_is_an_error_that_names_the_address() -> None:
    quiet = EndpointOptions("http://127.0.0.1:9/v1", "judge", max_retries=1, wait_s=0.0)
    with (
        Endpoint(quiet) as endpoint,
        pytest.raises(ServiceError, match=r"127\.0\.0\.1:9/v1/chat/completions failed 2 times"),
    ):
        endpoint.ask("a")


def test_answers_come_in_the_order_of_the_questions(chat_server: Any) -> None:
    chat_server.rule = lambda prompt: prompt.upper()
    questions = [f"q{i}" for i in range(20)]
    with Endpoint(options(chat_server, n_parallel=5)) as endpoint:
        assert [a.text for a in endpoint.ask_all(questions)] == [q.upper() for q in questions]


def test_the_same_question_is_paid_for_once(chat_server: Any, tmp_path: Path) -> None:
    cache = tmp_path / "deep" / "answers.jsonl"
    with Endpoint(options(chat_server), cache=AnswerCache(cache)) as endpoint:
        first = list(endpoint.ask_all(["a", "b", "a"]))
    with Endpoint(options(chat_server), cache=AnswerCache(cache)) as endpoint:
        again = list(endpoint.ask_all(["a", "b", "a"]))
    assert chat_server.n_requests == 2
    assert [a.text for a in first] == [a.text for a in again]
    assert all(a.is_cached for a in again)


def test_another_model_or_setting_is_another_question(chat_server: Any) -> None:
    cache = AnswerCache(None)
    for changes in ({}, {"model": "other"}, {"temperature": 0.5}, {"max_tokens": 3}):
        with Endpoint(options(chat_server, **changes), cache=cache) as endpoint:
            endpoint.ask("a")
    assert chat_server.n_requests == 4


def test_another_address_is_another_question(chat_server: Any) -> None:
    cache = AnswerCache(None)
    with Endpoint(options(chat_server), cache=cache) as endpoint:
        endpoint.ask("a")
        endpoint.ask("a")
        assert (endpoint.n_answers, endpoint.n_cached) == (2, 1)
    dead = options(chat_server, base_url="http://127.0.0.1:9/v1", max_retries=0)
    with Endpoint(dead, cache=cache) as endpoint, pytest.raises(ServiceError, match="failed 1"):
        endpoint.ask("a")
    with Endpoint(options(chat_server, base_url=chat_server.url + "/"), cache=cache) as endpoint:
        endpoint.ask("a")
        assert endpoint.n_cached == 1
    assert chat_server.n_requests == 1


def test_a_run_that_dies_resumes_without_paying_twice(chat_server: Any, tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    questions = [f"q{i}" for i in range(8)]
    refusing = options(chat_server, n_parallel=1)

    def refuse_later(prompt: str) -> str:
        if chat_server.n_requests == 4:
            chat_server.failures = [401]
        return "1"

    chat_server.rule = refuse_later
    with (
        Endpoint(refusing, cache=AnswerCache(cache)) as endpoint,
        pytest.raises(ServiceError, match=r"question 5 of 8 failed: .*HTTP 401.*4 answers are"),
    ):
        list(endpoint.ask_all(questions))
    chat_server.rule, chat_server.failures = (lambda prompt: "1"), []
    before = chat_server.n_requests
    with Endpoint(refusing, cache=AnswerCache(cache)) as endpoint:
        assert len(list(endpoint.ask_all(questions))) == 8
    assert chat_server.n_requests - before <= 4


def test_a_torn_last_line_is_asked_again(chat_server: Any, tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    with Endpoint(options(chat_server), cache=AnswerCache(cache)) as endpoint:
        endpoint.ask("a")
        endpoint.ask("b")
    whole = cache.read_bytes()
    cache.write_bytes(whole[:-20])
    assert len(AnswerCache(cache)) == 1
    with Endpoint(options(chat_server), cache=AnswerCache(cache)) as endpoint:
        endpoint.ask("b")
    assert cache.read_bytes() == whole
    assert chat_server.n_requests == 3


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"text": "x"}\n', encoding="utf-8")
    with pytest.raises(DataFormatError, match=r"answers\.jsonl:1: not an answer of this cache"):
        AnswerCache(path)


def test_the_estimate_counts_what_is_still_open(chat_server: Any) -> None:
    with Endpoint(options(chat_server, max_tokens=10)) as endpoint:
        endpoint.ask("x" * 40)
        questions = [
            [{"role": "user", "content": text}] for text in ("x" * 40, "y" * 400, "y" * 400)
        ]
        estimate = endpoint.estimate(questions, price_in=10.0, price_out=30.0)
    assert (estimate.n_requests, estimate.n_cached) == (2, 1)
    assert (estimate.n_prompt_tokens, estimate.n_answer_tokens) == (104, 10)
    assert estimate.price == pytest.approx((104 * 10 + 10 * 30) / 1e6)
    assert str(estimate).startswith("1 requests to make (1 of 2 are in the cache)")
    assert chat_server.n_requests == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_url": "localhost:1"}, "base_url must start with http"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, was 0"),
        ({"n_parallel": 0}, "n_parallel must be at least 1, was 0"),
        ({"timeout_s": 0.0}, "timeout_s must be above 0"),
        ({"timeout_s": float("nan")}, "timeout_s must be above 0"),
        ({"wait_s": float("inf")}, "both below 86400 seconds"),
        ({"temperature": float("nan")}, "temperature must be a number of at least 0, was nan"),
    ],
)
def test_bad_options_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EndpointOptions(**{"base_url": "http://x/v1", "model": "m", **changes})
