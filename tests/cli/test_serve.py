"""``sumfit serve`` as a process: what it says, how it starts, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("fastapi", reason="the extra serve is not installed")

TEXT = "Engineers closed the old bridge on Tuesday after an inspection found cracks."


def command(*flags: str) -> list[str]:
    return [sys.executable, "-m", "sumfit", "serve", *flags]


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture
def server(
    tiny_model: Path, free_port: int, tmp_path: Path
) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    log = tmp_path / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command("--port", str(free_port), "--model", str(tiny_model)),
            stderr=stream,
            env={**os.environ, "SUMFIT_QUIET": "1"},  # the first run would say that it compiles
        )
    url = f"http://127.0.0.1:{free_port}"
    deadline = time.monotonic() + 400
    while True:
        assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
        assert process.poll() is None, log.read_text(encoding="utf-8")
        try:
            if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                break
        except httpx.TransportError:
            time.sleep(0.1)
    yield process, url, log
    process.kill()
    process.wait()


@pytest.mark.skipif(os.name == "nt", reason="stops the server by signal")
def test_it_serves_logs_json_and_stops_when_asked(
    server: tuple[subprocess.Popen[bytes], str, Path],
) -> None:
    process, url, log = server
    reply = httpx.post(f"{url}/v1/summarize", json={"text": TEXT, "max_chars": 40}, trust_env=False)
    assert len(reply.json()["text"]) <= 40
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) in (0, -signal.SIGTERM)
    first, *lines = log.read_text(encoding="ascii").splitlines()
    assert first == f"serving on {url}"
    entries = [json.loads(line) for line in lines]
    assert [e["status"] for e in entries if e.get("route") == "/v1/summarize"] == [200]
    assert TEXT not in log.read_text(encoding="ascii")


def test_a_port_in_use_is_said(
    server: tuple[subprocess.Popen[bytes], str, Path], tiny_model: Path
) -> None:
    _, url, _ = server
    port = url.rpartition(":")[2]
    found = subprocess.run(
        command("--port", port, "--model", str(tiny_model)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 1
    assert f"error: cannot listen on 127.0.0.1:{port}: " in found.stderr
    assert "Traceback" not in found.stderr
    assert "serving on" not in found.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "70000"], "error: --port must be between 0 and 65535, was 70000"),
        (["--queue-size", "0"], "error: --queue-size must be at least 1, was 0"),
        (["--api-keys-file", "/no/such/file"], "error: cannot read API keys from /no/such/file"),
        (["--log-level", "loud"], "error: --log-level must be one of debug, info, warning, error"),
    ],
)
def test_wrong_use_is_two(flags: list[str], message: str) -> None:
    found = subprocess.run(command(*flags), capture_output=True, text=True, timeout=300)
    assert found.returncode == 2
    assert message in found.stderr


def test_a_public_address_without_keys_is_warned_of(tiny_model: Path) -> None:
    found = subprocess.run(
        command("--host", "203.0.113.1", "--model", str(tiny_model)),  # not ours: cannot listen
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "warning: anyone who reaches 203.0.113.1 can use this server" in found.stderr
    assert found.returncode == 1
