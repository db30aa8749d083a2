"""Memory of the server while many connections send large bodies slowly.

Starts ``sumfit serve``, opens connections from several loopback addresses, sends one body over each
of them, spread over some seconds, and asks for a small summary from another address all the while.
Prints the peak of the server's resident memory and what became of every request; exits with 1 if
the peak is above the limit, or a small request was not answered. Needs a system whose whole
127.0.0.0/8 is loopback, such as Linux.

    python benchmarks/serving/slow_bodies.py --connections 500 --bytes 1000000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.serving.load import (
    exchange,
    memory_mib,
    percentile,
    start_server,
    stop_server,
)

_N_PIECES = 50  # of each body
_SMALL = json.dumps({"text": "Engineers closed the old harbour bridge.", "max_chars": 60}).encode()


async def send_slowly(port: int, source: str, body: bytes, seconds: float) -> str:
    """Send one body in pieces; returns the status, or how the connection ended."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    head = (
        "POST /v1/summarize HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    try:
        writer.write(head.encode())
        size = -(-len(body) // _N_PIECES)
        for start in range(0, len(body), size):
            writer.write(body[start : start + size])
            await writer.drain()
            await asyncio.sleep(seconds / _N_PIECES)
        line = await asyncio.wait_for(reader.readline(), 60)
        return line[9:12].decode() or "closed"
    except OSError:
        return "cut off"
    except asyncio.TimeoutError:
        return "no answer"
    finally:
        writer.transport.abort()


async def measure(
    port: int, pid: int, *, n_connections: int, n_addresses: int, n_bytes: int, seconds: float
) -> dict[str, Any]:
    """Send all bodies at once, watch memory, and ask for small summaries meanwhile."""
    # One character of four bytes makes Python keep all of them in four.
    text = "🚲 " + "The council will close the bridge for repairs. " * (n_bytes // 47)
    fields = {"text": text[: n_bytes - 50], "max_chars": 60}
    body = json.dumps(fields, ensure_ascii=False).encode()
    before = peak = memory_mib(pid)
    small_s: list[float] = []
    failed: Counter[str] = Counter()

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, memory_mib(pid))
            await asyncio.sleep(0.05)

    async def ask() -> None:
        while True:
            start = time.perf_counter()
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError as error:
                failed[type(error).__name__] += 1
                continue
            try:
                status, _ = await asyncio.wait_for(exchange(reader, writer, _SMALL), 30)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                failed[type(error).__name__] += 1
                continue
            finally:
                writer.transport.abort()  # also when the benchmark ends in the middle of a request
            if status == 200:
                small_s.append(time.perf_counter() - start)
            else:
                failed[str(status)] += 1
            await asyncio.sleep(0.2)

    tasks = [asyncio.ensure_future(watch()), asyncio.ensure_future(ask())]
    sent = [
        send_slowly(port, f"127.0.0.{2 + i % n_addresses}", body, seconds)
        for i in range(n_connections)
    ]
    statuses = Counter(await asyncio.gather(*sent))
    await asyncio.sleep(1)
    after = memory_mib(pid)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {
        "connections": n_connections,
        "addresses": n_addresses,
        "bytes_of_each": len(body),
        "memory_mib": {
            "before": round(before, 1),
            "peak": round(peak, 1),
            "after": round(after, 1),
        },
        "statuses": dict(sorted(statuses.items())),
        "small_requests": {
            "answered": len(small_s),
            "failed": dict(failed),
            "p50_ms": round(1000 * percentile(small_s, 0.5), 1),
            "max_ms": round(1000 * percentile(small_s, 1), 1),
        },
    }


def main() -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--addresses", type=int, default=10, help="that they come from")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="of each body")
    parser.add_argument("--seconds", type=float, default=12.0, help="that a body takes")
    parser.add_argument("--limit", type=float, default=1200.0, help="most memory, in MB")
    parser.add_argument("--model", help="model directory; the default model if not given")
    parser.add_argument("--output", type=Path, help="file for the figures")
    options = parser.parse_args()
    with tempfile.TemporaryFile() as log:
        process, port = start_server(options.model, log)
        try:
            report = asyncio.run(
                measure(
                    port,
                    process.pid,
                    n_connections=options.connections,
                    n_addresses=options.addresses,
                    n_bytes=options.bytes,
                    seconds=options.seconds,
                )
            )
        finally:
            stop_server(process)
    text = json.dumps(report, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    is_over = report["memory_mib"]["peak"] * 2**20 > options.limit * 1e6
    return 1 if is_over or report["small_requests"]["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
