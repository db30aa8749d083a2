"""No summary breaks its limit: random draws over scripts, units, modes and limits.

The long version is ``python benchmarks/limits.py --n 20000``.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.limits import Draw, draws, faults, run
from sumfit import Summarizer


@pytest.mark.parametrize("seed", [1, 2])
def test_no_limit_is_ever_broken(fit: Summarizer, seed: int) -> None:
    counts, broken = run(fit, 150, seed=seed, max_expansions=30)
    assert broken == []
    assert counts["model"] > 60
    assert counts["source"] > 10
    assert sum(counts.values()) == 150
    assert set(counts) <= {
        "model",
        "source",
        "InfeasibleBudgetError",
        "NothingFoundError",
        "ConflictingBudgetError",
        "BudgetError",
    }


def test_the_same_seed_draws_the_same() -> None:
    assert list(draws(20, 3)) == list(draws(20, 3))
    assert list(draws(20, 3)) != list(draws(20, 4))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("far more than twelve characters", "31 + 0 chars outside 0..12"),
        ("two words", "says 5 chars, measures 9"),
        ("", "empty"),
        ("e\u0301", "not NFC"),
        ("a\x07b", "control character or surrogate"),
        ("a\ufffdb", "replacement character"),
    ],
)
def test_faults_are_found(fit: Summarizer, texts: tuple[str, ...], text: str, fault: str) -> None:
    draw = Draw(texts[0], {"max_chars": 12})
    good = fit(texts[0], max_chars=12)
    assert faults(draw, good, fit) == []
    bad = replace(good, text=text, length=5 if text == "two words" else len(text))
    assert fault in faults(draw, bad, fit)
