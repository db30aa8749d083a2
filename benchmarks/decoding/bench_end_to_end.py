"""Summaries a second from padded token ids to chosen token ids on one device.

``python benchmarks/decoding/bench_end_to_end.py --model DIR --texts FILE.jsonl[.xz]``; DIR is a
training checkpoint or exported model with ``model.safetensors``; without it a network of the
default model's shape with random weights (speed without meaning). Timed: copying ids to the
device, network (bf16 on a GPU), candidates, bound, seqmap-beam, copying the chosen ids back, over
all batches; texts are sorted by length. Not timed: loading, tokenizer, turning ids into text.

Printed: summaries a second with and without decoding, and the share that the beam certifies
(what it does not certify would go to exact search on the CPU).
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from sumfit.data.readers import read_rows
from sumfit.decoding.torch_batch import DAGBatch, seqmap_beam_batch
from sumfit.length import LengthBudget, UnitCosts, unit_costs
from sumfit.models import DAT
from sumfit.models.checkpoint import load_model
from sumfit.models.config import N_SPECIAL
from sumfit.models.dat import vertex_ids, vertex_mask
from sumfit.runtime.directory import ModelDirectory

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "texts"


def load_texts(path: Path | None, n: int) -> list[str]:
    """Read n texts, repeating what there is."""
    if path is None:
        found = [file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("*-news-*"))]
    else:
        rows = itertools.islice(read_rows(path), n)
        found = [str(row.fields.get("source", row.fields.get("text", ""))) for row in rows]
    return list(itertools.islice(itertools.cycle(found), n))


def batches(
    sources: list[list[int]], network: DAT, size: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
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

    def __init__(self, network: DAT, costs: UnitCosts, arguments: argparse.Namespace) -> None:
        """Keep what every batch needs."""
        self.arguments = arguments
        self.device = torch.device(arguments.device)
        self.dtype = getattr(torch, arguments.dtype)
        self.network = network.to(self.device).eval()
        self.is_cast = arguments.cast == "whole"
        if self.is_cast:
            self.network.to(self.dtype)
        self.costs = costs

    def scores(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Word logits and links of a batch."""
        enabled = not self.is_cast and self.dtype != torch.float32
        with torch.autocast(self.device.type, dtype=self.dtype, enabled=enabled):
            memory, source_mask = self.network.encode(ids)
            hidden = self.network.decode(vertex_ids(mask), mask, memory, source_mask)
            words = self.network.embedding.weight.to(hidden.dtype)
            return torch.nn.functional.linear(hidden, words), self.network.link_logp(hidden, mask)

    def __call__(
        self, batch: tuple[torch.Tensor, torch.Tensor, torch.Tensor], *, decodes: bool = True
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the words chosen, 0 after the end, and whether each is proved best."""
        ids, sizes, mask = (part.to(self.device, non_blocking=True) for part in batch)
        logits, link_logp = self.scores(ids, mask)
        if not decodes:
            return None
        options = self.arguments
        graphs = DAGBatch.from_scores(
            logits,
            link_logp,
            sizes,
            words_per_vertex=options.words_per_vertex,
            n_special=N_SPECIAL,
            unit_cost=self.costs.cost,
            first_cost=self.costs.first_cost,
            budgets=[LengthBudget(max=options.limit)] * len(ids),
            is_normalised=False,
        )
        result = seqmap_beam_batch(graphs, bonus=options.bonus, beam_size=options.beam_size)
        at = result.columns[:, 0]
        words = torch.gather(graphs.word_ids, 1, at.clamp(min=0)).masked_fill(at < 0, 0)
        return words, result.gap[:, 0] == 0


def main() -> None:
    """Time it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--n", type=int, default=16384)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="float16", choices=("float16", "bfloat16", "float32"))
    parser.add_argument("--cast", default="whole", choices=("whole", "auto"))
    parser.add_argument("--unit", default="words", choices=("words", "tokens", "chars"))
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--bonus", type=float)
    parser.add_argument("--beam-size", type=int, default=20)
    parser.add_argument("--words-per-vertex", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    arguments = parser.parse_args()
    model = ModelDirectory.open(arguments.model)
    tokenizer = model.tokenizer
    if arguments.bonus is None:
        arguments.bonus = model.config.bonus_for(arguments.unit)
    began = time.perf_counter()
    pipeline = Pipeline(load_model(model.path), unit_costs(tokenizer, arguments.unit), arguments)
    print(f"model on the device after {time.perf_counter() - began:.1f} s", flush=True)
    texts = load_texts(arguments.texts, arguments.n)
    began = time.perf_counter()
    most = model.config.max_source
    sources = [ids[:most] for ids in tokenizer.encode_batch(texts) if ids]
    tokenizing = time.perf_counter() - began
    prepared = list(batches(sources, pipeline.network, arguments.batch))
    is_cuda = pipeline.device.type == "cuda"
    if is_cuda:
        prepared = [tuple(part.pin_memory() for part in batch) for batch in prepared]

    @torch.inference_mode()
    def run(decodes: bool) -> tuple[float, list[tuple[torch.Tensor, torch.Tensor]]]:
        if is_cuda:
            torch.cuda.synchronize()
        start = time.perf_counter()
        found = [pipeline(batch, decodes=decodes) for batch in prepared]
        kept = [tuple(part.cpu() for part in one) for one in found if one is not None]
        if is_cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - start, kept

    began = time.perf_counter()
    run(True)
    print(f"first pass, compiling: {time.perf_counter() - began:.1f} s", flush=True)
    forward = float(np.median([run(False)[0] for _ in range(arguments.repeats)]))
    timed = [run(True) for _ in range(arguments.repeats)]
    both = float(np.median([took for took, _ in timed]))
    began = time.perf_counter()
    found = timed[0][1]
    summaries = [
        tokenizer.decode([word for word in row if word])
        for words, _ in found
        for row in words.tolist()
    ]
    writing = time.perf_counter() - began
    n, sure = len(sources), sum(int(part.sum()) for _, part in found)
    name = torch.cuda.get_device_name() if is_cuda else "CPU"
    print(
        f"{name}: {n} texts, {sum(map(len, sources)) / n:.1f} pieces each, batch "
        f"{arguments.batch}, {arguments.dtype} ({arguments.cast}), at most {arguments.limit} "
        f"{arguments.unit}, bonus {arguments.bonus}, K={arguments.beam_size}, "
        f"M={arguments.words_per_vertex}, no constraints"
    )
    print(f"  network            {n / forward:9.0f} /s")
    print(f"  network + decoding {n / both:9.0f} /s   certified {sure / n:.2%}")
    print(f"  text to ids        {n / tokenizing:9.0f} /s   ids to text {n / writing:9.0f} /s")
    print(f"  all, one after the other {n / (tokenizing + both + writing):.0f} /s")
    print(f"  for example: {summaries[0]!r}, {summaries[n // 2]!r}, {summaries[-1]!r}")
    if arguments.profile:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as trace:
            run(True)
        averages = trace.key_averages()
        print(averages.table(sort_by="self_device_time_total", row_limit=25,
                             max_name_column_width=60))  # fmt: skip


if __name__ == "__main__":
    main()
