"""Time all decoders on one CPU thread, against the plain loops, and as the problem grows.

Run ``python benchmarks/decoding/bench_decoders.py [methods|ratio|growth] [--graphs DIR]``; DIR
holds graphs by ``save_graphs.py``, else they are made up like a trained model's. Timed:
`decode` from a graph to the n-best list, by the clock of this thread, after one warm-up (compiled
loops are then in the cache). Not timed: the model, reading files.

methods  median and 99th percentile of every method at about S=48 and 8 words, share certified,
         and share that finds exact SeqMAP's score.
ratio    the plain-loop table of `sumfit.decoding.reference` at S=64, T=16, V=10,000, K=20, V=5
         (the paper's setting), and how many times faster the compiled methods are there. Both go
         from the same `DAG` over the whole vocabulary to the n-best list: what the loops take to
         unpack it into Python lists counts (its time is printed), and so do the compiled methods'
         choice of the 5 words a vertex, their arrays and their bounds. Nothing is kept from call
         to call. Least of 5 and of 100 runs.
growth   median time against S (outputs of about 20 pieces, as summaries have whatever the length
         of the source), limit and K; ``--svg FILE`` draws it.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench_seqmap import random_costs, random_graph

from sumfit import Summarizer
from sumfit.dag import DAG
from sumfit.decoding import decode, reference
from sumfit.length import LengthBudget, unit_costs

Costs = Callable[[str], tuple[np.ndarray, np.ndarray]]
METHODS = ("greedy", "lookahead", "pathmap", "seqmap", "seqmap-beam", "seqmap-table", "sample")


def milliseconds(run: Callable[[], Any]) -> float:
    """Time one call by the clock of this thread, which other processes do not disturb."""
    start = time.thread_time()
    run()
    return 1e3 * (time.thread_time() - start)


def model_costs(unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Costs of the default model's tokenizer."""
    costs = unit_costs(Summarizer.from_pretrained().tokenizer, unit)
    return costs.cost, costs.first_cost


def methods(graphs: list[DAG], costs_of: Costs) -> None:
    """Print one line per method and budget."""
    for unit, budget, bonus in (
        ("words", LengthBudget(max=8), 0.5),
        ("words", LengthBudget(exact=8), 0.0),
        ("chars", LengthBudget(max=60), 0.5),
    ):
        cost, first = costs_of(unit)
        options = {"unit_cost": cost, "first_cost": first, "budget": budget, "bonus": bonus}
        options |= {"words_per_vertex": 5, "seed": 0}
        least = f"{budget.low} to " if budget.low else "at most "
        print(f"{least}{budget.high} {unit}, K=20, {len(graphs)} graphs")
        best = [decode(graph, **options).best.score for graph in graphs]
        for method in METHODS:
            decode(graphs[0], method=method, **options)
            times, found = [], []
            for graph in graphs:
                start = time.thread_time()
                found.append(decode(graph, method=method, **options).best)
                times.append(1e3 * (time.thread_time() - start))
            optimal = np.mean([item.optimal for item in found])
            reached = [
                item.log_prob + bonus * len(item.words) > score - 1e-6
                and budget.low <= item.cost <= budget.high
                for item, score in zip(found, best, strict=True)
            ]
            print(
                f"  {method:<13} median {np.median(times):7.3f} ms   p99 "
                f"{np.percentile(times, 99):7.3f} ms   certified {optimal:6.1%}   "
                f"best score {np.mean(reached):6.1%}"
            )


def dense_graph(rng: np.random.Generator, n_vertices: int, vocab_size: int) -> DAG:
    """A graph over a whole vocabulary, peaked like a softmax of a trained model."""
    words = rng.normal(size=(n_vertices, vocab_size)) * 2.5
    links = rng.normal(size=(n_vertices, n_vertices)) * 2.5
    links[np.tril_indices(n_vertices)] = -np.inf
    words -= np.logaddexp.reduce(words, axis=1, keepdims=True)
    links[:-1] -= np.logaddexp.reduce(links[:-1], axis=1, keepdims=True)
    return DAG.from_dense(words, links)


def ratio() -> None:
    """Print how many times faster than the plain loops the compiled methods are."""
    cost, budget = np.ones(10_000, dtype=np.int32), LengthBudget(exact=16)
    print("S=64, T=16, V=10,000, K=20, 5 words a vertex; log-probability of the best")
    for seed in range(3):
        dag = dense_graph(np.random.default_rng(seed), 64, 10_000)
        unpack = functools.partial(reference.Problem, dag, unit_cost=cost, budget=budget)
        plain = reference.seqmap_table(unpack(), beam_size=20, words_per_vertex=5)

        def loops(unpack: Callable[[], reference.Problem] = unpack) -> None:
            reference.seqmap_table(unpack(), beam_size=20, words_per_vertex=5)

        slow, lists = (min(milliseconds(run) for _ in range(5)) for run in (loops, unpack))
        print(
            f"  plain loops   {slow:9.1f} ms            {plain[0].log_prob:.4f}"
            f"  ({lists:.1f} ms of it for lists)"
        )
        for method in ("seqmap-table", "seqmap-beam", "seqmap", "pathmap"):
            run = functools.partial(decode, dag, method=method, unit_cost=cost, budget=budget)
            found = run().best
            fast = min(milliseconds(run) for _ in range(100))
            print(
                f"  {method:<13} {fast:9.3f} ms  {slow / fast:6.0f} x  {found.log_prob:.4f}"
                + ("  certified" if found.optimal else "")
            )


def growth(svg: Path | None) -> None:
    """Print, and draw if asked for, how time grows with S, the limit and K."""
    rng = np.random.default_rng(0)
    series: dict[str, dict[str, list[tuple[int, float]]]] = {}

    def time_at(graphs: list[DAG], unit: str, limit: int, method: str, beam_size: int) -> float:
        cost, first = random_costs(unit)
        options = {"unit_cost": cost, "first_cost": first, "budget": LengthBudget(max=limit)}
        options |= {"bonus": 0.5, "words_per_vertex": 5, "beam_size": beam_size}
        decode(graphs[0], method=method, **options)
        return float(
            np.median(
                [milliseconds(lambda g=g: decode(g, method=method, **options)) for g in graphs]
            )
        )

    def graphs_of(size: int, length: int | None) -> list[DAG]:
        return [
            random_graph(rng, n_vertices=size, words_per_vertex=5, length=length) for _ in range(9)
        ]

    by_size = {size: graphs_of(size, 20) for size in (32, 64, 128, 256, 512)}
    long, short = graphs_of(128, None), graphs_of(64, None)
    for method in ("pathmap", "seqmap", "seqmap-beam"):
        series.setdefault("S, at most 16 words", {})[method] = [
            (size, time_at(graphs, "words", 16, method, 20)) for size, graphs in by_size.items()
        ]
        series.setdefault("limit in characters, S=128", {})[method] = [
            (limit, time_at(long, "chars", limit, method, 20))
            for limit in (4, 16, 40, 80, 160, 280)
        ]
    for method in ("seqmap-beam", "seqmap-table"):
        series.setdefault("K, S=64, at most 16 words", {})[method] = [
            (k, time_at(short, "words", 16, method, k)) for k in (1, 5, 20, 80)
        ]
    for title, lines in series.items():
        print(title)
        for method, points in lines.items():
            print(f"  {method:<13} " + "  ".join(f"{at}: {ms:.2f} ms" for at, ms in points))
    if svg is not None:
        svg.write_text(draw(series), encoding="utf-8")


def draw(series: dict[str, dict[str, list[tuple[int, float]]]]) -> str:
    """Draw one panel per series, both axes logarithmic."""
    colours = {"pathmap": "#e8710a", "seqmap": "#1a73e8", "seqmap-beam": "#188038"}
    parts = []
    width, height, room = 300, 220, 46
    values = [ms for lines in series.values() for points in lines.values() for _, ms in points]
    low, high = np.log10(min(values)) - 0.1, np.log10(max(values)) + 0.1
    for panel, (title, lines) in enumerate(series.items()):
        left = panel * (width + room) + room
        at = [x for points in lines.values() for x, _ in points]
        begin, end = np.log10(min(at)), np.log10(max(at))

        def place(x: float, ms: float, left=left, begin=begin, end=end) -> tuple[float, float]:
            across = (np.log10(x) - begin) / (end - begin)
            return left + width * across, 30 + height * (high - np.log10(ms)) / (high - low)

        parts.append(
            f'<rect x="{left}" y="30" width="{width}" height="{height}" fill="none" '
            f'stroke="#9aa0a6"/><text x="{left + width / 2}" y="20">{title}</text>'
        )
        for x in sorted(set(at)):
            parts.append(f'<text x="{place(x, 1)[0]:.0f}" y="{height + 46}">{x}</text>')
        for power in range(int(np.ceil(low)), int(np.floor(high)) + 1):
            y = place(min(at), 10.0**power)[1]
            parts.append(
                f'<line x1="{left}" x2="{left + width}" y1="{y:.0f}" y2="{y:.0f}" '
                f'stroke="#dadce0"/><text x="{left - 4}" y="{y + 4:.0f}" '
                f'text-anchor="end">{10.0**power:g} ms</text>'
            )
        for row, (method, points) in enumerate(lines.items()):
            colour = colours.get(method, "#9334e6")
            path = " ".join("{:.1f},{:.1f}".format(*place(x, ms)) for x, ms in points)
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
                f'<text x="{left + 8}" y="{46 + 14 * row}" text-anchor="start" '
                f'fill="{colour}">{method}</text>'
            )
    total = len(series) * (width + room) + room
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height + 64}" '
        f'font-family="sans-serif" font-size="11" text-anchor="middle" fill="#3c4043">\n'
        f'<rect width="{total}" height="{height + 64}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="?", choices=("methods", "ratio", "growth"))
    parser.add_argument("--graphs", type=Path, help="directory of graphs written by DAG.save")
    parser.add_argument("--n", type=int, default=100, help="made-up graphs")
    parser.add_argument("--svg", type=Path, help="where growth is drawn")
    arguments = parser.parse_args()
    if arguments.part in (None, "methods"):
        rng = np.random.default_rng(0)
        graphs = (
            [DAG.load(path) for path in sorted(arguments.graphs.glob("*.npz"))]
            if arguments.graphs
            else [random_graph(rng, n_vertices=48, words_per_vertex=5) for _ in range(arguments.n)]
        )
        methods(graphs, model_costs if arguments.graphs else random_costs)
    if arguments.part in (None, "ratio"):
        ratio()
    if arguments.part in (None, "growth"):
        growth(arguments.svg)


if __name__ == "__main__":
    main()
