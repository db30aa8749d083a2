"""A server that cannot answer says so: cold, broken, or with every worker held up."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from sumfit.serving.options import ServerOptions
from tests.serving.conftest import SlowSummarizer, metric, running, wait_until


class Cold(SlowSummarizer):
    """Takes as long for its first sentence as the test says, and may fail at it."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.release.set()
        self.is_warm = threading.Event()
        self.fails = fails

    def __call__(self, texts: Any, /, **options: Any) -> Any:
        assert self.is_warm.wait(30)
        if self.fails:
            raise RuntimeError("no weights")
        return super().__call__(texts, **options)


def ask(url: str, text: str = "hello") -> httpx.Response:
    body = {"text": text, "max_chars": 5}
    return httpx.post(f"{url}/v1/summarize", json=body, trust_env=False, timeout=30)


def kind_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["type"]


def test_a_cold_server_says_when_to_come_again() -> None:
    cold = Cold()
    with running(cold, is_ready=False) as url:
        for response in (ask(url), httpx.get(f"{url}/readyz", trust_env=False)):
            assert kind_of(response) == (503, "not_ready")
            assert int(response.headers["retry-after"]) >= 1
            assert "try again in 5 s" in response.json()["error"]["message"]
        cold.is_warm.set()
        wait_until(lambda: ask(url).status_code == 200)


def test_a_server_whose_model_fails_says_so_for_good() -> None:
    broken = Cold(fails=True)
    broken.is_warm.set()
    with running(broken, is_ready=False) as url:
        wait_until(lambda: "first summary" in ask(url).json()["error"]["message"])
        assert kind_of(ask(url)) == (503, "not_ready")
        assert httpx.get(f"{url}/readyz", trust_env=False).status_code == 503
        assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200


def test_workers_held_by_work_that_is_out_of_time_are_told_and_counted(
    slow: SlowSummarizer,
) -> None:
    options = ServerOptions(port=0, workers=2, max_batch=1, time_limit_s=1)
    with running(slow, options) as url, ThreadPoolExecutor(2) as pool:
        late = [pool.submit(ask, url, f"text {i}") for i in range(2)]
        assert [future.result().status_code for future in late] == [504, 504]
        wait_until(lambda: metric(url, "sumfit_stuck_workers") == 2)
        assert metric(url, "sumfit_workers") == 2
        ready = httpx.get(f"{url}/readyz", trust_env=False)
        assert kind_of(ready) == (503, "stuck")
        refused = ask(url, "next")
        assert kind_of(refused) == (503, "stuck")
        assert int(refused.headers["retry-after"]) >= 1
        slow.release.set()
        wait_until(lambda: httpx.get(f"{url}/readyz", trust_env=False).status_code == 200)
        assert metric(url, "sumfit_stuck_workers") == 0
        assert ask(url).status_code == 200
        assert "next" not in slow.seen


def test_one_worker_that_is_left_is_enough(slow: SlowSummarizer) -> None:
    class OneSticks(SlowSummarizer):
        def __call__(self, texts: Any, /, **options: Any) -> Any:
            if texts[0] == "stick":
                slow.release.wait(20)
            return super().__call__(texts, **options)

    summarizer = OneSticks()
    summarizer.release.set()
    options = ServerOptions(port=0, workers=2, max_batch=1, time_limit_s=1)
    with running(summarizer, options) as url:
        assert ask(url, "stick").status_code == 504
        wait_until(lambda: metric(url, "sumfit_stuck_workers") == 1)
        assert httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
        assert ask(url).status_code == 200
        slow.release.set()
