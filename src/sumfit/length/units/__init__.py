"""The units, one module each, and `measure`.

Owns the registry: every module in this folder that has a ``UNIT`` is found without a row of its
own. Does not own what a unit is (`sumfit.length.unit`).
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol

from sumfit.deadline import Check
from sumfit.errors import BudgetError, InputError, Keyword, UnknownUnitError
from sumfit.length.unit import Unit, UnitLike, counted
from sumfit.nfc import nfc
from sumfit.parts import is_long
from sumfit.spelling import did_you_mean

__all__ = [
    "KEYWORD_UNITS",
    "UNITS",
    "Encoder",
    "Unit",
    "UnitLike",
    "checked_text",
    "get_unit",
    "measure",
]


class Encoder(Protocol):
    """What measuring in tokens needs of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """Vocabulary ids of a text."""
        ...


def _found() -> dict[str, Unit]:
    names = (module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    units: list[Unit] = [importlib.import_module(name).UNIT for name in names]
    return {unit.name: unit for unit in sorted(units, key=lambda unit: (unit.order, unit.name))}


UNITS: dict[str, Unit] = _found()

KEYWORD_UNITS = tuple(name for name, unit in UNITS.items() if unit.has_keywords)
"""Units with keywords of their own, such as ``max_words``; the others go by ``unit=``."""


def get_unit(unit: UnitLike) -> Unit:
    """The unit of a name, of a function, or as given.

    Args:
        unit: A name in `UNITS`, a `Unit`, or a function from a string to a whole number.

    Returns:
        The unit; for a function, one with the function's name.

    Raises:
        UnknownUnitError: If it is none of these.
    """
    if isinstance(unit, Unit):
        return unit
    if isinstance(unit, str):
        try:
            return UNITS[unit]
        except KeyError:
            raise UnknownUnitError(
                Keyword("unit", f" {unit!r}", unit),
                f" is not known; use one of {', '.join(UNITS)}, or a function"
                f"{did_you_mean(unit, UNITS)}",
            ) from None
    if callable(unit):
        return Unit(str(getattr(unit, "__name__", type(unit).__name__)), unit)
    raise UnknownUnitError.of("unit", unit, f"must be one of {', '.join(UNITS)}, or a function")


def measure(
    text: str,
    unit: UnitLike,
    *,
    tokenizer: Encoder | None = None,
    check: Check | None = None,
) -> int:
    """Length of the NFC form of a text; nothing else about the text is changed first.

    Args:
        text: Any string.
        unit: Name, `Unit`, or function from a string to a whole number.
        tokenizer: Needed for ``tokens`` only.
        check: Called between the parts of a long text, to give up; a unit that has no parts, and
            a tokenizer, measure as a whole.

    Returns:
        The length, 0 or more.

    Raises:
        UnknownUnitError: If there is no such unit.
        BudgetError: If ``tokens`` are asked for without a tokenizer, or a function returns
            something other than a whole number of at least 0, or raises.
        InputError: If ``text`` is no string.
    """
    unit = get_unit(unit)
    text = checked_text(text)
    if check is not None and unit.parts is not None and is_long(text):
        length = 0
        for part in unit.parts(text):
            check()
            length += measure(part, unit)
        return length
    text = nfc(text)
    if unit.count is None:
        if tokenizer is None:
            raise BudgetError(f"unit {unit.name!r} needs a tokenizer; give tokenizer=")
        return len(tokenizer.encode(text))
    return counted(unit, unit.count, text)


def checked_text(text: object) -> str:
    """Raise unless the value is a text.

    Args:
        text: What a caller gave.

    Returns:
        The same.

    Raises:
        InputError: If it is no string.
    """
    if not isinstance(text, str):
        hint = "; decode it as UTF-8 first" if isinstance(text, bytes | bytearray) else ""
        raise InputError(f"a text must be a string, was {type(text).__name__}{hint}")
    return text
