"""What a reranker's choices are worth on validation lists.

Owns the measure by which checkpoints are selected: R-Sum without stemming (three times the mean
gain, 0 to 300) of the candidates chosen, beside that of the first and of the best candidates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from sumfit.models.reranker import Reranker
from sumfit.training.reranking.data import ListData, plan_batches
from sumfit.training.reranking.recipe import BatchSection, RankingSection
from sumfit.training.reranking.step import list_losses
from sumfit.training.validation import autocast

__all__ = ["measure"]

_R_SUM = 300.0


def measure(
    model: Reranker,
    data: ListData,
    *,
    batches: BatchSection,
    loss: RankingSection,
    weights: Sequence[float],
    precision: str,
    device: torch.device,
) -> dict[str, float]:
    """Let a reranker choose from validation lists.

    Args:
        model: The network, in evaluation mode.
        data: The lists.
        batches: Size of batches.
        loss: The objective, for its value.
        weights: Weights of the search's own score to try.
        precision: ``bf16`` or ``fp32``.
        device: Where the network is.

    Returns:
        ``r_sum`` of the choice with the best weight, that ``weight``, ``r_sum_first``,
        ``r_sum_oracle``, ``won`` (share of what the oracle would win), ``loss``, and the mean
        ``place`` of the choice.
    """
    chosen: list[npt.NDArray[np.float64]] = []  # (B, W) gains by weight
    firsts: list[npt.NDArray[np.float64]] = []
    bests: list[npt.NDArray[np.float64]] = []
    losses: list[float] = []
    places: list[npt.NDArray[np.int64]] = []
    for numbers in plan_batches(data, np.arange(len(data)), batches):
        tensors = {name: value.to(device) for name, value in data.batch(numbers).items()}
        with torch.no_grad(), autocast(device, precision):
            logits = model(tensors["source_ids"], tensors["candidate_ids"], tensors.get("features"))
        losses.append(float(list_losses(logits, tensors, loss).sum()))
        scores = tensors["scores"].float()
        scores = scores - scores[:, :1]
        gains = tensors["gains"].double()
        picks = torch.stack([(logits + weight * scores).argmax(-1) for weight in weights], dim=1)
        chosen.append(gains.gather(1, picks).cpu().numpy())
        places.append(picks.cpu().numpy())
        firsts.append(gains[:, 0].cpu().numpy())
        is_there = logits > -torch.inf
        bests.append(gains.masked_fill(~is_there, -1.0).amax(1).cpu().numpy())
    means = np.concatenate(chosen).mean(axis=0)
    # Equal weights keep the first: the reranker alone where nothing is gained.
    index = int(np.argmax(np.round(means, 9)))
    first, best = float(np.concatenate(firsts).mean()), float(np.concatenate(bests).mean())
    return {
        "r_sum": _R_SUM * float(means[index]),
        "weight": float(weights[index]),
        "r_sum_first": _R_SUM * first,
        "r_sum_oracle": _R_SUM * best,
        "won": (float(means[index]) - first) / max(best - first, 1e-9),
        "loss": sum(losses) / len(data),
        "place": float(np.concatenate(places)[:, index].mean()),
    }
