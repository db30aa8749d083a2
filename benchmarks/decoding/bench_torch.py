"""Time batched decoding on a GPU, after checking it against the CPU.

Run ``python benchmarks/decoding/bench_torch.py`` (``--device cpu --batch 8`` for a dry run).
First a sample of the graphs is decoded by both and compared: certified results must have the same
words, all log-probabilities must be the exact marginals. Then whole batches are timed with CUDA
events, data already on the device, results left there; once as called and, where the host need not
ask what is left to do, once replayed from a CUDA graph. Not timed: the model, packing, copying.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bench_seqmap import VOCAB_SIZE, random_graph

from sumfit.dag import DAG
from sumfit.decoding import decode, marginal_log_prob
from sumfit.decoding.device.batch import (
    BatchResult,
    DAGBatch,
    decode_batch,
    path_map_batch,
    seqmap_beam_batch,
)
from sumfit.length import LengthBudget


def costs_of(unit: str) -> np.ndarray:
    """Costs like those of a real unit: all 1, or 0 for the pieces that go on with a word."""
    if unit == "tokens":
        return np.ones(VOCAB_SIZE, dtype=np.int32)
    return (np.arange(VOCAB_SIZE) % 3 > 0).astype(np.int32)


def check(dags: list[DAG], method: str, device: str, **options: Any) -> str:
    """Compare with the CPU, graph by graph; return a line that says how many were compared."""
    n_same, n_certified = 0, 0
    for dag, found in zip(
        dags, decode_batch(dags, method=method, device=device, **options), strict=True
    ):
        if isinstance(found, Exception):
            raise found
        alone = decode(dag, method=method, **options).best
        best = found.best
        exact = marginal_log_prob(dag, best.words, options["ending"])
        assert abs(best.log_prob - exact) < 1e-4, (best.log_prob, exact)
        same = best.words == alone.words
        if best.optimal and alone.optimal:
            assert same or abs(best.score - alone.score) < 1e-4, (best, alone)
        n_same += same
        n_certified += best.optimal
    return f"{n_same}/{len(dags)} same words as on the CPU, {n_certified} certified"


def milliseconds(run: Callable[[], BatchResult], device: str, repeats: int) -> float:
    """Median time of one call."""
    for _ in range(3):
        run()
    times = []
    for _ in range(repeats):
        if device == "cpu":
            started = time.perf_counter()
            run()
            times.append(1e3 * (time.perf_counter() - started))
            continue
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return float(np.median(times))


def replayed(run: Callable[[], BatchResult]) -> Callable[[], BatchResult]:
    """Record a call in a CUDA graph; return the function that plays it again."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()

    def play() -> BatchResult:
        graph.replay()
        return result

    return play


def main() -> None:
    """Check, time, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--vertices", type=int, default=64)
    parser.add_argument("--limit", type=int, default=16)
    parser.add_argument("--beam-size", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--graphs", type=Path, help="directory of .npz files by DAG.save")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    if arguments.graphs:
        own = [DAG.load(path) for path in sorted(arguments.graphs.glob("*.npz"))]
    else:
        own = [
            random_graph(rng, n_vertices=arguments.vertices, words_per_vertex=5) for _ in range(32)
        ]
    dags = [own[i % len(own)].restrict(5) for i in range(arguments.batch)]
    name = arguments.device
    if name.startswith("cuda"):
        name = torch.cuda.get_device_name()
    print(
        f"{name}: B={len(dags)}, S={arguments.vertices}, limit {arguments.limit}, "
        f"K={arguments.beam_size}"
    )
    print(
        f"{'method':<12} {'unit':<7} {'mode':<8} {'ms':>8} {'replay ms':>10} {'graphs/s':>9}  check"
    )
    for unit in ("tokens", "words"):
        for mode, budget, bonus in (
            ("exact", LengthBudget(exact=arguments.limit), 0.0),
            ("at most", LengthBudget(max=arguments.limit), 1.0),
        ):
            costs = costs_of(unit)
            options = {"unit_cost": costs, "budget": budget, "ending": "eos", "bonus": bonus}
            batch = DAGBatch.pack(
                dags, unit_cost=costs, budgets=[budget] * len(dags), device=arguments.device
            )
            calls = {
                "seqmap-beam": lambda batch=batch, bonus=bonus: seqmap_beam_batch(
                    batch, bonus=bonus, beam_size=arguments.beam_size
                ),
                "pathmap": lambda batch=batch, bonus=bonus: path_map_batch(batch, bonus=bonus),
            }
            for method, run in calls.items():
                line = check(own[:16], method, arguments.device, **options)
                took = milliseconds(run, arguments.device, arguments.repeats)
                again = float("nan")
                waits = 0 in batch.costs and method == "pathmap"  # the host asks what is left
                if arguments.device.startswith("cuda") and not waits:
                    again = milliseconds(replayed(run), arguments.device, arguments.repeats)
                rate = 1e3 * len(dags) / np.nanmin([took, again])
                row = f"{method:<12} {unit:<7} {mode:<8} {took:8.2f} {again:10.2f} {rate:9.0f}"
                print(f"{row}  {line}")


if __name__ == "__main__":
    main()
