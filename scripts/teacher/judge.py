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
from teacher import Lines, Prompts, Teacher, ready, several
from torch import Tensor

LINES_AT_ONCE = 256
"""Whose scores of all pieces the device holds."""


def mean_logp(teacher: Teacher, states: Tensor, lines: Lines) -> Tensor:
    """Return the mean log-probability of the pieces of each line, its end included.

    Args:
        teacher: The teacher.
        states: ``(B, T, H)`` its last states.
        lines: The lines.

    Returns:
        ``(N,)`` nats.
    """
    n = lines.n_pieces
    row, end = lines.last[:, :1], lines.last[:, 1:]
    place = torch.arange(int(n.max()), device=n.device)[None]
    mine = (end + 1 - n[:, None] + place).clamp(max=lines.ids.shape[1] - 1)
    # The first piece of a line is foretold where the prompt ends, not where the line before does.
    before = torch.where(place == 0, lines.n_head[:, None] - 1, mine - 1)
    is_line = place < n[:, None]
    total = []
    for start in range(0, len(n), LINES_AT_ONCE):
        part = slice(start, start + LINES_AT_ONCE)
        drawn = states[row[part], before[part]]
        logp = teacher.network.lm_head(drawn).float().log_softmax(-1)
        pieces = lines.ids[row[part], mine[part]][..., None]
        total.append((logp.gather(2, pieces)[..., 0] * is_line[part]).sum(1))
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
        tails = [prompts.lines(row["c"]) for _, row in batch]
        lines = several([head for head, _ in batch], tails, device)
        states = teacher.states_of(lines)
        fit = iter(teacher.fitness(states, lines.last).tolist())
        logp = iter(mean_logp(teacher, states, lines).tolist())
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
