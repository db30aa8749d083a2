"""The learning curve: its points, its line, what it says of made-up scores, and a small run."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.training import learning_curve
from benchmarks.training.learning_curve import line_weights, parse_points
from sumfit.errors import ConfigError
from tests.tiny_model import TEXTS

PAIRS = (1_000, 2_000, 4_000)


def cells(table: Any, name: str) -> dict[str, Any]:
    row = next(row for row in table.rows if name in row)
    return dict(zip(table.columns, row, strict=True))


def test_points_are_sorted_by_their_pairs() -> None:
    assert parse_points(["90=b", "8=a=c"]) == {8: Path("a=c"), 90: Path("b")}


@pytest.mark.parametrize("specs", [["a"], ["x=a"], ["0=a"], ["8="], ["8=a", "8=b"]])
def test_points_of_another_form_are_refused(specs: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"PAIRS=DIR|two points of 8 pairs"):
        parse_points(specs)


def test_the_line_is_that_of_least_squares() -> None:
    scores = np.array([3.0, 5.5, 6.0])
    slope, value = line_weights(PAIRS, 16_000)
    wanted = np.polyfit(np.log2(PAIRS), scores, 1)
    assert slope @ scores == pytest.approx(wanted[0])
    assert value @ scores == pytest.approx(np.polyval(wanted, np.log2(16_000)))


def test_a_line_without_noise_goes_on_as_it_is() -> None:
    curve = {pairs: np.full(5, 10.0 + place) for place, pairs in enumerate(PAIRS)}
    found = cells(learning_curve.lines({"mbr": curve, "at": {1_000: np.ones(5)}}, 16_000), 3)
    assert found["a doubling"] == "+1.00 (1.00 to 1.00)"
    assert found["gain from the last point to 16,000"] == "+2.00 (2.00 to 2.00)"
    assert found["at 16,000"] == found["by the last two points"] == "14.00 (14.00 to 14.00)"


def test_texts_are_paired_and_missing_points_left_out() -> None:
    base = np.arange(40.0)
    curves = {"mbr": {n: base + 3 * k for k, n in enumerate(PAIRS)}, "at": {1_000: base + 1}}
    gained = cells(learning_curve.gains(curves), "AT w/ Truncate")
    assert set(gained.values()) == {"AT w/ Truncate", None}
    gained = cells(learning_curve.gains(curves), learning_curve.MBR)
    assert gained["1,000 to 4,000"] == "+6.00 (6.00 to 6.00)"
    table = learning_curve.against_at(curves)
    assert table.columns == ("system", "1,000 pairs")
    assert table.rows == ((learning_curve.MBR, "-1.00 (-1.00 to -1.00)"),)


def test_a_run_keeps_what_the_models_write_and_reads_it_again(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="needs sumfit[train]")
    from tests.tiny_baseline import write_model

    data = tmp_path / "valid.jsonl.xz"
    with lzma.open(data, "wt", encoding="utf-8") as file:
        for text in TEXTS[:3]:
            print(json.dumps({"source": text, "summary": " ".join(text.split()[:4])}), file=file)
    at = write_model(tmp_path / "at", "at")
    command = ["--data", str(data), "--keep", str(tmp_path / "kept"), "--format", "json"]
    command += ["--device", "cpu", "--to", "400"]
    assert learning_curve.main([*command, "--dat", f"50={tiny_model}", "--at", f"50={at}"]) == 0
    first = capsys.readouterr().out
    tables = json.loads(first)
    assert [table["title"] for table in tables] == ["Learning curve", "R-Sum minus AT's"]
    assert len(tables[0]["rows"]) == 5
    assert len(list((tmp_path / "kept").glob("50.*.json"))) == 5
    assert learning_curve.main([*command, "--dat", "50=gone", "--at", "50=gone"]) == 0
    assert capsys.readouterr().out == first
    assert learning_curve.main([*command, "--dat", "50=gone", "--first", "2"]) == 2
    assert "has 3 summaries but the test set has 2 items" in capsys.readouterr().err
    assert learning_curve.main(command) == 2
