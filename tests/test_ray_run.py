"""The long job with a killed worker: what it would notice, and a small one on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import ray_run
from tests.tiny_model import TEXTS

LIMIT = 5
GIVEN = list(ray_run.records(["a", "b"], 5))


def output(**changes: Any) -> list[dict[str, Any]]:
    """A right output, but for the fourth record."""
    rows = [
        {**record, "summary": record["text"] * 3, "summary_error_type": None} for record in GIVEN
    ]
    rows[3] |= changes
    return rows


def test_records_are_the_texts_again_and_again_with_an_id_each() -> None:
    assert [(record["id"], record["text"]) for record in GIVEN] == list(enumerate("ababa"))


def test_a_right_output_has_no_fault() -> None:
    faults = ray_run.check(GIVEN, output(), LIMIT)
    assert not faults.counts
    assert not faults.without
    assert faults.n_texts == 2


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (output()[:4], {"lost": 1}),
        ([*output(), output()[4]], {"doubled": 1}),
        ([*output()[:3], output()[4], output()[3]], {"order": 1}),
        (output(text="c"), {"text": 1}),
        (output(summary="bbbbbb"), {"limit": 1, "differs": 1}),
        (output(summary="bb"), {"differs": 1}),
        (output(summary="", summary_error_type="ServiceError"), {"differs": 1}),
        (output(id=0), {"doubled": 1, "lost": 1}),
    ],
)
def test_what_is_wrong_is_counted(rows: list[dict[str, Any]], expected: dict[str, int]) -> None:
    faults = ray_run.check(GIVEN, rows, LIMIT)
    assert faults.counts == expected
    assert len(faults.examples) == sum(expected.values())


def test_texts_without_a_summary_are_counted_by_their_error() -> None:
    rows = [{**record, "summary": "", "summary_error_type": "EmptyInputError"} for record in GIVEN]
    faults = ray_run.check(GIVEN, rows, LIMIT)
    assert not faults.counts
    assert faults.without == {"EmptyInputError": 5}


def test_the_cost_of_a_billion_texts() -> None:
    found = ray_run.cost(0.036, 0.05)
    assert found["core_hours_per_billion"] == pytest.approx(10_000)
    assert found["price_per_billion"] == pytest.approx(500)


def test_workers_are_told_by_their_title_or_module() -> None:
    assert ray_run.is_worker("ray::MapWorker(MapBatches(SummarizeChunks)).submit", "ray")
    assert not ray_run.is_worker("ray::IDLE", "ray")
    assert not ray_run.is_worker("python -m sumfit summarize", "local")
    assert ray_run.is_worker("python -m sumfit.jobs.worker", "local")


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker in /proc")
def test_a_small_job_survives_its_worker(
    tiny_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(ray_run, "_LOOK_S", 0.01)
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    command = ["--engine", "local", "--processes", "1", "--n", "1280", "--max-chars", "40"]
    command += ["--model", str(tiny_model), "--texts", str(texts), "--kill-at", "0.01"]
    command += ["--folder", str(tmp_path / "job"), "--json", str(tmp_path / "figures.json")]
    assert ray_run.main(command) == 0
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert len(figures["killed"]) == 1
    assert (figures["faults"], figures["n_texts"]) == ({}, 1280)
    assert figures["core_s_per_text"] > 0
    assert "killed" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker in /proc")
def test_a_job_that_fails_says_why(tmp_path: Path) -> None:
    command = ["--engine", "local", "--n", "3", "--model", str(tmp_path / "none")]
    with pytest.raises(SystemExit, match=r"the job ended with \d+: .*none"):
        ray_run.main(command)
