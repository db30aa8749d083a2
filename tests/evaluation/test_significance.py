"""The bootstrap against a plain loop, against theory, and against its own laws."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.errors import ConfigError, InputError
from sumfit.evaluation.significance import (
    BootstrapOptions,
    bootstrap_interval,
    paired_bootstrap,
)


def scores(n: int, offset: float = 0.0) -> np.ndarray:
    return 50 + 20 * np.sin(np.arange(n) * 1.7) + offset


def test_the_interval_is_that_of_a_plain_loop() -> None:
    items = scores(40)
    options = BootstrapOptions(n_samples=300, seed=5)
    counts = np.random.default_rng(5).multinomial(40, np.full(40, 1 / 40), size=300)
    means = sorted(
        sum(int(count) * value for count, value in zip(row, items, strict=True)) / 40
        for row in counts
    )
    (interval,) = bootstrap_interval(items, options)
    assert interval.value == pytest.approx(items.mean())
    assert interval.low == pytest.approx(np.percentile(means, 2.5))
    assert interval.high == pytest.approx(np.percentile(means, 97.5))


def test_the_interval_agrees_with_the_normal_approximation() -> None:
    items = scores(500)
    (interval,) = bootstrap_interval(items, BootstrapOptions(n_samples=4000))
    half = 1.96 * items.std() / np.sqrt(500)
    assert interval.low == pytest.approx(items.mean() - half, abs=0.1 * half)
    assert interval.high == pytest.approx(items.mean() + half, abs=0.1 * half)


def test_small_chunks_of_resamples_give_the_same_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = bootstrap_interval(scores(50))
    monkeypatch.setattr("sumfit.evaluation.significance._CELLS_AT_ONCE", 170)
    (parts,) = bootstrap_interval(scores(50))
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), abs=1e-9)


def test_equal_scores_have_no_width() -> None:
    (interval,) = bootstrap_interval([3.0, 3.0, 3.0])
    assert interval.low == pytest.approx(3)
    assert interval.high == pytest.approx(3)


def test_a_constant_gain_is_certain_and_noise_is_not() -> None:
    base = scores(200)
    noise = 5 * np.cos(np.arange(200) * 2.9)
    (gain,) = paired_bootstrap(base + 1, base)
    assert gain.delta == pytest.approx(1)
    assert gain.p_value == pytest.approx(2 / 1001)
    assert gain.is_significant
    (none,) = paired_bootstrap(base + noise - noise.mean(), base)
    assert not none.is_significant
    assert none.p_value > 0.5


def test_swapping_the_systems_turns_the_sign() -> None:
    one, two = scores(60), scores(60) + np.cos(np.arange(60))
    (forth,) = paired_bootstrap(one, two)
    (back,) = paired_bootstrap(two, one)
    assert forth.delta == pytest.approx(-back.delta)
    assert forth.low == pytest.approx(-back.high)
    assert forth.p_value == back.p_value


def test_the_p_value_is_uniform_under_no_difference() -> None:
    generator = np.random.default_rng(0)
    p_values = []
    for _ in range(200):
        one, two = generator.normal(size=(2, 80))
        p_values.append(paired_bootstrap(one, two, BootstrapOptions(n_samples=200))[0].p_value)
    share = np.mean(np.array(p_values) < 0.1)
    assert 0.03 < share < 0.19


def test_columns_keep_apart() -> None:
    one = scores(30)
    both = bootstrap_interval(np.stack([one, 2 * one], axis=1))
    assert both[1].low == pytest.approx(2 * both[0].low)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "n at least 1"),
        ([1.0, float("nan")], r"score of item 2, metric 1 is nan; scores must be finite"),
        ([[1.0, float("inf")]], r"score of item 1, metric 2 is inf"),
    ],
)
def test_scores_that_cannot_be_averaged_are_named(items: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bootstrap_interval(items)  # type: ignore[arg-type]


def test_unpaired_systems_are_refused() -> None:
    with pytest.raises(InputError, match=r"were \(3, 1\) and \(2, 1\)"):
        paired_bootstrap([1.0, 2.0, 3.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples must be at least 1, was 0"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1, was 1.0"),
    ],
)
def test_bad_options_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        BootstrapOptions(**options)  # type: ignore[arg-type]
