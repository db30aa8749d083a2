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
         of the source), limit, K, V (words a vertex) and the number of graphs, each up to ten
         times what the default model and the paper have; with the exponent of a line through the
         logarithms, the range it is fitted on, and the slope of the last step alone, as what does
         not grow hides growth at small sizes. ``--svg FILE`` draws it. A line ends where one
         graph takes more than 3 seconds.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench_seqmap import random_costs, random_graph

from sumfit import Summarizer
from sumfit.dag import DAG
from sumfit.decoding import decode, reference
from sumfit.length import LengthBudget, unit_costs

Costs = Callable[[str], tuple[np.ndarray, np.ndarray]]
_MOST_MS = 3000.0  # of one graph
_IN_A_ROW = 3  # panels
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


class Fit(NamedTuple):
    """How time grows.

    Attributes:
        exponent: Slope of the line through the logarithms, by least squares.
        last: Slope of the last step.
        begin: Least size.
        end: Greatest size.
    """

    exponent: float
    last: float
    begin: int
    end: int


def fitted(points: Sequence[tuple[int, float]]) -> Fit:
    """Lay a line through the logarithms of sizes and times; needs two points."""
    sizes, times = np.log(np.array(points, dtype=float)).T
    exponent = np.polyfit(sizes, times, 1)[0]
    last = (times[-1] - times[-2]) / (sizes[-1] - sizes[-2])
    return Fit(float(exponent), float(last), points[0][0], points[-1][0])


class Axis(NamedTuple):
    """One size that grows while the others stay.

    Attributes:
        title: Which, and what the others are.
        values: Its sizes, ascending.
        methods: What is timed.
        at: Graphs, and options of `decode`, for a size.
        is_batch: The graphs of a size count together, else their median does.
    """

    title: str
    values: tuple[int, ...]
    methods: tuple[str, ...]
    at: Callable[[int], tuple[list[DAG], dict[str, Any]]]
    is_batch: bool = False


def axes(n_graphs: int) -> Iterator[Axis]:
    """Everything that grows, with so many graphs of each size."""
    rng = np.random.default_rng(0)

    def options(unit: str, limit: int, *, beam_size: int = 20, words: int = 5) -> dict[str, Any]:
        cost, first = random_costs(unit)
        given = {"unit_cost": cost, "first_cost": first, "budget": LengthBudget(max=limit)}
        return given | {"bonus": 0.5, "beam_size": beam_size, "words_per_vertex": words}

    def graphs(
        size: int, length: int | None = None, *, words: int = 5, n: int = n_graphs
    ) -> list[DAG]:
        return [
            random_graph(rng, n_vertices=size, words_per_vertex=words, length=length)
            for _ in range(n)
        ]

    searches = ("pathmap", "seqmap", "seqmap-beam", "seqmap-table")
    yield Axis(
        "S, at most 16 words",
        (64, 128, 256, 512, 1280),
        searches,
        lambda size: (graphs(size, 20), options("words", 16)),
    )
    long, short, many = graphs(512), graphs(64), graphs(64, n=32)
    yield Axis(
        "limit in characters, S=512",
        (60, 120, 240, 600),
        searches,
        lambda limit: (long, options("chars", limit)),
    )
    yield Axis(
        "K, S=64, at most 16 words",
        (20, 50, 100, 200),
        ("seqmap-beam", "seqmap-table"),
        lambda k: (short, options("words", 16, beam_size=k)),
    )
    yield Axis(
        "V, S=128, at most 16 words",
        (5, 12, 48, 120, 480),
        searches,
        lambda words: (graphs(128, 20, words=words), options("words", 16, words=words)),
    )
    batch = ("seqmap-beam, torch",) if importlib.util.find_spec("torch") else ()
    yield Axis(
        "graphs, S=64, at most 16 words",
        (64, 128, 256, 640),
        (*searches, *batch),
        lambda n: ((many * n)[:n], options("words", 16)),
        is_batch=True,
    )


def decode_many(graphs: list[DAG], method: str, options: dict[str, Any]) -> None:
    """One after the other, or in one batch of torch where the method's name says so."""
    name, _, way = method.partition(", ")
    if not way:
        for graph in graphs:
            decode(graph, method=name, **options)
        return
    import torch

    from sumfit.decoding.device.batch import decode_batch

    torch.set_num_threads(1)
    decode_batch(graphs, method=name, **options)


def time_of(axis: Axis, method: str, graphs: list[DAG], options: dict[str, Any]) -> float:
    """Milliseconds at one size, warmed up."""
    decode_many(graphs[:1], method, options)
    together = [graphs] * 3 if axis.is_batch else [[graph] for graph in graphs]
    return float(
        np.median([milliseconds(lambda g=g: decode_many(g, method, options)) for g in together])
    )


def series_of(axis: Axis) -> dict[str, list[tuple[int, float]]]:
    """Times of each method at each size, up to where one takes too long."""
    lines: dict[str, list[tuple[int, float]]] = {method: [] for method in axis.methods}
    for value in axis.values:
        graphs, options = axis.at(value)
        for method, points in lines.items():
            if not points or points[-1][1] < _MOST_MS * (len(graphs) if axis.is_batch else 1):
                points.append((value, time_of(axis, method, graphs, options)))
    return lines


def growth(svg: Path | None, n_graphs: int) -> None:
    """Print, and draw if asked for, how time grows, with exponents."""
    series = {}
    for axis in axes(n_graphs):
        series[axis.title] = series_of(axis)
        print(axis.title)
        for method, points in series[axis.title].items():
            fit = fitted(points) if len(points) > 1 else None
            slope = f"exponent {fit.exponent:5.2f} over {fit.begin} to {fit.end}" if fit else ""
            last = f", last step {fit.last:5.2f}" if fit else ""
            print(
                f"  {method:<18} {slope}{last}   "
                + "  ".join(f"{at}: {ms:.2f} ms" for at, ms in points),
                flush=True,
            )
    if svg is not None:
        svg.write_text(draw(series), encoding="utf-8")


def draw(series: dict[str, dict[str, list[tuple[int, float]]]]) -> str:
    """Draw one panel per series, three in a row, both axes logarithmic."""
    colours = {"pathmap": "#e8710a", "seqmap": "#1a73e8", "seqmap-beam": "#188038"}
    colours["seqmap-table"] = "#9334e6"
    parts = []
    width, height, room = 300, 220, 58
    values = [ms for lines in series.values() for points in lines.values() for _, ms in points]
    low, high = np.log10(min(values)) - 0.1, np.log10(max(values)) + 0.9  # room for names
    for panel, (title, lines) in enumerate(series.items()):
        left = panel % _IN_A_ROW * (width + room) + room
        top = panel // _IN_A_ROW * (height + 64) + 30
        at = [x for points in lines.values() for x, _ in points]
        begin, end = np.log10(min(at)), np.log10(max(at))

        def place(
            x: float, ms: float, left=left, top=top, begin=begin, end=end
        ) -> tuple[float, float]:
            across = (np.log10(x) - begin) / (end - begin)
            return left + width * across, top + height * (high - np.log10(ms)) / (high - low)

        parts.append(
            f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" '
            f'stroke="#9aa0a6"/><text x="{left + width / 2}" y="{top - 10}">{title}</text>'
        )
        for x in sorted(set(at)):
            parts.append(f'<text x="{place(x, 1)[0]:.0f}" y="{top + height + 16}">{x}</text>')
        for power in range(int(np.ceil(low)), int(np.floor(high)) + 1):
            y = place(min(at), 10.0**power)[1]
            parts.append(
                f'<line x1="{left}" x2="{left + width}" y1="{y:.0f}" y2="{y:.0f}" '
                f'stroke="#dadce0"/><text x="{left - 4}" y="{y + 4:.0f}" '
                f'text-anchor="end">{10.0**power:g} ms</text>'
            )
        for row, (method, points) in enumerate(lines.items()):
            colour = colours.get(method, "#5f6368")
            path = " ".join("{:.1f},{:.1f}".format(*place(x, ms)) for x, ms in points)
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
                f'<text x="{left + 8}" y="{top + 16 + 14 * row}" text-anchor="start" '
                f'fill="{colour}">{method}</text>'
            )
    total = min(len(series), _IN_A_ROW) * (width + room) + room
    tall = -(-len(series) // _IN_A_ROW) * (height + 64)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{tall}" '
        f'font-family="sans-serif" font-size="11" text-anchor="middle" fill="#3c4043">\n'
        f'<rect width="{total}" height="{tall}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="?", choices=("methods", "ratio", "growth"))
    parser.add_argument("--graphs", type=Path, help="directory of graphs written by DAG.save")
    parser.add_argument("--n", type=int, default=100, help="made-up graphs")
    parser.add_argument("--each", type=int, default=5, help="graphs of each size, for growth")
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
        growth(arguments.svg, arguments.each)


if __name__ == "__main__":
    main()
