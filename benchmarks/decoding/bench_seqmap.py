"""Time exact SeqMAP: bound and search, one thread, one graph at a time.

Run with ``--texts newsapi/valid.jsonl.xz`` for graphs that the default model
predicts for real texts (one per length request), ``--graphs DIR`` for graphs that ``DAG.save``
wrote (``*.npz``), or ``--random`` for made-up graphs. Timed: `decode` from the arrays of a graph
to the n-best list, after a warm-up, as processor time of the one thread, so that a busy machine
does not count; constraints are compiled outside, and timed on their own. Not timed: the model,
reading files.

Real texts get the model's own bonus for the unit, made-up and saved graphs 0.5 nats a piece, unless
``--bonus`` (nats a piece) says otherwise.

Printed per setting: median and 99th percentile in ms; share certified over the whole vocabulary,
and certified within 20 ms; median, 99th percentile and most expansions; expansions per piece.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sumfit import Summarizer
from sumfit.constraints.compile import Constraints
from sumfit.dag import DAG
from sumfit.decoding import decode, decode_all_lengths
from sumfit.length import LengthBudget, unit_costs
from sumfit.text import normalize

VOCAB_SIZE = 16_384


@dataclass(frozen=True)
class Setting:
    """One row of the report."""

    name: str
    unit: str
    budget: LengthBudget
    n_best: int = 1
    is_constrained: bool = False


SETTINGS = (
    Setting("8 words", "words", LengthBudget(max=8)),
    Setting("8 words, constrained", "words", LengthBudget(max=8), is_constrained=True),
    Setting("exactly 8 words", "words", LengthBudget(exact=8)),
    Setting("8 words, 20-best", "words", LengthBudget(max=8), n_best=20),
    Setting("60 chars", "chars", LengthBudget(max=60)),
    Setting("60 chars, constrained", "chars", LengthBudget(max=60), is_constrained=True),
    Setting("280 chars", "chars", LengthBudget(max=280)),
)


def random_graph(
    rng: np.random.Generator, *, n_vertices: int, words_per_vertex: int, length: int | None = None
) -> DAG:
    """A graph like a trained model's: three planted outputs that share words, over peaked noise.

    The outputs have a quarter as many pieces as the graph has vertices, or the length given, and
    most links are about as long as such an output needs.
    """
    n = n_vertices
    n_modes = 3
    stride = 3.0 if length is None else 0.75 * n / length
    length = n // 4 if length is None else length
    pool = rng.choice(np.arange(4, VOCAB_SIZE), size=600, replace=False)
    prob = np.zeros((n, VOCAB_SIZE))
    for j in range(1, n - 1):  # vertices off every planted path: flat, near-by words in common
        near = pool[(np.arange(40) + 6 * j) % 600]
        prob[j, near] += rng.dirichlet(np.full(40, 0.15))
    link = rng.gamma(0.4, size=(n, n)) + 1e-6
    gap = np.arange(n)[None, :] - np.arange(n)[:, None]
    link *= np.where(gap > 0, np.exp(-np.abs(gap - stride) / (2 * stride / 3)), 0.0)
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


def read_texts(path: Path, n: int) -> list[str]:
    """The first n sources of a file, normalised."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [normalize(json.loads(line)["source"]) for line in itertools.islice(file, n)]


def measure(
    graphs: list[DAG],
    setting: Setting,
    costs: tuple[np.ndarray, np.ndarray],
    bonus: dict[str, float],
    constraints: list[Any],
) -> str:
    """Decode every graph once and describe times, certificates and work."""
    arguments: dict[str, Any] = {
        "unit_cost": costs[0],
        "first_cost": costs[1],
        "budget": setting.budget,
        "n_best": setting.n_best,
        "words_per_vertex": None,
        **bonus,
    }
    for graph, compiled in zip(graphs[:5], constraints, strict=False):
        decode(graph, constraints=compiled, **arguments)
    times, results = [], []
    for graph, compiled in zip(graphs, constraints, strict=True):
        start = time.thread_time()
        results.append(decode(graph, constraints=compiled, **arguments))
        times.append((time.thread_time() - start) * 1e3)
    certified = np.array([all(item.optimal for item in found) for found in results])
    in_time = certified & (np.array(times) < 20)
    expanded = np.array([found.n_expanded for found in results])
    pieces = np.array([len(found.best.words) for found in results])
    return (
        f"{setting.name:22s} median {np.median(times):6.2f} ms, p99 {np.percentile(times, 99):6.2f}"
        f"; certified {certified.mean():7.2%}, in 20 ms {in_time.mean():7.2%}; expansions"
        f" {np.median(expanded):.0f}, p99 {np.percentile(expanded, 99):.0f}, most"
        f" {expanded.max()}; {np.median(expanded / pieces):.2f} a piece"
    )


def run_random(n: int, words_per_vertex: int, bonus: dict[str, float]) -> None:
    """Time made-up graphs of two sizes."""
    rng = np.random.default_rng(0)
    for size in (48, 128):
        graphs = [
            random_graph(rng, n_vertices=size, words_per_vertex=words_per_vertex) for _ in range(n)
        ]
        print(f"made-up graphs, S {size}, W {np.median([g.n_candidates for g in graphs]):.0f}")
        for setting in SETTINGS:
            if setting.is_constrained or (size == 48 and setting.budget.high == 280):
                continue
            costs = random_costs(setting.unit)
            print("  " + measure(graphs, setting, costs, bonus, [None] * n), flush=True)


def run_saved(directory: Path, bonus: dict[str, float]) -> None:
    """Time saved graphs with made-up costs."""
    graphs = [DAG.load(path) for path in sorted(directory.glob("*.npz"))]
    print(f"{len(graphs)} graphs of {directory}")
    for setting in SETTINGS:
        if not setting.is_constrained:
            costs = random_costs(setting.unit)
            print("  " + measure(graphs, setting, costs, bonus, [None] * len(graphs)), flush=True)


def run_texts(path: Path, n: int, model: Path | None, given: dict[str, float]) -> None:
    """Time the graphs that a model predicts for real texts, with and without constraints."""
    fit = Summarizer.from_pretrained(model)
    lexicon, tokenizer = fit.model.lexicon, fit.tokenizer
    texts = read_texts(path, n)
    options = Constraints.recommended()
    options.compile(tokenizer, lexicon, texts[0])
    start = time.thread_time()
    compiled = [options.compile(tokenizer, lexicon, text) for text in texts]
    each = (time.thread_time() - start) / n * 1e3
    print(f"{n} texts of {path.parent.name}; compiling constraints takes {each:.3f} ms a text")
    graphs: list[DAG] = []
    asked: tuple[str, int] = ("", 0)
    for setting in SETTINGS:
        if asked != (setting.unit, setting.budget.high):
            asked = (setting.unit, setting.budget.high)
            graphs = [fit.graph(text, **{f"max_{asked[0]}": asked[1]}) for text in texts]
            shape = [(graph.n_vertices, graph.n_candidates) for graph in graphs]
            print("  median S {:.0f}, W {:.0f}".format(*np.median(shape, axis=0)))
        costs, config = unit_costs(tokenizer, setting.unit), fit.model.config
        bonus = given or {
            "bonus": config.bonus_for(setting.unit),
            "unit_bonus": config.unit_bonus_for(setting.unit),
        }
        pair = (costs.cost, costs.first_cost)
        rules = compiled if setting.is_constrained else [None] * n
        print("  " + measure(graphs, setting, pair, bonus, rules), flush=True)
        if setting.name == "60 chars":
            start = time.thread_time()
            for graph in graphs:
                decode_all_lengths(
                    graph,
                    unit_cost=pair[0],
                    first_cost=pair[1],
                    budget=setting.budget,
                    words_per_vertex=None,
                    **bonus,
                )
            each = (time.thread_time() - start) / n * 1e3
            print(f"  every limit up to 60 chars: mean {each:.2f} ms", flush=True)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--texts", type=Path, help="jsonl.xz file with 'source' texts")
    source.add_argument("--graphs", type=Path, help="directory of graphs written by DAG.save")
    source.add_argument("--random", action="store_true", help="made-up graphs")
    parser.add_argument("--n", type=int, default=100, help="texts, or made-up graphs per size")
    parser.add_argument(
        "--model", type=Path, help="model directory; the default model if not given"
    )
    parser.add_argument("--words-per-vertex", type=int, default=8, help="of made-up graphs")
    parser.add_argument("--bonus", type=float)
    args = parser.parse_args()
    bonus = {} if args.bonus is None else {"bonus": args.bonus}
    if args.random:
        run_random(args.n, args.words_per_vertex, bonus or {"bonus": 0.5})
    elif args.graphs:
        run_saved(args.graphs, bonus or {"bonus": 0.5})
    else:
        run_texts(args.texts, args.n, args.model, bonus)


if __name__ == "__main__":
    main()
