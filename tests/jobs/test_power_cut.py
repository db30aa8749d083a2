"""Power cuts at every system call of a job: the output is whole, finished parts are not lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny_model import TEXTS


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads names of open files")
@pytest.mark.parametrize("loses", ["keeps", "loses"])
def test_a_power_cut_at_any_call_loses_at_most_the_part_in_work(
    tiny_model: Path, tmp_path: Path, loses: str
) -> None:
    rows = [json.dumps({"text": text, "n": number}) for number, text in enumerate(TEXTS[:5])]
    (tmp_path / "in.jsonl").write_text("\n".join(rows) + "\n")
    (tmp_path / "place").mkdir()
    output = tmp_path / "place" / "out.jsonl"
    output.write_text("what an earlier job wrote\n" * 20)
    arguments = [str(tmp_path / "in.jsonl"), str(output), str(tiny_model), loses]
    result = subprocess.run(
        [sys.executable, "-m", "tests.jobs.power_cut", *arguments],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["problems"] == [], result.stderr
    assert found["n_calls"] > 60
