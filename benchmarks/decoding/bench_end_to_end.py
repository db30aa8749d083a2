"""Summaries a second from padded token ids to chosen token ids on one device.

``python benchmarks/decoding/bench_end_to_end.py --texts FILE.jsonl[.xz]`` times the embedded model;
``--model DIR`` another. Timed: copying ids to the device, network, candidates, bound, seqmap-beam,
copying the chosen ids back, over all batches; texts are sorted by length. Not timed: loading,
compiling kernels (a first pass). Tokenizing and turning ids into text run on the CPU and are timed
by themselves. No constraints: the device has none.

Printed: summaries a second of the network alone, up to the candidates of every graph, and up to the
words, with the share that the beam certifies (what it does not certify would go to exact search on
the CPU).
"""

from __future__ import annotations

import argparse
import copy
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from sumfit.data.readers import read_rows
from sumfit.decoding.torch_batch import DAGBatch, DeviceCosts, seqmap_beam_batch
from sumfit.length import LengthBudget, UnitCosts, unit_costs
from sumfit.models import DAT
from sumfit.models.checkpoint import load_model
from sumfit.models.config import N_SPECIAL
from sumfit.models.dat import vertex_ids, vertex_mask
from sumfit.runtime.directory import ModelDirectory
from sumfit.runtime.graph import GraphRequest
from sumfit.runtime.torch import TorchBackend

Batch = tuple[torch.Tensor, ...]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "texts"


def load_texts(path: Path | None, n: int) -> list[str]:
    """Read n texts, repeating what there is."""
    if path is None:
        found = [file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("*-news-*"))]
    else:
        rows = itertools.islice(read_rows(path), n)
        found = [str(row.fields.get("source", row.fields.get("text", ""))) for row in rows]
    return list(itertools.islice(itertools.cycle(found), n))


def batches(sources: list[list[int]], network: DAT, size: int) -> Iterator[Batch]:
    """Pad sources, longest first: ids ``(B, T)``, vertices ``(B,)`` and their mask, on the host."""
    ordered = sorted(sources, key=len, reverse=True)
    for start in range(0, len(ordered), size):
        part = ordered[start : start + size]
        ids = torch.zeros(len(part), -(-len(part[0]) // 8) * 8, dtype=torch.int64)
        for row, source in enumerate(part):
            ids[row, : len(source)] = torch.tensor(source)
        sizes = torch.tensor([network.config.n_vertices(len(source)) for source in part])
        yield ids, sizes, vertex_mask(sizes, -(-int(sizes.max()) // 8) * 8)


class Pipeline:
    """Network, candidates, search, on one device."""

    def __init__(
        self, network: DAT, costs: UnitCosts, dtype: str, options: argparse.Namespace
    ) -> None:
        """Keep what every batch needs; the network is copied."""
        self.options = options
        self.device = torch.device(options.device)
        self.dtype = getattr(torch, dtype)
        self.network = copy.deepcopy(network).to(self.device).eval()
        if options.cast == "whole":
            self.network.to(self.dtype)
        self.costs = DeviceCosts(costs.cost, costs.first_cost, device=self.device)

    def scores(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Word logits and links of a batch."""
        enabled = self.options.cast == "auto" and self.dtype != torch.float32
        with torch.autocast(self.device.type, dtype=self.dtype, enabled=enabled):
            memory, source_mask = self.network.encode(ids)
            hidden = self.network.decode(vertex_ids(mask), mask, memory, source_mask)
            words = self.network.embedding.weight.to(hidden.dtype)
            return torch.nn.functional.linear(hidden, words), self.network.link_logp(hidden, mask)

    def __call__(self, batch: Batch, *, until: str) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the words chosen, 0 after the end, and whether each is proved best."""
        ids, sizes, mask = (part.to(self.device, non_blocking=True) for part in batch)
        logits, link_logp = self.scores(ids, mask)
        if until == "network":
            return None
        options = self.options
        graphs = DAGBatch.from_scores(
            logits,
            link_logp,
            sizes,
            words_per_vertex=options.words_per_vertex,
            n_special=N_SPECIAL,
            costs=self.costs,
            budgets=[LengthBudget(max=options.limit)] * len(ids),
            is_normalised=False,
        )
        if until == "candidates":
            return None
        result = seqmap_beam_batch(graphs, bonus=options.bonus, beam_size=options.beam_size)
        at = result.columns[:, 0]
        words = torch.gather(graphs.word_ids, 1, at.clamp(min=0)).masked_fill(at < 0, 0)
        return words, result.gap[:, 0] == 0

    @torch.inference_mode()
    def run(
        self, prepared: list[Batch], until: str = "words"
    ) -> tuple[float, list[tuple[torch.Tensor, ...]]]:
        """Seconds for all batches, and their results on the host."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        found = [self(batch, until=until) for batch in prepared]
        kept = [tuple(part.cpu() for part in one) for one in found if one is not None]
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start, kept


def measure(pipeline: Pipeline, prepared: list[Batch], n: int) -> list[tuple[torch.Tensor, ...]]:
    """Print one line of rates; return the results."""
    repeats = pipeline.options.repeats
    took = {
        until: float(np.median([pipeline.run(prepared, until)[0] for _ in range(repeats)]))
        for until in ("network", "candidates", "words")
    }
    found = pipeline.run(prepared)[1]
    sure = sum(int(part.sum()) for _, part in found)
    print(
        f"{str(pipeline.dtype)[6:]:<9} batch {len(prepared[0][0]):5d}   "
        + "   ".join(f"{until} {n / seconds:8.0f} /s" for until, seconds in took.items())
        + f"   certified {sure / n:.2%}",
        flush=True,
    )
    return found


def call_backend(
    model: ModelDirectory, sources: list[list[int]], costs: UnitCosts, options: argparse.Namespace
) -> None:
    """Time the library's own call, from lists of ids to lists of hypotheses."""
    short = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32"}[options.dtype[-1]]
    backend = TorchBackend(model, device=options.device, precision=short)
    shape = model.config.architecture
    requests = [GraphRequest(tuple(ids), shape.n_vertices(len(ids))) for ids in sources]
    device_costs = DeviceCosts(costs.cost, costs.first_cost, device=options.device)
    budgets = [LengthBudget(max=options.limit)] * len(requests)
    took = []
    for _ in range(2):
        began = time.perf_counter()
        backend.sequences(
            requests,
            costs=device_costs,
            budgets=budgets,
            bonus=options.bonus,
            beam_size=options.beam_size,
            words_per_vertex=options.words_per_vertex,
        )
        took.append(time.perf_counter() - began)
    print(
        f"{backend.name}: TorchBackend.sequences {len(requests) / took[-1]:.0f} /s, lists of ids "
        f"to hypotheses (first call {took[0]:.1f} s)",
        flush=True,
    )


def main() -> None:
    """Time it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--n", type=int, default=16384)
    parser.add_argument("--batch", type=int, nargs="+", default=[512])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", nargs="+", default=["float16"])
    parser.add_argument("--cast", default="whole", choices=("whole", "auto"))
    parser.add_argument("--unit", default="words", choices=("words", "tokens", "chars"))
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--bonus", type=float)
    parser.add_argument("--beam-size", type=int, default=20)
    parser.add_argument("--words-per-vertex", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    options = parser.parse_args()
    model = ModelDirectory.open(options.model)
    if options.bonus is None:
        options.bonus = model.config.bonus_for(options.unit)
    began = time.perf_counter()
    network = load_model(model.path)
    costs = unit_costs(model.tokenizer, options.unit)
    texts = load_texts(options.texts, options.n)
    print(f"loaded in {time.perf_counter() - began:.1f} s", flush=True)
    began = time.perf_counter()
    encoded = model.tokenizer.encode_batch(texts)
    reading = time.perf_counter() - began
    sources = [ids[: model.config.max_source] for ids in encoded if ids]
    is_cuda = options.device.startswith("cuda")
    n = len(sources)
    print(
        f"{torch.cuda.get_device_name() if is_cuda else 'CPU'}: {n} texts, "
        f"{sum(map(len, sources)) / n:.1f} pieces each, at most {options.limit} {options.unit}, "
        f"bonus {options.bonus}, K={options.beam_size}, M={options.words_per_vertex}, "
        f"no constraints, {options.cast} cast",
        flush=True,
    )
    for dtype in options.dtype:
        pipeline = Pipeline(network, costs, dtype, options)
        for size in options.batch:
            prepared = list(batches(sources, network, size))
            if is_cuda:
                prepared = [tuple(part.pin_memory() for part in batch) for batch in prepared]
            began = time.perf_counter()
            pipeline.run(prepared)
            print(f"first pass, compiling: {time.perf_counter() - began:.1f} s", flush=True)
            found = measure(pipeline, prepared, n)
    call_backend(model, sources, costs, options)
    began = time.perf_counter()
    ids = [[word for word in row if word] for words, _ in found for row in words.tolist()]
    summaries = [model.tokenizer.decode(row) for row in ids]
    writing = time.perf_counter() - began
    print(f"text to ids {n / reading:.0f} /s, ids to text {n / writing:.0f} /s, on the CPU")
    print(f"for example: {summaries[0]!r}, {summaries[n // 2]!r}, {summaries[-1]!r}")
    if options.profile:
        from torch.profiler import ProfilerActivity, profile

        with profile(
            activities=[ProfilerActivity.CUDA if is_cuda else ProfilerActivity.CPU]
        ) as trace:
            pipeline.run(prepared)
        kernels = sorted(trace.key_averages(), key=lambda one: -one.self_device_time_total)
        for one in kernels[:24]:
            print(f"  {one.self_device_time_total / 1e3:9.2f} ms x{one.count:<5} {one.key[:90]}")


if __name__ == "__main__":
    main()
