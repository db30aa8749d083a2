"""Let a teacher write lines for texts, and keep those of each text in the order of its verdicts.

``python write.py LM TEACHER TEXTS -o OUTPUT [--shard 0/2] [--minutes 5]``. TEXTS has ``i``,
``genre``, ``limit`` and ``source``. Each line of OUTPUT is ``{"i", "limit", "c": [[line, logit
that it is fit, mean log-probability of its pieces], ...]}``, best first; lines beyond the limit
are left out.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from files import records, shard, write_records
from teacher import Prompts, Teacher, ready
from torch import Tensor
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

MOST_PIECES = 44
LONG_LIMIT = 80
"""Characters from which a batch takes about twice the steps."""

LEAST_SHARE = 0.05
"""Of the likeliest piece's chance, that a piece needs to be drawn."""


def beginnings(heads: list[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """``(B, T)`` prompts, padded at the beginning, and which pieces are there."""
    width = -(-max(map(len, heads)) // 8) * 8
    ids = torch.zeros((len(heads), width), dtype=torch.long)
    is_there = torch.zeros_like(ids)
    for place, head in enumerate(heads):
        ids[place, width - len(head) :] = torch.tensor(head)
        is_there[place, width - len(head) :] = 1
    return ids.to(device), is_there.to(device)


class Decoder:
    """The decoder step by step, n lines from each prompt: what a prompt says is kept once."""

    def __init__(self, teacher: Teacher, heads: list[list[int]], n: int) -> None:
        """Read the prompts."""
        self.network = teacher.network.model
        config = teacher.network.config
        self.n, self.n_keys = n, config.num_key_value_heads
        self.shared = config.num_attention_heads // self.n_keys
        ids, is_there = beginnings(heads, next(teacher.parameters()).device)
        places = (is_there.cumsum(1) - 1).clamp(min=0)
        read = self.network(
            input_ids=ids, attention_mask=is_there, position_ids=places, use_cache=True
        )
        self.prompt = [(layer.keys, layer.values) for layer in read.past_key_values.layers]
        self.state = read.last_hidden_state[:, -1].repeat_interleave(n, 0)
        self.bias = torch.zeros(is_there.shape, device=ids.device, dtype=self.state.dtype)
        self.bias.masked_fill_(is_there == 0, -torch.inf)
        self.place = places[:, -1:].repeat_interleave(n, 0)
        size = (
            len(self.state),
            self.n_keys,
            MOST_PIECES,
            self.state.shape[-1] // (self.n_keys * self.shared),
        )
        self.own = [(self.state.new_empty(size), self.state.new_empty(size)) for _ in self.prompt]
        self.step = 0

    def read(self, pieces: Tensor) -> None:
        """Take the next piece of each line, ``(N, 1)``."""
        self.place = self.place + 1
        hidden = self.network.embed_tokens(pieces)
        turn = self.network.rotary_emb(hidden, self.place)
        for number, layer in enumerate(self.network.layers):
            hidden = hidden + self._attend(number, layer, layer.input_layernorm(hidden), turn)
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        self.state = self.network.norm(hidden)[:, 0]
        self.step += 1

    def _attend(
        self, number: int, layer: Any, hidden: Tensor, turn: tuple[Tensor, Tensor]
    ) -> Tensor:
        """Look at the prompt and at the line so far."""
        attention, rows = layer.self_attn, len(hidden)
        query, key, value = (
            part(hidden).view(rows, 1, -1, self.own[0][0].shape[-1]).transpose(1, 2)
            for part in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        query, key = apply_rotary_pos_emb(query, key, *turn)
        keys, values = (kept[:, :, : self.step + 1] for kept in self.own[number])
        keys[:, :, -1:], values[:, :, -1:] = key, value
        query = query.view(rows, self.n_keys, self.shared, -1) * attention.scaling
        keys_read, values_read = self.prompt[number]
        to_prompt = self._by_prompt(query) @ keys_read.transpose(2, 3) + self.bias[:, None, None]
        to_line = query @ keys.transpose(2, 3)
        weights = torch.cat([self._by_line(to_prompt), to_line], -1).float().softmax(-1)
        weights = weights.to(query.dtype)
        width = keys_read.shape[2]
        found = self._by_line(self._by_prompt(weights[..., :width]) @ values_read)
        found = found + weights[..., width:] @ values
        return attention.o_proj(found.reshape(rows, 1, -1))

    def _by_prompt(self, rows: Tensor) -> Tensor:
        """``(N, K, S, D)`` of lines -> ``(B, K, n S, D)`` of prompts."""
        cut = rows.view(-1, self.n, *rows.shape[1:]).transpose(1, 2)
        return cut.flatten(2, 3)

    def _by_line(self, rows: Tensor) -> Tensor:
        """``(B, K, n S, D)`` of prompts -> ``(N, K, S, D)`` of lines."""
        cut = rows.unflatten(2, (self.n, self.shared)).transpose(1, 2)
        return cut.flatten(0, 1)


def draw(logits: Tensor, temperature: float) -> Tensor:
    """``(N, 1)`` pieces drawn from ``(N, V)`` logits, none far less likely than the likeliest."""
    logits = logits / temperature
    least = logits.amax(-1, keepdim=True) + math.log(LEAST_SHARE)
    noise = torch.empty_like(logits).exponential_().log_()
    return (logits - noise).masked_fill_(logits < least, -torch.inf).argmax(-1, keepdim=True)


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
        temperature: Of the draws.

    Returns:
        Finished lines of each prompt: text, logit that it is fit, mean log-probability.
    """
    decoder = Decoder(teacher, heads, n)
    total = torch.zeros(len(decoder.state), device=decoder.state.device)
    count, fit = torch.zeros_like(total), torch.zeros_like(total)
    is_done = torch.zeros_like(total, dtype=torch.bool)
    pieces = []
    for step in range(MOST_PIECES):
        logits = teacher.network.lm_head(decoder.state).float()
        drawn = draw(logits, temperature)
        logp = logits.gather(1, drawn)[:, 0] - logits.logsumexp(-1)
        total += torch.where(is_done, 0.0, logp)
        count += ~is_done
        drawn = torch.where(is_done[:, None], prompts.eos, drawn)
        pieces.append(drawn)
        decoder.read(drawn)
        ends = ~is_done & (drawn[:, 0] == prompts.eos)
        fit = torch.where(ends, teacher.head(decoder.state)[:, 0].float(), fit)
        is_done = is_done | ends
        if step % 4 == 3 and bool(is_done.all()):
            break
    texts = prompts.texts(torch.cat(pieces, 1).tolist())
    made = list(zip(texts, fit.tolist(), (total / count).tolist(), is_done.tolist(), strict=True))
    return [
        [(text, *numbers) for text, *numbers, done in made[start : start + n] if done]
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


def cost(item: tuple[list[int], dict[str, Any]]) -> tuple[bool, int]:
    """Order texts so that batches waste little: long lines apart, then prompts of like length."""
    return item[1]["limit"] > LONG_LIMIT, len(item[0])


def written(
    teacher: Teacher, prompts: Prompts, rows: Sequence[dict[str, Any]], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Write for some texts until the time is over."""
    started, at_once = time.monotonic(), options.at_once
    for start in range(0, len(rows), 20 * at_once):
        part = rows[start : start + 20 * at_once]
        items = sorted(zip(prompts.heads(part), part, strict=True), key=cost)
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
