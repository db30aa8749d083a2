"""Training losses of the graph models; needs torch."""

from __future__ import annotations

from sumfit.losses.dag_loss import DagNll, best_alignment, dag_nll
from sumfit.losses.glancing import choose_revealed
from sumfit.losses.ngram import ngram_loss
from sumfit.losses.objective import GraphModel, LossOutput, objective
from sumfit.losses.risk import ListRisk, list_risk, risk_objective
from sumfit.losses.vocab import guess_words, score_words

__all__ = [
    "DagNll",
    "GraphModel",
    "ListRisk",
    "LossOutput",
    "best_alignment",
    "choose_revealed",
    "dag_nll",
    "guess_words",
    "list_risk",
    "ngram_loss",
    "objective",
    "risk_objective",
    "score_words",
]
