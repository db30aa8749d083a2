"""Fit what makes a model's confidence: the chance that a reader would print what it chooses.

``python calibrate.py MODEL MARKED...``. MARKED are texts with marked candidates (``source``,
``limit``, candidates ``c``, marks ``m`` from 0 to 2) that the model did not learn from. Of each
text the candidate that the model would choose counts. A logistic regression on its evidence
(`sumfit.rerank.confidence`) is fitted and, with ``--write``, put into the model's ``config.json``
(then run ``sumfit export MODEL --only-manifest``). Half of the texts, held aside, say how good it
is: the area under the curve, and for each fifth of the texts the mean confidence and the share fit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from files import records

from sumfit.decoding.marginal import marginal_log_probs
from sumfit.errors import SumfitError
from sumfit.pipeline.engine import Engine
from sumfit.pipeline.job import Job
from sumfit.pipeline.options import Options
from sumfit.rerank.chooser import TextRead
from sumfit.rerank.confidence import BIAS, Evidence
from sumfit.rerank.points import Points
from sumfit.rerank.scorer import ChoiceWeights
from sumfit.runtime import ModelDirectory, load_backend
from sumfit.truth import rank_by_support

FIT = 2
RIDGE = 1.0
FloatArray = npt.NDArray[np.float64]


def evidence_of(engine: Engine, row: dict[str, Any]) -> list[tuple[float, Evidence]]:
    """Return what the choice adds up for each candidate of a text, and what is known of it."""
    scorer = engine.backend.scorer
    job = Job(row["source"], [{"max_chars": row["limit"]}])
    (request,) = engine.preparer.requests(job, Options())
    source, graph = request.text.source, request.graph
    if source is None or graph is None or scorer is None:
        return []
    (prediction,) = engine.backend.predictions([graph])
    words = [tuple(engine.model.tokenizer.encode(line)) for line in row["c"]]
    tokenizer, memory = engine.model.tokenizer, prediction.memory
    assert memory is not None
    text = TextRead(prediction.dag, tokenizer, source.read, source.ids, memory)
    points = Points.of(source.parts, engine.model.salience, memory, tokenizer, source.ids)
    read = scorer.read(memory, words, text.word_ids)
    assert read.verdict is not None
    graph_logp = marginal_log_probs(prediction.dag, words)
    penalties = rank_by_support(source.read, row["c"])
    weights, found = ChoiceWeights(), []
    for place, line in enumerate(row["c"]):
        known = Evidence.of(
            verdict=float(read.verdict[place]),
            logp=float(read.logp[place]),
            least=float(read.least[place]),
            graph=float(graph_logp[place]),
            n_pieces=len(words[place]),
            n_chars=len(line),
            penalty=penalties[place],
            point=0.0 if points is None else points.share(line),
        )
        total = weights.sum(known.logp, known.graph, len(line), known.verdict, known.point)
        found.append((total - weights.support * known.penalty, known))
    return found


def chosen(engine: Engine, rows: list[dict[str, Any]]) -> Iterator[tuple[Evidence, bool]]:
    """Give the candidate of each text that the model would choose, and whether it is fit."""
    for row in rows:
        try:
            found = evidence_of(engine, row)
        except SumfitError:
            continue
        if found:
            best = max(range(len(found)), key=lambda place: found[place][0])
            yield found[best][1], row["m"][best] >= FIT


def fitted(evidence: FloatArray, is_fit: FloatArray) -> FloatArray:
    """Fit a logistic regression by Newton's method; the last weight is the bias."""
    scale = evidence.std(axis=0) + 1e-9
    rows = np.column_stack([evidence / scale, np.ones(len(evidence))])
    ridge = RIDGE * np.diag([1.0] * evidence.shape[1] + [0.0])
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (is_fit - chances) - ridge @ weights
        weights += np.linalg.solve((rows.T * (chances * (1 - chances))) @ rows + ridge, slope)
    return np.append(weights[:-1] / scale, weights[-1])


def area_under_curve(scores: FloatArray, is_fit: FloatArray) -> float:
    """Return how often a fit line has the higher score of two, one of each sort."""
    ranks = np.argsort(np.argsort(scores)) + 1.0
    n_fit = is_fit.sum()
    pairs = n_fit * (len(is_fit) - n_fit)
    return float((ranks[is_fit > 0].sum() - n_fit * (n_fit + 1) / 2) / pairs)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("marked", nargs="+")
    parser.add_argument("--write", action="store_true", help="put the weights into config.json")
    options = parser.parse_args()
    model = ModelDirectory.open(options.model)
    engine = Engine(model, load_backend(model))
    rows = [row for path in options.marked for row in records(path)]
    found = list(chosen(engine, rows))
    evidence = np.array([known for known, _ in found])
    is_fit = np.array([mark for _, mark in found], dtype=float)
    half = np.arange(len(found)) % 2 == 0
    weights = fitted(evidence[half], is_fit[half])
    scores = evidence[~half] @ weights[:-1] + weights[-1]
    chances = 1 / (1 + np.exp(-scores))
    out = sys.stdout
    out.write(f"{len(found):,} texts, {100 * is_fit.mean():.1f} % of the chosen lines fit; ")
    out.write(f"area under the curve {area_under_curve(scores, is_fit[~half]):.3f}\n")
    for part in np.array_split(np.argsort(-scores), 5):
        out.write(
            f"  confidence {chances[part].mean():.2f}  fit {is_fit[~half][part].mean():.2f}\n"
        )
    whole = fitted(evidence, is_fit)
    named = dict(zip((*Evidence._fields, BIAS), (round(float(w), 5) for w in whole), strict=True))
    out.write(json.dumps(named) + "\n")
    if options.write:
        file = options.model / "config.json"
        config = json.loads(file.read_text(encoding="utf-8"))
        config["confidence"] = named
        file.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
