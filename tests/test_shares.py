"""Where the time of a summary goes: shares add up, and the systems are timed on the same texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import sumfit
from benchmarks import throughput

TEXT = "Engineers closed the old bridge on Tuesday after an inspection found cracks in its deck."


def test_shares_add_up_and_the_default_takes_once_its_own_time(tiny_model: Path) -> None:
    fit = sumfit.Summarizer.from_pretrained(tiny_model)
    table = throughput.shares(fit, [TEXT, TEXT, " "], 40)
    assert [row[0] for row in table.rows] == list(throughput.SYSTEMS)
    for row in table.rows:
        parts = [float(cell) for cell in row[1:7] if cell is not None]
        assert len(parts) == len(throughput.PARTS)
        assert sum(parts) == pytest.approx(100)
        assert min(parts) >= 0
        assert float(row[5] or 0) > 0, "measuring a result again takes time"
        assert float(row[7] or 0) > 0
    assert table.rows[0][7:] == (1, 1)
    assert table.notes[0].startswith("2 of 3 texts, at most 40 characters")


def test_texts_without_any_summary_are_no_measurement(tiny_model: Path) -> None:
    fit = sumfit.Summarizer.from_pretrained(tiny_model)
    with pytest.raises(SystemExit, match="no text has a summary by the model"):
        throughput.shares(fit, [" "], 40)


def test_checks_are_timed_only_while_they_are_noted(tiny_model: Path) -> None:
    fit, checks = sumfit.Summarizer.from_pretrained(tiny_model), throughput.Checks()
    with checks.noted():
        fit(TEXT, max_chars=40)
    whole, in_choice = checks.taken()
    assert whole > in_choice >= 0
    assert checks.taken() == (0, 0)
    fit(TEXT, max_chars=40)
    assert checks.taken() == (0, 0)


def test_checks_within_the_choice_are_no_time_of_the_scorer() -> None:
    timings = {"encode": 1.0, "forward": 2.0, "decode": 3.0, "rerank": 4.0}
    one = sumfit.Summary(text="a", length=1, unit="chars", limit=9, timings=timings)
    parts = throughput.parts_of(one, 12.0, (1.5, 0.5))
    assert dict(zip(throughput.PARTS, parts, strict=True)) == {
        "reading": 1.0, "network": 2.0, "search": 3.0, "scorer": 3.5, "checks": 1.5, "rest": 1.0,
    }  # fmt: skip
