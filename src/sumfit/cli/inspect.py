"""``sumfit inspect "text"``: the graph behind a summary, in 80 columns."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from sumfit.cli.options import LengthFlags, ModelFlags, SummaryFlags, with_flags
from sumfit.cli.terminal import printable
from sumfit.cli.text import read_text
from sumfit.errors import ConfigError
from sumfit.hypothesis import Summary
from sumfit.pipeline.inspection import Inspection

__all__ = ["inspect", "render"]

_WIDTH = 80
_DEFAULT = {"max_chars": 80}
_WORD_WIDTH = 16


@with_flags(length=LengthFlags, summary=SummaryFlags, model=ModelFlags)
def inspect(
    text: Annotated[
        str | None, typer.Argument(help="The text; standard input if left out or -.")
    ] = None,
    words: Annotated[int, typer.Option(help="Words listed at each vertex.", min=1, max=10)] = 3,
    links: Annotated[int, typer.Option(help="Links listed at each vertex.", min=0, max=10)] = 2,
    min_prob: Annotated[
        float, typer.Option(help="Least probability of a link in --json, from 0 to 1.")
    ] = 0.02,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
    *,
    length: LengthFlags,
    summary: SummaryFlags,
    model: ModelFlags,
) -> None:
    """Show what the model predicts for a text, and the path that the summary takes.

    Without a length, that of a summary of at most 80 characters.

    sumfit inspect "A long text ..." --max-words 8

    sumfit inspect "A long text ..." --max-chars 60 --json
    """
    if not 0 <= min_prob <= 1:  # click's own range lets nan through
        raise ConfigError(f"min_prob must be between 0 and 1, was {min_prob}")
    keywords: dict[str, Any] = {**(length.keywords() or _DEFAULT), **summary.keywords()}
    found = model.load(n_workers=1).inspect(read_text(text), **keywords)
    if as_json:
        facts = found.to_dict(n_words=words, min_prob=min_prob)
        print(json.dumps(facts, ensure_ascii=False, allow_nan=False))
        return
    print(render(found, n_words=words, n_links=links))


def render(found: Inspection, *, n_words: int = 3, n_links: int = 2) -> str:
    """Draw a graph as lines of at most 80 columns.

    One line per vertex: a mark if it lies on the path, how probable it is to be passed, its best
    words, its best links. Vertices that are neither on the path nor probable are left out.

    Args:
        found: What to draw.
        n_words: Words at each vertex.
        n_links: Links at each vertex.

    Returns:
        The drawing.
    """
    summary, dag = found.summary, found.dag
    proof = "proved best" if summary.optimal else f"gap {summary.gap:.3g} nats"
    lines = [
        f"summary   {printable(summary.text)}",
        f"length    {summary.length} of {summary.limit} {summary.unit}, "
        + ("complete" if summary.complete else "incomplete"),
        f"log prob  {summary.log_prob:.3f}, score {summary.score:.3f} ({_bonus(summary)}), {proof}",
        f"graph     {found.n_source} source pieces, {dag.n_vertices} vertices, "
        f"{dag.n_candidates} candidate words",
        "",
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
        names = [f"{_word(word.text)} {word.prob:.2f}" for word in view.words]
        if view.chosen is not None and view.chosen not in [word.text for word in view.words]:
            names.append(f"{_word(view.chosen)} (chosen)")
        if not view.words:
            names = ["<start>" if view.index == 0 else "<end>"]
        targets = sorted(best_links.get(view.index, []), reverse=True)[:n_links]
        arrows = " ".join(f"{target}:{prob:.2f}" for prob, target in targets)
        head = f"{mark}{view.index:>5} {view.reach:>5.2f}  {'  '.join(names)}"
        lines.append((f"{head} -> {arrows}" if arrows else head)[:_WIDTH].rstrip())
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


def _word(piece: str) -> str:
    shown = printable(piece).replace("\n", "\\n")
    shown = shown[1:] if shown.startswith(" ") else f"+{shown}"
    return shown if len(shown) <= _WORD_WIDTH else shown[: _WORD_WIDTH - 1] + "…"
