"""Choose the length bonus of a model on validation data.

Owns the rule of choice alone; who runs the model hands in its summaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sumfit.errors import InputError
from sumfit.evaluation.fidelity import fidelity
from sumfit.evaluation.rouge import References, RougeOptions, rouge_items
from sumfit.length import UnitLike

__all__ = ["BonusPoint", "choose_bonus", "measure_bonus"]


@dataclass(frozen=True, slots=True)
class BonusPoint:
    """Quality of one bonus on validation data.

    Attributes:
        bonus: Score per unit of length, in nats.
        rsum: Mean R-Sum.
        fill: Mean of length over limit, 0..1.
        complete: Share of complete endings, 0..1.
        items: R-Sum of each item.
    """

    bonus: float
    rsum: float
    fill: float
    complete: float
    items: tuple[float, ...]


def measure_bonus(
    bonus: float,
    summaries: Sequence[str],
    references: References,
    *,
    limits: int | Sequence[int],
    unit: UnitLike,
) -> BonusPoint:
    """Score the summaries made with one bonus.

    Args:
        bonus: The bonus.
        summaries: The summaries.
        references: Their references.
        limits: What the summaries had to keep.
        unit: What the limits count.

    Returns:
        The scores.
    """
    items = rouge_items(summaries, references, options=RougeOptions())[:, 3]
    kept = fidelity(summaries, unit=unit, limits=limits)
    return BonusPoint(
        bonus=bonus,
        rsum=float(items.mean()),
        fill=kept.fill,
        complete=kept.complete,
        items=tuple(items.tolist()),
    )


def choose_bonus(points: Sequence[BonusPoint], *, complete_loss: float = 0.01) -> BonusPoint:
    """Choose the bonus that fills most without costing quality.

    Of the bonuses whose R-Sum is at most one standard error of the paired difference below the
    best one's, and whose share of complete endings is at most ``complete_loss`` below the best
    one's, the one that uses most of the limit wins; the smaller bonus among equals.

    Args:
        points: One point per bonus, over the same items.
        complete_loss: Share of complete endings that may be lost.

    Returns:
        The point chosen.

    Raises:
        InputError: If there are no points, or they cover different items.
    """
    if not points:
        raise InputError("there is no bonus to choose from; give at least one")
    if len({len(point.items) for point in points}) > 1:
        raise InputError("the bonuses were measured on different numbers of items")
    best = max(points, key=lambda point: (point.rsum, -point.bonus))
    allowed = []
    for point in points:
        difference = np.asarray(best.items) - np.asarray(point.items)
        error = float(difference.std()) / len(difference) ** 0.5
        is_as_good = float(difference.mean()) <= error
        if is_as_good and point.complete >= best.complete - complete_loss:
            allowed.append(point)
    return max(allowed, key=lambda point: (round(point.fill, 6), -point.bonus))
