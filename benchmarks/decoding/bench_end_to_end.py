"""Summaries a second from lists of token ids to hypotheses, on one device.

``python benchmarks/decoding/bench_end_to_end.py --texts FILE.jsonl[.xz]`` times the embedded model;
``--model DIR`` any exported directory. Without ``--texts``: the news leads of ``examples/texts``.

What is timed is the library's own call, `TorchBackend.sequences`, as the default model is used on
batches: its 12 words a vertex, its bonus per unit, K=20, no constraints (the device has none), at
60 characters and at 8 words. The time has everything from Python lists of ids to Python
hypotheses: padding, copying, network, candidates, bound, seqmap-beam, exact scores, reading back.
Not in it: loading, compiling kernels (a first call), tokenizing and turning ids into text, which
run on the CPU and are timed by themselves.

A line for each limit and batch: summaries a second of that call; of the device's part alone, up
to the scores of the network, up to the candidates, and up to the words; the share that the beam
certifies (what it does not certify would go to exact search on the CPU). ``--profile`` lists the
kernels.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sumfit.data.readers import read_rows
from sumfit.decoding.device import fused
from sumfit.decoding.device.batch import DAGBatch, DeviceCosts, seqmap_beam_batch
from sumfit.hypothesis import NBest
from sumfit.length import LengthBudget, unit_costs
from sumfit.models.config import N_SPECIAL
from sumfit.runtime.directory import ModelDirectory
from sumfit.runtime.graph import GraphRequest
from sumfit.runtime.torch import MOST_DEVICE_WORDS, TorchBackend

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "texts"
STAGES = ("network", "candidates", "words")


def load_texts(path: Path | None, n: int) -> list[str]:
    """Read n texts, repeating what there is."""
    if path is None:
        found = [file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("*-news-*"))]
    else:
        rows = itertools.islice(read_rows(path), n)
        found = [str(row.fields.get("source", row.fields.get("text", ""))) for row in rows]
    return list(itertools.islice(itertools.cycle(found), n))


@dataclass(frozen=True)
class Limit:
    """A limit with what the search needs for it."""

    name: str
    budget: LengthBudget
    costs: DeviceCosts
    bonus: float
    unit_bonus: float

    @classmethod
    def read(cls, text: str, model: ModelDirectory, device: str) -> Limit:
        """Make it from ``8-words``."""
        number, unit = text.split("-")
        costs = unit_costs(model.tokenizer, unit)
        return cls(
            name=f"{number} {unit}",
            budget=LengthBudget(max=int(number)),
            costs=DeviceCosts(costs.cost, costs.first_cost, device=device),
            bonus=model.config.bonus_for(unit),
            unit_bonus=model.config.unit_bonus_for(unit),
        )


@dataclass(frozen=True)
class Bench:
    """The backend, the texts, and how they are searched."""

    backend: TorchBackend
    requests: list[GraphRequest]
    words_per_vertex: int
    beam_size: int
    repeats: int

    def call(self, limit: Limit, at_once: int) -> list[Any]:
        """The library's own call, for all texts."""
        return self.backend.sequences(
            self.requests,
            costs=limit.costs,
            budgets=[limit.budget] * len(self.requests),
            bonus=limit.bonus,
            unit_bonus=limit.unit_bonus,
            beam_size=self.beam_size,
            words_per_vertex=self.words_per_vertex,
            at_once=at_once,
        )

    @torch.inference_mode()
    def stages(self, limit: Limit, at_once: int, until: str) -> Iterator[torch.Tensor]:
        """The device's part up to a stage, one result left on the device for each call."""
        backend = self.backend
        for places in backend._calls(self.requests, at_once):
            logits, link_logp, sizes, _ = backend._predict([self.requests[at] for at in places])
            if until == "network":
                yield sizes
                continue
            batch = DAGBatch.from_scores(
                logits,
                link_logp,
                sizes,
                words_per_vertex=self.words_per_vertex,
                n_special=N_SPECIAL,
                costs=limit.costs,
                budgets=[limit.budget] * len(places),
                is_normalised=False,
            )
            if until == "candidates":
                yield batch.cost
                continue
            yield seqmap_beam_batch(
                batch, bonus=limit.bonus, unit_bonus=limit.unit_bonus, beam_size=self.beam_size
            ).score

    def rate(self, run: Callable[[], Any]) -> float:
        """Summaries a second, by the median of the repeats."""
        took = []
        for _ in range(self.repeats):
            wait(self.backend.device)
            began = time.perf_counter()
            kept = run()
            wait(self.backend.device)
            took.append(time.perf_counter() - began)
            del kept
        return len(self.requests) / float(np.median(took))

    def report(self, limit: Limit, at_once: int) -> list[Any]:
        """Time one limit; print its line; return what was found."""
        began = time.perf_counter()
        found = self.call(limit, at_once)
        first = time.perf_counter() - began
        whole = self.rate(lambda: self.call(limit, at_once))
        parts = [
            self.rate(lambda until=until: list(self.stages(limit, at_once, until)))
            for until in STAGES
        ]
        lists = [one for one in found if isinstance(one, NBest)]
        sure = sum(one.best.optimal for one in lists) / len(found)
        print(
            f"{limit.name:<9} batch {at_once:5d}   ids to hypotheses {whole:8.0f} /s   device: "
            + "   ".join(f"{name} {rate:8.0f} /s" for name, rate in zip(STAGES, parts, strict=True))
            + f"   certified {sure:.2%}   none {1 - len(lists) / len(found):.2%}"
            + f"   (first call {first:.1f} s)",
            flush=True,
        )
        return found


def wait(device: str) -> None:
    """Until the device has done all it was told."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--n", type=int, default=16384)
    parser.add_argument("--batch", type=int, nargs="+", default=[512])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", default="bf16", choices=("fp32", "bf16", "fp16"))
    parser.add_argument("--limits", nargs="+", default=["60-chars", "8-words"])
    parser.add_argument("--beam-size", type=int, default=20)
    parser.add_argument(
        "--words-per-vertex", type=int, help="default: as many as the model states, at most 12"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--products", choices=("ieee", "tf32x3", "tf32"), help="of the kernels")
    parser.add_argument("--chunk", type=int, help="candidates of a tile of the kernels")
    parser.add_argument("--bound-warps", type=int)
    parser.add_argument("--beam-warps", type=int)
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    return parser.parse_args()


def main() -> None:
    """Time it."""
    options = read_options()
    changed = {
        "precision": options.products,
        "small_chunk": options.chunk,
        "bound_warps": options.bound_warps,
        "beam_warps": options.beam_warps,
    }
    fused.DEFAULT = fused.Tuning(
        **{name: value for name, value in changed.items() if value is not None}
    )
    began = time.perf_counter()
    model = ModelDirectory.open(options.model)
    backend = TorchBackend(model, device=options.device, precision=options.precision)
    texts = load_texts(options.texts, options.n)
    print(f"loaded in {time.perf_counter() - began:.1f} s", flush=True)
    began = time.perf_counter()
    encoded = model.tokenizer.encode_batch(texts)
    reading = time.perf_counter() - began
    sources = [tuple(ids[: model.config.max_source]) for ids in encoded if ids]
    shape = model.config.architecture
    bench = Bench(
        backend=backend,
        requests=[GraphRequest(ids, shape.n_vertices(len(ids))) for ids in sources],
        words_per_vertex=options.words_per_vertex
        or min(MOST_DEVICE_WORDS, model.config.words_per_vertex),
        beam_size=options.beam_size,
        repeats=options.repeats,
    )
    n = len(sources)
    is_cuda = options.device.startswith("cuda")
    print(
        f"{torch.cuda.get_device_name() if is_cuda else 'CPU'}, {backend.name}: {n} texts, "
        f"{sum(map(len, sources)) / n:.1f} pieces each, K={bench.beam_size}, "
        f"M={bench.words_per_vertex}, no constraints, {fused.DEFAULT}",
        flush=True,
    )
    for text in options.limits:
        limit = Limit.read(text, model, options.device)
        for at_once in options.batch:
            found = bench.report(limit, at_once)
        lists = [one for one in found if isinstance(one, NBest)]
        began = time.perf_counter()
        summaries = [model.tokenizer.decode(list(one.best.words)) for one in lists]
        writing = time.perf_counter() - began
        print(f"for example: {summaries[0]!r}, {summaries[n // 2]!r}, {summaries[-1]!r}")
        print(f"text to ids {n / reading:.0f} /s, ids to text {n / writing:.0f} /s, on the CPU")
        if options.profile:
            show_kernels(bench, limit, options.batch[-1])


def show_kernels(bench: Bench, limit: Limit, at_once: int) -> None:
    """List where the device's time goes."""
    from torch.profiler import ProfilerActivity, profile

    is_cuda = bench.backend.device.startswith("cuda")
    with profile(activities=[ProfilerActivity.CUDA if is_cuda else ProfilerActivity.CPU]) as trace:
        bench.call(limit, at_once)
    for one in sorted(trace.key_averages(), key=lambda one: -one.self_device_time_total)[:24]:
        print(f"  {one.self_device_time_total / 1e3:9.2f} ms x{one.count:<5} {one.key[:90]}")


if __name__ == "__main__":
    main()
