"""Time training steps of every system on the same random pairs, and check that none waits.

    python benchmarks/training/bench_systems.py
    python benchmarks/training/bench_systems.py --systems at,dat --batch 1780 --profile

Timed: loss, backward, clipping and fused AdamW in bfloat16 autocast on one GPU, the batch on the
device. All systems have the shape of the default model (384 wide, 6 + 6 layers, 16K pieces); pairs
are as long as those of news (about 45 and 15 pieces). "waits" counts the times that one loss with
its gradient made the host wait for the GPU, by torch's own check.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import torch
from bench_step import make_batch

from sumfit.models import DATConfig
from sumfit.models.network import build_network
from sumfit.training.systems import LossOptions, get_system


class Step:
    """One system with its optimiser."""

    def __init__(self, name: str, device: str, *, is_small: bool) -> None:
        """Build network and optimiser; a small one is a toy for machines without a GPU."""
        torch.manual_seed(0)
        shape = {"width": 48, "ffn_width": 96, "vocab_size": 1000} if is_small else {}
        self.config = DATConfig(n_limit_buckets=64, max_vertices=512, **shape)
        self.device = device
        self.system = get_system(name)
        self.network = build_network(name, self.config).to(device).train()
        self.optimiser = torch.optim.AdamW(
            self.network.parameters(), lr=1e-4, fused=device == "cuda"
        )
        glance = 0.3 if self.system.glances else 0.0
        generator = torch.Generator(device).manual_seed(0)
        self.options = LossOptions(0.1, glance, generator=generator)

    def __call__(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Take one step and return the loss."""
        loss = self.add_gradient(batch)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=False)
        return loss

    def add_gradient(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Add the gradient of a batch and return its loss."""
        with torch.autocast(self.device, dtype=torch.bfloat16):
            out = self.system.loss(self.network, batch, self.options)
        out.loss.backward()
        return out.loss.detach()

    def count_waits(self, batch: dict[str, torch.Tensor]) -> int:
        """Count how often a loss with its gradient waits for the GPU."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            self.add_gradient(batch)
            torch.cuda.set_sync_debug_mode("default")
        return sum("synchroniz" in str(warning.message) for warning in caught)


def measure(step: Step, n_items: int, n_steps: int) -> dict[str, float]:
    """Time steps on a few batches and return a row of the table."""
    batches = [make_batch(step.config, n_items, step.device, seed) for seed in range(4)]
    for batch in batches:
        loss = step(batch)
    wait(step.device)
    begin = time.perf_counter()
    for index in range(n_steps):
        loss = step(batches[index % 4])
    wait(step.device)
    seconds = (time.perf_counter() - begin) / n_steps
    row = {"pairs/s": n_items / seconds, "ms": 1e3 * seconds, "loss": float(loss)}
    if step.device == "cuda":
        row["waits"] = step.count_waits(batches[0])
        row["peak GB"] = torch.cuda.max_memory_allocated() / 1e9
        torch.cuda.reset_peak_memory_stats()
    return row


def wait(device: str) -> None:
    """Wait for the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def profile(step: Step, n_items: int) -> str:
    """Return the table of the most expensive kernels of three steps."""
    from torch.profiler import ProfilerActivity

    batch = make_batch(step.config, n_items, step.device, 0)
    kinds = [ProfilerActivity.CPU]
    if step.device == "cuda":
        kinds.append(ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=kinds) as trace:
        for _ in range(3):
            step(batch)
        wait(step.device)
    key = "self_device_time_total" if step.device == "cuda" else "self_cpu_time_total"
    return str(trace.key_averages().table(sort_by=key, row_limit=25, max_name_column_width=60))


def main() -> None:
    """Print one JSON line per system."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", default="dat,at,at-leninfo,ctc,bert-crf")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--small", action="store_true", help="a toy, for machines without a GPU")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(torch.cuda.get_device_name() if device == "cuda" else "cpu", torch.__version__)
    for name in options.systems.split(","):
        step = Step(name, device, is_small=options.small)
        row = measure(step, options.batch, options.steps)
        shown = {key: round(value, 2) for key, value in row.items()}
        print(json.dumps({"system": name, "batch": options.batch, **shown}), flush=True)
        if options.profile:
            print(profile(step, options.batch))


if __name__ == "__main__":
    main()
