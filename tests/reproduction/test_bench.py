"""The speed command: all systems in one run, failures counted, options checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sumfit import Summarizer
from sumfit.cli.bench import bench as bench_command
from sumfit.errors import ConfigError
from sumfit.reproduction import paper
from sumfit.reproduction.speed import measure_speed
from tests.tiny_baseline import write_model

APP = typer.Typer()
APP.command()(bench_command)


def test_rates_follow_from_the_clock_and_the_texts(fit: Summarizer, texts: tuple[str, ...]) -> None:
    speed = measure_speed(fit, texts, mode="one", n_warmup=2, max_words=5)
    assert speed.n == len(speed.latencies_s) == 6
    assert speed.n_failed == 0
    expected = sum(len(summary.text.split()) for summary in fit(list(texts), max_words=5))
    assert speed.n_words == expected
    assert speed.sentences_per_s == pytest.approx(6 / speed.seconds)
    assert sum(speed.latencies_s) <= speed.seconds
    assert 0 < speed.forward_s + speed.decode_s <= speed.seconds


def test_many_texts_are_one_call(fit: Summarizer, texts: tuple[str, ...]) -> None:
    speed = measure_speed(fit, texts, mode="many", n_warmup=1, max_words=5)
    assert speed.n == 6
    assert speed.latencies_s == ()


def test_texts_without_a_summary_are_counted(fit: Summarizer) -> None:
    speed = measure_speed(fit, ["Engineers closed the bridge.", " "], mode="one", max_words=2)
    assert (speed.n, speed.n_failed) == (2, 1)
    with pytest.raises(ConfigError, match="nothing to time"):
        measure_speed(fit, [], mode="one", max_words=2)


def test_the_command_times_all_systems_in_one_run(tiny_model: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("Engineers closed the old bridge on Tuesday after an inspection.\n")
    arguments = [str(texts), "--model", str(tiny_model), "-n", "3", "--warmup", "1"]
    arguments += ["--backend", "onnx,onnx-fp32", "--limit", "30", "--format", "json"]
    result = CliRunner().invoke(APP, arguments)
    assert result.exit_code == 0, result.output
    (table,) = json.loads(result.stdout)
    systems = {row["system"] for row in table["rows"]}
    assert {"pathmap", "seqmap", "seqmap-mbr", "seqmap-table", "greedy"} <= systems
    assert "seqmap-neural" not in systems  # the model has no reranker of its own
    assert len(table["rows"]) == len(systems) * 2 * 2
    assert all(row["sentences/s"] > 0 and row["no summary"] == 0 for row in table["rows"])
    assert "at most 30 chars" in table["notes"][0]


def test_trained_baselines_are_timed_in_the_same_run(tiny_model: Path, tmp_path: Path) -> None:
    folders = [write_model(tmp_path / name, name) for name in ("at", "at-leninfo")]
    arguments = ["--model", str(tiny_model), "-n", "3", "--warmup", "1", "--systems", "pathmap"]
    arguments += ["--baseline", str(folders[0]), "--baseline", str(folders[1])]
    result = CliRunner().invoke(APP, [*arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    (table,) = json.loads(result.stdout)
    shown = [(row["system"], row["backend"], row["mode"]) for row in table["rows"]]
    for name in (paper.AT, paper.LENINFO):
        assert (name, "torch-cpu-fp32", "one at a time") in shown
        assert (name, "torch-cpu-fp32", "many, batches of 64") in shown
    assert len(shown) == 6


def test_the_command_has_texts_of_its_own(tiny_model: Path) -> None:
    result = CliRunner().invoke(
        APP, ["--model", str(tiny_model), "-n", "2", "--warmup", "1", "--systems", "seqmap"]
    )
    assert result.exit_code == 0, result.output
    assert "one at a time" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--systems", "fast"], "systems must be among pathmap, seqmap, .*was 'fast'"),
        (["--backend", "tpu"], "backend must be among onnx, onnx-fp32, cpu, cuda, was 'tpu'"),
    ],
)
def test_unknown_names_are_listed(tiny_model: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(APP, ["--model", str(tiny_model), *arguments])
    assert isinstance(result.exception, ConfigError)
    with pytest.raises(ConfigError, match=message):
        raise result.exception
