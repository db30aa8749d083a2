"""Fit what tells a model which sentence of a short text holds its point.

    python scripts/make_salience.py MODEL TEXTS.jsonl... [--write]

Each line of TEXTS has ``text``, and ``points``: the one or two sentences that a reader would make
the title of, the better first. The model's encoder reads each text as the product does; two layers
over its states (`sumfit.text.salience`) are fitted by cross-entropy to the sentence that was named.
A fifth of the texts is kept back and says how often the sentence chosen is one of those named, and
how often the first one is. ``--write`` fits to all and writes ``salience.npz`` into MODEL (then run
``sumfit export MODEL --only-manifest``). Needs torch; 13,000 texts take five minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from sumfit.pipeline.engine import Engine
from sumfit.pipeline.options import Options
from sumfit.runtime import GraphRequest, ModelDirectory, load_backend
from sumfit.text.salience import SALIENCE_FILE, Salience, sentence_inputs, sentence_spans

HIDDEN = 64
EPOCHS = 14
RATE = 1e-3
BATCH = 64
DROPOUT = 0.3
DECAY = 0.02
BETTER_PART = 0.65
"""Of the two sentences that a reader named, what the better one weighs."""

HELD = 0.2
LIMITS = (40, 60, 80, 100)
FEWEST = 3  # vertices of a graph


class Read(NamedTuple):
    """A text as the network reads it: of each sentence the inputs, and how well it is the point."""

    inputs: npt.NDArray[np.float32]
    wanted: npt.NDArray[np.float32]


def read(engine: Engine, row: dict[str, Any]) -> Read | None:
    """Read a text; ``None`` if there is nothing to choose, or no sentence is one that was named."""
    source = engine.preparer.source(row["text"], Options())
    parts, model = source.parts, engine.model
    if parts is None:
        return None
    named = [n for point in row["points"][:2] if (n := place_of(point, parts.sentences)) >= 0]
    told = model.control_ids(limit=random.Random(row["text"]).choice(LIMITS))
    spans = sentence_spans(parts.sentences, model.tokenizer, source.ids, len(told))
    if not named or spans is None:
        return None
    (prediction,) = engine.backend.predictions([GraphRequest((*told, *source.ids), FEWEST)])
    assert prediction.memory is not None
    wanted = np.zeros(len(parts.sentences), dtype=np.float32)
    wanted[named[0]] += BETTER_PART if len(named) > 1 else 1.0
    wanted[named[-1]] += 1.0 - wanted.sum()
    inputs = sentence_inputs(prediction.memory, spans, parts.sentences, parts.form)
    return Read(inputs, wanted)


def place_of(point: str, sentences: Sequence[str]) -> int:
    """Find a sentence that was named; -1 if it is none of them."""
    wanted = "".join(point.lower().split())
    for place, sentence in enumerate(sentences):
        found = "".join(sentence.lower().split())
        if found and (found in wanted or wanted in found):
            return place
    return -1


def fitted(texts: Sequence[Read]) -> Salience:
    """Fit the layers."""
    torch.manual_seed(0)
    inner = nn.Linear(texts[0].inputs.shape[1], HIDDEN)
    outer = nn.Linear(HIDDEN, 1, bias=False)
    drop = nn.Dropout(DROPOUT)
    parameters = [*inner.parameters(), *outer.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY)
    order = list(texts)
    for epoch in range(EPOCHS):
        random.Random(epoch).shuffle(order)
        optimizer.param_groups[0]["lr"] = RATE * (1 - epoch / EPOCHS)
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            inputs = torch.from_numpy(np.concatenate([one.inputs for one in batch]))
            scores = outer(drop(inner(drop(inputs)).relu()))[:, 0]
            sizes = [len(one.wanted) for one in batch]
            losses = [
                -(own.log_softmax(0) * torch.from_numpy(one.wanted)).sum()
                for own, one in zip(scores.split(sizes), batch, strict=True)
            ]
            optimizer.zero_grad()
            torch.stack(losses).mean().backward()
            optimizer.step()
    weights = (inner.weight.T.contiguous(), inner.bias, outer.weight[0])
    return Salience(*(part.detach().numpy() for part in weights))


def share_right(salience: Salience, texts: Sequence[Read]) -> float:
    """How often the sentence chosen is one that was named."""
    right = [one.wanted[int(np.argmax(salience.logits(one.inputs)))] > 0 for one in texts]
    return float(np.mean(right))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put the layers into MODEL")
    options = parser.parse_args()
    model = ModelDirectory.open(options.model)
    engine = Engine(model, load_backend(model))
    lines = [line for path in options.texts for line in path.read_text("utf-8").splitlines()]
    texts = [one for line in lines if (one := read(engine, json.loads(line))) is not None]
    random.Random(1).shuffle(texts)
    n_held = round(HELD * len(texts))
    held, rest = texts[:n_held], texts[n_held:]
    chosen = share_right(fitted(rest), held)
    first = float(np.mean([one.wanted[0] > 0 for one in held]))
    sys.stdout.write(
        f"{len(rest)} texts; of {n_held} kept back chosen {chosen:.3f}, first {first:.3f}\n"
    )
    if options.write:
        fitted(texts).save(model.path / SALIENCE_FILE)


if __name__ == "__main__":
    main()
