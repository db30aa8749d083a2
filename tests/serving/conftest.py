"""A server in a thread of the test process, with the tiny model or a summarizer made for a test."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from sumfit import Summarizer, Summary
from sumfit.serving.options import ServerOptions
from sumfit.serving.server import make_server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()


@dataclass
class SlowSummarizer:
    """Answers only when told to, and remembers what it was asked."""

    release: threading.Event = field(default_factory=threading.Event)
    seen: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    seconds: float = 0.0
    backend: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(batch_size=64))

    def __call__(self, texts: Any, /, **options: Any) -> list[Summary]:
        self.batches.append(len(texts))
        for text in texts:
            if not text.startswith("The harbour wall"):  # the warm-up sentence
                self.release.wait(20)
                time.sleep(self.seconds)
                self.seen.append(text)
        limits = options.get("max_chars", [5] * len(texts))
        return [
            Summary(
                text=text[:limit],
                length=min(len(text), limit),
                unit="chars",
                limit=limit,
                origin="source",
            )
            for text, limit in zip(texts, limits, strict=True)
        ]

    def inspect(self, text: str, /, **options: Any) -> Any:
        raise AssertionError("the tests of this summarizer ask for no graph")

    def describe(self) -> dict[str, Any]:
        return {"presets": {}}

    def count_tokens(self, text: str, /) -> int:
        return len(text)


@contextmanager
def running(
    summarizer: Any, options: ServerOptions | None = None, *, is_ready: bool = True
) -> Iterator[str]:
    """Serve in a thread and give the address, once it is ready unless told otherwise."""
    server = make_server(summarizer, options or ServerOptions(port=0))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    try:
        if is_ready:
            wait_until(
                lambda: httpx.get(f"{url}/readyz", trust_env=False).status_code == 200, seconds=400
            )
        yield url
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server did not stop"


def wait_until(condition: Callable[[], bool], *, seconds: float = 20.0) -> None:
    """Wait for something that another thread brings about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def metric(url: str, name: str) -> float:
    """Read one value of /metrics; 0 where it is not there yet."""
    for line in httpx.get(f"{url}/metrics", trust_env=False).text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.rpartition(" ")[2])
    return 0.0


@pytest.fixture(scope="session")
def server_summarizer(tiny_model: Path) -> Summarizer:
    return Summarizer.from_pretrained(tiny_model, n_workers=1)


@pytest.fixture(scope="session")
def live_url(server_summarizer: Summarizer) -> Iterator[str]:
    """Address of one server for all tests that only read."""
    with running(server_summarizer, ServerOptions(port=0, time_limit_s=600)) as url:
        yield url


@pytest.fixture
def client(live_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=live_url, trust_env=False, timeout=120) as http:
        yield http


@pytest.fixture
def slow() -> Iterator[SlowSummarizer]:
    summarizer = SlowSummarizer()
    yield summarizer
    summarizer.release.set()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Any, live_url: str) -> Iterator[Any]:
    """The page, which may say nothing in the console and ask nothing of anybody else."""
    width, height = SIZES[getattr(request, "param", "desktop")]
    context = browser.new_context(
        viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.problems = []
    page.hosts = set()
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("dialog", lambda dialog: page.problems.append("dialog"))
    page.on("request", lambda sent: page.hosts.add(sent.url.split("/")[2]))
    page.goto(live_url)
    page.wait_for_selector("#preset optgroup", state="attached")
    yield page
    page.unroute_all(behavior="ignoreErrors")  # a test may end before all is answered
    assert page.problems == []
    assert page.hosts == {live_url.split("/")[2]}  # nothing from anywhere else
    context.close()


def paste(page: Any, text: str) -> None:
    page.get_by_label("Your text").fill(text)
    page.wait_for_selector("#summary:not(.empty)")
