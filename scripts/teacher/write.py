"""Let a teacher write lines for texts, and keep those of each text in the order of its verdicts.

``python write.py LM TEACHER TEXTS -o OUTPUT [--shard 0/2] [--minutes 5]``. TEXTS has ``i``,
``genre``, ``limit`` and ``source``. Each line of OUTPUT is ``{"i", "limit", "c": [[line, logit
that it is fit, mean log-probability of its pieces], ...]}``, best first; lines beyond the limit
are left out.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from files import records, shard, write_records
from teacher import EOS, Prompts, Teacher, ready
from torch import Tensor

MOST_PIECES = 44
N_LIKELIEST = 20


def beginnings(heads: list[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """``(B, T)`` prompts, padded at the beginning, and which pieces are there."""
    width = -(-max(map(len, heads)) // 8) * 8
    ids = torch.full((len(heads), width), EOS)
    is_there = torch.zeros_like(ids)
    for place, head in enumerate(heads):
        ids[place, width - len(head) :] = torch.tensor(head)
        is_there[place, width - len(head) :] = 1
    return ids.to(device), is_there.to(device)


@torch.no_grad()
def write(
    teacher: Teacher, prompts: Prompts, heads: list[list[int]], n: int, temperature: float
) -> list[list[tuple[str, float, float]]]:
    """Write n lines for each prompt.

    Args:
        teacher: The teacher.
        prompts: Its tokenizer.
        heads: Prompts.
        n: Lines for each.
        temperature: Of the draws, among the 20 likeliest pieces.

    Returns:
        Finished lines of each prompt: text, logit that it is fit, mean log-probability.
    """
    ids, is_there = beginnings(heads, next(teacher.parameters()).device)
    places = (is_there.cumsum(1) - 1).clamp(min=0)
    decoder = teacher.network.model
    found = decoder(input_ids=ids, attention_mask=is_there, position_ids=places, use_cache=True)
    cache = found.past_key_values
    cache.batch_repeat_interleave(n)
    state = found.last_hidden_state[:, -1].repeat_interleave(n, 0)
    is_there, place = is_there.repeat_interleave(n, 0), places[:, -1:].repeat_interleave(n, 0)
    total = torch.zeros(len(state), device=ids.device)
    count, fit = torch.zeros_like(total), torch.zeros_like(total)
    is_done = torch.zeros_like(total, dtype=torch.bool)
    pieces = []
    for step in range(MOST_PIECES):
        logits = teacher.network.lm_head(state).float()
        value, kept = (logits / temperature).topk(N_LIKELIEST)
        drawn = kept.gather(1, torch.multinomial(value.softmax(-1), 1))
        logp = logits.gather(1, drawn)[:, 0] - logits.logsumexp(-1)
        total += torch.where(is_done, 0.0, logp)
        count += ~is_done
        drawn = torch.where(is_done[:, None], EOS, drawn)
        pieces.append(drawn)
        is_there = torch.cat([is_there, torch.ones_like(drawn)], 1)
        place = place + 1
        state = decoder(
            input_ids=drawn,
            attention_mask=is_there,
            position_ids=place,
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state[:, -1]
        ends = ~is_done & (drawn[:, 0] == EOS)
        fit = torch.where(ends, teacher.head(state)[:, 0].float(), fit)
        is_done = is_done | ends
        if step % 4 == 3 and bool(is_done.all()):
            break
    rows = [row[: row.index(EOS)] if EOS in row else row for row in torch.cat(pieces, 1).tolist()]
    texts = prompts.tokenizer.batch_decode(rows, clean_up_tokenization_spaces=False)
    made = list(zip(texts, fit.tolist(), (total / count).tolist(), is_done.tolist(), strict=True))
    return [
        [(text.strip(), *numbers) for text, *numbers, done in made[start : start + n] if done]
        for start in range(0, len(made), n)
    ]


def in_order(lines: list[tuple[str, float, float]], limit: int) -> list[tuple[str, float, float]]:
    """Keep different lines within the limit, the best first."""
    best = {text: (text, *numbers) for text, *numbers in sorted(lines, key=sum_of)}
    kept = [line for line in best.values() if 0 < len(line[0]) <= limit and "\n" not in line[0]]
    return sorted(kept, key=sum_of, reverse=True)


def sum_of(line: tuple[str, float, float]) -> float:
    """Weigh a line: how fit, and how likely."""
    return line[1] + line[2]


def written(
    teacher: Teacher, prompts: Prompts, rows: Sequence[dict[str, Any]], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Write for some texts until the time is over."""
    started, at_once = time.monotonic(), options.at_once
    for start in range(0, len(rows), 20 * at_once):
        part = rows[start : start + 20 * at_once]
        items = sorted(zip(prompts.heads(part), part, strict=True), key=lambda item: len(item[0]))
        cuts = list(range(0, len(items), at_once))
        random.Random(start).shuffle(cuts)  # so that time running out favours no length
        for cut in cuts:
            batch = items[cut : cut + at_once]
            heads = [head for head, _ in batch]
            lists = write(teacher, prompts, heads, options.samples, options.temperature)
            for (_, row), lines in zip(batch, lists, strict=True):
                if kept := in_order(lines, row["limit"]):
                    yield {"i": row["i"], "limit": row["limit"], "c": kept}
            if time.monotonic() - started > 60 * options.minutes:
                return


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("lm", "teacher", "texts"):
        parser.add_argument(name)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--shard", default="0/1", help="which part of the texts, as 0/2")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--samples", type=int, default=4, help="lines drawn for each text")
    parser.add_argument("--at-once", type=int, default=768, help="texts at once")
    parser.add_argument("--temperature", type=float, default=0.7)
    options = parser.parse_args()
    prompts, teacher = ready(options.lm, options.teacher)
    rows = shard(records(options.texts), options.shard)
    write_records(options.output, written(teacher, prompts, rows, options))


if __name__ == "__main__":
    main()
