"""Whose length bonus holds for a unit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sumfit import Options
from sumfit.length import UNITS, Unit
from sumfit.pipeline.bonus import length_bonus
from sumfit.runtime import ModelDirectory


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (UNITS["words"], (1.0, 0.0)),  # has none, and is like no other: the model's default
        (UNITS["chars"], (0.0, 0.2)),
        (UNITS["bytes"], (0.0, 0.2)),  # like chars
        (UNITS["graphemes"], (0.0, 0.3)),  # its own, though it is like chars
        (UNITS["mastodon"], (0.0, 0.3)),  # like graphemes
        (Unit("letters", len, tuned_like="mastodon"), (0.0, 0.3)),
        (Unit("pixels", len), (1.0, 0.0)),
    ],
    ids=lambda value: str(value),
)
def test_a_unit_without_a_bonus_has_that_of_the_unit_it_is_like(
    tiny_model: Path, unit: Unit, expected: tuple[float, float]
) -> None:
    config = replace(
        ModelDirectory.open(tiny_model).config,
        bonus={"default": 1.0},
        unit_bonus={"chars": 0.2, "graphemes": 0.3},
    )
    assert length_bonus(Options(), config, unit) == expected
