"""Threads and processes: one per processor, and never so many that the system refuses them."""

from __future__ import annotations

import pytest

from sumfit.errors import ConfigError
from sumfit.processors import checked_workers, n_processors


def test_one_per_processor_where_nothing_is_asked() -> None:
    assert checked_workers(None) == checked_workers(0) == n_processors() >= 1
    assert checked_workers(3) == 3
    assert checked_workers(64, least=1) == 64


@pytest.mark.parametrize("n", [100_000, 2**40])
def test_far_more_than_the_machine_can_use_are_refused(n: int) -> None:
    most = max(64, 4 * n_processors())
    assert checked_workers(most) == most
    message = (
        rf"^workers must be at most {most} on a machine with {n_processors()} processors, was {n};"
    )
    with pytest.raises(ConfigError, match=message):
        checked_workers(n, name="workers")


def test_what_is_no_number_is_refused() -> None:
    for value in ("2", 2.0, True):
        with pytest.raises(ConfigError, match=f"n_workers must be a whole number, was {value!r}"):
            checked_workers(value)  # type: ignore[arg-type]


def test_too_few_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"n_workers must be at least 0 \(0 for one per proc"):
        checked_workers(-1)
    with pytest.raises(ConfigError, match="processes must be at least 1, was 0"):
        checked_workers(0, name="processes", least=1)
