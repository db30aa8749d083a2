"""A small load test in CI; `benchmarks/serving/load.py` runs the full one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.serving import load
from tests.tiny_model import TEXTS


@pytest.mark.skipif(sys.platform == "win32", reason="stops the server by signal")
def test_no_answer_is_wrong_lost_or_over_its_limit(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "_IN_PROCESS_S", 0.5)
    report = load.measure_load(
        n_requests=500,
        n_clients=16,
        model=str(tiny_model),
        texts=list(TEXTS),
        time_limit_s=120,
    )
    assert report["examples"] == []
    assert report["wrong_lost_or_over_limit"] == 0
    assert sum(report["statuses"].values()) == 500
    assert report["statuses"]["200"] > 400
    assert set(report["statuses"]) == {"200", "400", "422"}
    assert report["server_exit_code"] in (0, -15)  # uvicorn raises the signal again at its end
    overload = report["overload"]
    assert overload["wrong_lost_or_over_limit"] == 0
    assert overload["statuses"]["429"] > 0
    assert overload["p99_ms"] < 20_000


def test_requests_are_the_same_for_the_same_seed() -> None:
    first = load.make_requests(200, list(TEXTS), malformed=0.05, seed=3)
    again = load.make_requests(200, list(TEXTS), malformed=0.05, seed=3)
    assert [request.body for request in first] == [request.body for request in again]
    share = sum(request.status != 200 for request in first) / len(first)
    assert 0.01 < share < 0.12


def test_a_wrong_answer_is_noticed() -> None:
    request = load.Request(b"{}", 200, ["a"], {"max_chars": 3}, expected=["abc"])
    fields = '"unit": "chars", "limit": 3'
    for content in (
        f'{{"text": "abd", "length": 3, {fields}}}',
        f'{{"text": "abc", "length": 2, {fields}}}',
        '{"text": "abc", "length": 3, "unit": "chars", "limit": 2}',
    ):
        tally = load.Tally()
        load.check(request, 200, content.encode(), tally)
        assert len(tally.wrong) == 1, content
    tally = load.Tally()
    load.check(request, 500, b"{}", tally)
    assert tally.wrong == ["status 500 for b'{}'"]
