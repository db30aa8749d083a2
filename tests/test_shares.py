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
        parts = [float(cell) for cell in row[1:6] if cell is not None]
        assert sum(parts) == pytest.approx(100)
        assert min(parts) >= 0
        assert float(row[6] or 0) > 0
    assert table.rows[0][6:] == (1, 1)
    assert table.notes[0].startswith("2 of 3 texts, at most 40 characters")


def test_texts_without_any_summary_are_no_measurement(tiny_model: Path) -> None:
    fit = sumfit.Summarizer.from_pretrained(tiny_model)
    with pytest.raises(SystemExit, match="no text has a summary by the model"):
        throughput.shares(fit, [" "], 40)
