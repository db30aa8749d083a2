"""Hostile clients beside good ones, and the server killed in between.

Sends the mixed requests of `load.py` twice to a server of its own: once alone, once with a share of
hostile exchanges from another address. Then a third time with kills (``kill -9``), after each of
which the server is started again on the same port, as a supervisor does; clients send again what
they lost, as they have to. Every answer is compared with the library's own. Needs a system whose
whole 127.0.0.0/8 is loopback, such as Linux.

    python benchmarks/serving/hostile.py --requests 20000 --clients 64 --kills 10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.serving.load import (
    TEXTS_FILE,
    Request,
    Tally,
    check,
    exchange,
    free_port,
    know_answers,
    load_texts,
    make_requests,
    memory_mib,
    percentile,
    spawn_server,
    stop_server,
)
from sumfit import Summarizer

_HOSTILE_ADDRESS = ("127.0.0.66", 0)
_PATIENCE_S = 90.0  # how long a client goes on sending a request again
_HOSTILE_S = 40.0  # most that a hostile exchange takes
# A search that is cut off by the clock may differ from the library's own answer.
_FLAGS = "--queue-size 2048 --time-limit 60 --search-time-limit 5".split()
_HEAD = "POST /v1/summarize HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
_LEAD = "Engineers closed the old harbour bridge on Tuesday after an inspection. "

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Results:
    """What came of one run."""

    tally: Tally = field(default_factory=Tally)
    hit_s: list[float] = field(default_factory=list)  # of requests that met a kill
    n_sent_again: int = 0
    hostile: Counter[str] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    peak_mib: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Hostile:
    """One kind of hostile exchange, and the statuses that may answer it; 0 for none at all."""

    name: str
    act: Callable[[Streams], Awaitable[int]]
    statuses: tuple[int, ...]


def _whole(body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in headers)
    return f"{_HEAD}content-length: {len(body)}\r\n{lines}\r\n".encode() + body


async def _status(reader: asyncio.StreamReader) -> int:
    line = await reader.readline()
    return int(line[9:12]) if line else 0


def _send(content: bytes) -> Callable[[Streams], Awaitable[int]]:
    async def act(streams: Streams) -> int:
        reader, writer = streams
        writer.write(content)
        await writer.drain()
        return await _status(reader)

    return act


def _send_slowly(content: bytes, pause_s: float) -> Callable[[Streams], Awaitable[int]]:
    async def act(streams: Streams) -> int:
        reader, writer = streams
        for start in range(0, len(content), max(1, len(content) // 40)):
            writer.write(content[start : start + max(1, len(content) // 40)])
            await writer.drain()
            await asyncio.sleep(pause_s)
        return await _status(reader)

    return act


def _send_and_leave(content: bytes) -> Callable[[Streams], Awaitable[int]]:
    async def act(streams: Streams) -> int:
        streams[1].write(content)
        await streams[1].drain()
        await asyncio.sleep(0.05)
        return 0

    return act


def _never_read(content: bytes) -> Callable[[Streams], Awaitable[int]]:
    async def act(streams: Streams) -> int:
        writer = streams[1]
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(content)
        await writer.drain()
        await asyncio.sleep(20)
        return 0

    return act


def hostile_kinds() -> list[Hostile]:
    """Everything that a bad client is known to try, one of each."""
    accents = json.dumps(
        {"text": _LEAD + "é" * 60_000 + ".", "max_length": 1_000_000, "unit": "tweet"}
    ).encode()
    one_word = json.dumps({"text": "a" * 5000, "max_chars": 60}).encode()
    never_said = json.dumps({"text": _LEAD * 3, "max_chars": 60, "required": ["dinosaur"]}).encode()
    much = json.dumps({"text": _LEAD * 3, "max_chars": 120, "n_best": 50}).encode()
    batch = json.dumps({"texts": [_LEAD * 2] * 64, "max_chars": 40}).encode()
    reply = json.dumps({"texts": ["x" * 700] * 10_000, "max_chars": 700}).encode()
    half = _whole(b'{"text": "' + b"a" * 1_000_000)
    chunked = f"{_HEAD}transfer-encoding: chunked\r\n\r\n".encode()
    refused = (400, 408, 413, 421, 422, 431)
    worked = (200, 422, 429, 503, 504)
    return [
        Hostile("accents to count as a link", _send(_whole(accents)), worked),
        Hostile("one word of 5,000 letters", _send(_whole(one_word)), worked),
        Hostile("a word that the text lacks", _send(_whole(never_said)), worked),
        Hostile("fifty candidates, gone at once", _send_and_leave(_whole(much)), (0,)),
        Hostile("a batch, gone at once", _send_and_leave(_whole(batch)), (0,)),
        Hostile("a large reply, never read", _never_read(_whole(reply)), (0,)),
        Hostile("a body that stops", _send(half[:-300_000]), (408, 503)),
        Hostile("headers, byte by byte", _send_slowly(half[:120], 1.0), (0,)),
        Hostile("no HTTP", _send(b"\x16\x03\x01\x02\x00\r\n\r\n"), refused),
        Hostile("two lengths", _send(_whole(b"{}", "transfer-encoding: chunked")), refused),
        Hostile("tiny chunks", _send(chunked + b"1\r\na\r\n" * 50_000), (0, *refused)),
        Hostile("deep brackets", _send(_whole(b"[" * 500_000)), refused),
        Hostile("two million numbers", _send(_whole(b'{"texts": [' + b"1," * 2_000_000)), refused),
        Hostile(
            "a long number", _send(_whole(b'{"text": "a", "seed": ' + b"9" * 100_000)), refused
        ),
        Hostile(
            "no number", _send(_whole(b'{"text": "a", "max_chars": 5, "ratio": NaN}')), refused
        ),
        Hostile(
            "another host",
            _send(_whole(b"{}").replace(b"host: 127.0.0.1", b"host: 127.0.0.1:80@evil.example")),
            refused,
        ),
        Hostile("ten megabytes", _send(_whole(b" " * 10_000_000)), (0, *refused)),
    ]


class Server:
    """A server that is started again after each kill."""

    def __init__(self, model: str | None, log: Any) -> None:
        self._model, self._log = model, log
        self.port = free_port()
        self.n_kills = 0
        self.is_up = False
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return spawn_server(self._model, self._log, self.port, *_FLAGS)

    def kill(self) -> None:
        """Kill it without warning, and start another."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.n_kills += 1
        self.is_up = False
        self.process = self._start()

    def was_down_since(self, n_kills: int) -> bool:
        """Whether it was killed since it had been so many times, or is not ready yet."""
        return self.n_kills != n_kills or not self.is_up

    async def wait_until_ready(self) -> None:
        """Wait for the first start, or the one after a kill."""
        for _ in range(4000):
            if await self._is_ready():
                self.is_up = True
                return
            await asyncio.sleep(0.1)
        raise SystemExit("the server did not become ready; see its log")

    async def _is_ready(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            writer.write(b"GET /readyz HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n")
            return await _status(reader) == 200
        except OSError:
            return False
        finally:
            writer.transport.abort()


class Client:
    """One good client: a connection that is kept, and made again when it is lost."""

    def __init__(self, server: Server, results: Results) -> None:
        self._server, self._results = server, results
        self._streams: Streams | None = None

    async def ask(self, request: Request) -> None:
        """Send a request until it is answered, and check the answer."""
        start = time.perf_counter()
        n_kills = self._server.n_kills
        was_hit = not self._server.is_up
        while time.perf_counter() - start < _PATIENCE_S:
            try:
                status, content = await self._exchange(request)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                self.close()
                was_hit = was_hit or self._server.was_down_since(n_kills)
                if not was_hit:  # the server has dropped an answer of its own accord
                    self._results.tally.wrong.append(f"lost: {type(error).__name__}")
                    return
            else:
                was_hit = was_hit or self._server.was_down_since(n_kills)
                if not (was_hit and status == 503 and b"not_ready" in content):
                    break
            self._results.n_sent_again += 1
            await asyncio.sleep(0.2)
        else:
            self._results.tally.wrong.append("lost: no answer after the server was started again")
            return
        seconds = time.perf_counter() - start
        (self._results.hit_s if was_hit else self._results.tally.latencies_s).append(seconds)
        if status in (429, 503, 504):
            self._results.tally.wrong.append(f"status {status} {content[:120]!r}")
        else:
            check(request, status, content, self._results.tally)

    async def _exchange(self, request: Request) -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._server.port)
        return await asyncio.wait_for(exchange(*self._streams, request.body), _PATIENCE_S)

    def close(self) -> None:
        """Forget the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def misbehave(kind: Hostile, server: Server, results: Results) -> None:
    """Carry out one hostile exchange, and note an answer that it must not get."""
    n_kills = server.n_kills
    was_down = not server.is_up
    status = 0
    writer = None
    try:
        streams = await asyncio.open_connection(
            "127.0.0.1", server.port, local_addr=_HOSTILE_ADDRESS
        )
        writer = streams[1]
        status = await asyncio.wait_for(kind.act(streams), _HOSTILE_S)
    except asyncio.TimeoutError:
        status = -1  # neither answered nor cut off
    except OSError:
        status = 0
    finally:
        if writer is not None:
            writer.transport.abort()
    results.hostile[f"{kind.name}: {status}"] += 1
    is_excused = was_down or server.was_down_since(n_kills)
    if status not in kind.statuses and not is_excused:
        results.unexpected.append(f"{kind.name}: {status}")


async def run(
    server: Server,
    requests: list[Request],
    *,
    n_clients: int,
    hostile_share: float,
    n_kills: int,
    time_limit_s: float,
) -> Results:
    """Send all requests once, with so many hostile exchanges and kills in between."""
    results = Results()
    rng = random.Random(11)
    kinds = hostile_kinds()
    attacks: set[asyncio.Task[None]] = set()
    restarts: list[asyncio.Task[None]] = []
    waiting = iter(enumerate(requests))
    kill_at = {len(requests) * (i + 1) // (n_kills + 1) for i in range(n_kills)}
    await server.wait_until_ready()
    start = time.monotonic()

    async def one_client() -> None:
        client = Client(server, results)
        for number, request in waiting:
            if time.monotonic() - start > time_limit_s:
                results.tally.wrong.append("the time of the run was over before all were sent")
                break
            if number in kill_at:
                server.kill()
                restarts.append(asyncio.ensure_future(server.wait_until_ready()))
            if rng.random() < hostile_share:
                # At least one of each kind, however short the run.
                n_so_far = len(attacks)
                kind = kinds[n_so_far] if n_so_far < len(kinds) else rng.choice(kinds)
                attacks.add(asyncio.ensure_future(misbehave(kind, server, results)))
            await client.ask(request)
        client.close()

    async def watch() -> None:
        while True:
            results.peak_mib = max(results.peak_mib, memory_mib(server.process.pid))
            await asyncio.sleep(0.25)

    watcher = asyncio.ensure_future(watch())
    await asyncio.gather(*(one_client() for _ in range(n_clients)))
    results.seconds = time.monotonic() - start
    await asyncio.gather(*attacks, *restarts)
    watcher.cancel()
    return results


def report_of(results: Results) -> dict[str, Any]:
    """Figures of one run."""
    tally = results.tally

    def latencies(values: list[float]) -> dict[str, float]:
        return {
            name: round(1000 * percentile(values, share), 1)
            for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99), ("max_ms", 1))
        }

    report: dict[str, Any] = {
        "answers": sum(tally.statuses.values()),
        "statuses": {str(k): v for k, v in sorted(tally.statuses.items())},
        "wrong_or_lost": len(tally.wrong),
        "examples": tally.wrong[:5],
        "seconds": round(results.seconds, 1),
        "latency": latencies(tally.latencies_s),
        "peak_mib": round(results.peak_mib, 1),
    }
    if results.hostile:
        report["hostile"] = dict(sorted(results.hostile.items()))
        report["hostile_with_another_answer"] = results.unexpected
    if results.hit_s:
        report["met_a_kill"] = {"requests": len(results.hit_s), **latencies(results.hit_s)}
        report["sent_again"] = results.n_sent_again
    return report


def measure(
    *,
    n_requests: int,
    n_clients: int,
    n_kills: int,
    hostile_share: float,
    model: str | None,
    texts: list[str],
    time_limit_s: float,
) -> dict[str, Any]:
    """Run all three and compare."""
    requests = make_requests(n_requests, texts, malformed=0.05, seed=7)
    know_answers(requests, Summarizer.from_pretrained(model))
    runs = {
        "alone": (0.0, 0),
        "with_hostile": (hostile_share, 0),
        "with_hostile_and_kills": (hostile_share, n_kills),
    }
    report: dict[str, Any] = {"requests_of_each_run": n_requests, "clients": n_clients}
    with tempfile.TemporaryFile() as log:
        for name, (share, kills) in runs.items():
            server = Server(model, log)
            try:
                results = asyncio.run(
                    run(
                        server,
                        requests,
                        n_clients=n_clients,
                        hostile_share=share,
                        n_kills=kills,
                        time_limit_s=time_limit_s,
                    )
                )
            finally:
                stop_server(server.process)
            report[name] = {**report_of(results), "kills": server.n_kills}
            print(json.dumps({name: report[name]}), file=sys.stderr)
    report["wrong_or_lost"] = sum(report[name]["wrong_or_lost"] for name in runs)
    for name in ("with_hostile", "with_hostile_and_kills"):
        times = report[name]["latency"]["p99_ms"] / report["alone"]["latency"]["p99_ms"]
        report[name]["p99_against_alone"] = round(times, 2)
    return report


def main() -> int:
    """Print the figures as JSON; exit 1 if an answer was wrong or lost, or an attack worked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--requests", type=int, default=20_000, help="in each of the three runs")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--hostile", type=float, default=0.01, help="share of hostile exchanges")
    parser.add_argument("--model", help="model directory; the default model if not given")
    parser.add_argument("--texts", type=Path, default=TEXTS_FILE)
    parser.add_argument("--time-limit", type=float, default=1500, help="seconds for each run")
    parser.add_argument("--output", type=Path, help="file for the figures")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    report = measure(
        n_requests=options.requests,
        n_clients=options.clients,
        n_kills=options.kills,
        hostile_share=options.hostile,
        model=options.model,
        texts=load_texts(options.texts),
        time_limit_s=options.time_limit,
    )
    text = json.dumps(report, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    attacks = [report[name]["hostile_with_another_answer"] for name in report if "hostile" in name]
    return 1 if report["wrong_or_lost"] or any(attacks) else 0


if __name__ == "__main__":
    sys.exit(main())
