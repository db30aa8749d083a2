"""No summary breaks its limit: random draws over scripts, units, modes and limits.

The long version is ``python benchmarks/limits.py --n 20000``.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.limits import Draw, draws, faults, run
from sumfit import Options, Summarizer, Tokenizer
from sumfit.length import resolve_budget
from sumfit.pipeline.results import _CUTTABLE, ResultMaker, _head
from sumfit.pipeline.source import prepare


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


@given(
    st.lists(st.sampled_from(["a", "bridge", "x.com/a", "日本", "closes,", "é" * 9]), min_size=1),
    st.integers(0, 400),
    st.sampled_from(["chars", "words", "tweet", "bytes", "sms"]),
)
def test_a_cut_is_as_long_as_it_may_be(
    tiny_tokenizer: Tokenizer, words: list[str], limit: int, unit: str
) -> None:
    request = resolve_budget(max_length=limit, unit=unit)
    source = prepare(" ".join(words), tokenizer=tiny_tokenizer, profile="natural", max_source=96)
    make = ResultMaker(source, Options(capitalization=None), tiny_tokenizer)
    parts = _CUTTABLE.findall(source.head)
    fitting = [n for n in range(1, len(parts) + 1) if request.accepts(_head(parts, n))]
    found = make.cut(request)
    assert found.text == (_head(parts, fitting[-1]) if fitting else "")
