"""Grow the trees that choose among the candidates that a model's scorer likes best.

``python grow.py MODEL MARKED... [--write]``. MARKED are texts with marked candidates (``source``,
``limit``, candidates ``c``, marks ``m`` from 0 to 2). The model reads each candidate as it would
when it chooses, and boosted trees (`sumfit.rerank.trees`) learn from what it knows of them whether
a reader would print them. A quarter of the texts, kept back, says how often the choice is fit, by
the trees and by the scores alone. ``--write`` grows them on all texts and writes ``trees.npz`` into
MODEL (then run ``sumfit export MODEL --only-manifest``). Needs scikit-learn; 40 ms a text.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from files import records

from sumfit.decoding.marginal import marginal_log_probs
from sumfit.errors import SumfitError
from sumfit.hypothesis import Hypothesis
from sumfit.pipeline.engine import Engine
from sumfit.pipeline.job import Job
from sumfit.pipeline.options import Options
from sumfit.rerank.chooser import TextRead
from sumfit.rerank.lines import SourceWords, columns_of
from sumfit.rerank.points import Points
from sumfit.rerank.scorer import ChoiceWeights, ScorerChooser
from sumfit.rerank.trees import TREES_FILE, Trees
from sumfit.runtime import ModelDirectory, load_backend
from sumfit.truth import rank_by_support

FIT = 2
BEST = 6  # candidates by score among which the trees choose
HELD = 0.25
N_TREES = 250
FloatArray = npt.NDArray[np.float64]


class Marked(NamedTuple):
    """The candidates of a text: what the trees look at, their scores, and which are fit."""

    columns: FloatArray
    scores: FloatArray
    is_fit: npt.NDArray[np.bool_]


def read(engine: Engine, chooser: ScorerChooser, row: dict[str, Any]) -> Marked | None:
    """Read the candidates of a text as the model does when it chooses.

    Candidates that its graph cannot write are left out.
    """
    job = Job(row["source"], [{"max_chars": row["limit"]}])
    (request,) = engine.preparer.requests(job, Options())
    source, graph = request.text.source, request.graph
    if source is None or graph is None or not row["c"]:
        return None
    (prediction,) = engine.backend.predictions([graph])
    tokenizer, memory = engine.model.tokenizer, prediction.memory
    points = Points.of(source.parts, engine.model.salience, memory, tokenizer, source.ids)
    text = TextRead(prediction.dag, tokenizer, source.read, source.ids, memory, points=points)
    words = [tuple(tokenizer.encode(line)) for line in row["c"]]
    logps = marginal_log_probs(prediction.dag, words)
    found = zip(words, logps.tolist(), strict=True)
    chooser.note(text, [Hypothesis(own, logp, logp, len(own)) for own, logp in found])
    penalties = rank_by_support(source.read, row["c"])
    weight = ChoiceWeights().support
    both = list(zip(words, penalties, strict=True))
    scores = [text.noted[own] - weight * penalty for own, penalty in both]
    kept = [place for place, score in enumerate(scores) if math.isfinite(score)]
    if not kept:
        return None
    known = [text.evidence[words[n]]._replace(penalty=penalties[n]) for n in kept]
    scores, marks = [scores[n] for n in kept], [row["m"][n] for n in kept]
    lines = [row["c"][n] for n in kept]
    best = int(np.argmax(scores))
    columns = columns_of(SourceWords(source.read), lines, scores, known, best)
    return Marked(columns, np.array(scores), np.array(marks) >= FIT)


def grown(texts: list[Marked]) -> Trees:
    """Grow trees, and lay them out as the product reads them."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_iter=N_TREES,
        max_leaf_nodes=15,
        min_samples_leaf=80,
        l2_regularization=3.0,
        random_state=0,
    )
    model.fit(np.concatenate([t.columns for t in texts]), np.concatenate([t.is_fit for t in texts]))
    roots, parts, n_nodes = [], [], 0
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        children = np.stack([nodes["left"], nodes["right"]], axis=1).astype(np.int64) + n_nodes
        columns = np.where(nodes["is_leaf"], -1, nodes["feature_idx"]).astype(np.int64)
        values = np.where(nodes["is_leaf"], nodes["value"], 0.0)
        thresholds = np.where(nodes["is_leaf"], 0.0, nodes["num_threshold"])
        roots.append(n_nodes)
        parts.append((columns, thresholds, children, values))
        n_nodes += len(nodes)
    columns, thresholds, children, values = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    base = float(np.ravel(model._baseline_prediction)[0])
    return Trees(np.array(roots), columns, thresholds, children, values, base)


def share_fit(texts: list[Marked], trees: Trees | None) -> float:
    """How often the choice among the best is fit, by trees or by score."""
    fit = []
    for one in texts:
        best = np.argsort(-one.scores)[:BEST]
        ranked = one.scores if trees is None else trees.chances(one.columns)
        fit.append(one.is_fit[best[int(np.argmax(ranked[best]))]])
    return float(np.mean(fit))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("marked", nargs="+")
    parser.add_argument("--write", action="store_true", help="put the trees into MODEL")
    options = parser.parse_args()
    model = ModelDirectory.open(options.model)
    engine = Engine(model, load_backend(model))
    scorer = engine.backend.scorer
    if scorer is None or not scorer.has_verdict:
        parser.error(f"{options.model} has no scorer with a verdict; train one first")
    chooser = ScorerChooser(scorer, confidence=model.config.confidence)
    texts = []
    for row in (row for path in options.marked for row in records(path)):
        try:
            found = read(engine, chooser, row)
        except SumfitError:
            continue
        texts += [found] if found is not None else []
    random.Random(0).shuffle(texts)
    n_held = round(HELD * len(texts))
    held, rest = texts[:n_held], texts[n_held:]
    by_trees, by_score = share_fit(held, grown(rest)), share_fit(held, None)
    sys.stdout.write(
        f"{len(rest)} texts; of {n_held} kept back fit by trees {by_trees:.3f}, "
        f"by score {by_score:.3f}\n"
    )
    if options.write:
        grown(texts).save(model.path / TREES_FILE)


if __name__ == "__main__":
    main()
