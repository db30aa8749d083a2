"""Clients that send nonsense, too much, too slowly, or half of it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from sumfit import Summarizer
from sumfit.serving.options import ServerOptions
from tests.serving.conftest import running

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def strict_url(server_summarizer: Summarizer) -> Iterator[str]:
    options = ServerOptions(port=0, max_body_bytes=100_000, read_time_limit_s=1.0)
    with running(server_summarizer, options) as url:
        yield url


def connect(url: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60)


def read_all(connection: socket.socket) -> bytes:
    received = b""
    while block := connection.recv(65536):
        received += block
    return received


def still_serves(url: str) -> bool:
    body = {"text": "Engineers closed the old bridge on Tuesday.", "max_words": 3}
    reply = httpx.post(f"{url}/v1/summarize", json=body, trust_env=False)
    return reply.status_code == 200 and reply.json()["length"] <= 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"text": "a" "max_chars": 3}',
        b"\xff\xfe",
        b'{"text": "\xff", "max_chars": 3}',
        b"null",
        b"[" * 90_000,
        b'{"text":' * 10_000,
        b'{"text": "a", "max_chars": ' + b"9" * 5000 + b"}",
        b'{"text": "a", "ratio": NaN}',
        b'{"text": "a", "max_chars": 1e400}',
    ],
)
def test_nonsense_is_a_client_error_in_the_one_shape(strict_url: str, content: bytes) -> None:
    response = httpx.post(
        f"{strict_url}/v1/summarize", content=content, headers=JSON, trust_env=False
    )
    assert response.status_code in (400, 422)
    assert set(response.json()["error"]) == {"type", "message", "param", "request_id"}
    assert len(response.content) < 2000


@pytest.mark.parametrize("n_bytes", [100_001, 350_000, 10_000_000])
def test_a_body_over_the_limit_is_413(strict_url: str, n_bytes: int) -> None:
    content = b'{"text": "' + b"a" * (n_bytes - 30) + b'", "max_chars": 30}  '
    with connect(strict_url) as connection:
        head = f"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(content)}"
        connection.sendall(head.encode() + b"\r\ncontent-type: application/json\r\n\r\n")
        try:
            connection.sendall(content)
        except OSError:
            assert n_bytes > 400_000  # cut off while still sending four times the limit
        try:
            received = read_all(connection)
        except ConnectionResetError:
            assert n_bytes > 400_000
            received = b"HTTP/1.1 413"
    assert received.startswith(b"HTTP/1.1 413")
    assert still_serves(strict_url)


def test_a_chunked_body_over_the_limit_is_413_as_well(strict_url: str) -> None:
    def blocks() -> Iterator[bytes]:
        for _ in range(30):
            yield b"a" * 10_000

    response = httpx.post(
        f"{strict_url}/v1/summarize", content=blocks(), headers=JSON, trust_env=False
    )
    assert response.status_code == 413
    assert response.json()["error"]["type"] == "body_too_large"
    assert "at most 100000 bytes" in response.json()["error"]["message"]


def test_a_client_that_asks_first_is_told_before_it_sends(strict_url: str) -> None:
    with connect(strict_url) as connection:
        connection.sendall(
            b"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10000000\r\n"
            b"content-type: application/json\r\nexpect: 100-continue\r\n\r\n"
        )
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")


def test_a_body_that_comes_too_slowly_is_408(strict_url: str) -> None:
    with connect(strict_url) as connection:
        connection.sendall(
            b"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n"
            b"content-type: application/json\r\n\r\n{"
        )
        start = time.monotonic()
        received = read_all(connection)
    assert received.startswith(b"HTTP/1.1 408")
    assert b"did not arrive within 1 s" in received
    assert time.monotonic() - start < 30
    assert still_serves(strict_url)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nx-slow: "])
def test_headers_that_never_end_are_cut_off(strict_url: str, sent: bytes) -> None:
    with connect(strict_url) as connection:
        connection.sendall(sent)
        start = time.monotonic()
        assert read_all(connection) == b""
        assert 0.5 < time.monotonic() - start < 30


def test_slow_headers_of_a_second_request_are_cut_off_too(strict_url: str) -> None:
    with connect(strict_url) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        received = b""
        while not received.endswith(b'{"status":"ok"}'):
            received += connection.recv(65536)
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert read_all(connection) == b""


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 100_000 + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n"
        b"transfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_is_refused_and_the_server_lives(strict_url: str, raw: bytes) -> None:
    with connect(strict_url) as connection:
        connection.sendall(raw)
        received = connection.recv(65536)
    assert received.startswith(b"HTTP/1.1 4") or received == b""
    assert still_serves(strict_url)


def test_a_connection_dropped_in_the_middle_of_a_body_is_forgotten(strict_url: str) -> None:
    for _ in range(20):
        with connect(strict_url) as connection:
            connection.sendall(
                b"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n"
                b'content-type: application/json\r\n\r\n{"text"'
            )
    assert still_serves(strict_url)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> Engineers closed the old bridge <img src=x onerror=alert(2)>",
        "\x1b[31mEngineers\x1b[0m closed \x07 the old \x00 bridge \x9b31m on Tuesday",
        "Engineers \u202eclosed the old bridge\u202c \u2028 on \u2029 Tuesday",
        "\ud83d\ude00 Engineers \ud83d closed the old bridge on Tuesday",
        "Zwölf Ingenieure 关闭了旧桥 🏴\u200d☠️ مهندسون " * 3,
    ],
)
def test_hostile_texts_come_back_as_inert_json(strict_url: str, text: str) -> None:
    response = httpx.post(
        f"{strict_url}/v1/summarize",
        content=json.dumps({"text": text, "max_chars": 30, "on_infeasible": "cut"}),
        headers=JSON,
        trust_env=False,
    )
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    summary = response.json()["text"]
    assert 0 < len(summary) <= 30
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in summary)
    assert b"\x1b" not in response.content


def test_a_hostile_field_name_is_shown_escaped(strict_url: str) -> None:
    name = "\x1b[31m<b>" + "x" * 500
    response = httpx.post(
        f"{strict_url}/v1/summarize", json={name: 1, "text": "a"}, trust_env=False
    )
    error = response.json()["error"]
    assert error["type"] == "unknown_field"
    assert error["param"].startswith("\\x1b[31m<b>x")
    assert len(error["param"]) < 120
    assert response.headers["content-type"] == "application/json"


def test_ten_thousand_texts_in_one_request(live_url: str) -> None:
    texts = ["", "Engineers closed the old bridge."] * 5000
    body = {"texts": texts, "max_chars": 100}  # they fit as they are
    response = httpx.post(f"{live_url}/v1/summarize", json=body, trust_env=False, timeout=60)
    assert response.status_code == 200
    reply = response.json()
    assert reply["n_errors"] == 5000
    assert [item["text"] for item in reply["summaries"][:4]] == ["", texts[1], "", texts[1]]
    body = {"texts": [*texts, "a"], "max_chars": 100}
    assert httpx.post(f"{live_url}/v1/summarize", json=body, trust_env=False).status_code == 413
