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
from sumfit.length import LengthBudget, unit_costs
from sumfit.models import DAT
from sumfit.models.checkpoint import load_model
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
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Pad sources, longest first: ids ``(B, T)`` and vertices ``(B,)``, on the host."""
    ordered = sorted(sources, key=len, reverse=True)
    for start in range(0, len(ordered), size):
        part = ordered[start : start + size]
        ids = torch.zeros(len(part), -(-len(part[0]) // 8) * 8, dtype=torch.int64)
        for row, source in enumerate(part):
            ids[row, : len(source)] = torch.tensor(source)
        yield ids, torch.tensor([network.config.n_vertices(len(source)) for source in part])


def main() -> None:
    """Time it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--unit", default="words", choices=("words", "tokens", "chars"))
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--bonus", type=float, default=1.0)
    parser.add_argument("--beam-size", type=int, default=20)
    parser.add_argument("--words-per-vertex", type=int, default=5)
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    model = ModelDirectory.open(arguments.model)
    tokenizer = model.tokenizer
    network = load_model(arguments.model) if arguments.model else DAT(model.config.architecture)
    network = network.to(device).eval()
    costs = unit_costs(tokenizer, arguments.unit)
    budget = LengthBudget(max=arguments.limit)
    most = network.config.max_source_tokens
    texts = load_texts(arguments.texts, arguments.n)
    sources = [ids[:most] for ids in tokenizer.encode_batch(texts) if ids]
    prepared = list(batches(sources, network, arguments.batch))

    def sync() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    @torch.inference_mode()
    def run(decodes: bool) -> tuple[float, int]:
        results = []
        sync()
        start = time.perf_counter()
        for ids, sizes in prepared:
            here = ids.to(device, non_blocking=True)
            mask = vertex_mask(sizes, -(-int(sizes.max()) // 8) * 8).to(device, non_blocking=True)
            is_half = device.type == "cuda"
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_half):
                memory, source_mask = network.encode(here)
                hidden = network.decode(vertex_ids(mask), mask, memory, source_mask)
                word_logp = network.word_logp(hidden)
                link_logp = network.link_logp(hidden, mask)
            if not decodes:
                continue
            batch = DAGBatch.from_scores(
                word_logp,
                link_logp,
                sizes.to(device, non_blocking=True),
                words_per_vertex=arguments.words_per_vertex,
                n_special=4,
                unit_cost=costs.cost,
                first_cost=costs.first_cost,
                budgets=[budget] * len(sizes),
            )
            result = seqmap_beam_batch(batch, bonus=arguments.bonus, beam_size=arguments.beam_size)
            at = result.columns[:, 0]
            words = torch.gather(batch.word_ids, 1, at.clamp(min=0)).masked_fill(at < 0, 0)
            results.append((words.to("cpu", non_blocking=True), result.gap[:, 0].cpu()))
        sync()
        took = time.perf_counter() - start
        return took, int(sum((gap == 0).sum() for _, gap in results))

    run(True)
    forward = float(np.median([run(False)[0] for _ in range(3)]))
    timed = [run(True) for _ in range(3)]
    both = float(np.median([took for took, _ in timed]))
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    n = len(sources)
    print(
        f"{name}: {n} texts, batch {arguments.batch}, at most {arguments.limit} {arguments.unit}, "
        f"K={arguments.beam_size}"
    )
    print(f"  network            {n / forward:9.0f} /s")
    print(f"  network + decoding {n / both:9.0f} /s   certified {timed[0][1] / n:.1%}")


if __name__ == "__main__":
    main()
