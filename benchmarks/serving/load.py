"""Load test of the HTTP server: many clients, mixed requests, some of them malformed.

Starts ``sumfit serve`` as a process of its own on the loopback address, sends a fixed number of
requests from this one, and checks every answer: right status, right text (the library's own
answer for the same request), within its limit. Then measures overload and memory. Everything is
bounded: requests, clients, and time.

    python benchmarks/serving/load.py --requests 20000 --clients 64
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from sumfit import Summarizer
from sumfit.length import measure

_IN_PROCESS_S = 6.0  # how long the in-process rate is measured, each time
_MOST_TURNS = 10
# A search that is cut off by the clock may differ from the library's own answer.
_LOAD_FLAGS = "--queue-size 2048 --time-limit 120 --search-time-limit 60".split()
_OVERLOAD_FLAGS = "--max-batch 4 --time-limit 20 --search-time-limit 60".split()
TEXTS_FILE = Path(__file__).with_name("texts.jsonl")
UNITS = ("words", "chars", "bytes", "graphemes", "cells", "tokens")
MALFORMED: tuple[tuple[bytes, int], ...] = (
    (b'{"text": "a", "max_chars": 5', 400),
    (b"\xff\xfe\x00", 400),
    (b'{"text": "a b c", "max_char": 5}', 422),
    (b'{"text": 5, "max_chars": 5}', 422),
    (b'{"text": "a b c", "max_chars": 2, "max_words": 1}', 422),
    (b'{"text": "   ", "max_chars": 5}', 422),
    (b'{"texts": ["a", "b"], "max_chars": [1]}', 422),
    (b"[]", 422),
)


@dataclass
class Request:
    """One request and what must come back."""

    body: bytes
    status: int
    texts: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    expected: list[str] | None = None


@dataclass
class Tally:
    """What came back."""

    statuses: Counter[int] = field(default_factory=Counter)
    latencies_s: list[float] = field(default_factory=list)
    n_summaries: int = 0
    wrong: list[str] = field(default_factory=list)
    memory_mib: list[tuple[float, float]] = field(default_factory=list)
    seconds: float = 0.0


def make_requests(
    n_requests: int, texts: list[str], *, malformed: float, seed: int
) -> list[Request]:
    """Draw requests: one text or up to eight, any unit, any limit; a share of them malformed."""
    rng = random.Random(seed)
    kinds = []
    for _ in range(64):  # a bounded set of different requests, so that answers can be known
        unit = rng.choice(UNITS)
        limit = rng.randint(4, 14) if unit in ("words", "tokens") else rng.randint(25, 120)
        options: dict[str, Any] = {f"max_{unit}": limit}
        if rng.random() < 0.15:
            options["n_best"] = rng.randint(2, 5)
        chosen = rng.choices(texts, k=1 if rng.random() < 0.8 else rng.randint(2, 8))
        body: dict[str, Any] = {**options}
        body |= {"text": chosen[0]} if len(chosen) == 1 else {"texts": chosen}
        kinds.append(Request(json.dumps(body).encode(), 200, chosen, options))
    drawn = []
    for _ in range(n_requests):
        if rng.random() < malformed:
            content, status = rng.choice(MALFORMED)
            drawn.append(Request(content, status))
        else:
            drawn.append(rng.choice(kinds))
    return drawn


def know_answers(requests: list[Request], summarizer: Summarizer) -> None:
    """Fill in the library's own answers; a text that has none must be refused alike."""
    for request in {id(r): r for r in requests if r.status == 200}.values():
        found = summarizer(request.texts, **request.options)
        request.expected = [summary.text for summary in found]
        if len(found) == 1 and found[0].error is not None:
            request.status = found[0].error.http_status


def in_process_rate(requests: list[Request], summarizer: Summarizer) -> float:
    """The library's own batch rate on these requests, in summaries per second."""
    kinds = list({id(r): r for r in requests if r.status == 200}.values())
    start, n_summaries = time.perf_counter(), 0
    for request in itertools.cycle(kinds):
        if time.perf_counter() - start > _IN_PROCESS_S:
            break
        summarizer(request.texts * 4, **request.options)
        n_summaries += 4 * len(request.texts)
    return n_summaries / (time.perf_counter() - start)


async def exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
) -> tuple[int, bytes]:
    """Send one request over an open connection and read its answer."""
    head = (
        "POST /v1/summarize HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()
    raw = await reader.readuntil(b"\r\n\r\n")
    status = int(raw[9:12])
    length = 0
    for line in raw.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return status, await reader.readexactly(length)


def check(request: Request, status: int, content: bytes, tally: Tally) -> None:
    """Compare an answer with what must come back."""
    tally.statuses[status] += 1
    if status == 429:
        return
    if status != request.status:
        tally.wrong.append(f"status {status} for {request.body[:80]!r}")
        return
    reply = json.loads(content)
    if status != 200:
        if set(reply) != {"error"}:
            tally.wrong.append(f"error shape {content[:80]!r}")
        return
    summaries = reply["summaries"] if "summaries" in reply else [reply]
    tally.n_summaries += len(summaries)
    if [one["text"] for one in summaries] != request.expected:
        tally.wrong.append(f"text {content[:120]!r}")
    for one in summaries:
        if one["unit"] != "tokens" and measure(one["text"], one["unit"]) != one["length"]:
            tally.wrong.append(f"length {content[:120]!r}")
        if one["length"] > one["limit"]:
            tally.wrong.append(f"over the limit {content[:120]!r}")


async def run_clients(
    port: int,
    requests: list[Request],
    tally: Tally,
    *,
    n_clients: int,
    time_limit_s: float,
    pid: int,
) -> None:
    """Send all requests from a fixed number of clients with one connection each."""
    waiting = iter(requests)
    deadline = time.monotonic() + time_limit_s
    start = time.monotonic()

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in waiting:
            if time.monotonic() > deadline:
                tally.wrong.append("the time of the whole test ran out")
                break
            sent = time.perf_counter()
            try:
                status, content = await asyncio.wait_for(
                    exchange(reader, writer, request.body), 120
                )
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                tally.wrong.append(f"lost: {type(error).__name__}")
                writer.transport.abort()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                continue
            tally.latencies_s.append(time.perf_counter() - sent)
            check(request, status, content, tally)
        writer.close()

    async def watch() -> None:
        while True:
            tally.memory_mib.append((time.monotonic() - start, memory_mib(pid)))
            await asyncio.sleep(1)

    watcher = asyncio.ensure_future(watch())
    await asyncio.gather(*(client() for _ in range(n_clients)))
    watcher.cancel()
    tally.memory_mib.append((time.monotonic() - start, memory_mib(pid)))
    tally.seconds += time.monotonic() - start


def memory_mib(pid: int) -> float:
    """Resident memory of a process, in MiB; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def free_port() -> int:
    """A loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def spawn_server(model: str | None, log: Any, port: int, *flags: str) -> subprocess.Popen[bytes]:
    """Start ``sumfit serve`` without waiting for it."""
    command = [sys.executable, "-m", "sumfit", "serve", "--port", str(port), *flags]
    if model is not None:
        command += ["--model", model]
    return subprocess.Popen(command, stderr=log, stdout=log)


def start_server(model: str | None, log: Any, *flags: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start ``sumfit serve`` on a free loopback port and wait until it is ready."""
    port = free_port()
    process = spawn_server(model, log, port, *flags)
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        try:
            with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2):
                return process, port
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    process.kill()
    raise SystemExit("the server did not start; see its log")


def stop_server(process: subprocess.Popen[bytes]) -> int:
    """Ask the server to stop and wait for it."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def percentile(values: list[float], share: float) -> float:
    """Value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def load_texts(path: Path) -> list[str]:
    """Texts to summarise, one JSON object a line."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line)["text"] for line in lines if line.strip()]


def measure_load(
    *, n_requests: int, n_clients: int, model: str | None, texts: list[str], time_limit_s: float
) -> dict[str, Any]:
    """Run the load phase and the overload phase; returns the figures."""
    summarizer = Summarizer.from_pretrained(model)
    requests = make_requests(n_requests, texts, malformed=0.05, seed=7)
    know_answers(requests, summarizer)
    # Rates change with what else the machine does, so both are measured in turns.
    rates = [in_process_rate(requests, summarizer)]
    tally = Tally()
    n_turns = min(_MOST_TURNS, max(1, n_requests // 500))
    with tempfile.TemporaryFile() as log:
        process, port = start_server(model, log, *_LOAD_FLAGS)
        try:
            for turn in range(n_turns):
                part = requests[turn::n_turns]
                left_s = max(1.0, time_limit_s - tally.seconds)
                settings = {"n_clients": n_clients, "time_limit_s": left_s, "pid": process.pid}
                asyncio.run(run_clients(port, part, tally, **settings))
                rates.append(in_process_rate(requests, summarizer))
        finally:
            code = stop_server(process)
        seconds = tally.seconds
        in_process = statistics.mean(rates)
        report = {
            "requests": n_requests,
            "clients": n_clients,
            "seconds": round(seconds, 2),
            "statuses": {str(k): v for k, v in sorted(tally.statuses.items())},
            "wrong_lost_or_over_limit": len(tally.wrong),
            "examples": tally.wrong[:5],
            "requests_per_s": round(n_requests / seconds, 1),
            "summaries_per_s": round(tally.n_summaries / seconds, 1),
            "in_process_summaries_per_s": [round(rate, 1) for rate in rates],
            "share_of_in_process": round(tally.n_summaries / seconds / in_process, 3),
            "latency_ms": {
                "p50": round(1000 * percentile(tally.latencies_s, 0.5), 1),
                "p99": round(1000 * percentile(tally.latencies_s, 0.99), 1),
            },
            "memory_mib": memory_report(tally.memory_mib),
            "server_exit_code": code,
        }
        report["overload"] = measure_overload(model, requests, n_clients, log)
    return report


def memory_report(samples: list[tuple[float, float]]) -> dict[str, float]:
    """First and last tenth of the samples, and the growth between them."""
    values = [mib for _, mib in samples] or [0.0]
    tenth = max(1, len(values) // 10)
    warm = values[tenth : 2 * tenth] or values[:1]
    early, late = statistics.mean(warm), statistics.mean(values[-tenth:])
    return {
        "early": round(early, 1),
        "late": round(late, 1),
        "growth": round(late - early, 1),
        "peak": round(max(values), 1),
    }


def measure_overload(
    model: str | None, requests: list[Request], n_clients: int, log: Any
) -> dict[str, Any]:
    """More clients than the queue holds: 429 instead of time-outs, and a bounded wait."""
    queue_size = max(4, n_clients // 4)
    process, port = start_server(model, log, *_OVERLOAD_FLAGS, "--queue-size", str(queue_size))
    try:
        some = [request for request in requests if len(request.texts) == 1][: 20 * n_clients]
        tally = Tally()
        settings = {"n_clients": n_clients, "time_limit_s": 120.0, "pid": process.pid}
        asyncio.run(run_clients(port, some, tally, **settings))
    finally:
        stop_server(process)
    return {
        "queue_size": queue_size,
        "clients": n_clients,
        "statuses": {str(k): v for k, v in sorted(tally.statuses.items())},
        "wrong_lost_or_over_limit": len(tally.wrong),
        "examples": tally.wrong[:5],
        "p99_ms": round(1000 * percentile(tally.latencies_s, 0.99), 1),
    }


def main() -> int:
    """Run the test and print its figures as JSON; exit 1 if an answer was wrong or lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--model", help="model directory; the default model if not given")
    parser.add_argument("--texts", type=Path, default=TEXTS_FILE)
    parser.add_argument("--time-limit", type=float, default=1500, help="seconds for the whole run")
    parser.add_argument("--output", type=Path, help="file for the figures")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    report = measure_load(
        n_requests=options.requests,
        n_clients=options.clients,
        model=options.model,
        texts=load_texts(options.texts),
        time_limit_s=options.time_limit,
    )
    text = json.dumps(report, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    return 1 if report["wrong_lost_or_over_limit"] else 0


if __name__ == "__main__":
    sys.exit(main())
