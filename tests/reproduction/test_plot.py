"""Charts: well-formed, every point where it belongs, nothing lost."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from sumfit.errors import InputError
from sumfit.reproduction.chart import _axis, chart

SVG = "{http://www.w3.org/2000/svg}"


def test_a_chart_holds_every_point_line_and_name() -> None:
    series = {"ours <1>": [(30, 86.0), (20, 87.5)], "paper": [(20, 85.0)], "nobody": []}
    root = ET.fromstring(
        chart("R & D", series, x_label="x", y_label="y", dashed={"paper": "ours <1>"})
    )
    assert len(root.findall(f"{SVG}circle")) == 3 + 2  # points and legend
    (line,) = root.findall(f"{SVG}polyline")
    xs = [float(pair.split(",")[0]) for pair in line.attrib["points"].split()]
    ys = [float(pair.split(",")[1]) for pair in line.attrib["points"].split()]
    assert xs == sorted(xs)
    assert ys[0] < ys[1]  # the higher score is higher up
    assert len({mark.attrib["stroke"] for mark in root.findall(f"{SVG}circle")}) == 1
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"R & D", "ours <1>", "paper", "x", "y"} <= set(texts)
    assert "nobody" not in texts


@pytest.mark.parametrize(
    ("values", "axis"),
    [
        ([20, 25, 30], (20, 22.5, 25, 27.5, 30)),
        ([79.1, 87.4], (77.5, 80, 82.5, 85, 87.5)),
        ([0.0, 610.0], (0, 200, 400, 600, 800)),
        ([5.0], (4, 4.5, 5, 5.5, 6)),
    ],
)
def test_ticks_are_round_and_enclose_the_values(
    values: list[float], axis: tuple[float, ...]
) -> None:
    assert _axis(values) == axis


def test_a_chart_needs_finite_points() -> None:
    with pytest.raises(InputError, match="the chart 't' has no points"):
        chart("t", {"a": []}, x_label="x", y_label="y")
    with pytest.raises(InputError, match="has a point that is not finite"):
        chart("t", {"a": [(0, float("nan"))]}, x_label="x", y_label="y")
