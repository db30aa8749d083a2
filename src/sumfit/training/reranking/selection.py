"""What a reranker's choices are worth on validation lists.

Owns the measure by which checkpoints are selected: R-Sum without stemming (three times the mean
gain, 0 to 300) of the candidates chosen, beside that of the first, of minimum Bayes risk and of the
best candidates; and the weights by which they are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from sumfit.models.reranker import Reranker
from sumfit.training.reranking.data import ListData, plan_batches
from sumfit.training.reranking.recipe import BatchSection, RankingSection, SelectionSection
from sumfit.training.reranking.step import list_losses
from sumfit.training.validation import autocast

__all__ = ["Weights", "measure", "weight_choices"]

_R_SUM = 300.0


def measure(
    model: Reranker,
    data: ListData,
    *,
    batches: BatchSection,
    loss: RankingSection,
    selection: SelectionSection,
    precision: str,
    device: torch.device,
) -> dict[str, float]:
    """Let a reranker choose from validation lists.

    Args:
        model: The network, in evaluation mode.
        data: The lists.
        batches: Size of batches.
        loss: The objective, for its value.
        selection: Weights to try.
        precision: As for `autocast`.
        device: Where the network is.

    Returns:
        ``r_sum`` of the choice with the best weights, these weights (``network_weight``,
        ``weight`` and ``f1_weight``), ``r_sum_first``, ``r_sum_mbr``, ``r_sum_network`` (as
        it was trained), ``r_sum_oracle``, ``won`` (share of what the oracle would win), ``loss``,
        and the mean ``place`` of the choice.
    """
    choices = weight_choices(selection, prior=loss.prior, order_weight=data.shape.order_weight)
    chosen: list[npt.NDArray[np.float64]] = []  # (B, W) gains by weights
    losses: list[float] = []
    places: list[npt.NDArray[np.int64]] = []
    for numbers in plan_batches(data, np.arange(len(data)), batches):
        tensors = {name: value.to(device) for name, value in data.batch(numbers).items()}
        with torch.no_grad(), autocast(device, precision):
            logits = model(tensors["source_ids"], tensors["candidate_ids"], tensors.get("features"))
        losses.append(float(list_losses(logits, tensors, loss).sum()))
        picks = _picks(logits.double(), tensors, choices)
        chosen.append(tensors["gains"].double().gather(1, picks).cpu().numpy())
        places.append(picks.cpu().numpy())
    means = np.concatenate(chosen).mean(axis=0)
    # Equal weights keep the first: the network as trained where nothing is gained.
    index = int(np.argmax(np.round(means, 9)))
    if selection.is_settled:
        index = choices.index(Weights(1.0, selection.weights[0], selection.f1_weights[0]))
    landmarks = {name: float(values.mean()) for name, values in data.landmarks.items()}
    first, best = landmarks["first"], landmarks["oracle"]
    return {
        "r_sum": _R_SUM * float(means[index]),
        **{f"r_sum_{name}": _R_SUM * value for name, value in landmarks.items()},
        "r_sum_network": _R_SUM * float(means[0]),
        "won": (float(means[index]) - first) / max(best - first, 1e-9),
        **choices[index]._asdict(),
        "loss": sum(losses) / len(data),
        "place": float(np.concatenate(places)[:, index].mean()),
    }


class Weights(NamedTuple):
    """What a choice is made by: a weighted sum of three scores of each candidate.

    Attributes:
        network_weight: Of the network's logits.
        weight: Of the search's own score.
        f1_weight: Of the expected F1.
    """

    network_weight: float
    weight: float
    f1_weight: float


def weight_choices(
    selection: SelectionSection, *, prior: float, order_weight: float
) -> list[Weights]:
    """List the weights to try: as trained, the grid, and minimum Bayes risk without the network.

    Args:
        selection: The grid.
        prior: Weight of minimum Bayes risk beside the logits in training.
        order_weight: Weight of the order of the lists; 0 if it is the search's own.

    Returns:
        The weights, those to prefer among equals at the front.
    """
    grid = [
        Weights(1.0, weight, f1_weight)
        for f1_weight in selection.f1_weights
        for weight in selection.weights
    ]
    trained = Weights(1.0, prior, prior * order_weight)
    without = [Weights(0.0, 1.0, order_weight)] if order_weight else []
    return [trained, *(one for one in grid if one != trained), *without]


def _picks(
    logits: torch.Tensor, tensors: Mapping[str, torch.Tensor], choices: Sequence[Weights]
) -> torch.Tensor:
    """Choice of each list by each of the weights, ``(B, W)``."""
    is_there = logits > -torch.inf
    logits = logits.masked_fill(~is_there, 0.0)
    scores, f1 = (
        values - values.masked_fill(~is_there, -torch.inf).amax(1, keepdim=True)
        for values in (tensors["scores"].double(), tensors["expected_f1"].double())
    )
    total = torch.stack(
        [w.network_weight * logits + w.weight * scores + w.f1_weight * f1 for w in choices], dim=1
    )
    # Equal ones keep their order, as at run time.
    total = torch.round(total, decimals=9).masked_fill(~is_there[:, None], -torch.inf)
    order = torch.arange(total.shape[-1], device=total.device)
    is_best = total == total.amax(-1, keepdim=True)
    return torch.where(is_best, order, total.shape[-1]).amin(-1)
