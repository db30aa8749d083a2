"""Time whole training steps of the default model on random pairs.

    python benchmarks/training/bench_step.py                        # batch sizes, compiled or not
    python benchmarks/training/bench_step.py --profile --batch 512  # where the time goes

Timed: glancing pass, training pass, backward, clipping, fused AdamW, in bfloat16 autocast, on one
GPU, batch on the device. Not timed: reading data. Source, graph and target are about as long as
those of news (45, 45, 15 pieces). "Useful" operations are those of the matrix products on real
tokens, three times the forward pass plus the glancing pass; padding and recomputation do not count.
"""

from __future__ import annotations

import argparse
import json
import time

import torch

from sumfit.losses import objective
from sumfit.models import DAT, DATConfig

SOURCE, TARGET = 48, 16  # padded lengths


def make_batch(config: DATConfig, n_items: int, device: str, seed: int) -> dict[str, torch.Tensor]:
    """Random pairs whose lengths differ by up to seven, as in a bucket of a packed corpus."""
    gen = torch.Generator().manual_seed(seed)
    source_lengths = torch.randint(SOURCE - 7, SOURCE + 1, (n_items, 1), generator=gen)
    target_lengths = torch.randint(TARGET - 4, TARGET + 1, (n_items, 1), generator=gen)
    source = torch.randint(4, config.vocab_size, (n_items, SOURCE), generator=gen)
    target = torch.randint(4, config.vocab_size, (n_items, TARGET), generator=gen)
    n_vertices = torch.tensor([config.n_vertices(int(n)) for n in source_lengths[:, 0]])
    batch = {
        "source_ids": source.masked_fill(torch.arange(SOURCE) >= source_lengths, 0),
        "target_ids": target.masked_fill(torch.arange(TARGET) >= target_lengths, 0),
        "n_vertices": n_vertices,
        "vertex_mask": torch.arange(SOURCE) < n_vertices[:, None],
    }
    return {name: values.to(device) for name, values in batch.items()}


def useful_flop(config: DATConfig, batch: dict[str, torch.Tensor]) -> float:
    """Operations of one step that real tokens need."""
    d, ffn, v = config.width, config.ffn_width, config.vocab_size
    t = (batch["source_ids"] != 0).sum(1).double()
    s = batch["n_vertices"].double()
    encoder = config.n_encoder_layers * (t * 2 * (4 * d * d + 2 * d * ffn) + 4 * t * t * d)
    decoder = config.n_decoder_layers * (
        s * 2 * (6 * d * d + 2 * d * ffn) + t * 4 * d * d + 4 * (s * s + s * t) * d
    )
    heads = 2 * s * d * v + 8 * s * d * d + 2 * s * s * d
    return float((3 * encoder + 4 * (decoder + heads)).sum())


class Step:
    """One model with its optimizer."""

    def __init__(self, device: str, *, is_compiled: bool, small: bool) -> None:
        """Build model and optimizer; ``small`` is a toy for machines without a GPU."""
        torch.manual_seed(0)
        shape = {"width": 48, "ffn_width": 96, "vocab_size": 1000} if small else {}
        self.model = DAT(DATConfig(**shape)).to(device)
        if is_compiled:
            self.model.compile_blocks()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=device == "cuda")
        self.device = device
        self.generator = torch.Generator(device).manual_seed(0)

    def __call__(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Take one step and return the loss."""
        with torch.autocast(self.device, dtype=torch.bfloat16):
            out = objective(
                self.model,
                batch,
                glance_ratio=0.4,
                label_smoothing=0.1,
                generator=self.generator,
            )
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return out.loss.detach()


def synchronize(device: str) -> None:
    """Wait for the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def measure(step: Step, n_items: int, n_steps: int) -> dict[str, float]:
    """Time steps on a few batches and return a row of the table."""
    config = step.model.config
    batches = [make_batch(config, n_items, step.device, seed) for seed in range(4)]
    first = time.perf_counter()
    for batch in batches:
        step(batch)
    synchronize(step.device)
    begin = time.perf_counter()
    for index in range(n_steps):
        loss = step(batches[index % 4])
    synchronize(step.device)
    seconds = (time.perf_counter() - begin) / n_steps
    row = {
        "pairs/s": n_items / seconds,
        "ms": 1e3 * seconds,
        "useful TFLOP/s": useful_flop(config, batches[0]) / seconds / 1e12,
        "loss": float(loss),
        "warm-up s": begin - first,
    }
    if step.device == "cuda":
        row["peak GB"] = torch.cuda.max_memory_allocated() / 1e9
    return row


def profile(step: Step, n_items: int) -> str:
    """Return the table of the most expensive kernels of three steps."""
    from torch.profiler import ProfilerActivity

    batch = make_batch(step.model.config, n_items, step.device, 0)
    step(batch)
    kinds = [ProfilerActivity.CPU]
    if step.device == "cuda":
        kinds.append(ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=kinds) as trace:
        for _ in range(3):
            step(batch)
        synchronize(step.device)
    key = "self_device_time_total" if step.device == "cuda" else "self_cpu_time_total"
    averages = trace.key_averages()
    return str(averages.table(sort_by=key, row_limit=45, max_name_column_width=70))


def main() -> None:
    """Print one JSON line per variant, and the profile if asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batch", type=int, nargs="+", default=[256, 512, 1024])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--compile", choices=["both", "yes", "no"], default="both")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument(
        "--small", action="store_true", help="a toy model, for a machine without GPU"
    )
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(torch.cuda.get_device_name() if device == "cuda" else "cpu", torch.__version__)
    variants = {"both": [False, True], "yes": [True], "no": [False]}[options.compile]
    for is_compiled in variants:
        step = Step(device, is_compiled=is_compiled, small=options.small)
        for n_items in options.batch:
            row = measure(step, n_items, options.steps)
            named = {"compiled": is_compiled, "batch": n_items}
            print(json.dumps(named | {k: round(v, 2) for k, v in row.items()}), flush=True)
        if options.profile:
            print(profile(step, options.batch[-1]))


if __name__ == "__main__":
    main()
