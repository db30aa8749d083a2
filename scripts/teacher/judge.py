"""Let a teacher judge candidates.

``python judge.py LM TEACHER CANDIDATES -o OUTPUT [--shard 0/2]``. CANDIDATES has ``genre``,
``limit``, ``source`` and lines ``c``; OUTPUT has the same, ``s``, the logit that each is fit to
print, and ``logp``, the mean log-probability of its pieces.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from files import records, shard, write_records
from teacher import Prompts, Teacher, padded, ready
from torch import Tensor

LINES_AT_ONCE = 256
"""Whose scores of all pieces the device holds."""


def mean_logp(teacher: Teacher, states: Tensor, ids: Tensor, last: Tensor, n: Tensor) -> Tensor:
    """Return the mean log-probability of the pieces of each line, its end included.

    Args:
        teacher: The teacher.
        states: ``(B, T, H)`` its last states.
        ids: ``(B, T)`` prompts and lines.
        last: ``(B,)`` where each line ends.
        n: ``(B,)`` pieces of each line.

    Returns:
        ``(B,)`` nats.
    """
    place = torch.arange(int(n.max()), device=ids.device)[None]
    before = (last[:, None] - n[:, None] + place).clamp(max=ids.shape[1] - 2)
    drawn = states.gather(1, before[..., None].expand(-1, -1, states.shape[-1]))
    pieces, is_line = ids.gather(1, before + 1), place < n[:, None]
    total = []
    for start in range(0, len(ids), LINES_AT_ONCE):
        rows = slice(start, start + LINES_AT_ONCE)
        logp = teacher.network.lm_head(drawn[rows]).float().log_softmax(-1)
        mine = logp.gather(2, pieces[rows, :, None])[..., 0]
        total.append((mine * is_line[rows]).sum(1))
    return torch.cat(total) / n


@torch.no_grad()
def judged(
    teacher: Teacher, prompts: Prompts, rows: Sequence[dict[str, Any]], at_once: int
) -> Iterator[dict[str, Any]]:
    """Judge the candidates of some texts, so many texts at once."""
    device = next(teacher.parameters()).device
    items = sorted(zip(prompts.heads(rows), rows, strict=True), key=lambda item: len(item[0]))
    for start in range(0, len(items), at_once):
        batch = items[start : start + at_once]
        tails = [tail for _, row in batch for tail in prompts.lines(row["c"])]
        heads = [head for head, row in batch for _ in row["c"]]
        ids = padded([head + tail for head, tail in zip(heads, tails, strict=True)], device)
        lengths = torch.tensor([len(tail) for tail in tails], device=device)
        last = torch.tensor([len(head) for head in heads], device=device) + lengths - 1
        states = teacher.states(ids)
        fit = iter(teacher.fitness(states, last).tolist())
        logp = iter(mean_logp(teacher, states, ids, last, lengths).tolist())
        for _, row in batch:
            n = len(row["c"])
            verdict = {"s": _rounded(fit, n), "logp": _rounded(logp, n)}
            yield {**row, **verdict}


def _rounded(values: Iterator[float], n: int) -> list[float]:
    return [round(value, 3) for value in itertools.islice(values, n)]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("lm", "teacher", "candidates"):
        parser.add_argument(name)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--shard", default="0/1", help="which part of the texts, as 0/2")
    parser.add_argument("--at-once", type=int, default=64, help="texts at once")
    options = parser.parse_args()
    prompts, teacher = ready(options.lm, options.teacher)
    rows = shard(records(options.candidates), options.shard)
    write_records(options.output, judged(teacher, prompts, rows, options.at_once))


if __name__ == "__main__":
    main()
