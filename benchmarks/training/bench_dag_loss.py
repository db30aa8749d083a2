"""Time the DAG loss, forward and backward, fused and plain, and check one against the other.

    python benchmarks/training/bench_dag_loss.py

Timed: `sumfit.losses.dag_nll` and the backward pass to word scores and links, inputs on the device,
median of single runs with events around them. Not timed: making the scores. Needs CUDA for figures
that mean anything; on a CPU it runs a small case of the plain version.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable

import torch

from sumfit.losses import best_alignment, dag_loss, dag_nll
from sumfit.losses.kernels import has_kernels

SIZES = [(256, 48, 16), (512, 48, 16), (64, 128, 32), (64, 512, 64)]


def make_graphs(
    n_items: int, size: int, n_words: int, device: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random word scores and links of full-size graphs, with full-length targets."""
    gen = torch.Generator().manual_seed(0)
    match = torch.randn(n_items, size, n_words, generator=gen) * 2 - 6
    later = torch.ones(size, size, dtype=torch.bool).triu(1)
    link = torch.randn(n_items, size, size, generator=gen).masked_fill(~later, -math.inf)
    link = link.log_softmax(-1).masked_fill(~later, -math.inf)
    n_vertices = torch.full((n_items,), size)
    n_targets = torch.full((n_items,), n_words)
    return match.to(device), link.to(device), n_vertices.to(device), n_targets.to(device)


def median_ms(run: Callable[[], object], *, device: str, n_runs: int) -> float:
    """Median time of one call, after a warm-up."""
    for _ in range(3):
        run()
    times = []
    for _ in range(n_runs):
        if device == "cuda":
            start = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            start.record()
            run()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        else:
            begin = time.perf_counter()
            run()
            times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def largest_error(graphs: tuple[torch.Tensor, ...]) -> float:
    """Largest difference of fused and plain posteriors on some of the items."""
    few = tuple(part[:4] for part in graphs)
    from sumfit.losses.kernels import dag

    fused, plain = dag.sweep(*few), dag_loss._sweep(*few)
    assert all(part.isfinite().all() for part in fused)
    return max(float((a - b).abs().max()) for a, b in zip(fused[1:], plain[1:], strict=True))


def measure(size: tuple[int, int, int], device: str, n_runs: int) -> dict[str, float | str]:
    """Time one size and return a row of the table."""
    graphs = make_graphs(*size, device)
    match, link = graphs[0].requires_grad_(), graphs[1].requires_grad_()
    lengths = {"n_vertices": graphs[2], "n_targets": graphs[3]}

    def step() -> None:
        match.grad = link.grad = None
        dag_nll(match, link, **lengths).nll.sum().backward()

    row: dict[str, float | str] = {"B,S,U": "{},{},{}".format(*size)}
    plain = tuple(part.detach() for part in graphs)
    with torch.no_grad():
        if has_kernels(match):
            from sumfit.losses.kernels import dag

            row["max error"] = largest_error(plain)
            row["kernels ms"] = median_ms(lambda: dag.sweep(*plain), device=device, n_runs=n_runs)
        row["plain ms"] = median_ms(
            lambda: dag_loss._sweep(*plain), device=device, n_runs=max(3, n_runs // 10)
        )
        row["alignment ms"] = median_ms(
            lambda: best_alignment(plain[0], plain[1], **lengths), device=device, n_runs=n_runs
        )
    row["fwd+bwd ms"] = median_ms(step, device=device, n_runs=n_runs)
    return row


def main() -> None:
    """Print one JSON line per size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(torch.cuda.get_device_name() if device == "cuda" else "cpu", torch.__version__)
    for size in SIZES if device == "cuda" else [(8, 48, 16)]:
        row = measure(size, device, options.runs)
        print(json.dumps({k: v if isinstance(v, str) else round(v, 6) for k, v in row.items()}))


if __name__ == "__main__":
    main()
