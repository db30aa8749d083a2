"""The benchmark of the device runs on the CPU, too, so that it keeps up with the backend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sumfit.hypothesis import NBest
from sumfit.runtime import GraphRequest, ModelDirectory

if TYPE_CHECKING:
    from benchmarks.decoding.bench_end_to_end import Bench

pytest.importorskip("torch", reason="needs sumfit[train]")

BATCH = 2


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelDirectory:
    from tests.tiny_baseline import write_model

    return ModelDirectory.open(
        write_model(tmp_path_factory.mktemp("models") / "dat", "dat", words_per_vertex=4)
    )


@pytest.fixture(scope="module")
def bench(model: ModelDirectory) -> Bench:
    from benchmarks.decoding.bench_end_to_end import Bench
    from sumfit.runtime.torch import TorchBackend
    from tests.tiny_baseline import TEXTS

    sources = [tuple(model.tokenizer.encode(text)) for text in TEXTS]
    return Bench(
        backend=TorchBackend(model, device="cpu", precision="fp32"),
        requests=[GraphRequest(ids, 12) for ids in sources],
        words_per_vertex=4,
        beam_size=5,
        repeats=1,
    )


@pytest.mark.parametrize("until", ["network", "candidates", "words"])
def test_every_stage_leaves_a_row_for_each_text(
    bench: Bench, model: ModelDirectory, until: str
) -> None:
    from benchmarks.decoding.bench_end_to_end import STAGES, Limit

    assert until in STAGES
    limit = Limit.read("40-chars", model, "cpu")
    parts = list(bench.stages(limit, BATCH, until))
    assert sum(len(part) for part in parts) == len(bench.requests)


def test_a_line_is_printed_and_what_was_found_keeps_the_limit(
    bench: Bench, model: ModelDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.decoding.bench_end_to_end import Limit

    found = bench.report(Limit.read("40-chars", model, "cpu"), BATCH)
    lists = [one for one in found if isinstance(one, NBest)]
    assert len(found) == len(bench.requests)
    assert lists
    assert all(one.best.cost <= 40 for one in lists)
    line = capsys.readouterr().out
    assert line.startswith("40 chars  batch     2   ids to hypotheses")
    assert f"none {1 - len(lists) / len(found):.2%}" in line


def test_examples_are_repeated_up_to_the_number(tmp_path: Path) -> None:
    from benchmarks.decoding.bench_end_to_end import load_texts

    file = tmp_path / "texts.jsonl"
    file.write_text('{"text": "a"}\n{"source": "b"}\n', encoding="utf-8")
    assert load_texts(file, 3) == ["a", "b", "a"]
