"""How time grows: the exponents of the benchmark, and where it stops."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.clocks import Clock

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "decoding"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))  # as the script itself is run
    return importlib.import_module("bench_decoders")


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_the_exponent_of_a_power_is_found(bench: ModuleType, power: float) -> None:
    fit = bench.fitted([(size, 3 * size**power) for size in (60, 120, 600)])
    assert fit.exponent == pytest.approx(power)
    assert fit.last == pytest.approx(power)
    assert (fit.begin, fit.end) == (60, 600)


def test_the_last_step_shows_what_a_constant_hides(bench: ModuleType) -> None:
    fit = bench.fitted([(size, 1000 + size**2) for size in (10, 20, 40, 80, 160)])
    assert fit.exponent < 1.3
    assert fit.last > 1.5


def axis_of(bench: ModuleType, *, is_batch: bool = False) -> object:
    return bench.Axis(
        "n", (1, 2, 4, 8), ("pathmap",), lambda n: ([n] * (n if is_batch else 3), {}), is_batch
    )


def test_a_line_ends_where_a_graph_takes_too_long(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(bench.time, "thread_time", clock)

    def decode_many(graphs: list[int], method: str, options: dict[str, object]) -> None:
        clock.now += sum(graphs) ** 2

    monkeypatch.setattr(bench, "decode_many", decode_many)
    lines = bench.series_of(axis_of(bench))
    assert lines == {"pathmap": [(1, 1000.0), (2, 4000.0)]}


def test_a_batch_counts_as_a_whole(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(bench.time, "thread_time", clock)

    def decode_many(graphs: list[int], method: str, options: dict[str, object]) -> None:
        clock.now += 0.5 * len(graphs)

    monkeypatch.setattr(bench, "decode_many", decode_many)
    lines = bench.series_of(axis_of(bench, is_batch=True))
    assert lines == {"pathmap": [(1, 500.0), (2, 1000.0), (4, 2000.0), (8, 4000.0)]}


def test_every_axis_grows_to_ten_times_its_first_size(bench: ModuleType) -> None:
    found = list(bench.axes(1))
    assert [axis.title.split()[0].rstrip(",") for axis in found] == [
        "S", "limit", "K", "V", "graphs",
    ]  # fmt: skip
    for axis in found:
        assert list(axis.values) == sorted(axis.values)
        assert axis.values[-1] >= 10 * axis.values[0]


def test_a_real_axis_is_measured_and_drawn(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:  # fmt: skip
    small = [axis._replace(values=(20, 40)) for axis in bench.axes(1) if axis.title[0] == "K"]
    monkeypatch.setattr(bench, "axes", lambda n_graphs: small)
    bench.growth(tmp_path / "growth.svg", 1)
    out = capsys.readouterr().out
    assert out.count("over 20 to 40, last step") == 2
    drawn = (tmp_path / "growth.svg").read_text(encoding="utf-8")
    assert drawn.count("<polyline") == 2
    assert ">seqmap-table</text>" in drawn
