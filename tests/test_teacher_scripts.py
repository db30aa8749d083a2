"""The scripts around a teacher turn its lines and verdicts, and editors', into training files."""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from sumfit.rerank.confidence import Evidence
from sumfit.runtime import default_model_path

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts" / "teacher"
MILL = "The mill of Odell will close in May because its owner retires, the council said on Monday."
FERRY = (
    "The ferry to Skarn sank at its berth on Friday. No one was on board, the harbour master said."
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a script with words, as the command line does."""

    def call(name: str, *words: object) -> None:
        monkeypatch.syspath_prepend(str(SCRIPTS))
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        runpy.run_path(str(SCRIPTS / name), run_name="__main__")

    return call


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    texts = [
        {"i": place, "genre": "news", "limit": 60, "source": f"{MILL} It has {place} wheels."}
        for place in range(10)
    ]
    write(tmp_path / "texts.jsonl", texts)
    good, bad = (
        ["Odell mill to close as its owner retires", 1.0, -0.4],
        ["Mill of Berlin to close", 2.0, -0.1],
    )
    written = [{"i": place, "limit": 60, "c": [bad, good]} for place in range(10)]
    write(tmp_path / "written.jsonl", written)
    line = {"genre": "news", "limit": 60, "source": FERRY}
    lines = [
        {**line, "line": "Ferry to Skarn sinks at its berth"},
        {**line, "line": "9 die at sea"},
    ]
    write(tmp_path / "lines.jsonl", lines)
    write(tmp_path / "valid.jsonl", [{**lines[0], "genre": "commit"}])
    marked = {**line, "genre": "recipes", "c": ["Ferry sinks", "Ferry sank no one"], "m": [2, 0]}
    write(tmp_path / "marked.jsonl", [marked, {**marked, "m": [1, 1]}])
    return tmp_path


def test_supported_lines_become_pairs_by_style(files: Path, run: Any) -> None:
    given = [files / f"{name}.jsonl" for name in ("texts", "lines", "valid", "marked", "written")]
    run("pairs.py", *given, "-o", files / "data")
    taught = read(files / "data" / "taught_news.jsonl")
    assert {row["summary"] for row in taught} == {"Odell mill to close as its owner retires"}
    assert len(taught) == 7  # 78 % of ten
    assert len(json.loads((files / "data" / "taught.json").read_text())) == 7
    edited = read(files / "data" / "edited_news.jsonl")
    assert [row["summary"] for row in edited] == ["Ferry to Skarn sinks at its berth"]
    assert len(read(files / "data" / "edited_commit.valid.jsonl")) == 1
    accepted = read(files / "data" / "accepted_plain.jsonl")
    assert [row["summary"] for row in accepted] == ["Ferry sinks"]


def test_verdicts_become_grades(files: Path, run: Any) -> None:
    data = files / "data"
    data.mkdir()
    (data / "taught.json").write_text(json.dumps({"0": "Mill of Odell closes", "1": "x"}))
    write(data / "edited_news.valid.jsonl", [{"source": FERRY, "summary": "Ferry sinks"}])
    judged = {"i": 0, "genre": "news", "limit": 60, "source": MILL, "c": ["a b", "c d"]}
    verdicts = [
        {**judged, "s": [3.0, -1.0], "logp": [-0.2, -2.0]},
        {**judged, "i": 1, "s": [-9.0, -8.0], "logp": [-1.0, -1.0]},  # none is good enough
    ]
    write(files / "judged.jsonl", verdicts)
    pair = {"source": "a mill burned in odell .", "summary": "mill burns in odell"}
    write(files / "giga.jsonl", [pair])
    given = [files / "marked.jsonl", data, files / "judged.jsonl", "-o", files / "marks"]
    run("marks.py", *given, "--gigaword", files / "giga.jsonl")
    *marked, kept = read(files / "marks" / "marked.jsonl")
    assert read(files / "marks" / "gigaword.jsonl") == [pair]
    assert kept == {**pair, "candidates": [pair["summary"]], "fit": [1], "profile": "gigaword"}
    assert [row["fit"] for row in marked] == [[1.0, 0.0], [1.0, 0.5]]
    assert [row["summary"] for row in marked] == ["Ferry sinks", "Mill of Odell closes"]
    assert len(read(files / "marks" / "edited_plain.jsonl")) == 1
    assert len(read(files / "marks" / "edited_news.jsonl")) == 1
    assert (files / "marks" / "edited_news.valid.jsonl").is_file()


def test_a_model_lists_different_candidates(files: Path, run: Any) -> None:
    (files / "taught.json").write_text(json.dumps({"3": "Mill closes", "4": "Mill closes"}))
    given = ["default", files / "texts.jsonl", files / "taught.json"]
    run("candidates.py", *given, "-o", files / "made.jsonl", "--n", 6, "--processes", 1)
    made = read(files / "made.jsonl")
    assert {row["i"] for row in made} == {3, 4}
    for row in made:
        assert 2 <= len(row["c"]) <= 8
        assert len(set(row["c"])) == len(row["c"])
        assert all(len(line) <= 60 for line in row["c"])


def test_verdicts_are_chances_as_editors_found_them(run: Any, tmp_path: Path) -> None:
    """A teacher that is surer, or shifted, says the same."""
    texts = [
        {"i": i, "genre": "news", "limit": 60, "source": MILL, "c": list("abcd")} for i in range(50)
    ]
    sure = [
        {**row, "s": [i % 7 * 9.0, i % 5 - 40.0, -20.0, -30.0 - i], "logp": [0.0] * 4}
        for i, row in enumerate(texts)
    ]
    calm = [{**row, "s": [score / 10 - 3 for score in row["s"]]} for row in sure]
    (tmp_path / "taught.json").write_text(json.dumps({str(i): "Mill closes" for i in range(50)}))
    marks = [
        {"genre": "news", "limit": 60, "source": FERRY, "c": list("abcde"), "m": [2, 0, 0, 0, 0]}
    ]
    write(tmp_path / "marked.jsonl", marks)
    fits = []
    for name, judged in (("sure", sure), ("calm", calm)):
        write(tmp_path / "judged.jsonl", judged)
        run(
            "marks.py",
            tmp_path / "marked.jsonl",
            tmp_path,
            tmp_path / "judged.jsonl",
            "-o",
            tmp_path / name,
        )
        fits.append([row["fit"] for row in read(tmp_path / name / "marked.jsonl")])
    assert fits[0] == fits[1]
    grades = [grade for fit in fits[0][1:] for grade in fit]
    assert sum(grade >= 0.5 for grade in grades) / 200 == pytest.approx(0.2, abs=0.05)


def test_lines_share_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several lines after one prompt, in one batch or step by step, are read as each by itself."""
    for needed in ("torch", "transformers", "gguf"):
        pytest.importorskip(needed, reason="the teacher needs torch, transformers and gguf")
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    monkeypatch.syspath_prepend(str(SCRIPTS))
    import judge
    import teacher as own
    import write as writer

    torch.manual_seed(1)
    config = AutoConfig.for_model(
        "qwen2",
        hidden_size=48,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        vocab_size=97,
    )
    teacher = own.Teacher(AutoModelForCausalLM.from_config(config)).eval()
    torch.nn.init.normal_(teacher.head.weight)
    heads, tails = [[1, 5, 6, 7], [1, 9]], [[[11, 12, 2], [13, 2]], [[14, 2], [15, 16, 17, 2]]]
    with torch.no_grad():
        lines = own.several(heads, tails, torch.device("cpu"))
        states = teacher.states_of(lines)
        fit, logp = teacher.fitness(states, lines.last), judge.mean_logp(teacher, states, lines)
        decoder = writer.Decoder(teacher, heads, 2)
        plain = [head + tail for head, each in zip(heads, tails, strict=True) for tail in each]
        starts = [len(head) for head in heads for _ in range(2)]
        for place, (row, start) in enumerate(zip(plain, starts, strict=True)):
            alone = teacher.states(torch.tensor([row]))
            assert fit[place] == pytest.approx(float(teacher.head(alone[0, -1])), abs=1e-4)
            chances = teacher.network.lm_head(alone[0]).log_softmax(-1)
            mean = sum(chances[k - 1, row[k]] for k in range(start, len(row))) / (len(row) - start)
            assert logp[place] == pytest.approx(float(mean), abs=1e-4)
            assert torch.allclose(decoder.state[place], alone[0, start - 1], atol=1e-4)
        decoder.read(torch.tensor([[row[start]] for row, start in zip(plain, starts, strict=True)]))
        for place, (row, start) in enumerate(zip(plain, starts, strict=True)):
            alone = teacher.states(torch.tensor([row[: start + 1]]))
            assert torch.allclose(decoder.state[place], alone[0, -1], atol=1e-4)


def test_confidence_is_fitted_to_marks_and_written(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines that say what their text says are marked as fit, half lines are not."""
    if not default_model_path().joinpath("scorer.onnx").is_file():
        pytest.skip("this checkout has no embedded model with a scorer")
    towns = ("Odell", "Skarn", "Hillcrest", "Milltown", "Eastport", "Brenn", "Tarnow", "Kessel")
    rows = [
        {
            "source": f"The council of {town} {what} on Monday because its {part} is cracked.",
            "limit": 60,
            "c": lines,
            "m": [2, 0] if town < "L" else [0, 2],
        }
        for town in towns
        for what, part, lines in (
            ("closed the bridge", "pier", [f"{town} closes bridge", "Bridge because its is"]),
            ("shut the pool", "roof", [f"{town} shuts pool", "Council of pool on"]),
        )
    ]
    write(tmp_path / "marked.jsonl", rows)
    model = tmp_path / "model"
    shutil.copytree(default_model_path(), model)
    run("calibrate.py", model, tmp_path / "marked.jsonl", "--write")
    said = capsys.readouterr().out
    assert "16 texts" in said
    assert "area under the curve" in said
    config = json.loads((model / "config.json").read_text())
    assert set(config["confidence"]) == {*Evidence._fields, "bias"}
    assert config["confidence"] != json.loads(
        (default_model_path() / "config.json").read_text()
    ).get("confidence")
