"""What a search adds to the score for length, so that short summaries do not win by being short.

Owns the choice between the caller's bonus and the model's. Does not own how decoders add it.
"""

from __future__ import annotations

from typing import NamedTuple

from sumfit.length.unit import Unit
from sumfit.length.units import get_unit
from sumfit.pipeline.options import Options
from sumfit.runtime import ModelConfig

__all__ = ["LengthBonus", "length_bonus"]

_FILL_FACTOR = 2.0  # of the bonus per unit for fill="prefer"
_FILL_BONUS = 1.0  # nats per token that it adds where there is no bonus per unit


class LengthBonus(NamedTuple):
    """Score added by a search.

    Attributes:
        per_token: Nats per token.
        per_unit: Nats per unit of the limit that is used.
    """

    per_token: float
    per_unit: float


def length_bonus(options: Options, config: ModelConfig, unit: Unit) -> LengthBonus:
    """Choose the bonus of a search.

    Args:
        options: The caller's options; a bonus given there replaces both of the model's.
        config: The model's configuration.
        unit: What the limit counts; one that the model was not tuned for has the bonus of the
            unit that it is like.

    Returns:
        The bonus.
    """
    if options.bonus is None and options.unit_bonus is None:
        while unit.tuned_like and unit.name not in {*config.bonus, *config.unit_bonus}:
            unit = get_unit(unit.tuned_like)
        bonus = LengthBonus(config.bonus_for(unit.name), config.unit_bonus_for(unit.name))
    else:
        bonus = LengthBonus(options.bonus or 0.0, options.unit_bonus or 0.0)
    if options.fill != "prefer":
        return bonus
    if bonus.per_unit > 0.0:
        return bonus._replace(per_unit=bonus.per_unit * _FILL_FACTOR)
    return bonus._replace(per_token=bonus.per_token + _FILL_BONUS)
