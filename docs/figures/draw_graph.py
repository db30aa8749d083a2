"""Draw a graph with PathMAP's best path and SeqMAP's best sequence as an SVG file.

``python docs/figures/draw_graph.py example docs/figures/example.svg`` draws the worked example of
``docs/algorithms.md``; ``python docs/figures/draw_graph.py text docs/figures/real.svg
"Long text ..." --max-words 6`` the graph that the default model makes of a text.

Vertices stand on a line from left to right with their likeliest words below. Grey arcs are links,
wide where probable; blue arcs the links of SeqMAP's sequence, wide by their share of its
probability (Eq. A1, forwards and backwards); the orange line is PathMAP's best path.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np

from sumfit.dag import DAG
from sumfit.decoding import decode
from sumfit.length import LengthBudget

GREY, BLUE, ORANGE = "#9aa0a6", "#1a73e8", "#e8710a"
LEAST = 0.02  # links below this probability are not drawn


def link_shares(dag: DAG, words: tuple[int, ...]) -> np.ndarray:
    """Share of each link in the probability of the words: ``(S, S)``, from and to, 0 to 1."""
    links = np.exp(dag.link_logp.astype(np.float64))
    links[np.tril_indices(dag.n_vertices)] = 0.0
    columns = np.searchsorted(dag.word_ids, words)
    emits = np.exp(dag.word_logp[:, columns].astype(np.float64))
    emits[[0, -1]] = 0.0
    forward = [np.eye(dag.n_vertices)[0]]
    for place in range(len(words)):
        forward.append(forward[-1] @ links * emits[:, place])
    backward = [links[:, -1]]
    for place in range(len(words) - 1, -1, -1):
        backward.append(links @ (emits[:, place] * backward[-1]))
    backward = backward[::-1]
    shares = np.zeros_like(links)
    for place in range(len(words)):
        shares += forward[place][:, None] * links * (emits[:, place] * backward[place + 1])
    shares[:, -1] += forward[-1] * links[:, -1]
    return shares / backward[0][0]


def draw(dag: DAG, name: Callable[[int], str], budget: LengthBudget, unit_cost: np.ndarray) -> str:
    """Make the SVG text of a graph."""
    options = {"unit_cost": unit_cost, "budget": budget}
    best = decode(dag, **options).best
    path = decode(dag, method="pathmap", **options).best
    shares = link_shares(dag, best.words)
    n = dag.n_vertices
    step, rows = 130 if n < 12 else 62, 3
    width, middle = step * (n - 1) + 140, 60 + min(260, 26 * n)
    links = np.exp(dag.link_logp.astype(np.float64))

    def x(vertex: int) -> float:
        return 70 + step * vertex

    def arc(i: int, j: int, colour: str, wide: float, above: bool, opacity: float) -> str:
        height = min(middle - 50, 22 + 0.3 * (x(j) - x(i)))
        if not above:
            height = -min(38, 0.55 * height)
        return (
            f'<path d="M{x(i):.0f},{middle} Q{(x(i) + x(j)) / 2:.0f},{middle - 2 * height:.0f} '
            f'{x(j):.0f},{middle}" fill="none" stroke="{colour}" stroke-width="{wide:.2f}" '
            f'stroke-opacity="{opacity:.2f}"/>'
        )

    parts = []
    for i in range(n - 1):
        for j in range(i + 1, n):
            if links[i, j] >= LEAST:
                parts.append(arc(i, j, GREY, 0.5 + 4 * links[i, j], True, 0.55))
    for i in range(n - 1):
        for j in range(i + 1, n):
            if shares[i, j] >= LEAST:
                parts.append(arc(i, j, BLUE, 0.5 + 5 * shares[i, j], True, 0.9))
    assert path.path is not None
    chain = [0, *path.path, n - 1]
    parts += [arc(i, j, ORANGE, 2.5, False, 1.0) for i, j in itertools.pairwise(chain)]
    for vertex in range(n):
        parts.append(
            f'<circle cx="{x(vertex):.0f}" cy="{middle}" r="9" fill="#fff" stroke="#3c4043"/>'
            f'<text x="{x(vertex):.0f}" y="{middle + 3.5}" font-size="9" fill="#3c4043">'
            f"{vertex}</text>"
        )
        labels = ["start"] if vertex == 0 else ["end"] if vertex == n - 1 else []
        if not labels:
            order = np.argsort(-dag.word_logp[vertex], kind="stable")[:rows]
            prob = np.exp(dag.word_logp[vertex, order])
            labels = [
                f"{name(int(dag.word_ids[v]))} {p:.2f}"
                for v, p in zip(order, prob, strict=True)
                if p >= LEAST
            ]
        for row, label in enumerate(labels):
            y = middle + 66 + 15 * row + (48 * (vertex % 2) if n >= 12 else 0)
            parts.append(
                f'<text x="{x(vertex):.0f}" y="{y}" font-size="11" fill="#5f6368">'
                f"{escape(label)}</text>"
            )
    height = middle + (190 if n < 12 else 214)
    for row, (colour, label, item) in enumerate(
        ((BLUE, "SeqMAP", best), (ORANGE, "PathMAP", path))
    ):
        text = " ".join("".join(name(word) for word in item.words).split())
        if n < 12:
            text = " ".join(name(word) for word in item.words)
        prob = np.exp(item.log_prob)
        parts.append(
            f'<text x="20" y="{height - 34 + 18 * row}" font-size="13" fill="{colour}" '
            f'text-anchor="start">{label}: {escape(text)} (probability {prob:.4g})</text>'
        )
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" text-anchor="middle">\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def example() -> str:
    """Draw the worked example."""
    links, words = np.zeros((5, 5)), np.zeros((5, 3))
    links[0, 1:3] = 0.6, 0.4
    links[1, 2:4] = 0.5, 0.5
    links[2, 3:5] = 0.6, 0.4
    links[3, 4] = 1.0
    words[1], words[2], words[3] = (0.6, 0.4, 0), (0, 0.6, 0.4), (0.1, 0, 0.9)
    with np.errstate(divide="ignore"):
        dag = DAG.from_dense(np.log(words), np.log(links))
    names = ("bank", "rates", "cut")
    return draw(dag, lambda v: names[v], LengthBudget(exact=2), np.ones(3, dtype=np.int32))


def main() -> None:
    """Draw what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("example", "text"))
    parser.add_argument("file", type=Path)
    parser.add_argument("text", nargs="?", default="")
    parser.add_argument("--max-words", type=int, default=8)
    arguments = parser.parse_args()
    if arguments.what == "example":
        svg = example()
    else:
        from sumfit import Summarizer
        from sumfit.length import unit_costs

        fit = Summarizer.from_pretrained()
        dag = fit.graph(arguments.text, max_words=arguments.max_words).restrict(5)
        costs = unit_costs(fit.tokenizer, "words").cost
        pieces = fit.tokenizer.piece_bytes
        svg = draw(
            dag,
            lambda v: pieces[v].decode("utf-8", "replace"),
            LengthBudget(max=arguments.max_words),
            costs,
        )
    arguments.file.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
