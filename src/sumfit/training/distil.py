"""Titles that a model's own scorer writes: more training pairs from texts that have none.

Owns greedy writing with the scorer (the autoregressive decoder of `sumfit.models.dat`) and how its
lines are kept: those that it finished and finds likely. A graph learns more readily from one
writer than from many (sequence-level knowledge distillation: Kim and Rush 2016). Does not own the
check of what is written against its source (`sumfit.data.filtering`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from sumfit.data.filtering import FilterOptions, FilterReport, PairFilter
from sumfit.data.readers import read_rows
from sumfit.errors import ConfigError
from sumfit.models.autoregressive import Autoregressive
from sumfit.models.checkpoint import load_model
from sumfit.models.config import BOS, EOS, N_SPECIAL
from sumfit.models.dat import DAT
from sumfit.models.network import usable_device
from sumfit.text import Tokenizer
from sumfit.text.controls import N_CONTROLS, Controls
from sumfit.training.validation import autocast
from sumfit.writing import naming

__all__ = [
    "LENGTH_SHARES",
    "WriteOptions",
    "Written",
    "scorer_network",
    "write_pairs",
    "write_titles",
]

LENGTH_SHARES = (0.05, 0.15, 0.2, 0.25, 0.15, 0.1, 0.1)
"""How often each class of lengths (`sumfit.text.controls.LENGTHS`) is asked for."""

_STEPS_BETWEEN_LOOKS = 6  # looking whether all are done waits for the device
_MOST_PIECES = 48


@dataclass(frozen=True, slots=True)
class Written:
    """One title that the scorer wrote.

    Attributes:
        index: Place of its text among those given.
        text: The title.
        mean_logp: Mean log-probability of its pieces and its end, nats.
    """

    index: int
    text: str
    mean_logp: float


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How titles are written.

    Attributes:
        style: Style that the model is told; empty for none.
        n_titles: Titles for each text, of different lengths.
        least_logp: Titles whose mean log-probability is below this are left out.
        batch_size: Texts written for at once.
        max_source: Pieces at which a source is cut, control pieces included.
        seed: Seed of the lengths.
    """

    style: str = ""
    n_titles: int = 2
    least_logp: float = -0.5
    batch_size: int = 1024
    max_source: int = 192
    seed: int = 1


def write_pairs(
    checkpoint: str | Path,
    texts: str | Path,
    output: str | Path,
    options: WriteOptions,
    *,
    device: str = "",
    on_progress: Callable[[int, int], None] | None = None,
) -> FilterReport:
    """Write titles for the texts of a file, and keep the pairs that the filter keeps.

    Args:
        checkpoint: Directory of a model with a scorer, and its tokenizer.
        texts: JSON lines with a field ``source``.
        output: JSON lines ``{"source", "summary"}`` to write, as they come.
        options: How titles are written.
        device: Torch device; the best there is if empty.
        on_progress: Called with the number of titles tried and wanted.

    Returns:
        What was kept and dropped.

    Raises:
        ConfigError: If the model has no scorer, or there is no such device.
    """
    model = load_model(checkpoint).to(usable_device(device or None))
    tokenizer = Tokenizer.from_file(Path(checkpoint) / "tokenizer.json")
    sources = [str(row.fields["source"]) for row in read_rows(texts) if "source" in row.fields]
    judge = PairFilter(FilterOptions())
    n_all = len(sources) * options.n_titles

    def progress(n_done: int) -> None:
        if on_progress:
            on_progress(n_done, n_all)

    with naming(output), Path(output).open("w", encoding="utf-8", newline="\n") as stream:
        for written in write_titles(model, tokenizer, sources, options, progress):
            source = sources[written.index]
            kept = judge.keep(source, written.text)
            if kept is not None:
                record = {"source": source, "summary": kept}
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return judge.report


def scorer_network(model: DAT) -> Autoregressive:
    """Make an autoregressive network of a model's encoder and scorer; weights are shared.

    Args:
        model: A network with a scorer.

    Returns:
        The network, in evaluation mode.

    Raises:
        ConfigError: If the model has no scorer.
    """
    if not model.config.n_scorer_layers:
        raise ConfigError("the model has no scorer (n_scorer_layers is 0); train one with it")
    network = Autoregressive(model.config)
    network.embedding = model.embedding
    network.source_entry, network.target_entry = model.source_entry, model.scorer_entry
    network.encoder, network.decoder = model.encoder, model.scorer
    return network.eval()


@torch.no_grad()
def write_titles(
    model: DAT,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    options: WriteOptions,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Written]:
    """Write titles for texts, greedily, on the model's device.

    Args:
        model: A network with a scorer that was trained with control pieces.
        tokenizer: Its tokenizer.
        texts: The texts.
        options: How.
        on_progress: Called with the number of titles tried so far.

    Yields:
        The titles that are finished and likely enough; in no particular order.
    """
    network = scorer_network(model)
    device = model.embedding.weight.device
    controls = Controls.of_tokenizer(tokenizer)
    rng = np.random.default_rng(options.seed)
    sources = tokenizer.encode_batch(list(texts))
    tasks: list[tuple[int, list[int]]] = []
    for index, source in enumerate(sources):
        if not source:
            continue
        classes = rng.choice(len(LENGTH_SHARES), options.n_titles, replace=False, p=LENGTH_SHARES)
        style = [controls.styles[options.style]] if options.style else []
        kept = source[: options.max_source - N_CONTROLS]
        tasks += [(index, [*style, controls.lengths[place], *kept]) for place in classes]
    tasks.sort(key=lambda task: len(task[1]))
    for start in range(0, len(tasks), options.batch_size):
        batch = tasks[start : start + options.batch_size]
        width = max(len(ids) for _, ids in batch)
        rows = np.zeros((len(batch), width), dtype=np.int64)
        for row, (_, ids) in enumerate(batch):
            rows[row, : len(ids)] = ids
        with autocast(device, "auto"):
            words, mean, is_done = _write(network, torch.from_numpy(rows).to(device))
        for (index, _), ids, logp, done in zip(
            batch, words.tolist(), mean.tolist(), is_done.tolist(), strict=True
        ):
            if done and logp >= options.least_logp:
                text = tokenizer.decode([word for word in ids if word >= N_SPECIAL])
                if text:
                    yield Written(index, text, logp)
        if on_progress:
            on_progress(min(start + options.batch_size, len(tasks)))


def _write(network: Autoregressive, source_ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Write greedily: ``(B, U)`` words with pads, ``(B,)`` mean nats a piece, ``(B,)`` finished."""
    memory, source_mask = network.encode(source_ids)
    n_items = source_ids.shape[0]
    cache = network.start(memory, source_mask, 1)
    last = source_ids.new_full((n_items, 1), BOS)
    total = torch.zeros(n_items, device=source_ids.device)
    count = torch.zeros_like(total)
    is_done = torch.zeros(n_items, dtype=torch.bool, device=source_ids.device)
    words = []
    for step in range(_MOST_PIECES):
        hidden = network.step(last, cache)[:, 0]
        logp, chosen = network.word_logp(hidden).max(dim=1)
        total += torch.where(is_done, 0.0, logp)
        count += ~is_done
        chosen = torch.where(is_done, 0, chosen)
        is_done = is_done | (chosen == EOS)
        words.append(chosen)
        last = chosen[:, None]
        if step % _STEPS_BETWEEN_LOOKS == _STEPS_BETWEEN_LOOKS - 1 and bool(is_done.all()):
            break
    return torch.stack(words, dim=1), total / count, is_done
