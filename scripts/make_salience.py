"""Write the weights that tell which sentence of a short text holds its point.

    python scripts/make_salience.py TEXTS.jsonl [--held 0.2]

Each line of TEXTS has ``text`` and ``lines``, what editors would print of it in slots of several
widths. Each sentence is worth the mean share of a line's content words that it has; ridge
regression on `sumfit.text.salience.features_of`. With ``--held`` that share of the texts is kept
back, and the weights are only measured: what the sentence chosen is worth, the first, and the best.
Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sumfit.cleaning import clean
from sumfit.pipeline.source import short_form
from sumfit.text.passages import TextForm
from sumfit.text.points import parted
from sumfit.text.salience import WEIGHTS_FILE, features_of, salience
from sumfit.truth.reading import content_stems
from sumfit.writing import write_whole

LEAST_COUNT = 8
"""Sentences that a word or pair must stand in."""

SMALLEST = 0.003
"""Weights nearer to 0 are left out, but for those of place, length and marks."""

STRENGTH = 60.0
"""Of the regression's penalty."""


Read = tuple[list[str], TextForm, list[float]]
"""Sentences of a text, its form, and what each sentence is worth."""


def read(row: dict[str, Any]) -> Read:
    """Clean and part a text as it is read where it fits."""
    cleaned = clean(row["text"])
    form = short_form(cleaned)
    sentences = parted(cleaned.text, form)
    return sentences, form, worth(sentences, row["lines"])


def worth(sentences: Sequence[str], lines: Sequence[str]) -> list[float]:
    """Say what each sentence is worth: the mean share of a line's content words that it has."""
    wanted = [stems for line in lines if (stems := content_stems(line))]
    return [
        float(np.mean([len(stems & content_stems(one)) / len(stems) for stems in wanted] or [0.0]))
        for one in sentences
    ]


def learn(texts: Sequence[Read]) -> dict[str, float]:
    """Fit the weights."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import Ridge

    features = [row for sentences, form, _ in texts for row in features_of(sentences, form)]
    counts = Counter(name for row in features for name in row)
    kept = [{n: v for n, v in row.items() if counts[n] >= LEAST_COUNT} for row in features]
    values = np.concatenate([np.array(values) - np.mean(values) for *_, values in texts])
    vectorizer = DictVectorizer()
    model = Ridge(alpha=STRENGTH).fit(vectorizer.fit_transform(kept), values)
    names = vectorizer.get_feature_names_out()
    found = zip(names, model.coef_.tolist(), strict=True)
    return {n: round(w, 4) for n, w in found if abs(w) >= SMALLEST or n[1:2] != ":"}


def main() -> None:
    """Learn and write, or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--held", type=float, default=0.0)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in options.texts.read_text(encoding="utf-8").splitlines()
    ]
    texts = [found for row in rows if len((found := read(row))[0]) > 2]
    n_held = round(options.held * len(texts))
    weights = learn(texts[n_held:])
    sys.stdout.write(f"{len(texts) - n_held} texts, {len(weights)} weights\n")
    if not n_held:
        packed = json.dumps(weights, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        write_whole(WEIGHTS_FILE, lzma.compress(packed.encode(), preset=9))
        return
    chosen = []
    for sentences, form, values in texts[:n_held]:
        best = int(np.argmax(salience(sentences, form, weights)))
        chosen.append((values[best], values[0], max(values)))
    mean = np.mean(chosen, axis=0)
    sys.stdout.write("chosen {:.3f}, first {:.3f}, best {:.3f}\n".format(*mean))


if __name__ == "__main__":
    main()
