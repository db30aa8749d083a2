"""How sure one may be of a summary: the chance that a strict reader would print it as it is.

Owns what the chance is made from and how: a logistic regression (Eq. A20 of
``docs/algorithms.md``) whose weights are the model's (``confidence`` in its ``config.json``),
fitted to marks of readers on lines that it did not learn from (``scripts/teacher/calibrate.py``).
Does not own what the scorer says (`sumfit.runtime.scorer`) or what the source supports
(`sumfit.truth`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from sumfit.errors import ModelFormatError

__all__ = ["BIAS", "Evidence", "check_weights", "confidence"]

BIAS = "bias"
_LEAST_LOGP = -60.0  # nats; what is less likely says no more


class Evidence(NamedTuple):
    """What is known of a line, each part a number that the chance may depend on.

    Attributes:
        verdict: Logit of the scorer that readers would print it.
        logp: Nats, the scorer's log-probability.
        logp_per_piece: The same for a piece, the end among them.
        least: Nats of the piece that the scorer finds least likely.
        graph: Nats, the exact log-probability under the graph.
        graph_per_piece: The same for a piece.
        chars: Length in hundreds of characters.
        penalty: What rules hold against it, see `sumfit.truth.Support.penalty`.
        point: Share of its words that is of the text's point, see `sumfit.rerank.points`; 0 for a
            text of few sentences.
    """

    verdict: float
    logp: float
    logp_per_piece: float
    least: float
    graph: float
    graph_per_piece: float
    chars: float
    penalty: float
    point: float

    @classmethod
    def of(
        cls,
        *,
        verdict: float,
        logp: float,
        least: float,
        graph: float,
        n_pieces: int,
        n_chars: int,
        penalty: float = 0.0,
        point: float = 0.0,
    ) -> Evidence:
        """Put the parts together.

        Args:
            verdict: Logit of the scorer.
            logp: Nats of the whole line by the scorer.
            least: Nats of its least likely piece.
            graph: Nats of the whole line under the graph.
            n_pieces: Pieces of the line, its end not counted.
            n_chars: Characters of the line.
            penalty: What rules hold against it.
            point: Share of its words that is of the text's point.

        Returns:
            The evidence.
        """
        logp, graph = max(logp, _LEAST_LOGP), max(graph, _LEAST_LOGP)
        size = n_pieces + 1
        means = logp / size, graph / size
        chars = n_chars / 100.0
        return cls(verdict, logp, means[0], least, graph, means[1], chars, penalty, point)


def confidence(evidence: Evidence, weights: Mapping[str, float]) -> float:
    """Return the chance that a strict reader would print a line as it is.

    Args:
        evidence: What is known of the line.
        weights: Weight of each part, and the bias; parts that are missing count for nothing.

    Returns:
        Between 0 and 1.
    """
    logit = weights.get(BIAS, 0.0)
    for name, value in zip(evidence._fields, evidence, strict=True):
        logit += weights.get(name, 0.0) * value
    return 1.0 / (1.0 + math.exp(-logit)) if logit > -700.0 else 0.0


def check_weights(weights: Mapping[str, float], file: object) -> None:
    """Raise unless all weights are of a part that there is.

    Args:
        weights: As a model has them.
        file: Where they stand, for the message.

    Raises:
        ModelFormatError: If one has another name.
    """
    known = (BIAS, *Evidence._fields)
    if other := [name for name in weights if name not in known]:
        raise ModelFormatError(
            f"{file}: 'confidence' has {other[0]!r}, but may have {', '.join(known)}; use the "
            "sumfit that wrote it, or calibrate the model again"
        )
