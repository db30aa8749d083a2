"""How results look in a notebook: small pieces of HTML, with every text escaped.

Owns the markup. Does not own what is shown (`sumfit.hypothesis`, `sumfit.pipeline.inspection`).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["card", "table"]

_BAR = 240  # pixels of a limit


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
