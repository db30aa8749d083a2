"""The benchmarks of hostile clients and of memory, small: what they find must be what is there."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.serving import hostile, load, slow_bodies
from tests.tiny_model import TEXTS

needs_addresses = pytest.mark.skipif(sys.platform != "linux", reason="needs all of 127.0.0.0/8")


@pytest.mark.slow
@needs_addresses
def test_hostile_clients_and_a_kill_change_no_answer(tiny_model: Path) -> None:
    report = hostile.measure(
        n_requests=80,
        n_clients=8,
        n_kills=1,
        hostile_share=0.3,
        model=str(tiny_model),
        texts=list(TEXTS),
        time_limit_s=120,
    )
    assert report["wrong_or_lost"] == 0
    for name in ("alone", "with_hostile", "with_hostile_and_kills"):
        assert report[name]["answers"] == 80
        assert report[name]["examples"] == []
    assert report["alone"]["kills"] == 0
    assert report["with_hostile_and_kills"]["kills"] == 1
    assert report["with_hostile"]["hostile_with_another_answer"] == []
    kinds = {name.rpartition(":")[0] for name in report["with_hostile"]["hostile"]}
    assert kinds == {kind.name for kind in hostile.hostile_kinds()}


def test_an_answer_that_was_dropped_or_wrong_is_noticed() -> None:
    answers = [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", b"HTTP/1.1 503 No\r\n\r\n"]

    async def scenario() -> list[str]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answers.pop(0))
            writer.close()

        class Fake:
            n_kills = 0
            is_up = True
            port = 0

            def was_down_since(self, n_kills: int) -> bool:
                return self.n_kills != n_kills

        listener = await asyncio.start_server(serve, "127.0.0.1", 0)
        fake: Any = Fake()
        fake.port = listener.sockets[0].getsockname()[1]
        results = hostile.Results()
        for _ in range(3):
            client = hostile.Client(fake, results)
            await client.ask(load.Request(b"{}", 200))
            client.close()
        listener.close()
        return results.tally.wrong

    wrong = asyncio.run(scenario())
    assert wrong[:2] == ["lost: IncompleteReadError"] * 2
    assert wrong[2].startswith("status 503")


@needs_addresses
def test_slow_bodies_stay_in_their_bound_and_small_requests_pass(tiny_model: Path) -> None:
    with tempfile.TemporaryFile() as log:
        process, port = load.start_server(str(tiny_model), log, "--max-body-bytes", "400000")
        try:
            report = asyncio.run(
                slow_bodies.measure(
                    port,
                    process.pid,
                    n_connections=60,
                    n_addresses=3,
                    n_bytes=400_000,
                    seconds=2,
                )
            )
        finally:
            load.stop_server(process)
    memory = report["memory_mib"]
    assert memory["peak"] - memory["before"] < 60  # 2.4 MB held, texts made of them, and buffers
    assert report["small_requests"]["failed"] == {}
    assert report["small_requests"]["answered"] > 3
    assert sum(report["statuses"].values()) == 60
    assert set(report["statuses"]) <= {"200", "429", "503"}
    assert report["statuses"]["503"] > 30
