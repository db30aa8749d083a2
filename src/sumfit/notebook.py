"""How results look in a notebook: small pieces of HTML, with every text escaped.

Owns the markup. Does not own what is shown (`sumfit.hypothesis`, `sumfit.pipeline.inspection`).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Arc", "Dot", "card", "graph", "table"]

_BAR = 240  # pixels of a limit
_STEP = 34  # pixels between two dots
_TOP, _LABELS = 110, 90  # pixels above and below the dots
_PER_STEP = 0.4  # height of an arc by its width


class Dot(NamedTuple):
    """One vertex of a drawing.

    Attributes:
        number: Its number in the graph.
        label: What it says.
        is_chosen: It is on the path.
    """

    number: int
    label: str
    is_chosen: bool


class Arc(NamedTuple):
    """One link of a drawing.

    Attributes:
        source: Number of the dot where it starts.
        target: Number of the dot where it ends.
        prob: Its probability.
        is_chosen: It is on the path.
    """

    source: int
    target: int
    prob: float
    is_chosen: bool


def card(text: str, length: int, limit: int, unit: str, facts: Sequence[str]) -> str:
    """A line of text, how much of its limit it uses as a bar, and what is known of it.

    Args:
        text: The line.
        length: Its length.
        limit: The limit.
        unit: What both count.
        facts: Words to put below.

    Returns:
        HTML.
    """
    share = min(1.0, length / limit) if limit > 0 else 0.0
    below = " · ".join(escape(fact) for fact in (f"{length} of {limit} {unit}", *facts))
    return (
        '<div style="max-width: 45em; margin: .3em 0">'
        f'<div dir="auto" style="font-size: 1.15em; font-weight: 600">{escape(text)}</div>'
        f'<svg width="{_BAR}" height="6" role="img" aria-label="{length} of {limit}">'
        f'<rect width="{_BAR}" height="6" rx="3" fill="currentColor" opacity=".15"/>'
        f'<rect width="{round(_BAR * share)}" height="6" rx="3" fill="currentColor"/></svg>'
        f'<div style="font-size: .85em; opacity: .75">{below}</div></div>'
    )


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that is closed until it is asked for.

    Args:
        title: What it shows.
        columns: Names of its columns.
        rows: Its cells.

    Returns:
        HTML.
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f"<details><summary>{escape(title)}</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></details>"
    )


def graph(dots: Sequence[Dot], arcs: Sequence[Arc]) -> str:
    """A drawing of a graph: dots from left to right, links as arcs, the path in bold.

    Args:
        dots: The vertices that are drawn, by their number.
        arcs: Links between them; others are left out.

    Returns:
        HTML.
    """
    places = {dot.number: _STEP * (place + 0.5) for place, dot in enumerate(dots)}
    width = _STEP * len(dots) + _LABELS
    drawn = "".join(
        _arc(places[arc.source], places[arc.target], arc)
        for arc in sorted(arcs, key=lambda arc: arc.is_chosen)
        if arc.source in places and arc.target in places
    )
    drawn += "".join(_dot(places[dot.number], dot) for dot in dots)
    path = " ".join(dot.label for dot in dots if dot.is_chosen)
    name = f"Graph of {len(dots)} vertices; the path: {path}"
    return (
        '<div style="overflow-x: auto"><svg role="img" fill="none" stroke="currentColor" '
        f'width="{width}" height="{_TOP + _LABELS}" aria-label="{escape(name)}">{drawn}</svg></div>'
    )


def _arc(start: float, end: float, arc: Arc) -> str:
    top = max(0.0, _TOP - 12 - 2 * _PER_STEP * (end - start))
    look = 'stroke-width="3"' if arc.is_chosen else f'opacity="{0.1 + 0.5 * arc.prob:.2f}"'
    curve = f"M{start:g} {_TOP} Q{(start + end) / 2:g} {top:g} {end:g} {_TOP}"
    return f'<path d="{curve}" {look}/>'


def _dot(place: float, dot: Dot) -> str:
    size, weight = (5, 700) if dot.is_chosen else (3, 400)
    return (
        f'<circle cx="{place:g}" cy="{_TOP}" r="{size}" fill="currentColor" stroke="none"/>'
        f'<text x="{place:g}" y="{_TOP + 16}" transform="rotate(45 {place:g} {_TOP + 16})" '
        f'font-size="12" font-weight="{weight}" fill="currentColor" stroke="none">'
        f"{escape(dot.label)}</text>"
    )
