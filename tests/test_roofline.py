"""The distance from the core's ceilings: its counts, its arithmetic, and a small run."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs sumfit[train]")

from benchmarks import roofline, roofline_counts
from benchmarks.roofline_counts import work
from sumfit.decoding.kernels.bound import fill_bounds
from sumfit.decoding.kernels.marginal import marginals
from sumfit.decoding.kernels.pathmap import path_map
from sumfit.decoding.kernels.steps import Steps
from sumfit.runtime import default_model_path
from sumfit.runtime.directory import ModelDirectory

TEXT = "Engineers closed the old bridge on Tuesday after an inspection found cracks in its deck.\n"


@pytest.mark.parametrize("kind", roofline_counts.KINDS[:3])
def test_a_product_has_two_operations_a_weight_and_row(kind: str, tmp_path: Path) -> None:
    network, given = roofline.product(kind, 3, 8, 5)
    (tmp_path / "model.onnx").write_bytes(network)
    counted, spent = roofline_counts.of_network(tmp_path / "model.onnx", None, given)
    name = "int8" if kind == "int8" else "float32"
    out = 3 * 5 * np.dtype("int32" if kind == "int8" else kind).itemsize
    size = len(network) + given["x"].nbytes + out
    assert counted.tolist() == work(**{name: 2 * 3 * 8 * 5}, bytes=size).tolist()
    assert list(spent) == ["products"]


@pytest.mark.parametrize("batch", [1, 2])
def test_the_default_network_is_counted_as_its_architecture_says(batch: int) -> None:
    model = ModelDirectory.open(default_model_path())
    shape, file = model.config.architecture, model.graph_file(None)
    t, s, d = 5, 7, shape.width
    given = {
        "source_ids": np.full((batch, t), 50),
        "vertex_mask": np.ones((batch, s), dtype=bool),
        "row_ids": np.zeros(0, dtype=np.int64),
    }
    counted, _ = roofline_counts.of_network(file, ["top_ids", "link_logp"], given)
    n_encoder, n_decoder = shape.n_encoder_layers, shape.n_decoder_layers
    wide = 2 * d * shape.ffn_width
    weights = n_encoder * t * (4 * d**2 + wide)
    weights += n_decoder * (s * (6 * d**2 + wide) + t * 2 * d**2)
    weights += s * (d * shape.vocab_size + d * (2 * d + shape.n_link_heads))
    pairs = n_encoder * 2 * t * t + n_decoder * 2 * (s * s + s * t) + s * s
    assert counted[0] == 2 * batch * weights
    assert counted[1] == 2 * batch * d * pairs
    assert counted[3] == pytest.approx(file.stat().st_size, rel=0.01)


def _links(n_vertices: int) -> np.ndarray:
    links = np.full((n_vertices, n_vertices), -1.0, dtype=np.float32)
    links[np.tril_indices(n_vertices)] = -np.inf
    return links


def test_the_best_path_is_counted_as_its_loops_run() -> None:
    n_vertices, high, costs = 6, 9, np.array([1, 4])
    links, words = _links(n_vertices), np.full((n_vertices, 2), -1.0)
    links[1, 3] = words[2, 1] = -np.inf
    args = (links, words, costs, words, costs, 0, high, False)
    assert path_map(*args)[0] > -np.inf
    expected = 0
    for j in range(1, n_vertices - 1):
        expected += sum(2 * (high + 1) for i in range(1, j) if links[i, j] > -np.inf)
        for d, cost in enumerate(costs.tolist()):
            expected += 2 * (high + 1 - cost) * bool(words[j, d] > -np.inf)
    assert roofline_counts.of_path_map(args)[2] == expected


def test_sums_over_paths_are_counted_as_their_loops_run() -> None:
    n_vertices, n_words = 7, 3
    links, words = _links(n_vertices), np.full((n_vertices, 2), -1.0, dtype=np.float32)
    columns, last = np.array([0, 1, 0]), n_vertices - 1
    args = (links, np.exp(links, dtype=np.float64), words, columns, np.array([0, 3]), False)
    assert np.isfinite(marginals(*args)).all()
    expected = 2 * last
    for place in range(n_words):
        for i in [0] if place == 0 else range(place, last):
            expected += 2 * (last - i - 1)
        expected += last - 1
    assert roofline_counts.of_sums(args)[2] == expected


def test_bounds_are_counted_by_layer_and_entry() -> None:
    n, n_layers = 8, 5
    prob = np.zeros((2, n))
    prob[0, [1, 4]], prob[1, [2, 7]] = 0.5, 0.5
    none = np.zeros(2, dtype=np.int64)
    steps = Steps(
        word=np.array([0, 1]),
        cost=np.array([2, 2]),
        context=none,
        gain=none,
        blocked=none,
        run=np.array([0, 2]),
        joins=np.array([False]),
    )
    table, scale = np.empty((1, 1, n_layers, n)), np.empty(n_layers)
    none = np.zeros(0, dtype=np.int64)
    link, row = np.triu(np.full((n, n), 0.1), 1), np.zeros(n)
    args = (link, row, prob, 0.25, steps, row, none, n_layers - 1, 0, 0.0, table, scale)
    fill_bounds(*args)
    expected = 0
    for r in range(n_layers):
        expected += sum(2 * j for j in (1, 4, 2, 7) if r >= 2)  # words cost 2
        expected += 2 * sum(2 * j for j in range(n))  # what is negligible, what is no candidate
    assert roofline_counts.of_bounds(args)[2] == expected


def test_a_prefix_is_counted_with_the_children_it_may_have() -> None:
    n, n_words = 8, 3
    steps = SimpleNamespace(  # two words that open one, for 1, and one that joins, for 4
        cost=np.array([1, 1, 4]),
        blocked=np.zeros(3, dtype=np.int64),
        run=np.array([0, 2, 3]),
        joins=np.array([False, True]),
    )
    prob = np.ones((n_words, n))
    graph = SimpleNamespace(
        prob=prob, link=np.ones((n, n)), table=np.ones((1, 1, 5, n)), steps=steps, first_steps=steps
    )
    nodes = SimpleNamespace(
        rest=np.array([4, 3, 4]),
        context=np.array([0, 0, 2]),  # anything, anything, only a continuation
        used_once=np.zeros(3, dtype=np.int64),
        reach=np.ones((3, n)),
        bounds=np.ones((3, n_words)),
    )
    each = n * (n - 1) + 6 * n + 2 * n_words
    args: Any = (None, graph, nodes)
    children = {0: (2 + 1) + (1 + 1), 1: 2 + 1, 2: 1 + 1}  # words, and once a run
    for row, n_children in children.items():
        counted = roofline_counts.of_search(args, row, row + 1)
        assert counted[2] == each + 2 * n * n_children
    assert roofline_counts.of_search(args, 0, 3)[2] == 3 * each + 2 * n * sum(children.values())


def test_a_row_has_rates_and_shares_of_both_ceilings() -> None:
    best = work(int8=4e9, float32=2e9, float64=1e9, bytes=1e9)
    done = work(int8=4e6, float32=2e6, bytes=1e6)  # 2 ms by operations, 1 ms by bytes
    row = roofline.row("a", [(0.004, done, 0.25)] * 3, best)
    cells = dict(zip(roofline.COLUMNS, row, strict=True))
    numbers = [cells[name] for name in ("ms", *roofline.RATES, "of the summary %")]
    assert numbers == pytest.approx([4, 6, 1, 1.5, 0.25, 50, 25, 25])
    assert cells["half of them"] == "4.00 to 4.00"


def test_a_small_run_has_every_stage(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, found = tmp_path / "texts.txt", tmp_path / "found.json"
    texts.write_text(TEXT, encoding="utf-8")
    command = ["--texts", str(texts), "--model", str(tiny_model), "--max-chars", "40"]
    roofline.main([*command, "--repeats", "1", "--json", str(found)])
    (table,) = json.loads(found.read_text(encoding="utf-8"))
    stages = ["network", roofline.BATCH, *(one.stage for one in roofline.KERNELS)]
    assert [one["stage"] for one in table["rows"]] == stages  # it has no scorer
    for one in table["rows"]:
        assert all(one[name] > 0 for name in ("ms", *roofline.RATES[:2]))
    one, many = (table["rows"][place]["MOP"] for place in (0, 1))
    assert many == pytest.approx(8 * one, rel=1e-3)
    assert "ceilings of one core" in capsys.readouterr().out


def test_kernels_are_put_back(tiny_model: Path) -> None:
    before = [getattr(one.module, one.name) for one in roofline.KERNELS]
    run = roofline.Run(str(tiny_model), 40)
    with run.listening():
        run.text(TEXT)
    assert [getattr(one.module, one.name) for one in roofline.KERNELS] == before
    assert set(run.samples) == {"network", roofline.BATCH, *(one.stage for one in roofline.KERNELS)}


def test_texts_without_any_summary_are_no_measurement(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("Hi\n", encoding="utf-8")
    command = ["--texts", str(tmp_path / "texts.txt"), "--model", str(tiny_model)]
    with pytest.raises(SystemExit, match="no text has a summary by the model"):
        roofline.main([*command, "--repeats", "1"])
