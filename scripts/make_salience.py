"""Fit what tells a model which sentence of a short text holds its point.

    python scripts/make_salience.py MODEL TEXTS.jsonl... [--write]

Each line of TEXTS has ``text``, and ``points``: the one or two sentences that a reader would make
the title of, the better first; or ``kind``: whether it is a commit message or an abstract; or both.
The model's encoder reads each text; over its states (`sumfit.text.salience`) two layers are fitted
to the sentence that was named, and a logistic regression to the kind.
A fifth of the texts is kept back and says how often the kind is told, how often the sentence chosen
is one of those named, and how often the first one is. ``--write`` fits to all and writes
``salience.npz`` into MODEL (then run ``sumfit export MODEL --only-manifest``). Needs torch; 20,000
texts take ten minutes.
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
from sumfit.text.salience import (
    SALIENCE_FILE,
    Salience,
    mean_state,
    sentence_inputs,
    sentence_spans,
)

HIDDEN = 64
EPOCHS = 14
RATE = 1e-3
BATCH = 64
DROPOUT = 0.3
DECAY = 0.02
KIND_STEPS = 400
BETTER_PART = 0.65
"""Of the two sentences that a reader named, what the better one weighs."""

HELD = 0.2
LIMITS = (40, 60, 80, 100)
FEWEST = 3  # vertices of a graph


class Read(NamedTuple):
    """A text as the network reads it.

    Attributes:
        inputs: Of each sentence.
        wanted: How well each is the point; all 0 where no sentence was named.
        mean: Of the states of the text.
        kind: 1 for a commit message or an abstract, 0 for another text, -1 if that is not told.
    """

    inputs: npt.NDArray[np.float32]
    wanted: npt.NDArray[np.float32]
    mean: npt.NDArray[np.float32]
    kind: int


def read(engine: Engine, row: dict[str, Any]) -> Read | None:
    """Read a text; ``None`` if there is nothing to choose."""
    source = engine.preparer.source(row["text"], Options())
    parts, model = source.parts, engine.model
    if parts is None:
        return None
    points = row.get("points", [])[:2]
    named = [n for point in points if (n := place_of(point, parts.sentences)) >= 0]
    told = model.control_ids(limit=random.Random(row["text"]).choice(LIMITS))
    spans = sentence_spans(parts.sentences, model.tokenizer, source.ids, len(told))
    if spans is None:
        return None
    (prediction,) = engine.backend.predictions([GraphRequest((*told, *source.ids), FEWEST)])
    assert prediction.memory is not None
    wanted = np.zeros(len(parts.sentences), dtype=np.float32)
    if named:
        wanted[named[0]] += BETTER_PART if len(named) > 1 else 1.0
        wanted[named[-1]] += 1.0 - wanted.sum()
    inputs = sentence_inputs(prediction.memory, spans, parts.sentences, parts.form)
    mean = mean_state(prediction.memory[len(told) :])
    return Read(inputs, wanted, mean, int(row.get("kind", -1)))


def place_of(point: str, sentences: Sequence[str]) -> int:
    """Find a sentence that was named; -1 if it is none of them."""
    wanted = "".join(point.lower().split())
    for place, sentence in enumerate(sentences):
        found = "".join(sentence.lower().split())
        if found and (found in wanted or wanted in found):
            return place
    return -1


def fitted(texts: Sequence[Read]) -> Salience:
    """Fit all weights."""
    named = [one for one in texts if one.wanted.any()]
    return Salience(*fitted_layers(named), fitted_kind([one for one in texts if one.kind >= 0]))


def fitted_kind(texts: Sequence[Read]) -> npt.NDArray[np.float32]:
    """Fit what tells the kind, a logistic regression; both kinds weigh the same."""
    layer = nn.Linear(len(texts[0].mean), 1)
    means = torch.from_numpy(np.stack([one.mean for one in texts]))
    kinds = torch.tensor([float(one.kind) for one in texts])
    rarer = (1 - kinds.mean()) / kinds.mean().clamp_min(1e-6)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-2, weight_decay=DECAY)
    for _ in range(KIND_STEPS):
        scores = layer(means)[:, 0]
        loss = nn.functional.binary_cross_entropy_with_logits(scores, kinds, pos_weight=rarer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights: npt.NDArray[np.float32] = torch.cat([layer.weight[0], layer.bias]).detach().numpy()
    return weights


def fitted_layers(texts: Sequence[Read]) -> list[npt.NDArray[np.float32]]:
    """Fit the layers that score sentences."""
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
    return [part.detach().numpy() for part in weights]


def share_right(salience: Salience, texts: Sequence[Read]) -> float:
    """How often the sentence chosen is one that was named."""
    named = [one for one in texts if one.wanted.any()]
    right = [one.wanted[int(np.argmax(salience.logits(one.inputs)))] > 0 for one in named]
    return float(np.mean(right))


def share_told(salience: Salience, texts: Sequence[Read]) -> float:
    """How often the kind of a text is told, of both kinds alike."""
    right: dict[int, list[bool]] = {0: [], 1: []}
    for one in texts:
        if one.kind >= 0:
            right[one.kind].append(salience.knows_kind(one.mean) == one.kind)
    return float(np.mean([np.mean(own) for own in right.values()]))


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
    salience = fitted(rest)
    first = float(np.mean([one.wanted[0] > 0 for one in held if one.wanted.any()]))
    sys.stdout.write(
        f"{len(rest)} texts; of {n_held} kept back kind {share_told(salience, held):.3f}, "
        f"chosen {share_right(salience, held):.3f}, first {first:.3f}\n"
    )
    if options.write:
        fitted(texts).save(model.path / SALIENCE_FILE)


if __name__ == "__main__":
    main()
