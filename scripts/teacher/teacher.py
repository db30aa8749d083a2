"""A small pretrained language model that learns from editors to write lines and to judge them.

Owns its prompts, its weights and one look at finished lines. Any Llama or Qwen2 in GGUF serves,
with its ``config.json`` and ``tokenizer.json`` beside it, and ``pieces.json`` if `shrink.py` left
some of its vocabulary out. Needs ``torch``, ``transformers`` and ``gguf``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from gguf import GGUFReader, dequantize
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

MOST_SOURCE = 230
"""Pieces of a text that a prompt holds; more than the summarizer reads."""

_NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


class Prompts:
    """Texts and lines as pieces."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerFast, bos: int, eos: int, kept: list[int] | None = None
    ) -> None:
        """Keep the tokenizer.

        Args:
            tokenizer: Of the language model.
            bos: Its piece that begins a prompt.
            eos: Its piece that ends a line.
            kept: Its pieces that the network knows, in the network's order; all if None.
        """
        self.tokenizer = tokenizer
        self._kept = kept
        self._place = {} if kept is None else {piece: place for place, piece in enumerate(kept)}
        self.bos, self.eos = (self._place.get(piece, piece) for piece in (bos, eos))
        self._end = self._pieces(["\n=>"])[0]

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        if self._kept is None:
            return ids
        return [[self._place[piece] for piece in row if piece in self._place] for row in ids]

    def heads(self, rows: Sequence[dict[str, Any]]) -> list[list[int]]:
        """Make the prompt of each text: its genre, its limit, the text."""
        asked = self._pieces([f"{r['genre']} | at most {r['limit']} characters\n" for r in rows])
        texts = self._pieces([r["source"] for r in rows])
        pairs = zip(asked, texts, strict=True)
        return [[self.bos, *ask, *text[:MOST_SOURCE], *self._end] for ask, text in pairs]

    def lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Make what follows a prompt: the line and its end."""
        return [[*pieces, self.eos] for pieces in self._pieces([" " + line for line in lines])]

    def texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Turn pieces into texts, each up to its end."""
        cut = [row[: row.index(self.eos)] if self.eos in row else row for row in map(list, rows)]
        if self._kept is not None:
            cut = [[self._kept[piece] for piece in row] for row in cut]
        texts: list[str] = self.tokenizer.batch_decode(cut, clean_up_tokenization_spaces=False)
        return [text.strip() for text in texts]


class Lines(NamedTuple):
    """Prompts, each with several lines that may follow it, as one batch.

    A row holds a prompt once and its lines after it; each line sees the prompt and itself.
    """

    ids: Tensor
    """``(B, T)`` pieces."""
    place: Tensor
    """``(B, T)`` places, those of each line from the end of the prompt on."""
    part: Tensor
    """``(B, T)`` 0 for the prompt, then the number of the line; -1 beyond the end."""
    last: Tensor
    """``(N, 2)`` row and column where each line ends."""
    n_pieces: Tensor
    """``(N,)`` pieces of each line, its end included."""
    n_head: Tensor
    """``(N,)`` pieces of the prompt of each line."""


class Teacher(nn.Module):
    """The language model, and for each finished line the logit that it is fit to print."""

    def __init__(self, network: Any) -> None:
        """Add the head, which says 0 of every line until it has learned."""
        super().__init__()
        self.network = network
        self.head = nn.Linear(network.config.hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def states(self, ids: Tensor) -> Tensor:
        """``(B, T, H)`` last states of ``(B, T)`` pieces, padded at the end."""
        found: Tensor = self.network.model(input_ids=ids, use_cache=False).last_hidden_state
        return found

    def states_of(self, lines: Lines) -> Tensor:
        """``(B, T, H)`` last states of prompts with several lines each."""
        column = torch.arange(lines.ids.shape[1], device=lines.ids.device)
        is_seen = (lines.part[:, None] == 0) | (lines.part[:, :, None] == lines.part[:, None])
        is_seen = (is_seen & (column[:, None] >= column))[:, None]
        bias = torch.zeros(is_seen.shape, dtype=self._dtype(), device=is_seen.device)
        bias.masked_fill_(~is_seen, torch.finfo(bias.dtype).min)
        found: Tensor = self.network.model(
            input_ids=lines.ids, attention_mask=bias, position_ids=lines.place, use_cache=False
        ).last_hidden_state
        return found

    def _dtype(self) -> torch.dtype:
        device = self.head.weight.device.type
        if torch.is_autocast_enabled(device):
            return torch.get_autocast_dtype(device)
        return self.head.weight.dtype

    def fitness(self, states: Tensor, last: Tensor) -> Tensor:
        """``(N,)`` logits, read where each line ends, ``(N, 2)``."""
        return self.head(states[last[:, 0], last[:, 1]].to(self.head.weight.dtype))[:, 0].float()

    def forward(self, written: dict[str, Tensor], lines: Lines, mark: Tensor) -> Tensor:
        """Return the losses: of writing, of fit or not, of which of two lines is better.

        Args:
            written: ``ids (B, T)``, ``first`` and ``length (B,)`` of each line, ``weight (B,)``.
            lines: Marked lines.
            mark: ``(N,)`` mark of each, 2 for fit.

        Returns:
            ``(3,)`` losses.
        """
        ids = written["ids"]
        place = torch.arange(1, ids.shape[1], device=ids.device)[None]
        is_line = (place >= written["first"][:, None]) & (place < written["length"][:, None])
        logits = self.network.lm_head(self.states(ids)[:, :-1][is_line]).float()
        weight = written["weight"][:, None].expand(is_line.shape)[is_line]
        nll = F.cross_entropy(logits, ids[:, 1:][is_line], reduction="none")
        fit = self.fitness(self.states_of(lines), lines.last)
        text = lines.last[:, 0]
        is_pair = (text[:, None] == text[None]) & (mark[:, None] > mark[None])
        worse = F.softplus(fit[None] - fit[:, None])
        return torch.stack(
            [
                (nll * weight).sum() / weight.sum().clamp(min=1),
                F.binary_cross_entropy_with_logits(fit, (mark == 2).float()),
                (worse * is_pair).sum() / is_pair.sum().clamp(min=1),
            ]
        )


def load(directory: str | Path, weights: str | Path | None = None) -> tuple[Prompts, Teacher]:
    """Load the language model, and what it has learned since.

    Args:
        directory: Holds ``lm.gguf``, ``config.json``, ``tokenizer.json`` and perhaps
            ``pieces.json``.
        weights: State of a teacher that has learned.

    Returns:
        Prompts and network, on the CPU.
    """
    folder = Path(directory)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    given = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    given.pop("quantization_config", None)
    pieces = folder / "pieces.json"
    kept = json.loads(pieces.read_text(encoding="utf-8")) if pieces.exists() else None
    prompts = Prompts(tokenizer, given["bos_token_id"], given["eos_token_id"], kept)
    config = AutoConfig.for_model(**given)
    config.vocab_size = len(kept) if kept else config.vocab_size
    config.bos_token_id, config.eos_token_id, config.pad_token_id = prompts.bos, prompts.eos, None
    network = AutoModelForCausalLM.from_config(config)
    teacher = Teacher(network)
    if weights is None:
        network.load_state_dict(_dequantised(folder / "lm.gguf", given))
    else:
        teacher.load_state_dict(torch.load(weights, map_location="cpu"))
    return prompts, teacher


def _dequantised(path: Path, config: dict[str, Any]) -> dict[str, Tensor]:
    """Read weights from GGUF; a Llama's rows of queries and keys stand in another order there."""
    state = {}
    tensors = {tensor.name: tensor for tensor in GGUFReader(str(path)).tensors}
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}
    for name, tensor in tensors.items():
        values = np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        weight, parts = torch.from_numpy(values), name.split(".")
        if parts[0] in ("token_embd", "output"):
            # Both are one matrix; a file that has it twice has the second in more bits.
            if parts[0] == "output" or "output.weight" not in tensors:
                state["model.embed_tokens.weight"] = state["lm_head.weight"] = weight
        elif parts[0] == "output_norm":
            state["model.norm.weight"] = weight
        else:
            if config["model_type"] == "llama" and parts[2] in heads:
                rows = weight.view(config[heads[parts[2]]], -1, 2, weight.shape[1])
                weight = rows.swapaxes(1, 2).reshape(weight.shape)
            state[f"model.layers.{parts[1]}.{_NAMES[parts[2]]}.{parts[3]}"] = weight
    return state


def ready(directory: str | Path, weights: str | Path) -> tuple[Prompts, Teacher]:
    """Load a teacher that has learned, to be used on this process's device."""
    prompts, teacher = load(directory, weights)
    device = best_device()
    return prompts, teacher.to(device, torch.bfloat16 if device.type == "cuda" else None).eval()


def padded(rows: Sequence[Sequence[int]], device: torch.device, pad: int = 0) -> Tensor:
    """``(B, T)`` rows of whole numbers, padded at the end to a multiple of eight."""
    width = -(-max(map(len, rows)) // 8) * 8
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    return torch.from_numpy(ids).to(device, non_blocking=True)


def several(
    heads: Sequence[list[int]], tails: Sequence[Sequence[list[int]]], device: torch.device
) -> Lines:
    """Make one batch of prompts and the lines that may follow each."""
    ids, places, parts, last, sizes = [], [], [], [], []
    for row, (head, lines) in enumerate(zip(heads, tails, strict=True)):
        ids.append(list(head))
        places.append(list(range(len(head))))
        parts.append([0] * len(head))
        for number, line in enumerate(lines, start=1):
            ids[-1] += line
            places[-1] += range(len(head), len(head) + len(line))
            parts[-1] += [number] * len(line)
            last.append((row, len(ids[-1]) - 1))
            sizes.append((len(line), len(head)))
    n_pieces, n_head = torch.tensor(sizes, device=device).unbind(1)
    return Lines(
        padded(ids, device),
        padded(places, device),
        padded(parts, device, -1),
        torch.tensor(last, device=device),
        n_pieces,
        n_head,
    )


def best_device() -> torch.device:
    """Name this process's GPU, the CPU where there is none."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def batches(order: Sequence[int], sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Cut an order into batches that hold at most so many pieces, pads included."""
    batch: list[int] = []
    longest = 0
    for item in order:
        longest = max(longest, sizes[item])
        if batch and longest * (len(batch) + 1) > most:
            yield batch
            batch, longest = [], sizes[item]
        batch.append(item)
    if batch:
        yield batch
