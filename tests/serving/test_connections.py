"""What a connection may do: framing, slow senders and readers, their number, and memory."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from sumfit.serving.options import ServerOptions
from tests.serving.conftest import SlowSummarizer, metric, running, wait_until

needs_addresses = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems have one loopback address until told otherwise"
)


@pytest.fixture
def quick() -> SlowSummarizer:
    summarizer = SlowSummarizer()
    summarizer.release.set()
    return summarizer


def connect(url: str, source: str = "127.0.0.1", *, receive_bytes: int = 0) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(60)
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.bind((source, 0))
    connection.connect(("127.0.0.1", int(url.rpartition(":")[2])))
    return connection


def read_all(connection: socket.socket) -> bytes:
    received = b""
    try:
        while block := connection.recv(65536):
            received += block
    except ConnectionResetError:  # cut off; what came before it stays
        pass
    return received


def head(n_bytes: int, *headers: str) -> bytes:
    lines = [
        "POST /v1/summarize HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        f"content-length: {n_bytes}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def ask(url: str, source: str = "127.0.0.1", text: str = "hello") -> httpx.Response:
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(transport=transport, trust_env=False, timeout=20) as client:
        return client.post(f"{url}/v1/summarize", json={"text": text, "max_chars": 5})


def push_until_cut_off(connection: socket.socket) -> None:
    """Send a byte now and then; gives up after as many as take 50 seconds."""
    for _ in range(1000):
        try:
            connection.sendall(b" ")
        except OSError:
            return
        time.sleep(0.05)


def error_in(received: bytes) -> dict[str, object]:
    """Check that a raw reply is an error in the one shape, and return it."""
    top, _, body = received.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in top.decode().lower().split("\r\n")[1:])
    assert headers["content-type"] == "application/json"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert int(headers["content-length"]) == len(body)
    error: dict[str, object] = json.loads(body)["error"]
    assert set(error) == {"type", "message", "param", "request_id"}
    assert error["request_id"] == headers["x-request-id"]
    return error


@pytest.mark.parametrize(
    ("raw", "status", "kind", "message"),
    [
        (b"rubbish\r\n\r\n", 400, "invalid_http", "not a valid HTTP/1.1 request"),
        (b"GET / HTTP/1.1\r\nx: 1\r\n\r\n", 400, "invalid_http", "not a valid"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400, "invalid_http", "not a valid"),
        (head(5, "content-length: 6"), 400, "invalid_http", "not a valid"),
        (
            head(5, "transfer-encoding: chunked"),
            400,
            "invalid_http",
            "both Content-Length and Transfer-Encoding",
        ),
        (
            b"POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n",
            400,
            "invalid_http",
            "HTTP/1.0 has no Transfer-Encoding",
        ),
        (
            b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip\r\n\r\n",
            501,
            "not_implemented",
            "chunked alone",
        ),
        (
            b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 70_000,
            431,
            "headers_too_large",
            "more than 32768 bytes",
        ),
    ],
)
def test_what_is_no_plain_http_is_refused_at_once_in_the_one_shape(
    live_url: str, raw: bytes, status: int, kind: str, message: str
) -> None:
    with connect(live_url) as connection:
        start = time.monotonic()
        connection.sendall(raw)
        received = read_all(connection)
    assert time.monotonic() - start < 5
    assert received.startswith(f"HTTP/1.1 {status} ".encode())
    error = error_in(received)
    assert error["type"] == kind
    assert message in str(error["message"])


def test_a_broken_chunk_ends_a_body_with_an_error(live_url: str) -> None:
    with connect(live_url) as connection:
        connection.sendall(
            b"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n"
        )
        assert error_in(read_all(connection))["type"] == "invalid_http"


def test_a_body_in_tiny_chunks_is_refused_and_one_in_large_ones_read(live_url: str) -> None:
    top = (
        b"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    body = json.dumps({"text": "a short text" + " " * 100_000, "max_chars": 30}).encode()
    for size, status in ((1, b"400"), (200, b"200")):
        parts = [body[i : i + size] for i in range(0, len(body), size)]
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        with connect(live_url) as connection:
            connection.sendall(top + chunks[:20_000])
            time.sleep(0.2)
            try:
                connection.sendall(chunks[20_000:])
            except OSError:
                assert size == 1  # refused in the middle of it
            received = read_all(connection)
        assert not received or received.split(b" ")[1] == status
        assert received or size == 1


def test_the_rest_of_a_body_that_was_refused_may_not_come_for_ever(quick: SlowSummarizer) -> None:
    with running(quick, ServerOptions(port=0, read_time_limit_s=1)) as url:
        with connect(url) as connection:
            connection.sendall(head(1000).replace(b"application/json", b"text/plain"))
            start = time.monotonic()
            received = connection.recv(65536)
            push_until_cut_off(connection)
            assert received.startswith(b"HTTP/1.1 415")
            assert time.monotonic() - start < 10
        assert metric(url, 'sumfit_cut_off_connections_total{reason="slow_sender"}') == 1


def test_a_client_that_does_not_read_its_reply_is_cut_off(quick: SlowSummarizer) -> None:
    texts = ["x" * 700] * 10_000
    body = json.dumps({"texts": texts, "max_chars": 700}).encode()
    with running(quick, ServerOptions(port=0, write_time_limit_s=1)) as url:
        with connect(url, receive_bytes=4096) as connection:
            connection.sendall(head(len(body)) + body)
            # Body and reply are held until the client is cut off, and then no longer.
            wait_until(lambda: metric(url, "sumfit_held_bytes") > 2 * len(body))
            name = 'sumfit_cut_off_connections_total{reason="slow_reader"}'
            wait_until(lambda: metric(url, name) == 1)
            wait_until(lambda: metric(url, "sumfit_held_bytes") == 0)
            assert len(read_all(connection)) < 7_000_000
        assert ask(url).status_code == 200


@needs_addresses
def test_connections_are_bounded_and_one_client_has_its_share(quick: SlowSummarizer) -> None:
    options = ServerOptions(port=0, max_connections=8, client_share=0.5)
    with running(quick, options) as url, ExitStack() as open_ones:

        def hold(source: str, n_connections: int) -> None:
            for _ in range(n_connections):
                connection = open_ones.enter_context(connect(url, source))
                connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ")

        hold("127.0.0.2", 4)
        refused = ask(url, "127.0.0.2")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert "too many connections" in refused.json()["error"]["message"]
        assert ask(url, "127.0.0.3").status_code == 200
        hold("127.0.0.3", 4)
        wait_until(lambda: ask(url, "127.0.0.4").status_code == 503)
    with running(quick, options) as url:  # what was closed counts no more
        for _ in range(20):
            assert ask(url).status_code == 200


def test_a_proxy_that_is_trusted_speaks_for_many_clients(quick: SlowSummarizer) -> None:
    options = ServerOptions(
        port=0, max_connections=8, client_share=0.5, trusted_proxies=("127.0.0.0/8",)
    )
    with running(quick, options) as url, ExitStack() as open_ones:
        for _ in range(6):
            open_ones.enter_context(connect(url))
        assert ask(url).status_code == 200


@contextmanager
def slow_bodies(url: str, n_bytes: int, n_connections: int, source: str) -> Iterator[None]:
    """Connections that have sent all of their bodies but the end."""
    with ExitStack() as stack:
        for _ in range(n_connections):
            connection = stack.enter_context(connect(url, source))
            connection.sendall(head(n_bytes) + b'{"text": "' + b"a" * (n_bytes - 20))
        yield


def settled(value: Callable[[], float]) -> float:
    """A value once it has been the same for a second."""
    seen = [value()]
    while len(seen) < 11 or len(set(seen[-10:])) > 1:
        time.sleep(0.1)
        seen.append(value())
        assert len(seen) < 300
    return seen[-1]


def test_unfinished_bodies_share_one_bound_and_small_requests_pass(quick: SlowSummarizer) -> None:
    mb = 1_000_000
    options = ServerOptions(port=0, max_body_bytes=mb, max_held_bytes=4 * mb, client_share=0.5)
    with running(quick, options) as url, slow_bodies(url, mb, 12, "127.0.0.1"):
        held = settled(lambda: metric(url, "sumfit_held_bytes"))
        assert mb < held <= 2 * mb
        assert ask(url).status_code == 200
        assert ask(url, text="b" * 100_000).status_code == 200


@needs_addresses
def test_a_body_that_gave_way_is_answered_503_and_others_have_room(quick: SlowSummarizer) -> None:
    mb = 1_000_000
    options = ServerOptions(
        port=0, max_body_bytes=mb, max_held_bytes=2 * mb, client_share=0.6, read_time_limit_s=3
    )
    with running(quick, options) as url, slow_bodies(url, mb, 6, "127.0.0.2"):
        settled(lambda: metric(url, "sumfit_held_bytes"))
        large = ask(url, "127.0.0.3", text="b" * 700_000)
        assert large.status_code == 200
        # At the end of their time all are told why.
        name = 'sumfit_requests_total{method="POST",route="other",status="%d"}'
        wait_until(lambda: metric(url, name % 503) + metric(url, name % 408) == 6)
        assert metric(url, name % 503) >= 4
        assert metric(url, "sumfit_held_bytes") == 0


def test_bodies_beyond_the_bound_are_all_answered_and_none_is_taken_for_another(
    quick: SlowSummarizer,
) -> None:
    n_bytes, n_connections = 200_000, 24
    options = ServerOptions(port=0, max_body_bytes=n_bytes, max_held_bytes=1_000_000)
    body = json.dumps({"text": "c" * (n_bytes - 50), "max_chars": 5}).encode()
    with running(quick, options) as url, ExitStack() as stack:
        connections = [stack.enter_context(connect(url)) for _ in range(n_connections)]
        for connection in connections:
            connection.sendall(head(len(body), "connection: close") + body[:-1])
        settled(lambda: metric(url, "sumfit_held_bytes"))
        for connection in connections:
            connection.sendall(body[-1:])
        statuses = [read_all(connection).split(b" ")[1] for connection in connections]
    assert set(statuses) == {b"200", b"503"}
    assert statuses.count(b"200") >= 3
    assert set(quick.seen) == {"c" * (n_bytes - 50)}
