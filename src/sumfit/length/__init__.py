"""Length budgets: what a limit counts, and what each vocabulary piece costs against it.

Owns units, presets, `LengthBudget`, `measure`, `unit_costs` and `resolve_budget`. Only this
package knows what a byte or a display cell is; decoders see integer costs and an interval of
totals.
"""

from sumfit.length.budget import LengthBudget
from sumfit.length.costs import FORBIDDEN, UnitCosts, longest_pieces, unit_costs
from sumfit.length.pieces import PerByte, PerCharacter, PerPiece, PerWord
from sumfit.length.presets import PRESETS, Preset, get_preset
from sumfit.length.request import LengthRequest, expand_limits, resolve_budget
from sumfit.length.unit import Additive, Unit, UnitLike
from sumfit.length.units import UNITS, get_unit, measure
from sumfit.length.units.sms import SMSInfo, sms_info

__all__ = [
    "Additive",
    "FORBIDDEN",
    "LengthBudget",
    "LengthRequest",
    "PRESETS",
    "PerByte",
    "PerCharacter",
    "PerPiece",
    "PerWord",
    "Preset",
    "SMSInfo",
    "UNITS",
    "Unit",
    "UnitCosts",
    "UnitLike",
    "expand_limits",
    "get_preset",
    "get_unit",
    "longest_pieces",
    "measure",
    "resolve_budget",
    "sms_info",
    "unit_costs",
]
