"""Teach a language model to write an editor's lines and to tell which lines editors mark as fit.

``python learn.py LM LINES MARKED VALID -o OUTPUT --minutes 2.5``, under ``torch.distributed.run``
for several GPUs. LM holds the model (`teacher.load`). LINES has ``genre``, ``limit``, ``source``
and ``line`` of an editor. MARKED and VALID have ``genre``, ``limit``, ``source``, candidates ``c``
of the summarizer and their marks ``m``: 2 for fit, 1 for nearly, 0. Writes ``OUTPUT/teacher.pt``,
and says how often its choice among the candidates of VALID is fit, beside the summarizer's first.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from files import records
from teacher import Lines, Prompts, Teacher, batches, best_device, load, padded, several

ACCEPTED_WEIGHT = 0.4
"""Of a candidate that editors found fit, beside 1 of a line that they wrote."""

TEXTS_AT_ONCE = 16
"""Whose lines are judged together for the report."""


def written_items(
    prompts: Prompts, lines: list[dict[str, Any]], marked: list[dict[str, Any]]
) -> list[Any]:
    """Make ``(prompt, line, weight)`` of all lines to be learned."""
    rows = [{**row, "weight": 1.0} for row in lines]
    for row in marked:
        fit = [line for line, mark in zip(row["c"], row["m"], strict=True) if mark == 2]
        rows += [{**row, "line": line, "weight": ACCEPTED_WEIGHT} for line in fit]
    tails = prompts.lines([row["line"] for row in rows])
    return [
        (head, tail, row["weight"])
        for head, tail, row in zip(prompts.heads(rows), tails, rows, strict=True)
    ]


def marked_items(prompts: Prompts, marked: list[dict[str, Any]]) -> list[Any]:
    """Make ``(prompt, lines, marks)`` of all texts."""
    heads = prompts.heads(marked)
    return [(head, prompts.lines(r["c"]), r["m"]) for head, r in zip(heads, marked, strict=True)]


def endless(items: list[Any], sizes: list[int], most: int, seed: int) -> Iterator[list[Any]]:
    """Draw batches of items of like length, epoch after epoch."""
    draw = random.Random(seed)
    order = list(range(len(items)))
    while True:
        draw.shuffle(order)
        for start in range(0, len(order), 8000):
            alike = sorted(order[start : start + 8000], key=sizes.__getitem__)
            made = list(batches(alike, sizes, most))
            draw.shuffle(made)
            for batch in made:
                yield [items[item] for item in batch]


def written_batch(items: list[Any], device: torch.device) -> dict[str, torch.Tensor]:
    """Make what `Teacher.forward` reads of lines to be learned."""
    rows = [head + tail for head, tail, _ in items]
    return {
        "ids": padded(rows, device),
        "first": torch.tensor([len(head) for head, _, _ in items], device=device),
        "length": torch.tensor([len(row) for row in rows], device=device),
        "weight": torch.tensor([weight for _, _, weight in items], device=device),
    }


def marked_batch(items: list[Any], device: torch.device) -> tuple[Lines, torch.Tensor]:
    """Make what `Teacher.forward` reads of marked texts: lines and marks."""
    lines = several([head for head, *_ in items], [tails for _, tails, _ in items], device)
    marks = [mark for *_, marks in items for mark in marks]
    return lines, torch.tensor(marks, device=device)


def share_done(started: float, seconds: float, device: torch.device) -> float:
    """Say how much of the time is over, the same on all processes."""
    share = torch.tensor([(time.monotonic() - started) / seconds], device=device)
    if dist.is_initialized():
        dist.broadcast(share, 0)
    return float(share)


def learn(teacher: Teacher, sources: tuple[Any, Any], options: argparse.Namespace) -> None:
    """Learn from both kinds of items until the time is over."""
    device = best_device()
    model: Any = teacher
    if dist.is_initialized():
        model = torch.nn.parallel.DistributedDataParallel(teacher, gradient_as_bucket_view=True)
    groups = [
        {"params": list(teacher.network.parameters()), "scale": 1.0},
        {"params": list(teacher.head.parameters()), "scale": 10.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=options.lr, betas=(0.9, 0.98), weight_decay=0.01)
    written, marked = sources
    started, step = time.monotonic(), 0
    while (share := share_done(started, 60 * options.minutes, device)) < 1:
        rate = options.lr * min(1.0, (step + 1) / 60) * (1 - 0.95 * share)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        batch = written_batch(next(written), device), *marked_batch(next(marked), device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            losses = model(*batch)
        optimizer.zero_grad(set_to_none=True)
        (losses * torch.tensor([1.0, 0.5, 1.0], device=device)).sum().backward()
        norm = torch.nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
        if torch.isfinite(norm):
            optimizer.step()
        step += 1
        if step % 50 == 0:
            said = " ".join(f"{value:.3f}" for value in losses.tolist())
            sys.stderr.write(f"{step} {time.monotonic() - started:.0f} s: {said}\n")


@torch.no_grad()
def verdicts(teacher: Teacher, items: list[Any], device: torch.device) -> Iterator[list[float]]:
    """Judge the lines of each text, some texts at once."""
    for start in range(0, len(items), TEXTS_AT_ONCE):
        batch = items[start : start + TEXTS_AT_ONCE]
        lines, _ = marked_batch(batch, device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            states = teacher.states_of(lines)
        fit = iter(teacher.fitness(states, lines.last).tolist())
        yield from (list(itertools.islice(fit, len(marks))) for *_, marks in batch)


def report(teacher: Teacher, items: list[Any], device: torch.device) -> str:
    """Say how often the choice among marked candidates is fit."""
    n_chosen = n_first = n_best = n_right = n_pairs = 0
    for (*_, marks), fit in zip(items, verdicts(teacher, items, device), strict=True):
        chosen = max(range(len(fit)), key=fit.__getitem__)
        n_chosen += marks[chosen] == 2
        n_first += marks[0] == 2
        n_best += 2 in marks
        pairs = [(a, b) for a in range(len(fit)) for b in range(len(fit)) if marks[a] > marks[b]]
        n_pairs += len(pairs)
        n_right += sum(fit[a] > fit[b] for a, b in pairs)
    n = max(1, len(items)) / 100
    return (
        f"{len(items)} texts: chosen fit {n_chosen / n:.1f} %, first {n_first / n:.1f} %, "
        f"best {n_best / n:.1f} %; pairs in order {100 * n_right / max(1, n_pairs):.1f} %\n"
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("lm", "lines", "marked", "valid"):
        parser.add_argument(name)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=2.5)
    parser.add_argument("--lr", type=float, default=2.5e-4)
    parser.add_argument("--pieces", type=int, nargs=2, default=(16384, 12288), help="of a batch")
    options = parser.parse_args()
    device = best_device()
    if "RANK" in os.environ:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    rank = dist.get_rank() if dist.is_initialized() else 0
    prompts, teacher = load(options.lm)
    teacher.to(device).train()
    lines, marked, valid = map(records, (options.lines, options.marked, options.valid))
    written = written_items(prompts, lines, marked)
    split = [item for item in marked_items(prompts, marked) if len(set(item[2])) > 1]
    sizes = [len(head) + len(tail) for head, tail, _ in written]
    whole = [len(head) + sum(map(len, tails)) for head, tails, _ in split]
    most = options.pieces
    sources = (
        endless(written, sizes, most[0], 100 + rank),
        endless(split, whole, most[1], 200 + rank),
    )
    learn(teacher, sources, options)
    if rank == 0:
        options.output.mkdir(parents=True, exist_ok=True)
        state = {key: value.to(torch.bfloat16) for key, value in teacher.state_dict().items()}
        torch.save(state, options.output / "teacher.pt")
        sys.stdout.write(report(teacher.eval(), marked_items(prompts, valid), device))
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
