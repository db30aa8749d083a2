"""The quality benchmark on a tiny model: every system is there and every number has its rule."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "quality.py"


@pytest.fixture(scope="module")
def quality() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quality_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def write(directory: Path, name: str, texts: tuple[str, ...]) -> None:
    path = directory / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [{"source": text, "summary": " ".join(text.split()[2:8])} for text in texts]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_all_systems_are_scored_and_no_limit_is_broken(
    quality: ModuleType, tiny_model: Path, texts: tuple[str, ...], tmp_path: Path
) -> None:
    write(tmp_path, "news/test", texts)
    write(tmp_path, "gigaword/valid", texts)
    out = tmp_path / "out"
    arguments = ["--data", str(tmp_path), "--model", str(tiny_model), "--sets", "news/test"]
    arguments += ["--processes", "1", "--first", "4", "--out", str(out)]
    assert quality.main(arguments) == 0
    record = json.loads((out / "quality.json").read_text(encoding="utf-8"))
    assert record["model"] == "tiny-copy"
    titles = [table["title"] for table in record["tables"]]
    assert titles[:4] == [
        "news/test, at most 40 chars",
        "news/test, at most 60 chars",
        "news/test, at most 80 chars",
        "news/test, at most 8 words",
    ]
    assert titles[4].startswith("gigaword/valid, exactly floor(0.25(n+2))+1 words")
    assert titles[5].startswith("gigaword/valid, at most floor(0.25(n+2))+1 words")
    for table in record["tables"]:
        assert all(row["broken %"] == 0 for row in table["rows"])
        assert "n:4" in table["notes"][0]
        assert not any("no summary for" in note for note in table["notes"])
    systems = [row["system"] for row in record["tables"][0]["rows"]]
    assert systems == [
        "sumfit",
        "sumfit, no constraints",
        "sumfit, MBR",
        "lead, cut",
        "greedy, cut",
    ]
    exact = record["tables"][4]["rows"]
    assert all(row["fill %"] == 100 for row in exact)
    assert "| sumfit, MBR |" in (out / "quality.md").read_text(encoding="utf-8")


def test_a_missing_set_ends_with_its_name(
    quality: ModuleType, tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(tmp_path), "--model", str(tiny_model), "--processes", "1"]
    assert quality.main(arguments) == 2
    assert "error: there is no newsapi/test below" in capsys.readouterr().err
