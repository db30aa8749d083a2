"""An inspection drawn as plain text, as wide as a terminal.

Owns the drawing. Does not own what is drawn (`sumfit.pipeline.inspection`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from wcwidth import wcswidth

from sumfit.hypothesis import Summary
from sumfit.pipeline.inspection import Inspection
from sumfit.text.printable import printable

__all__ = ["render"]

_WORD_WIDTH = 16
_LEGEND = (
    "* on the summary's path; reach: share of all ways that pass here; +x goes on with the word "
    "before; 7:0.52 leads to vertex 7"
)


def render(
    found: Inspection, *, n_words: int = 3, n_links: int = 2, width: int | None = None
) -> str:
    """Draw a graph, one line for each vertex.

    A line has a mark if the vertex lies on the path, how probable it is to be passed, its best
    words, its best links. Vertices that are neither on the path nor probable are left out.

    Args:
        found: What to draw.
        n_words: Words at each vertex.
        n_links: Links at each vertex.
        width: Columns of a terminal: of a vertex with more, whole links and words are left out
            for ``…``. ``None`` for a file or pipe, where nothing is left out.

    Returns:
        The drawing.
    """
    summary, dag = found.summary, found.dag
    proof = "proved best" if summary.optimal else f"gap {summary.gap:.3g} nats"
    if summary.chosen_by != "graph":
        proof = f"{proof} by score; chosen by {summary.chosen_by}"
    lines = [
        f"summary   {printable(summary.text)}",
        f"length    {summary.length} of {summary.limit} {summary.unit}, "
        + ("complete" if summary.complete else "incomplete"),
        f"log prob  {summary.log_prob:.3f}, score {summary.score:.3f} ({_bonus(summary)}), {proof}",
        f"graph     {found.n_source} source pieces, {dag.n_vertices} vertices, "
        f"{dag.n_candidates} candidate words",
        "",
        *(textwrap.wrap(_LEGEND, width) if width else [_LEGEND]),
        f"{'':>6} {'reach':>5}  words (probability) -> links (probability)",
    ]
    on_path = {0, *found.path, dag.n_vertices - 1}
    best_links: dict[int, list[tuple[float, int]]] = {}
    for link in found.links(0.0):
        best_links.setdefault(link.source, []).append((link.prob, link.target))
    skipped = 0
    for view in found.vertices(n_words):
        if view.index not in on_path and view.reach < 0.05:
            skipped += 1
            continue
        mark = "*" if view.index in on_path else " "
        names = [f"{_word(word.text, width)} {word.prob:.2f}" for word in view.words]
        if view.chosen is not None and view.chosen not in [word.text for word in view.words]:
            names.append(f"{_word(view.chosen, width)} (chosen)")
        if not view.words:
            names = ["<start>" if view.index == 0 else "<end>"]
        targets = sorted(best_links.get(view.index, []), reverse=True)[:n_links]
        arrows = [f"{target}:{prob:.2f}" for prob, target in targets]
        lines.append(_line(f"{mark}{view.index:>5} {view.reach:>5.2f}  ", names, arrows, width))
    if skipped:
        what = "1 vertex that is" if skipped == 1 else f"{skipped} vertices that are"
        lines.append(f"{what} hardly ever passed, left out")
    lines.append("")
    lines.append("path      " + " ".join(str(vertex) for vertex in (0, *found.path)) + " end")
    return "\n".join(lines)


def _bonus(summary: Summary) -> str:
    if summary.unit_bonus:
        return f"bonus {summary.unit_bonus:g} per unit of length"
    return f"bonus {summary.bonus:g} per piece"


def _line(head: str, words: Sequence[str], links: Sequence[str], width: int | None) -> str:
    """A vertex's line; of one that is too wide, links and then words are left out whole."""
    shown, arrows = list(words), list(links)
    line = _joined(head, shown, arrows)
    while width is not None and wcswidth(line) > width and len(shown) + len(arrows) > 1:
        (arrows or shown).pop()
        is_cut_at_links = len(shown) == len(words)
        line = _joined(
            head,
            shown if is_cut_at_links else [*shown, "…"],
            [*arrows, "…"] if is_cut_at_links else [],
        )
    return line.rstrip()


def _joined(head: str, words: Sequence[str], links: Sequence[str]) -> str:
    line = head + "  ".join(words)
    return f"{line} -> {' '.join(links)}" if links else line


def _word(piece: str, width: int | None) -> str:
    shown = printable(piece).replace("\n", "\\n")
    shown = shown[1:] if shown.startswith(" ") else f"+{shown}"
    if width is None or len(shown) <= _WORD_WIDTH:
        return shown
    return shown[: _WORD_WIDTH - 1] + "…"
