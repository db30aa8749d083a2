"""Small charts as SVG text, without a plotting package.

Owns one kind of chart: points of several series in a plane, joined by lines where a series has
more than one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from sumfit.errors import InputError

__all__ = ["Point", "chart"]

Point = tuple[float, float]

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 300, 44, 56
_COLOURS = ("#0b6e99", "#c2410c", "#4d7c0f", "#7e22ce", "#b91c1c", "#0f766e", "#a16207", "#475569")
_MARK = 4.0


def chart(
    title: str,
    series: Mapping[str, Sequence[Point]],
    *,
    x_label: str,
    y_label: str,
    dashed: Mapping[str, str] | None = None,
) -> str:
    """Draw series of points.

    Args:
        title: Shown above.
        series: Points ``(x, y)`` by name; a series without points is left out.
        x_label: Name of the horizontal axis.
        y_label: Name of the vertical axis.
        dashed: Series to draw with dashed lines and hollow marks, such as published figures,
            each with the series whose colour it takes.

    Returns:
        A complete SVG document.

    Raises:
        InputError: If no series has a point, or a coordinate is not finite.
    """
    shown = {name: sorted(points) for name, points in series.items() if points}
    values = [point for points in shown.values() for point in points]
    if not values:
        raise InputError(f"the chart {title!r} has no points")
    if not all(math.isfinite(number) for point in values for number in point):
        raise InputError(f"the chart {title!r} has a point that is not finite")
    x_axis = _axis([x for x, _ in values])
    y_axis = _axis([y for _, y in values])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 24, title, size=15),
        *_grid(x_axis, y_axis, x_label, y_label),
    ]
    dashed = dashed or {}
    own = [name for name in shown if name not in dashed]
    colours = {name: _COLOURS[index % len(_COLOURS)] for index, name in enumerate(own)}
    for index, (name, points) in enumerate(shown.items()):
        colour = colours.get(dashed.get(name, name), _COLOURS[-1])
        places = [(_x(x, x_axis), _y(y, y_axis)) for x, y in points]
        parts += _series(places, colour, is_dashed=name in dashed)
        row = _TOP + 10 + 18 * index
        legend = [(_WIDTH - _RIGHT + 24.0, row - 4.0)]
        parts += _series(legend, colour, is_dashed=name in dashed)
        parts.append(_text(_WIDTH - _RIGHT + 36, row, name))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axis(values: Sequence[float]) -> tuple[float, ...]:
    """Round ticks that enclose the values."""
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    raw = (high - low) / 4
    scale = 10 ** math.floor(math.log10(raw))
    step = next(scale * factor for factor in (1, 2, 2.5, 5, 10) if scale * factor >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return tuple(round(step * number, 10) for number in range(first, last + 1))


def _x(value: float, axis: Sequence[float]) -> float:
    share = (value - axis[0]) / (axis[-1] - axis[0])
    return round(_LEFT + share * (_WIDTH - _RIGHT - _LEFT), 1)


def _y(value: float, axis: Sequence[float]) -> float:
    share = (value - axis[0]) / (axis[-1] - axis[0])
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP), 1)


def _grid(
    x_axis: Sequence[float], y_axis: Sequence[float], x_label: str, y_label: str
) -> list[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for tick in y_axis:
        y = _y(tick, y_axis)
        parts.append(f'<line x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}" stroke="#e2e8f0"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{tick:g}", anchor="end"))
    for tick in x_axis:
        x = _x(tick, x_axis)
        parts.append(f'<line x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 5}" stroke="#64748b"/>')
        parts.append(_text(x, bottom + 20, f"{tick:g}", anchor="middle"))
    parts.append(f'<line x1="{_LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}" stroke="#64748b"/>')
    parts.append(_text((_LEFT + right) / 2, _HEIGHT - 16, x_label, anchor="middle"))
    middle = (_TOP + bottom) / 2
    parts.append(
        f'<text x="18" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 18 {middle})">{escape(y_label)}</text>'
    )
    return parts


def _series(places: Sequence[Point], colour: str, *, is_dashed: bool) -> list[str]:
    dash = ' stroke-dasharray="5 4"' if is_dashed else ""
    fill = "white" if is_dashed else colour
    parts = []
    if len(places) > 1:
        line = " ".join(f"{x},{y}" for x, y in places)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        )
    parts += [
        f'<circle cx="{x}" cy="{y}" r="{_MARK}" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
        for x, y in places
    ]
    return parts


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
