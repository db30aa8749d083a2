"""Compare ways to run the fused batched beam on one GPU, checked against plain torch.

``python benchmarks/decoding/bench_fused.py`` compiles every variant in a process of its own first
(``--compile N`` is what such a process runs), then times them on the same graphs, replayed from a
CUDA graph and as called.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

import numpy as np
import torch
from bench_seqmap import random_graph
from bench_torch import costs_of, milliseconds, replayed

from sumfit.decoding.device import words
from sumfit.decoding.device.batch import DAGBatch
from sumfit.decoding.device.beam import seqmap_beam_batch
from sumfit.decoding.device.fused import Tuning, fused_beam
from sumfit.length import LengthBudget

VARIANTS = [
    Tuning(precision="ieee", beam_warps=8, bound_warps=8),
    Tuning(precision="tf32x3", beam_warps=8, bound_warps=8),
    Tuning(precision="tf32x3", beam_warps=4, bound_warps=4, small_chunk=32),
    Tuning(precision="tf32x3", beam_warps=8, bound_warps=8, by_sort=True),
    Tuning(precision="ieee", beam_warps=8, bound_warps=4, small_chunk=32, chunk=32),
]


def cases(size: int, vertices: int, limit: int, names: list[str]) -> dict[str, tuple[Any, float]]:
    """Batches on the device by unit and mode, and their bonus."""
    rng = np.random.default_rng(0)
    own = [
        random_graph(rng, n_vertices=vertices, words_per_vertex=5).restrict(5) for _ in range(32)
    ]
    dags = [own[i % len(own)] for i in range(size)]
    made = {}
    for unit in names:
        costs = costs_of(unit) if unit != "chars" else 1 + np.arange(len(costs_of("tokens"))) % 9
        budget = LengthBudget(max=limit * (4 if unit == "chars" else 1))
        made[unit] = (
            DAGBatch.pack(dags, unit_cost=costs, budgets=[budget] * size, device="cuda"),
            1.0,
        )
    return made


def main() -> None:
    """Compile side by side, check, time, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--vertices", type=int, default=64)
    parser.add_argument("--limit", type=int, default=16)
    parser.add_argument("--units", nargs="+", default=["tokens", "words", "chars"])
    parser.add_argument("--variants", type=int, nargs="+", default=list(range(len(VARIANTS))))
    parser.add_argument("--profile", action="store_true", help="kernels of the first variant")
    parser.add_argument("--compile", type=int)
    options = parser.parse_args()
    started = time.perf_counter()
    call = {"any_ending": False, "unit_bonus": 0.0, "beam_size": 20, "n_best": 1}
    if options.compile is not None:
        for batch, bonus in cases(16, options.vertices, options.limit, options.units).values():
            fused_beam(batch, bonus=bonus, tuning=VARIANTS[options.compile], **call)
        torch.cuda.synchronize()
        return
    command = [sys.executable, *sys.argv, "--compile"]
    jobs = [subprocess.Popen([*command, str(n)]) for n in options.variants]
    batches = cases(options.batch, options.vertices, options.limit, options.units)
    codes = [job.wait() for job in jobs]
    print(f"compiled in {time.perf_counter() - started:.0f} s, exits {codes}", flush=True)
    plain = {}
    has_triton, words._HAS_TRITON = words._HAS_TRITON, False
    for unit, (batch, bonus) in batches.items():
        plain[unit] = seqmap_beam_batch(batch, bonus=bonus)
    words._HAS_TRITON = has_triton
    for n in options.variants:
        if codes[options.variants.index(n)]:
            continue
        for unit, (batch, bonus) in batches.items():

            def run(batch: Any = batch, bonus: float = bonus, tuning: Tuning = VARIANTS[n]) -> Any:
                return fused_beam(batch, bonus=bonus, tuning=tuning, **call)

            found, expected = run(), plain[unit]
            # The kernels stop at the longest sequence that is possible; so did what is compared.
            length = min(found.columns.shape[2], expected.columns.shape[2])
            pairs = (part.columns[:, :, :length] for part in (found, expected))
            same = torch.eq(*pairs).all(2).float().mean().item()
            off = (found.score - expected.score).abs().max().item()
            sure = [(part.gap == 0).float().mean().item() for part in (found, expected)]
            took, again = milliseconds(run, "cuda", 10), milliseconds(replayed(run), "cuda", 20)
            print(
                f"{n:2d} {unit:<6} {took:7.2f} ms {again:7.3f} replay  same {same:.3f} "
                f"off {off:.1e} sure {sure[0]:.3f}/{sure[1]:.3f}  {VARIANTS[n]}",
                flush=True,
            )
    if options.profile:
        from torch.profiler import ProfilerActivity, profile

        batch, bonus = batches[options.units[0]]
        with profile(activities=[ProfilerActivity.CUDA]) as trace:
            fused_beam(batch, bonus=bonus, tuning=VARIANTS[options.variants[0]], **call)
            torch.cuda.synchronize()
        print(trace.key_averages().table(sort_by="self_device_time_total", row_limit=12,
                                         max_name_column_width=40))  # fmt: skip


if __name__ == "__main__":
    main()
