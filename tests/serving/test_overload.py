"""Too much work, impatient clients, and stopping."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sumfit.serving.options import ServerOptions
from tests.serving.conftest import SlowSummarizer, running, wait_until


def options(**changes: object) -> ServerOptions:
    values: dict[str, object] = {"port": 0, "workers": 1, "queue_size": 2, "max_batch": 1}
    return ServerOptions(**(values | changes))  # type: ignore[arg-type]


def ask(url: str, text: str, *, timeout: float = 20) -> httpx.Response:
    body = {"text": text, "max_chars": 5}
    return httpx.post(f"{url}/v1/summarize", json=body, timeout=timeout, trust_env=False)


def queued(url: str) -> float:
    for line in httpx.get(f"{url}/metrics", trust_env=False).text.splitlines():
        if line.startswith("sumfit_queue_texts "):
            return float(line.split()[1])
    raise AssertionError("no queue metric")


def test_a_full_queue_answers_429_with_retry_after(slow: SlowSummarizer) -> None:
    with running(slow, options()) as url, ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(ask, url, f"text {i}") for i in range(3)]
        wait_until(lambda: queued(url) == 2)
        refused = ask(url, "one too many")
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["error"]["type"] == "overloaded"
        ready = httpx.get(f"{url}/readyz", trust_env=False)
        assert (ready.status_code, ready.json()["error"]["type"]) == (503, "overloaded")
        slow.release.set()
        assert [future.result().status_code for future in waiting] == [200] * 3
        assert "one too many" not in slow.seen


def test_a_request_that_takes_too_long_is_answered_504_and_dropped(slow: SlowSummarizer) -> None:
    with running(slow, options(time_limit_s=1.0)) as url, ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(ask, url, f"text {i}") for i in range(2)]
        for future in waiting:
            response = future.result()
            assert response.status_code == 504
            error = response.json()["error"]
            assert error["type"] == "time_limit"
            assert "took longer than 1 s and was dropped" in error["message"]
        assert queued(url) == 0
        slow.release.set()
        wait_until(lambda: ask(url, "later").status_code == 200)  # on a busy machine not at once
        assert len([text for text in slow.seen if text.startswith("text")]) == 1


def test_work_of_a_client_that_disconnects_is_dropped(slow: SlowSummarizer) -> None:
    with running(slow, options()) as url, ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, url, "stays")
        wait_until(lambda: len(slow.batches) == 2)  # the first was the warm-up
        with pytest.raises(httpx.ReadTimeout):
            ask(url, "leaves", timeout=2)
        wait_until(lambda: queued(url) == 0)
        slow.release.set()
        assert first.result().status_code == 200
        assert ask(url, "after").status_code == 200
        assert slow.seen == ["stays", "after"]


def test_a_half_closed_connection_counts_as_a_disconnect(slow: SlowSummarizer) -> None:
    body = b'{"text": "half", "max_chars": 5}'
    head = (
        b"POST /v1/summarize HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"content-length: " + str(len(body)).encode() + b"\r\n\r\n"
    )
    with running(slow, options()) as url, ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, url, "stays")
        wait_until(lambda: len(slow.batches) == 2)
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(head + body)
            wait_until(lambda: queued(url) == 1)
            connection.shutdown(socket.SHUT_WR)
            wait_until(lambda: queued(url) == 0)
        slow.release.set()
        assert first.result().status_code == 200
    assert slow.seen == ["stays"]


def test_stopping_finishes_the_requests_that_were_accepted(slow: SlowSummarizer) -> None:
    with ThreadPoolExecutor(4) as pool:
        with running(slow, options(queue_size=8)) as url:
            waiting = [pool.submit(ask, url, f"text {i}") for i in range(3)]
            wait_until(lambda: queued(url) == 2)
            threading.Timer(0.5, slow.release.set).start()  # after the server was told to stop
        assert [future.result().status_code for future in waiting] == [200] * 3
        with pytest.raises(httpx.ConnectError):
            ask(url, "too late")


def test_a_large_request_does_not_hold_up_small_ones(slow: SlowSummarizer) -> None:
    with running(slow, options(queue_size=20_000, max_batch=4)) as url:
        with ThreadPoolExecutor(2) as pool:
            body = {"texts": [f"t{i}" for i in range(1000)], "max_chars": 5}
            large = pool.submit(
                httpx.post, f"{url}/v1/summarize", json=body, timeout=60, trust_env=False
            )
            wait_until(lambda: queued(url) == 996)
            small = pool.submit(ask, url, "small")
            wait_until(lambda: queued(url) == 997)
            slow.release.set()
            assert small.result().status_code == 200
            reply = large.result().json()
    assert slow.seen.index("small") < 12  # after three batches at most
    assert [item["text"] for item in reply["summaries"]] == [f"t{i}"[:5] for i in range(1000)]
