"""Time exact SeqMAP: bound and search, one thread, one graph at a time.

Run ``python benchmarks/decoding/bench_seqmap.py --random`` for made-up graphs or
``--graphs DIR`` for graphs that ``DAG.save`` wrote (``*.npz``). Timed: `decode` from the arrays
of a graph to the n-best list, after one warm-up. Not timed: the model, reading files.

Printed per setting: median and 99th percentile in ms, share certified over the whole vocabulary,
share finished by itself, and median and most expansions with the ratio to the pieces found.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sumfit.dag import DAG
from sumfit.decoding import decode, decode_all_lengths
from sumfit.length import LengthBudget

VOCAB_SIZE = 16_384


@dataclass(frozen=True)
class Setting:
    name: str
    unit: str
    budget: LengthBudget
    n_best: int = 1


SETTINGS = (
    Setting("8 words", "words", LengthBudget(max=8)),
    Setting("exactly 8 words", "words", LengthBudget(exact=8)),
    Setting("60 chars", "chars", LengthBudget(max=60)),
    Setting("280 chars", "chars", LengthBudget(max=280)),
    Setting("8 words, 20-best", "words", LengthBudget(max=8), n_best=20),
)


def random_graph(rng: np.random.Generator, *, n_vertices: int, words_per_vertex: int) -> DAG:
    """A graph like a trained model's: three planted outputs that share words, over peaked noise."""
    n = n_vertices
    n_modes, length = 3, n // 4
    pool = rng.choice(np.arange(4, VOCAB_SIZE), size=600, replace=False)
    prob = np.zeros((n, VOCAB_SIZE))
    for j in range(1, n - 1):  # vertices off every planted path: flat, near-by words in common
        near = pool[(np.arange(40) + 6 * j) % 600]
        prob[j, near] += rng.dirichlet(np.full(40, 0.15))
    link = rng.gamma(0.4, size=(n, n)) + 1e-6
    gap = np.arange(n)[None, :] - np.arange(n)[:, None]
    link *= np.where(gap > 0, np.exp(-np.abs(gap - 3) / 2.0), 0.0)
    link[0, 8:] *= 1e-3
    link[:-1] /= link[:-1].sum(axis=1, keepdims=True)
    shared = rng.choice(pool, size=length)
    for _ in range(n_modes):
        size = length - int(rng.integers(0, 3))
        path = np.sort(rng.choice(np.arange(1, n - 1), size=size, replace=False))
        words = np.where(rng.random(size) < 0.6, shared[:size], rng.choice(pool, size=size))
        for here, there, word in zip(path, [*path[1:], n - 1], words, strict=True):
            peak = rng.beta(4.0, 1.5)
            prob[here] *= 1 - peak
            prob[here, word] += peak
            peak = rng.beta(3.0, 1.5)
            link[here] *= 1 - peak
            link[here, there] += peak
        link[0] *= 0.6
        link[0, path[0]] += 0.4
    prob = prob * 0.98 + 0.02 / VOCAB_SIZE
    ids = np.unique(np.argpartition(-prob[1:-1], words_per_vertex, axis=1)[:, :words_per_vertex])
    outside = np.partition(prob, -words_per_vertex, axis=1)[:, -words_per_vertex]
    with np.errstate(divide="ignore"):
        return DAG(
            word_ids=ids.astype(np.int32),
            word_logp=np.log(prob[:, ids]).astype(np.float32),
            link_logp=np.log(link).astype(np.float32),
            other_logp=np.log(outside).astype(np.float32),
            vocab_size=VOCAB_SIZE,
        )


def random_costs(unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Costs like a tokenizer's: 60 % of the pieces start a word, pieces have 1-9 characters."""
    rng = np.random.default_rng(1)
    starts = rng.random(VOCAB_SIZE) < 0.6
    if unit == "words":
        return starts.astype(np.int32), np.ones(VOCAB_SIZE, dtype=np.int32)
    length = rng.integers(1, 10, size=VOCAB_SIZE)
    return (length + starts).astype(np.int32), length.astype(np.int32)


def load_graphs(directory: Path) -> list[DAG]:
    return [DAG.load(path) for path in sorted(directory.glob("*.npz"))]


def measure(graphs: list[DAG], setting: Setting, options: dict[str, Any]) -> str:
    cost, first = random_costs(setting.unit)
    arguments = options | {
        "unit_cost": cost,
        "first_cost": first,
        "budget": setting.budget,
        "n_best": setting.n_best,
    }
    decode(graphs[0], **arguments)
    times, results = [], []
    for graph in graphs:
        start = time.perf_counter()
        results.append(decode(graph, **arguments))
        times.append((time.perf_counter() - start) * 1e3)
    certified = np.mean([all(item.optimal for item in found) for found in results])
    complete = np.mean([found.is_complete for found in results])
    expanded = np.array([found.n_expanded for found in results])
    pieces = np.array([len(found.best.words) for found in results])
    return (
        f"{setting.name:18s} median {np.median(times):7.2f} ms  p99 {np.percentile(times, 99):7.2f} ms"
        f"  certified {certified:6.1%}  complete {complete:6.1%}"
        f"  expansions {np.median(expanded):5.0f} (max {expanded.max()}),"
        f" {np.median(expanded / pieces):.2f} a piece, {np.median(pieces):.0f} pieces"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--graphs", type=Path, help="directory of graphs written by DAG.save")
    source.add_argument("--random", action="store_true", help="made-up graphs")
    parser.add_argument("--n", type=int, default=100, help="made-up graphs per size")
    parser.add_argument("--words-per-vertex", type=int, default=5)
    parser.add_argument("--bonus", type=float, default=0.5)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    sizes = (48, 128) if args.random else (0,)
    for size in sizes:
        graphs = (
            [
                random_graph(rng, n_vertices=size, words_per_vertex=args.words_per_vertex)
                for _ in range(args.n)
            ]
            if args.random
            else load_graphs(args.graphs)
        )
        n_words = np.median([graph.n_candidates for graph in graphs])
        n_vertices = np.median([graph.n_vertices for graph in graphs])
        print(f"{len(graphs)} graphs, median S {n_vertices:.0f}, W {n_words:.0f}")
        options = {"bonus": args.bonus, "words_per_vertex": None}
        for setting in SETTINGS:
            if size == 48 and setting.budget.high == 280:
                continue
            print("  " + measure(graphs, setting, options), flush=True)
        cost, first = random_costs("chars")
        start = time.perf_counter()
        for graph in graphs:
            decode_all_lengths(
                graph, unit_cost=cost, first_cost=first, budget=LengthBudget(max=60), **options
            )
        each = (time.perf_counter() - start) / len(graphs) * 1e3
        print(f"  all limits to 60 chars: mean {each:.2f} ms")


if __name__ == "__main__":
    main()
